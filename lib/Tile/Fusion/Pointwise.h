// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are functions of an element's coordinates: every result is stored once, at the same
// box, and each of its elements depends on elements at fixed distances from it. Such a kernel can
// be written again for any box, which is what fusion does (docs/tile-programs.md, "What fuses").
#pragma once
#include "IR/Tile/IndexForm.h"
#include "mlir/IR/Builders.h"
#include <functional>
#include <map>

namespace tw::tile {

/// Part of a buffer: where it begins, its extents, and which elements it has.
struct Box {
  llvm::SmallVector<mlir::Value> positions; // index
  std::vector<Size> extents;
  llvm::SmallVector<int64_t> strides = {}; // every n-th one; empty: all
  bool mayBeginOutside = false;

  int64_t stride(size_t dim) const { return strides.empty() ? 1 : strides[dim]; }
};

class Pointwise {
public:
  /// Fails with the reason in `why`.
  static mlir::FailureOr<Pointwise> analyse(KernelOp kernel, std::string &why);

  /// A part of a buffer that is there as a tile, instead of being loaded: how far it begins from
  /// where the box begins.
  struct KnownTile {
    llvm::SmallVector<int64_t> distance; // empty: at the box
    mlir::Value tile;
  };

  /// Where the kernel is written again. The box is of the outputs' dimensions, or in the order of
  /// the buffer for which `inOrderOf` was called.
  struct InlineSite {
    mlir::OpBuilder &b;
    Box box;
    /// The kernel's buffers and scalars there.
    llvm::DenseMap<mlir::Value, mlir::Value> arguments;
    std::map<std::string, Size> symbols;
    /// A buffer of which only these tiles are there.
    mlir::Value known;
    llvm::SmallVector<KnownTile> tiles;
  };

  /// The tiles that the kernel stores for the box, one for each of its outputs in order, with their
  /// dimensions in the order of these. Fails with
  /// the reason in `why`; what was made until then is dead.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> write(const InlineSite &site,
                                                        std::string &why) const;

  /// How far from the box the parts of a buffer begin that are read, each once. Fails with the
  /// reason in `why` where that is not a constant.
  mlir::FailureOr<std::vector<std::vector<int64_t>>> distancesTo(mlir::Value buffer,
                                                                 std::string &why) const;
  /// The same kernel with the dimensions of its box in the order in which it reads a buffer: then
  /// the outputs' dimensions are others of the box. As it is where there is no such order.
  Pointwise inOrderOf(mlir::Value buffer) const;
  bool isTransposed() const { return !llvm::is_sorted(order); }
  /// What belongs to the dimensions of the box, for those of the outputs.
  template <typename List>
  List ofOutputs(const List &ofBox) const {
    List permuted(ofBox);
    for (auto [d, dim] : llvm::enumerate(order))
      permuted[d] = ofBox[size_t(dim)];
    return permuted;
  }

  /// Whether it only moves and converts elements.
  bool isMovement() const;
  /// Whether it checks positions that are data.
  bool hasChecks() const;
  /// The shape that all its outputs have, in the order of the box.
  std::vector<Size> shape() const;
  llvm::ArrayRef<StoreOp> stores() const { return outputs; }

private:
  KernelOp kernel;
  llvm::SmallVector<StoreOp> outputs;
  std::vector<Size> positions, extents; // of the box of a program
  llvm::SmallVector<int64_t> order;     // which dimension of the box each one of the outputs is
  friend class PointwiseWriter;
};

} // namespace tw::tile
