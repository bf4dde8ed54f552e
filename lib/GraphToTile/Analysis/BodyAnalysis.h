// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the body of an operation needs of its subkernel: how its look-ups read memory, which scalars
// and sizes it uses, and along which dimensions its values extend.
#pragma once
#include "GraphToTile/Analysis/Loops/AffineIndex.h"
#include "GraphToTile/Analysis/Subkernels/SubkernelBuilder.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tw::conversion {

/// Dimensions in ascending order.
using DimSet = std::vector<int>;
DimSet unionOf(const DimSet &a, const DimSet &b);
/// The dimensions that an access reads along.
DimSet dimsOf(const Access &access);

/// The checks of positions that nothing is read at, as what lies there is a constant.
llvm::SmallVector<graph::CheckIndexOp> unreadChecks(mlir::Block &body);

class BodyAnalysis {
public:
  /// Fills in what `statement` says of its body. `store` puts a computed value into memory.
  BodyAnalysis(SubkernelBuilder &subkernel, Statement &statement, const OpLoops &nest,
               const LoopNests &nests, const JoinedDims &joined,
               llvm::function_ref<void(mlir::Value)> store)
      : subkernel(subkernel), statement(statement), nest(nest), nests(nests), joined(joined),
        store(store) {}

  /// Says along which dimensions an argument of the body extends.
  void map(mlir::Value argument, DimSet dims) { known[argument] = std::move(dims); }
  /// The dimensions of a scalar of the body, or one from outside of it. On failure `why` says what
  /// tile programs do not have.
  mlir::FailureOr<DimSet> visit(mlir::Value value);

  std::string why;

private:
  mlir::FailureOr<DimSet> compute(mlir::Value value);
  mlir::FailureOr<DimSet> argument(mlir::BlockArgument value);
  mlir::FailureOr<DimSet> operands(mlir::Operation *op);
  mlir::FailureOr<DimSet> elementwise(mlir::Operation *op);
  mlir::FailureOr<DimSet> gather(mlir::tensor::ExtractOp op);
  mlir::FailureOr<DimSet> padded(mlir::arith::SelectOp op);
  bool window(mlir::Operation *key, mlir::tensor::ExtractOp op, mlir::Value inside,
              mlir::Value pad);
  std::optional<Axis> axisOf(const AffineIndex &index, llvm::DenseSet<int> &used) const;
  mlir::FailureOr<DimSet> loop(mlir::scf::ForOp op);
  mlir::FailureOr<DimSet> size(mlir::tensor::DimOp op);
  mlir::FailureOr<DimSet> fail(const llvm::Twine &text);
  bool isElementByElement(int dim) const;
  std::vector<int> dimsOfLoops(llvm::ArrayRef<int> loops) const {
    return joined.of(nests.table.atoms({loops.begin(), loops.end()}));
  }

  SubkernelBuilder &subkernel;
  Statement &statement;
  const OpLoops &nest;
  const LoopNests &nests;
  const JoinedDims &joined;
  llvm::function_ref<void(mlir::Value)> store;
  llvm::DenseMap<mlir::Value, DimSet> known;
};

} // namespace tw::conversion
