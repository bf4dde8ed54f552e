// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a dispatch's operations, and how they index its tensors, through all views: the
// first half of Describe.
#pragma once
#include "GraphToTile/Analysis/Loops/CallSizes.h"
#include "GraphToTile/Analysis/Loops/DimTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <deque>

namespace tw::conversion {

/// How one axis of a tensor is walked over: offset + stride * (place along the dimensions).
struct AxisMap {
  llvm::SmallVector<int> dims; // of the DimTable; empty: one element
  int64_t offset = 0, stride = 1;
  // What the offset has besides: indices of the function, each times a factor.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> scalarTerms = {};
  bool isPartial = false; // not all of the axis, or not certainly
  bool isWhole = false;   // all of it for certain, though counted as partial since others are
  // Of a window: dimensions that move it, each times a factor. It is partial then.
  llvm::SmallVector<std::pair<int, int64_t>> dimTerms = {};
  bool isPlain() const { return offset == 0 && stride == 1 && scalarTerms.empty() && !isPartial; }
};

/// An operand, traced back through views.
struct OperandMap {
  mlir::Value root; // an argument of the function, a result of one of its operations, or a reshape
  llvm::SmallVector<AxisMap> axes; // of the root
  // Whether the root is read as it lies in memory. Otherwise it is a result that is read in the
  // dimensions in which it is computed.
  bool isInMemory = false;
};

struct OpLoops {
  mlir::Operation *op = nullptr;     // of linalg, or a structured one of tw
  llvm::SmallVector<int> loops = {}; // a dimension for each; of tw.conv for each axis of the result
  std::vector<int> reduced = {};     // those that are reduced, or scanned
  llvm::SmallVector<std::optional<OperandMap>> operands; // none: a scalar, or an init not read
};

/// A tensor that is put together from others: a concatenation, a padded tensor, one with a part
/// written anew.
struct InsertSliceChain {
  struct Part {
    mlir::Value source;
    llvm::SmallVector<int> loops;    // a dimension for each axis of the result
    std::optional<OperandMap> map;   // of the source; none: it is filled with a number
    llvm::SmallVector<AxisMap> axes; // where the part goes
    mlir::Location loc;
  };
  mlir::Value result;
  mlir::Value base;                  // what it holds where no part is; null: nothing
  std::optional<OperandMap> baseMap; // none: a number
  llvm::SmallVector<AxisMap> axes;   // of the result: where the base goes
  std::vector<Part> parts;           // in order
  std::optional<OpLoops> scatter;    // a tw.scatter that updates elements of it; no parts then
  llvm::SmallVector<int> loopOf; // for each axis the loop of it that runs along all of it, or -1
  size_t after = 0;              // it follows this many of the operations
  size_t order = 0;              // and of the chains there those of a lower one
};

class LoopNests {
public:
  explicit LoopNests(const CallSizes &calls) : calls(calls) {}
  /// Reads the dispatch. Fails with a reason.
  mlir::LogicalResult read(mlir::func::FuncOp dispatch);
  const CallSizes &callSizes() const { return calls; }
  /// A number for each tensor that is asked for.
  int numberOf(mlir::Value tensor) const {
    return numbers.try_emplace(tensor, int(numbers.size())).first->second;
  }
  /// What a tensor is a reshape of.
  static mlir::Value baseOf(mlir::Value tensor);

  std::string why;
  DimTable table;
  std::vector<OpLoops> ops;                                  // in order
  std::deque<InsertSliceChain> chains;                       // in order
  llvm::SmallVector<std::pair<int, mlir::Value>> givenSizes; // of loops: index arguments
  llvm::MapVector<mlir::Value, llvm::SmallVector<int>>
      results; // of both: a dimension for each axis

private:
  mlir::LogicalResult fail(const llvm::Twine &reason) {
    why = reason.str();
    return mlir::failure();
  }
  mlir::LogicalResult addOp(mlir::linalg::LinalgOp op);
  mlir::LogicalResult addScan(graph::ScanOp op);
  mlir::LogicalResult addSort(graph::SortOp op);
  mlir::LogicalResult addConvolution(graph::ConvOp op);
  mlir::LogicalResult addAttention(graph::AttentionInterface op);
  mlir::LogicalResult addScatter(graph::ScatterOp op);
  mlir::LogicalResult materialize(mlir::Value slice);
  mlir::LogicalResult materializeLookedUp(mlir::Operation *op);
  mlir::LogicalResult setBase(InsertSliceChain &chain, mlir::Value base);
  mlir::LogicalResult addInsertion(mlir::tensor::InsertSliceOp op);
  mlir::FailureOr<InsertSliceChain *> chainOf(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult traceParts(OperandMap &map, llvm::ArrayRef<int> loops);
  mlir::LogicalResult addPart(mlir::tensor::InsertSliceOp op, InsertSliceChain &chain);
  void shareArguments();
  bool isSound(const DimTable &dims) const;
  static void finish(InsertSliceChain &chain);
  void learnSizes(mlir::Value shape, mlir::AffineMap map, llvm::ArrayRef<int> loops);
  mlir::LogicalResult mapOf(mlir::OpOperand &operand, mlir::AffineMap map, OpLoops &nest);
  mlir::LogicalResult traceViews(OperandMap &map);
  mlir::LogicalResult through(mlir::Operation *view, OperandMap &map);
  mlir::LogicalResult throughSlice(mlir::tensor::ExtractSliceOp slice, OperandMap &map);
  bool readsInDims(const OperandMap &map, llvm::ArrayRef<int> dims);

  const CallSizes &calls;
  mutable llvm::DenseMap<mlir::Value, int> numbers;
  std::vector<llvm::SmallVector<int>> loopSets; // dimensions that an operation runs along together
  std::vector<int> partLoops;                   // that run along a part of an axis
  llvm::DenseSet<mlir::Value> materialized;     // slices
  size_t nextOrder = 0;                         // of a chain
};

/// The scalar that a tensor is filled with, or what it is a view of; null if there is none.
mlir::Value filledWith(mlir::Value tensor);

} // namespace tw::conversion
