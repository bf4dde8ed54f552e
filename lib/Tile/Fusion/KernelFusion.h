// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two kernels as one: the body of one of them, in which the other, which is pointwise, is written
// again (docs/tile-programs.md, "What fuses").
#pragma once
#include "IR/Tile/Tile.h"
#include "Tile/Fusion/Pointwise.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include <map>
#include <string>

namespace tw::tile {

/// The buffers and scalars of a kernel in the order in which a dispatch gives them.
struct Operands {
  explicit Operands(KernelOp kernel);
  /// The argument that operand `i` of a dispatch's inputs is.
  mlir::BlockArgument input(size_t i) const {
    return i < ins.size() ? ins[i] : scalars[i - ins.size()];
  }
  llvm::SmallVector<mlir::BlockArgument> ins, outs, scalars;
};

/// How many operations a kernel has; longestKernel bounds what fusion makes.
size_t lengthOf(KernelOp kernel);
/// Erases the kernels that no dispatch runs, be it as a variant of another one.
void eraseUnusedKernels(mlir::ModuleOp module);

class KernelFusion {
public:
  /// `shared`: the buffer of base, and that of other, that are the same memory. keepsShared:
  /// whether it stays an output of the new kernel.
  KernelFusion(KernelOp base, KernelOp other, mlir::BlockArgument shared,
               mlir::BlockArgument otherShared, const Pointwise &pointwise, bool keepsShared)
      : base(base), other(other), shared(shared), otherShared(otherShared), pointwise(pointwise),
        keepsShared(keepsShared), b(base.getContext()) {}

  /// The new kernel, which is in no module yet; fails with the reason in `why`. The outputs of
  /// other follow those of base; inputs and scalars likewise.
  mlir::FailureOr<KernelOp> follow(std::string &why) { return build(why, true); }
  mlir::FailureOr<KernelOp> replaceLoads(std::string &why) { return build(why, false); }
  /// As `follow`, where base stores equal parts of the shared buffer in stores of their own, and an
  /// element of other depends on one of each: the gates of a recurrent cell.
  mlir::FailureOr<KernelOp> followParts(std::string &why);

private:
  mlir::FailureOr<KernelOp> build(std::string &why, bool follows);
  /// The body of base, with other behind each store of the shared buffer.
  bool writeBehindStores(mlir::IRMapping &map, std::string &why);
  /// A block of base, with other instead of each load of the shared buffer, also in loops.
  bool writeForLoads(mlir::Block &block, mlir::IRMapping &map, std::string &why);
  /// A store to the shared buffer, and how far along it from the first one it is.
  struct PartStore {
    StoreOp store;
    std::vector<int64_t> distance;
  };
  /// Those of all parts.
  mlir::FailureOr<llvm::SmallVector<PartStore>> partStores(std::string &why);
  /// Sizes of the shared buffer are the same in both; other's further symbols get names of their
  /// own.
  bool unifySymbols(std::string &why);
  mlir::Type mapped(mlir::Type type) const;
  KernelOp createKernel();
  bool writeAfter(StoreOp store, mlir::IRMapping &map, std::string &why);
  /// Writes other for a box, of which base has given the tiles, and stores its results.
  bool writeOther(StoreOp store, const Box &box, llvm::ArrayRef<Pointwise::KnownTile> tiles,
                  std::string &why);
  bool writeInstead(LoadOp load, mlir::IRMapping &map, std::string &why);
  /// Dimensions along which a load may reach beyond its buffer.
  llvm::SmallVector<unsigned> openDims(LoadOp load);
  mlir::Value padded(mlir::Value tile, const Box &box, LoadOp load, llvm::ArrayRef<unsigned> edges,
                     mlir::IRMapping &map);

  KernelOp base, other;
  mlir::BlockArgument shared, otherShared;
  const Pointwise &pointwise;
  bool keepsShared;
  mlir::OpBuilder b;
  std::map<std::string, Size> symbols; // other's, in the result
  llvm::SmallVector<mlir::Attribute> allSymbols;
  llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::Value>> baseArguments;
  llvm::DenseMap<mlir::Value, mlir::Value> otherArguments;
};

} // namespace tw::tile
