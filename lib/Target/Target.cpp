// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Target.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tw::target {

Target::~Target() = default;

std::vector<std::vector<unsigned>> dynamicSizes(mlir::TypeRange arguments) {
  std::vector<std::vector<unsigned>> result;
  for (mlir::Type type : arguments)
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
      auto &sizes = result.emplace_back();
      for (int64_t d = 0; d < tensor.getRank(); ++d)
        if (tensor.isDynamicDim(d))
          sizes.push_back(unsigned(d));
    }
  return result;
}

} // namespace tw::target
