// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Machine.h"
#include "IR/Coded.h"
#include "Program/SoftFloat.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "runtime/ProgramABI.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <mutex>

using namespace mlir;

namespace tw {

/// Everything above the x86-64 baseline that code generation makes use of.
static const char *const usefulFeatures[] = {
    "sse3",         "ssse3",
    "sse4.1",       "sse4.2",
    "popcnt",       "cx16",
    "sahf",         "lzcnt",
    "bmi",          "bmi2",
    "movbe",        "avx",
    "f16c",         "fma",
    "avx2",         "avxvnni",
    "avx512f",      "avx512cd",
    "avx512bw",     "avx512dq",
    "avx512vl",     "avx512vbmi",
    "avx512vbmi2",  "avx512vnni",
    "avx512bitalg", "avx512vpopcntdq",
    "avx512bf16",   "avx512fp16",
};

std::vector<std::string> hostFeatures() {
  std::vector<std::string> features;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const char *name : usefulFeatures)
    if (host.lookup(name))
      features.emplace_back(name);
  return features;
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const std::vector<std::string> &features) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error, list;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  for (const std::string &feature : features)
    list += (list.empty() ? "+" : ",+") + feature;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "x86-64", list, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

/// Code is for the listed features and scheduled for this host.
static void setFunctionAttributes(llvm::Module &module) {
  std::string tune = llvm::sys::getHostCPUName().str();
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("tune-cpu", tune);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

/// "TWPROG01", the length, and the text, in a section of its own.
static void addMetadata(llvm::Module &module, StringRef text) {
  uint64_t length = text.size();
  std::string bytes = "TWPROG01";
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(length >> (8 * i));
  bytes += text;
  auto *data = llvm::ConstantDataArray::getString(module.getContext(), bytes, /*AddNull=*/false);
  auto *global = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, data, "tw_metadata");
  global->setSection(TW_METADATA_SECTION);
  llvm::appendToUsed(module, {global});
}

FailureOr<SmallVector<char, 0>>
makeObject(ModuleOp module, const std::vector<std::string> &features, StringRef metadata) {
  auto report = [&](const char *what) {
    return emitCoded(module.getLoc(), Code::PROGRAM_6) << what;
  };
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(features);
  if (!machine)
    return report("LLVM has no code generator for this machine");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "tilewright");
  if (!code)
    return report("the program cannot be written as LLVM IR");
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  setFunctionAttributes(*code);
  addMetadata(*code, metadata);
  addSoftFloat(*code);
  optimize(*code, *machine);

  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return report("LLVM cannot write object files for this machine");
  emit.run(*code);
  return object;
}

} // namespace tw
