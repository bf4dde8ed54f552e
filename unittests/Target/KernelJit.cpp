// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelJit.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cstdio>
#include <cstdlib>

using namespace tw::target;

struct KernelJit::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*kernel)(void **, int64_t *, uint8_t *, int64_t, int64_t) = nullptr;
  void (*info)(int64_t *, int64_t *) = nullptr;
  void (*fill)(void **, int64_t *) = nullptr;
};

static void require(bool good, const char *what) {
  if (good)
    return;
  std::fprintf(stderr, "KernelJit: %s\n", what);
  std::abort();
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

static std::vector<std::string> enabledFeatures(llvm::TargetMachine &machine) {
  std::vector<std::string> names;
  llvm::SmallVector<llvm::StringRef> parts;
  machine.getTargetFeatureString().split(parts, ',');
  for (llvm::StringRef part : parts)
    if (part.starts_with("+"))
      names.push_back(part.str());
  return names;
}

namespace {

/// A kernel on its way from text to code.
struct Lowering {
  KernelInfo info;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

} // namespace

static llvm::orc::JITTargetMachineBuilder machineFor(const std::string &cpu) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto host = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (cpu == "host")
    return host;
  auto features = featuresOfCpu(cpu);
  require(features.has_value(), "there is no such CPU");
  llvm::orc::JITTargetMachineBuilder builder(host.getTargetTriple());
  builder.setCPU("x86-64");
  builder.addFeatures(*features);
  return builder;
}

static Lowering lower(const std::string &text, llvm::orc::JITTargetMachineBuilder machineBuilder) {
  Lowering result;
  result.machine = llvm::cantFail(machineBuilder.createTargetMachine());
  CpuFeatures features = CpuFeatures::fromNames(enabledFeatures(*result.machine));
  bool isTile = text.find("tile.kernel") != std::string::npos;
  auto target = isTile ? createCPUTarget(features) : createReferenceTarget();

  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect>();
  target->registerDialects(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  require(bool(module), "the text does not parse");
  auto kernel = module->lookupSymbol("k");
  require(kernel, "there is no @k");
  mlir::OwningOpRef<mlir::ModuleOp> code = mlir::ModuleOp::create(module->getLoc());
  auto info = target->lower(kernel, *code);
  require(mlir::succeeded(info), "the target refuses the kernel");
  result.info = *info;
  if (std::getenv("KERNEL_JIT_PRINT"))
    code->dump();
  require(mlir::succeeded(mlir::verify(*code)), "the lowered kernel is invalid");

  result.module = mlir::translateModuleToLLVMIR(*code, *result.context);
  require(bool(result.module), "the lowered kernel cannot be translated");
  result.module->setDataLayout(result.machine->createDataLayout());
  result.module->setTargetTriple(result.machine->getTargetTriple());
  optimize(*result.module, *result.machine);
  if (std::getenv("KERNEL_JIT_PRINT_LLVM"))
    result.module->print(llvm::errs(), nullptr);
  return result;
}

static std::string write(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emit;
  require(!machine.addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::AssemblyFile),
          "LLVM writes no assembly");
  emit.run(module);
  return text.str().str();
}

std::string tw::target::assemblyOf(const std::string &text, const std::string &cpu) {
  Lowering lowering = lower(text, machineFor(cpu));
  return write(*lowering.module, *lowering.machine);
}

KernelJit::KernelJit(const std::string &text, const std::string &cpu)
    : state(std::make_unique<State>()) {
  auto machineBuilder = machineFor(cpu);
  Lowering lowering = lower(text, machineBuilder);
  kernelInfo = lowering.info;
  state->jit = llvm::cantFail(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machineBuilder)).create());
  llvm::cantFail(state->jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(lowering.module), std::move(lowering.context))));
  state->kernel = llvm::cantFail(state->jit->lookup("k"))
                      .toPtr<void (*)(void **, int64_t *, uint8_t *, int64_t, int64_t)>();
  state->info =
      llvm::cantFail(state->jit->lookup("k_info")).toPtr<void (*)(int64_t *, int64_t *)>();
  if (kernelInfo.fills)
    state->fill =
        llvm::cantFail(state->jit->lookup("k_fill")).toPtr<void (*)(void **, int64_t *)>();
}

KernelJit::~KernelJit() = default;
KernelJit::KernelJit(KernelJit &&) noexcept = default;

std::pair<int64_t, int64_t> KernelJit::needs(std::vector<int64_t> scalars) const {
  int64_t out[2];
  state->info(scalars.data(), out);
  return {out[0], out[1]};
}

std::vector<int64_t> KernelJit::run(std::vector<void *> buffers, std::vector<int64_t> scalars) {
  auto [iterations, bytes] = needs(scalars);
  require(!kernelInfo.iterations || *kernelInfo.iterations == iterations, "iterations disagree");
  require(!kernelInfo.workspaceBytes || *kernelInfo.workspaceBytes == bytes, "workspaces disagree");
  std::vector<uint8_t> room(bytes + 64);
  auto *workspace = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64);
  std::vector<int64_t> failure(3);
  buffers.push_back(failure.data());
  if (state->fill)
    state->fill(buffers.data(), scalars.data());
  int64_t middle = iterations / 2;
  state->kernel(buffers.data(), scalars.data(), workspace, middle, iterations);
  state->kernel(buffers.data(), scalars.data(), workspace, 0, middle);
  return failure;
}
