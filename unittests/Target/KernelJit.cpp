// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelJit.h"
#include "Driver/Targets.h"
#include "Program/Link/LoadedCode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace tw::target;

struct KernelJit::State {
  tw::LoadedCode code;
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

std::string tw::target::testedTarget(const std::string &cpu) {
  const char *tested = std::getenv("TW_TEST_CPU");
  return "cpu:" + (cpu == "host" && tested ? tested : cpu);
}

namespace {

/// A kernel on its way from text to code.
struct Lowering {
  explicit Lowering(tw::NamedTarget given)
      : target(std::move(given)), context(registryOf(*target.code)) {}

  static mlir::DialectRegistry registryOf(const Target &target) {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect>();
    target.registerDialects(registry);
    return registry;
  }

  tw::NamedTarget target;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> code;
  KernelInfo info;
};

} // namespace

/// For scripts/compare_cpu_code.py: the text goes to the folder that KERNEL_JIT_TEXT names.
static void keepText(const std::string &text) {
  const char *folder = std::getenv("KERNEL_JIT_TEXT");
  if (!folder)
    return;
  std::ofstream(std::string(folder) + "/" + std::to_string(std::hash<std::string>()(text)) +
                ".mlir")
      << text;
}

static std::unique_ptr<Lowering> lower(const std::string &text, const std::string &cpu) {
  keepText(text);
  auto found = tw::findTarget(testedTarget(cpu));
  require(found.ok(), "there is no such CPU");
  auto result = std::make_unique<Lowering>(*std::move(found));
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &result->context);
  require(bool(module), "the text does not parse");
  auto kernel = module->lookupSymbol("k");
  require(kernel, "there is no @k");
  result->code = mlir::ModuleOp::create(module->getLoc());
  auto info = result->target.code->lower(kernel, *result->code);
  require(mlir::succeeded(info), "the target refuses the kernel");
  result->info = *info;
  if (std::getenv("KERNEL_JIT_PRINT"))
    result->code->dump();
  require(mlir::succeeded(mlir::verify(*result->code)), "the lowered kernel is invalid");
  return result;
}

std::string tw::target::assemblyOf(const std::string &text, const std::string &cpu) {
  auto lowering = lower(text, cpu);
  auto made = makeText(*lowering->code, lowering->target.cpu, CodeText::Assembly);
  require(mlir::succeeded(made), "LLVM writes no assembly");
  return *made;
}

KernelJit::KernelJit(const std::string &text, const std::string &cpu)
    : state(std::make_unique<State>()) {
  auto lowering = lower(text, cpu);
  kernelInfo = lowering->info;
  auto objects = makeObjects(*lowering->code, lowering->target.cpu, "");
  require(mlir::succeeded(objects), "LLVM makes no code");
  std::vector<std::string> functions = {"k", "k_info"};
  if (kernelInfo.fills)
    functions.emplace_back("k_fill");
  auto loaded = LoadedCode::load(*objects, functions);
  require(loaded.ok(), "the code cannot be loaded");
  state->code = *std::move(loaded);
  state->kernel = state->code.function<void(void **, int64_t *, uint8_t *, int64_t, int64_t)>("k");
  state->info = state->code.function<void(int64_t *, int64_t *)>("k_info");
  if (kernelInfo.fills)
    state->fill = state->code.function<void(void **, int64_t *)>("k_fill");
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
  constexpr uint8_t unwritten = 0xA5; // what a workspace may hold before
  std::vector<uint8_t> room(bytes + 64, unwritten);
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
