// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/LowerKernels.h"
#include "IR/Coded.h"
#include "IR/Graph/Values.h"
#include "IR/Threads.h"
#include "IR/Tile/Tile.h"
#include "IR/Tile/Variants.h"
#include "Target/Common/Math/Libm.h"

using namespace mlir;

namespace tw {
namespace {

/// A kernel on its way.
struct Work {
  Operation *kernel;
  OwningOpRef<ModuleOp> code;
  target::KernelInfo info = {};
  KernelSummary summary = {};
};

} // namespace

/// The kernel itself, for the interpreter.
static void addProgram(tile::KernelOp kernel, KernelSummary &summary) {
  OwningOpRef<tile::KernelOp> program = kernel.clone();
  for (StringRef name : {tile::TileDialect::configurationName, tile::TileDialect::variantsName,
                         tile::variantSizeName})
    program.get()->removeAttr(name); // which change no result
  llvm::raw_string_ostream(summary.program) << *program;
}

static std::vector<Work> kernelsOf(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> kernels;
  module.walk([&](graph::DispatchOp op) { kernels.insert(symbols.lookup(op.getKernel())); });
  std::vector<Work> all;
  for (Operation *kernel : kernels)
    all.push_back({kernel, ModuleOp::create(kernel->getLoc())});
  return all;
}

static LogicalResult lower(Work &work, target::Target &target, bool hasValues,
                           const Cancellation *cancellation) {
  FailureOr<target::KernelInfo> info = target.lower(work.kernel, *work.code, cancellation);
  if (isCancelled(cancellation))
    return failure();
  if (failed(info))
    return emitCoded(work.kernel->getLoc(), Code::TARGET_1)
           << "@" << SymbolTable::getSymbolName(work.kernel).getValue() << " could not be lowered";
  work.info = *std::move(info);
  work.summary = describeKernel(work.kernel);
  if (auto program = dyn_cast<tile::KernelOp>(work.kernel)) {
    work.summary.cost = costOf(program, *work.code);
    if (hasValues)
      addProgram(program, work.summary);
  }
  return success();
}

FailureOr<LoweredKernels> lowerKernels(ModuleOp module, ModuleOp into, target::Target &target,
                                       const Cancellation *cancellation) {
  DialectRegistry registry;
  target.registerDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    module.getContext()->getOrLoadDialect(name);

  std::vector<Work> all = kernelsOf(module);
  bool hasValues = graph::hasValues(module);
  if (failed(onThreadsInOrder(*module.getContext(), all.size(), [&](size_t i) {
        return failure(isCancelled(cancellation) ||
                       failed(lower(all[i], target, hasValues, cancellation)));
      })))
    return failure();
  LoweredKernels result;
  for (Work &work : all) {
    StringRef name = SymbolTable::getSymbolName(work.kernel).getValue();
    target::moveFunctions(*work.code, into);
    result.kernels[name] = std::move(work.info);
    result.texts[name] = std::move(work.summary);
  }
  return result;
}

} // namespace tw
