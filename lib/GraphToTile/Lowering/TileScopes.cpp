// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Lowering/TileScopes.h"

using namespace mlir;

namespace tw::conversion {

Value TileScopes::result(ResultRef result, ArrayRef<int> dims) const {
  for (const Scope &scope : llvm::reverse(scopes)) {
    for (auto &[known, tile] : scope.results)
      if (known == result)
        return tile;
    if (scope.hasOther(dims))
      break;
  }
  return {};
}

Value TileScopes::loaded(const Access &access, Value pad) const {
  std::vector<int> dims;
  for (const Axis &axis : access.axes) {
    if (axis.dim >= 0)
      dims.push_back(axis.dim);
    for (auto &term : axis.dimTerms)
      dims.push_back(term.first);
  }
  for (const Scope &scope : llvm::reverse(scopes)) {
    for (const Load &load : scope.loads)
      if (load.access == access && load.pad == pad)
        return load.tile;
    if (scope.hasOther(dims))
      break;
  }
  return {};
}

} // namespace tw::conversion
