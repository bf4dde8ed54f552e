// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Text/Kernels.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/Tile.h"
#include "Import/Text/Parse.h"
#include "Import/Text/Stages.h"
#include "Support/Counted.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {

/// An output that no program stores to: the mistake of an author that tracing finds in C++.
static Status checkStored(tile::KernelOp kernel) {
  for (auto [buffer, argument] : llvm::zip(kernel.getBody().getArguments(),
                                           kernel.getArguments().getAsRange<tile::ArgumentAttr>()))
    if (argument.getAccess() == tile::Access::Out && !argument.getInit() &&
        llvm::none_of(buffer.getUsers(), llvm::IsaPred<tile::StoreOp, tile::ScatterOp>))
      return Diagnostic{
          Code::KERNEL_3,
          fmt::format("nothing is ever stored to output {}", argument.getName().str()),
          fmt::format("{}, in kernel {}", describePlace(kernel.getLoc()),
                      kernel.getSymName().str()),
          {},
          "store to it, or give it a value that it is filled with: out %y: ... init 0.0 : f32"};
  return {};
}

Result<OwningOpRef<ModuleOp>> importKernelString(MLIRContext *context, std::string_view text,
                                                 const std::string &name) {
  context
      ->loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  TW_ASSIGN(OwningOpRef<ModuleOp> module,
            parseModule(context, text, name, Code::IMPORT_101,
                        "docs/tile-programs.md says what a kernel's text is"));
  for (Operation &op : *module->getBody())
    if (!isa<tile::KernelOp>(op))
      return text::errorAt(
          &op, Code::IMPORT_108,
          fmt::format("{} stands beside the kernels", op.getName().getStringRef().str()),
          "a file of kernels has nothing else in it");
  if (module->getBody()->empty())
    return Diagnostic{Code::IMPORT_108, "there is no kernel in the file", name};
  for (auto kernel : module->getOps<tile::KernelOp>())
    TW_TRY(checkStored(kernel));
  return module;
}

Result<Operation *> findKernel(ModuleOp module, const std::string &wanted,
                               const std::string &name) {
  std::string names;
  Operation *found = nullptr;
  size_t count = 0;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    names += (count++ ? ", " : "") + kernel.getSymName().str();
    if (kernel.getSymName() == wanted || wanted.empty())
      found = kernel;
  }
  if (found && (!wanted.empty() || count == 1))
    return found;
  return Diagnostic{Code::IMPORT_109,
                    wanted.empty() ? fmt::format("the file has {}", counted(count, "kernel"))
                                   : fmt::format("there is no kernel \"{}\"", wanted),
                    name,
                    {fmt::format("the kernels are: {}", names)},
                    "name one with --kernel=NAME"};
}

} // namespace tw
