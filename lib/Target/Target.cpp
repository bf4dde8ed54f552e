// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Target.h"
#include "Target/Common/Libm.h"
#include "Target/Common/ToLLVM.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace tw::target {

Target::~Target() = default;

FailureOr<KernelInfo> Target::lower(Operation *kernel, ModuleOp into) {
  // In a module of its own: what is there already in `into` is not looked at.
  OwningOpRef<ModuleOp> code = ModuleOp::create(kernel->getLoc());
  FailureOr<KernelInfo> info = emit(kernel, *code);
  if (failed(info) || failed(lowerLoops(*code)))
    return failure();
  declareCalled(*code);
  moveFunctions(*code, into);
  return info;
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
