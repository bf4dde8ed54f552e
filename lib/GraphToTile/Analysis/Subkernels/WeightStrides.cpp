// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Subkernels/WeightStrides.h"

using namespace mlir;

namespace tw::conversion {

std::optional<SmallVector<int64_t>> weightStrides(graph::WeightAttr weight,
                                                  const BufferView &view) {
  SmallVector<int64_t> parts(view.parts.size()), strides;
  for (auto [axis, cut] : llvm::enumerate(view.cut)) {
    int64_t stride = weight.getStrides()[axis];
    for (int64_t part : llvm::reverse(cut)) {
      parts[part] = stride;
      stride *= *view.parts[part].size;
    }
  }
  for (const ReassociationIndices &group : view.joined) {
    std::optional<int64_t> inner;
    for (int64_t part : llvm::reverse(group)) {
      if (*view.parts[part].size == 1)
        continue;
      if (inner && parts[part] != *inner)
        return std::nullopt;
      if (!inner)
        strides.push_back(parts[part]);
      inner = parts[part] * *view.parts[part].size;
    }
    if (!inner)
      strides.push_back(1);
  }
  return strides;
}

bool canBePacked(Value tensor, const BufferView &view) {
  auto weight = tensor.getDefiningOp<graph::WeightOp>();
  return weight && weightStrides(weight.getSource(), view).has_value();
}

} // namespace tw::conversion
