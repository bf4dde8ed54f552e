// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an operation computes for one element, as steps on tiles.
#pragma once
#include "Kernels/PieceBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tw::kernels {

class BodyReader {
public:
  /// `store` makes a computed value one that is in memory.
  BodyReader(PieceBuilder &piece, OpLoops &nest, const LoopNests &nests, const JoinedDims &joined,
             llvm::function_ref<void(mlir::Value)> store)
      : piece(piece), nest(nest), nests(nests), joined(joined), store(store) {}

  /// Says which step has the elements of an argument of the body.
  void map(mlir::Value value, int step) { known[value] = step; }
  /// The step that computes a scalar of the body, or one from outside of it. On failure `why` says
  /// what has no kernel.
  mlir::FailureOr<int> read(mlir::Value value);

  /// Dimensions that are run along element by element while the body is read.
  std::vector<int> folded;
  std::string why;

private:
  mlir::FailureOr<int> compute(mlir::Value value);
  mlir::FailureOr<int> operation(mlir::Operation *op);
  mlir::FailureOr<int> constant(mlir::Attribute value);
  mlir::FailureOr<int> argument(mlir::BlockArgument value);
  mlir::FailureOr<int> coordinate(uint64_t which);
  mlir::FailureOr<int> convertIndex(mlir::Operation *op);
  mlir::FailureOr<int> gather(mlir::Operation *op);
  mlir::FailureOr<int> roundedUp(mlir::arith::CeilDivUIOp op);
  mlir::FailureOr<int> padded(mlir::Operation *select);
  std::optional<int> window(mlir::tensor::ExtractOp op, mlir::Value inside, mlir::Value pad);
  mlir::FailureOr<int> loop(mlir::scf::ForOp op);
  mlir::FailureOr<int> check(mlir::Operation *op);
  mlir::FailureOr<int> size(mlir::Operation *op);
  mlir::FailureOr<int> fail(const llvm::Twine &text);
  int number(int64_t value);

  PieceBuilder &piece;
  OpLoops &nest;
  const LoopNests &nests;
  const JoinedDims &joined;
  llvm::function_ref<void(mlir::Value)> store;
  llvm::DenseMap<mlir::Value, int> known;
};

/// A body c + a * b; floats may be widened first.
struct ContractionParts {
  unsigned operands[2];
  bool isFloat;
};
std::optional<ContractionParts> matchContraction(mlir::linalg::LinalgOp op);

/// A body that keeps the greatest (or least) of an element and the first place where it is.
struct ExtremeParts {
  mlir::Value element;
  bool isMax;
};
std::optional<ExtremeParts> matchExtreme(mlir::linalg::LinalgOp op);

} // namespace tw::kernels
