// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of kernels: what is taken is printed as a text that is taken too, can be simplified, and
// is lowered by the cpu target to valid code, or refused.
#include "IR/Tile/Tile.h"
#include "Import/Text/Kernels.h"
#include "Target/CPU/CPUTarget.h"
#include "Tile/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include <cstdlib>
#include <optional>
#include <string_view>

static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::optional<mlir::MLIRContext> context;
  static unsigned imports = 0;
  if (imports++ % 1000 == 0) // what a context has interned piles up
    context.emplace(mlir::MLIRContext::Threading::DISABLED);
  auto module =
      tw::importKernelString(&*context, {reinterpret_cast<const char *>(data), size}, "fuzz.mlir");
  if (!module)
    return 0;
  std::string text = textOf(**module);
  auto again = tw::importKernelString(&*context, text, "again.mlir");
  if (!again || textOf(**again) != text)
    std::abort();
  mlir::PassManager passes(&*context);
  passes.addNestedPass<tw::tile::KernelOp>(tw::tile::createSimplify());
  if (failed(passes.run(**module)))
    std::abort();
  static const tw::InstructionSet set{tw::Architecture::X86_64, {"avx2", "fma"}};
  auto target = tw::target::createCPUTarget(tw::target::CpuFeatures::of(set));
  mlir::ScopedDiagnosticHandler silent(&*context, [](mlir::Diagnostic &) {});
  for (auto kernel : (**module).getOps<tw::tile::KernelOp>()) {
    mlir::OwningOpRef<mlir::ModuleOp> code = mlir::ModuleOp::create(kernel.getLoc());
    if (succeeded(target->lower(kernel, *code)) && failed(mlir::verify(*code)))
      std::abort();
  }
  return 0;
}
