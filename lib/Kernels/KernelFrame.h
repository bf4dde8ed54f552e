// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What templates begin with: symbols and buffers declared, the grid, boxes of buffers as tiles over
// the loop dimensions.
#pragma once
#include "Kernels/Access.h"
#include <map>

namespace tw::kernels {

/// How a template tiles one loop dimension.
struct DimTiling {
  int64_t block = 0;    // elements a program takes; 0: all of them
  int64_t programs = 1; // how many programs one worker runs in a row, a hint
};

/// Declares what a kernel is called with and places it in the grid; for use while it is traced.
class KernelFrame {
public:
  /// `tilings`: one for each dimension. Dimensions that are cut into blocks make up the grid.
  KernelFrame(const std::vector<Extent> &dims, const std::vector<BufferSpec> &buffers,
              const std::vector<DimTiling> &tilings);

  kernel::Size size(const Extent &extent) const;
  /// How many elements of a dimension this program has; its first one.
  kernel::Size extent(int dim) const;
  kernel::Index first(int dim) const { return ids[dim] * tilings[dim].block; }
  /// The number of this program along a dimension.
  kernel::Index program(int dim) const { return ids[dim]; }

  /// From now on accesses take the one element at `position` of a dimension that is not cut.
  void fix(int dim, const kernel::Index &position) { take(dim, 1, position); }
  /// From now on accesses take `block` elements of a dimension that is not cut, those of block
  /// `number`; beyond the dimension's end they read zeros.
  void take(int dim, int64_t block, const kernel::Index &number);

  const kernel::Buffer &buffer(int number) const { return buffers[number]; }

  /// What an access covers, with an axis for each of `order` (1 where the access does not extend
  /// along it).
  kernel::Tile load(const Access &access, const std::vector<int> &order) const;
  /// Stores a tile that has an axis for each of `order`.
  void store(const Access &access, const std::vector<int> &order, const kernel::Tile &tile) const;

private:
  struct Box {
    kernel::Positions positions;
    kernel::Shape extents;
    std::vector<int64_t> strides; // empty: all 1
  };
  Box boxOf(const Access &access) const;

  std::vector<Extent> dims;
  std::vector<DimTiling> tilings;
  std::map<std::string, kernel::Size> symbols;
  std::vector<kernel::Buffer> buffers;
  std::vector<kernel::Index> ids; // for each dimension
};

} // namespace tw::kernels
