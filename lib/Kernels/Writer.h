// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all of the compiler's kernels begin with: symbols and buffers declared, the grid, boxes of
// buffers as tiles over the loop dimensions.
#pragma once
#include "Kernels/Steps.h"
#include <functional>
#include <map>

namespace tw::kernels {

/// How a kernel walks over one loop dimension.
struct Walk {
  int64_t block = 0;    // elements a program takes; 0: all of them
  int64_t programs = 1; // how many programs one worker runs in a row, a hint
  int64_t chunk = 0;    // of one that is reduced: elements in a trip of a loop; 0: no loop
  int with = -1; // cut into as many blocks as this other one, along the same axis of the grid
};

/// Declares what a kernel is called with and places it in the grid; for use while it is traced.
class Writer {
public:
  /// `walks`: one for each dimension. Dimensions that are cut into blocks make up the grid.
  Writer(const std::vector<Extent> &dims, const std::vector<BufferSpec> &buffers,
         const std::vector<kernel::DType> &scalars, const std::vector<Walk> &walks);

  kernel::Size size(const Extent &extent) const;
  /// How many elements of a dimension this program has; its first one.
  kernel::Size extent(int dim) const;
  kernel::Index first(int dim) const;
  /// The number of this program along a dimension.
  kernel::Index program(int dim) const { return ids[dim]; }
  /// Whether a program may stand at the edge of a dimension, with elements outside of it.
  bool hasEdge(int dim) const;

  /// From now on accesses take the one element at `position` of a dimension that is not cut.
  void fix(int dim, const kernel::Index &position);

  /// From now on accesses take `block` elements of a dimension that is not cut, the ones of piece
  /// `number`; beyond the dimension's end they read zeros.
  void take(int dim, int64_t block, const kernel::Index &number);
  /// From now on accesses take `count` elements of a dimension that is not cut, all of which exist,
  /// from `begin` on.
  void takeInside(int dim, const kernel::Size &count, const kernel::Index &begin);

  const kernel::Buffer &buffer(int number) const { return buffers[number]; }
  kernel::Scalar scalar(int number) const { return scalars[number]; }

  /// What an access covers, with an axis for each of `order` (1 where the access does not extend
  /// along it); `pad`: what it reads outside of the buffer.
  kernel::Tile load(const Access &access, const std::vector<int> &order,
                    const kernel::Scalar &pad = {}) const;
  /// Stores a tile that has an axis for each of `order`.
  void store(const Access &access, const std::vector<int> &order, const kernel::Tile &tile) const;
  using Combine = std::function<kernel::Tile(const kernel::Tile &, const kernel::Tile &)>;
  /// The same, with a position for each axis that runs along no dimension; `combine`, if given,
  /// takes what is there and the tile.
  void update(const Access &access, const std::vector<int> &order, const kernel::Tile &tile,
              const std::vector<kernel::Index> &positions, const Combine &combine) const;
  /// The same where positions are tiles, with an axis for each of `order`: one element after the
  /// other, all of which are different ones. Axes that run along a dimension are plain.
  void updateElements(const Access &access, const std::vector<int> &order, const kernel::Tile &tile,
                      const std::vector<kernel::Tile> &places, const Combine &combine) const;
  /// The places along a dimension; 1 long along the others of `order`.
  kernel::Tile coordinate(int dim, const std::vector<int> &order) const;

private:
  struct Box {
    kernel::Positions positions;
    kernel::Shape extents;
    std::vector<int64_t> strides; // empty: all 1
  };
  Box boxOf(const Access &access) const;
  kernel::Tile inBox(const Access &access, const std::vector<int> &order, const Box &box,
                     kernel::Tile tile) const;
  kernel::Tile insideParts(const Access &access, const std::vector<int> &order) const;

  std::vector<Extent> dims;
  std::vector<Walk> walks;
  std::map<std::string, kernel::Size> symbols;
  std::vector<kernel::Buffer> buffers;
  std::vector<kernel::Scalar> scalars;
  std::vector<kernel::Index> ids; // for each dimension
  struct Part {
    kernel::Index begin;
    kernel::Size count;
  };
  std::map<int, Part> parts; // of dimensions of which one is taken
};

} // namespace tw::kernels
