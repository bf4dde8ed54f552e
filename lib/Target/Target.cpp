// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Target.h"
#include "IR/Coded.h"
#include "IR/Tile/Variants.h"
#include "Target/Common/Math/Libm.h"
#include "Target/Common/ToLLVM.h"
#include "Target/Common/VariantSwitch.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace tw::target {

Target::~Target() = default;

LogicalResult Target::finish(const Cancellation *, CodeCache *) { return success(); }
LogicalResult Target::printPlan(Operation *, raw_ostream &, const Cancellation *) {
  return success();
}
FailureOr<std::string> Target::deviceText(Operation *, StringRef, const Cancellation *) {
  return std::string();
}

/// The code of one kernel alone.
static FailureOr<KernelInfo> lowerOne(Target &target, Operation *kernel, ModuleOp into,
                                      const Cancellation *cancellation) {
  // In a module of its own: what is there already in `into` is not looked at.
  OwningOpRef<ModuleOp> code = ModuleOp::create(kernel->getLoc());
  FailureOr<KernelInfo> info = target.emit(kernel, *code, cancellation);
  if (failed(info) || failed(lowerLoops(*code, cancellation)))
    return failure();
  declareCalled(*code);
  moveFunctions(*code, into);
  return info;
}

/// Nobody calls it any more.
static void eraseCode(StringRef kernel, ModuleOp into) {
  for (StringRef suffix : {"", "_info", "_fill"})
    if (Operation *function = into.lookupSymbol((kernel + suffix).str()))
      function->erase();
}

/// A kernel, its variants, and the function that chooses among them.
static FailureOr<KernelInfo> lowerVariants(Target &target, tile::KernelOp kernel,
                                           ArrayRef<tile::KernelOp> variants, ModuleOp into,
                                           const Cancellation *cancellation) {
  OwningOpRef<tile::KernelOp> any(cast<tile::KernelOp>(kernel->clone()));
  any->setSymName(nameOfAny(kernel));
  FailureOr<KernelInfo> info = lowerOne(target, *any, into, cancellation);
  if (failed(info))
    return failure();
  LoweredKernel base{kernel, *info};
  SmallVector<LoweredKernel> others;
  for (tile::KernelOp variant : variants) {
    FailureOr<KernelInfo> own = lowerOne(target, variant, into, cancellation);
    if (failed(own))
      return failure();
    std::string why;
    others.push_back({variant, *own});
    if (!isInterchangeable(others.back(), base, why)) {
      emitReport(variant.getLoc()) << "variant " << variant.getSymName() << " is left out: " << why;
      others.pop_back();
      eraseCode(variant.getSymName(), into);
    }
  }
  return emitVariantSwitch(base, others, into);
}

FailureOr<KernelInfo> Target::lower(Operation *kernel, ModuleOp into,
                                    const Cancellation *cancellation) {
  if (auto program = dyn_cast<tile::KernelOp>(kernel))
    if (SmallVector<tile::KernelOp> variants = tile::variantsOf(program); !variants.empty())
      return lowerVariants(*this, program, variants, into, cancellation);
  return lowerOne(*this, kernel, into, cancellation);
}

std::vector<std::vector<unsigned>> dynamicSizes(TypeRange arguments) {
  std::vector<std::vector<unsigned>> result;
  for (Type type : arguments)
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      auto &sizes = result.emplace_back();
      for (int64_t d = 0; d < tensor.getRank(); ++d)
        if (tensor.isDynamicDim(d))
          sizes.push_back(unsigned(d));
    }
  return result;
}

} // namespace tw::target
