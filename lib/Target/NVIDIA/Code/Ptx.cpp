// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's NVPTX back end, in this process.
#include "Target/NVIDIA/Code/Ptx.h"
#include "IR/Coded.h"
#include "Target/Common/LLVMPasses.h"
#include "Target/Common/WriteCode.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

namespace tw::target::nvidia {

static std::unique_ptr<llvm::TargetMachine> makeMachine(const GpuArchitecture &architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, architecture.name, architecture.features, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     const Cancellation *cancellation) {
  runPasses(
      module, machine,
      [](llvm::PassBuilder &builder) {
        return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
      },
      cancellation);
}

static LogicalResult report(ModuleOp module, const char *what) {
  return emitCoded(module.getLoc(), Code::PROGRAM_6) << what;
}

void registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

FailureOr<DeviceModule> translateForDevice(ModuleOp device, const GpuArchitecture &architecture) {
  DialectRegistry registry;
  registerTranslations(registry);
  device.getContext()->appendDialectRegistry(registry);
  PassManager passes(device.getContext()); // what is written as inline assembly
  passes.addPass(createConvertNVVMToLLVMPass());
  if (failed(passes.run(device)))
    return report(device, "the kernel's instructions cannot be written");
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(architecture);
  if (!machine)
    return emitCoded(device.getLoc(), Code::PROGRAM_9)
           << "this compiler has no code generator for NVIDIA's GPUs";
  DeviceModule result{std::make_unique<llvm::LLVMContext>(), nullptr};
  result.code = translateModuleToLLVMIR(device, *result.context, "tilewright");
  if (!result.code)
    return report(device, "the kernel cannot be written as LLVM IR");
  result.code->setDataLayout(machine->createDataLayout());
  result.code->setTargetTriple(machine->getTargetTriple());
  return std::move(result);
}

std::string makeText(DeviceModule &module, const GpuArchitecture &architecture, DeviceText kind,
                     const Cancellation *cancellation) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(architecture);
  optimize(*module.code, *machine, cancellation);
  if (isCancelled(cancellation))
    return {};
  if (kind == DeviceText::LLVM) {
    std::string text;
    llvm::raw_string_ostream(text) << *module.code;
    return text;
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  bool isWritten =
      writeCode(*module.code, *machine, stream, llvm::CodeGenFileType::AssemblyFile, cancellation);
  return isWritten ? std::string(text) : std::string();
}

} // namespace tw::target::nvidia
