// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How kernels walk over memory: buffers, and boxes of them in terms of loop dimensions.
#pragma once
#include "tilewright/Kernel.h"
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tw::kernels {

/// Bytes of an element in memory.
int64_t bytesOf(kernel::DType dtype);

/// A number, or a symbol that calls bring.
struct Extent {
  std::optional<int64_t> size;
  std::string symbol = {};
  std::optional<int64_t> most = {}; // what the symbol is at most, in the kernel for such calls
  bool operator==(const Extent &) const = default;
};

/// One axis of a buffer as a loop reads it: element offset + stride * (coordinate along `dim`).
struct Axis {
  int dim = -1; // -1: only the element `offset`
  int64_t offset = 0, stride = 1;
  std::vector<std::pair<int, int64_t>> scalarTerms = {}; // scalar arguments, times, in the offset
  std::vector<std::pair<int, int64_t>> dimTerms = {}; // coordinates along other dimensions, times
  bool isPartial = false;                             // `dim` may end before the axis does
  bool operator==(const Axis &) const = default;
};

struct BufferSpec {
  std::string name;
  kernel::DType dtype;
  std::vector<Extent> shape;
  bool isOutput = false;
};

struct Access {
  int buffer = -1;
  std::vector<Axis> axes; // one for each axis of the buffer; no dimension twice
  bool operator==(const Access &) const = default;

  bool covers(int dim) const {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) { return axis.dim == dim; });
  }
  /// Whether the coordinate along `dim` moves what is read along another dimension: that of a tap
  /// of a window.
  bool isMovedBy(int dim) const;
};

/// Takes those dimensions out that nothing uses: `use` all that are, then `compact` the list, then
/// `renumber` all.
class DimRenumbering {
public:
  explicit DimRenumbering(size_t count) : used(count) {}
  void use(const Access &access);
  void use(const std::vector<int> &dims);
  std::vector<Extent> compact(const std::vector<Extent> &dims);
  void renumber(Access &access) const;
  void renumber(std::vector<int> &dims) const;

private:
  std::vector<bool> used;
  std::vector<int> number;
};

} // namespace tw::kernels
