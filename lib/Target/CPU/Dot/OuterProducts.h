// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.dot as outer products: a block of the result in registers, and for each step along K a few
// vectors of b times single elements of a, both read where they lie.
#pragma once
#include "Target/CPU/Dot/BlockPrefetch.h"

namespace tw::target::cpu {

/// A part of a result: `rows` x `vectors` vectors of `width` from (row, column) on.
struct ResultBlock {
  Indices batch;
  Ix row, column;
  unsigned rows, vectors, width;
  mlir::Value mask;     // of its last vector in a row
  bool isFirst = false; // of those that have these columns

  mlir::Value maskOf(size_t vector) const { return vector + 1 == vectors ? mask : mlir::Value(); }
};

class OuterProducts {
public:
  OuterProducts(Emitter &e, tile::DotOp op, const DotStep &plan);

  /// Puts both operands where the plan wants them; `byCalls`: in functions of their own, since LLVM
  /// takes more than twice as long for a function of twice the size.
  mlir::LogicalResult prepare(bool byCalls);

  /// Adds the products of all steps along K to `sums`, row-major.
  mlir::LogicalResult addTo(llvm::SmallVectorImpl<mlir::Value> &sums, const ResultBlock &block);

  /// Ends rows and steps along K where the buffers do, as the plan says.
  void limitToBuffers();

  /// How many rows of the result there are to add to; the others are only begun with.
  const Ix &rows() const { return rowCount; }

  /// Whether blocks say that they are the first to have their columns, and copy b.
  bool copiesByFirstRows() const;

  /// Forgets what was known of the operands meanwhile.
  void finish();

private:
  mlir::LogicalResult prepareOperand(mlir::Value tile, const DotOperand &operand, bool isB);
  mlir::LogicalResult viewTransposed(const DotOperand &operand);
  mlir::LogicalResult convert(mlir::Value tile, const Fill &fill, bool isB);
  Memory spaced(mlir::RankedTensorType tile, mlir::Type type);
  Ix inBuffer(tile::LoadOp load, int dim, const Ix &extent);

  using SumUp = llvm::function_ref<mlir::LogicalResult(const Ix &, const Ix &,
                                                       llvm::SmallVectorImpl<mlir::Value> &)>;
  mlir::LogicalResult inChains(llvm::SmallVectorImpl<mlir::Value> &sums, SumUp sumUp);
  mlir::LogicalResult step(const ResultBlock &block, bool inPairs, const Ix &k,
                           llvm::SmallVectorImpl<mlir::Value> &sums);
  /// How many steps an iteration of the loop along K makes.
  int64_t unrolledSteps(const ResultBlock &block) const;
  void keepApart();
  mlir::LogicalResult whole(const ResultBlock &block, const Ix &k, const Ix &at,
                            llvm::SmallVectorImpl<mlir::Value> &right);
  mlir::LogicalResult halves(const Indices &batch, const Ix &k, const Ix &at,
                             llvm::SmallVectorImpl<mlir::Value> &right);
  mlir::FailureOr<mlir::Value> factor(mlir::Value tile, const Point &point);
  mlir::FailureOr<mlir::Value> elementOf(mlir::Value tile, const Point &point);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  tile::DotOp op;
  const DotStep &plan;
  int rank;
  mlir::Type element, sumElement; // of the result, and of what is added up
  Ix depth, rowCount;
  int64_t streams; // parts of the steps along K that are added up side by side
  llvm::SmallDenseMap<mlir::Value, Memory> copies;
  tile::LoadOp panels; // of b, where it is read so
  std::optional<BlockPrefetch> prefetch;
};

/// A loop whose result is `sum` is not unrolled. A step of many products fills the processor; two
/// of them in one basic block would be interleaved by the scheduler, which then has too few
/// registers and spills.
void keepRolled(mlir::Value sum);

} // namespace tw::target::cpu
