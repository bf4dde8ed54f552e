// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/ObjectCode.h"
#include "IR/Coded.h"
#include "IR/Threads.h"
#include "Program/ObjectCode/Machine.h"
#include "Program/ObjectCode/MergeProducts.h"
#include "Program/ObjectCode/OneLaneStores.h"
#include "Program/ObjectCode/Optimize.h"
#include "Program/ObjectCode/Parts.h"
#include "Program/ObjectCode/SoftFloat.h"
#include "Support/Parallel.h"
#include "Target/Common/WriteCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "runtime/Artifact/Seal.h"
#include "runtime/ProgramABI.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <thread>

using namespace mlir;

namespace tw {

/// Splitting a small program costs more than it gains. Parts take different times, of which their
/// length tells little, so there are several for each thread: with eight, ResNet-50 takes two
/// threads 5 % less to compile than with four.
static constexpr size_t functionsOfPart = 2, partsOfThread = 8, mostParts = 64;

/// Code for what this host has is scheduled for this host.
static void setFunctionAttributes(llvm::Module &module, const InstructionSet &set) {
  std::string tune = set == hostInstructionSet() ? llvm::sys::getHostCPUName().str() : "generic";
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("tune-cpu", tune);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

/// Bytes in a section of their own.
static llvm::GlobalVariable *addSection(llvm::Module &module, StringRef name, StringRef bytes) {
  auto *data = llvm::ConstantDataArray::getString(module.getContext(), bytes, /*AddNull=*/false);
  auto *global = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, data, "tw_section");
  global->setSection(name);
  llvm::appendToUsed(module, {global});
  return global;
}

/// The text behind its prefix, which is sealed when the file is written, in a section of its own.
static void addMetadata(llvm::Module &module, StringRef text) {
  rt::MetadataPrefix prefix = {{}, text.size(), 0, 0};
  std::copy_n(rt::metadataMagic.begin(), sizeof prefix.magic, prefix.magic);
  std::string bytes(reinterpret_cast<const char *>(&prefix), sizeof prefix);
  bytes += text;
  addSection(module, TW_METADATA_SECTION, bytes);
}

/// The code of one part, which is optimised; empty when LLVM has no way to write it, and where it
/// is cancelled.
static ObjectFile emitCode(llvm::Module &part, llvm::TargetMachine &machine,
                           llvm::CodeGenFileType kind, const Cancellation *cancellation) {
  addSoftFloat(part);
  optimize(part, machine, cancellation);
  if (isCancelled(cancellation))
    return {};
  storeSingleLanes(part); // whose masks are constants now
  if (machine.getTargetTriple().isAArch64())
    mergeProducts(part);
  ObjectFile object;
  llvm::raw_svector_ostream stream(object);
  return target::writeCode(part, machine, stream, kind, cancellation) ? object : ObjectFile();
}

static size_t threadCount() {
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, mostCompilingThreads);
}

static std::vector<OwningOpRef<ModuleOp>> split(ModuleOp module) {
  size_t functions = llvm::count_if(module.getOps<LLVM::LLVMFuncOp>(),
                                    [](auto function) { return !function.isExternal(); });
  size_t most = std::min(threadCount() * partsOfThread, mostParts);
  return splitInParts(module, std::clamp<size_t>(functions / functionsOfPart, 1, most));
}

/// Reports an error at the module, and fails.
static LogicalResult report(ModuleOp module, const llvm::Twine &what) {
  return emitCoded(module.getLoc(), Code::PROGRAM_6) << what;
}

/// Before any thread translates.
static void registerTranslations(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
}

namespace {

/// LLVM's code, and what it is for.
struct Translated {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> code;
};

} // namespace

/// LLVM's code of the module, not optimised.
static FailureOr<Translated> translate(ModuleOp module, llvm::LLVMContext &context,
                                       const InstructionSet &set) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(set);
  if (!machine)
    return emitCoded(module.getLoc(), Code::PROGRAM_9) << "this compiler has no code generator for "
                                                       << llvm::StringRef(nameOf(set.architecture));
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "tilewright");
  if (!code)
    return report(module, "the program cannot be written as LLVM IR");
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  setFunctionAttributes(*code, set);
  return Translated{std::move(machine), std::move(code)};
}

FailureOr<std::string> makeText(ModuleOp module, const InstructionSet &set, CodeText kind,
                                const Cancellation *cancellation) {
  llvm::LLVMContext context;
  registerTranslations(*module.getContext());
  FailureOr<Translated> made = translate(module, context, set);
  if (failed(made))
    return failure();
  ObjectFile assembly =
      emitCode(*made->code, *made->machine, llvm::CodeGenFileType::AssemblyFile, cancellation);
  if (isCancelled(cancellation))
    return failure();
  if (kind == CodeText::Assembly)
    return std::string(assembly.data(), assembly.size());
  std::string text;
  llvm::raw_string_ostream(text) << *made->code;
  return text;
}

FailureOr<std::vector<ObjectFile>> makeObjects(ModuleOp module, const InstructionSet &set,
                                               StringRef metadata, bool favorsCompileTime,
                                               const Cancellation *cancellation,
                                               StringRef deviceCode) {
  registerTranslations(*module.getContext());
  std::vector<OwningOpRef<ModuleOp>> parts = split(module);
  std::vector<ObjectFile> objects(parts.size());
  auto compile = [&](size_t i) -> LogicalResult {
    OwningOpRef<ModuleOp> part = std::move(parts[i]); // erased by its thread, too
    llvm::LLVMContext context;
    FailureOr<Translated> made = failure();
    if (isCancelled(cancellation) || failed(made = translate(*part, context, set)))
      return failure();
    if (favorsCompileTime)
      made->machine->setOptLevel(llvm::CodeGenOptLevel::Less);
    if (i == 0 && !metadata.empty())
      addMetadata(*made->code, metadata);
    if (i == 0 && !deviceCode.empty())
      addSection(*made->code, TW_DEVICE_SECTION, deviceCode)
          ->setAlignment(llvm::Align(TW_ALIGNMENT));
    part = nullptr;
    objects[i] =
        emitCode(*made->code, *made->machine, llvm::CodeGenFileType::ObjectFile, cancellation);
    if (isCancelled(cancellation))
      return failure();
    if (objects[i].empty())
      return report(module, "LLVM cannot write object files of the program");
    return success();
  };
  if (failed(onThreadsInOrder(*module.getContext(), parts.size(), compile)))
    return failure();
  return objects;
}

} // namespace tw
