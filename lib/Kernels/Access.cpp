// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Access.h"

namespace tw::kernels {

int64_t bytesOf(kernel::DType dtype) {
  switch (dtype) {
  case kernel::DType::i8:
  case kernel::DType::u8:
  case kernel::DType::i1:
    return 1;
  case kernel::DType::f16:
  case kernel::DType::bf16:
  case kernel::DType::i16:
    return 2;
  case kernel::DType::f64:
  case kernel::DType::i64:
  case kernel::DType::index:
    return 8;
  case kernel::DType::f32:
  case kernel::DType::i32:
    return 4;
  }
  return 4;
}

bool Access::isMovedBy(int dim) const {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) {
    return std::any_of(axis.dimTerms.begin(), axis.dimTerms.end(),
                       [&](const auto &term) { return term.first == dim; });
  });
}

void DimRenumbering::use(const Access &access) {
  for (const Axis &axis : access.axes) {
    if (axis.dim >= 0)
      used[axis.dim] = true;
    for (auto &term : axis.dimTerms)
      used[term.first] = true;
  }
}

void DimRenumbering::use(const std::vector<int> &dims) {
  for (int dim : dims)
    used[dim] = true;
}

std::vector<Extent> DimRenumbering::compact(const std::vector<Extent> &dims) {
  std::vector<Extent> kept;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    number.push_back(int(kept.size()));
    if (used[dim])
      kept.push_back(dims[dim]);
  }
  return kept;
}

void DimRenumbering::renumber(Access &access) const {
  for (Axis &axis : access.axes) {
    axis.dim = axis.dim < 0 ? -1 : number[axis.dim];
    for (auto &term : axis.dimTerms)
      term.first = number[term.first];
  }
}

void DimRenumbering::renumber(std::vector<int> &dims) const {
  for (int &dim : dims)
    dim = number[dim];
}

} // namespace tw::kernels
