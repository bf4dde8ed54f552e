// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts each operation of a dispatch into the first subkernel that can have it. AnalyzeDispatch.cpp
// has what all operations share; AnalyzeLoops.cpp elementwise operations, reductions, folds, scans
// and sorts; AnalyzeInsertions.cpp chains of insertions; AnalyzeStructured.cpp contractions,
// convolutions and attention.
#pragma once
#include "GraphToTile/Analysis/BodyAnalysis.h"
#include "GraphToTile/Analysis/Combiners.h"
#include "GraphToTile/Analysis/Loops/AffineIndex.h"
#include "GraphToTile/Analysis/Recognizers.h"
#include "IR/Graph/Contraction.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <functional>
#include <optional>

namespace tw::conversion {

class DispatchAnalyzer {
public:
  DispatchAnalyzer(mlir::func::FuncOp dispatch, const CallSizes &calls, bool keepsAxes)
      : dispatch(dispatch), keepsAxes(keepsAxes), nests(calls) {}
  DispatchAnalyzer(const DispatchAnalyzer &) = delete;
  mlir::FailureOr<DispatchAnalysis> run(std::string &why);

private:
  llvm::LogicalResult fail(const llvm::Twine &text);
  llvm::LogicalResult failBody(const BodyAnalysis &body);
  llvm::LogicalResult addOp(OpLoops &nest);

  //===--- where values are --------------------------------------------===//

  struct Known {
    int subkernel;
    ResultRef result = {}; // none: it is in memory
    bool isStored = false;
  };
  /// The first subkernel that may read a tensor.
  int earliest(mlir::Value root, bool isInMemory) const;
  int lastSubkernel() const { return int(builders.size()) - 1; }
  int newSubkernel(llvm::ArrayRef<mlir::Location> locations);
  /// Whether the last subkernel, of elementwise operations that read a product which nobody else
  /// reads, is to remain by itself before a reduction, so that fusion puts it where the product is
  /// stored: if less is written and read so. The product is wider, as a sum in f32, or what is
  /// passed on is a result of the dispatch besides.
  bool isBetterEpilogue() const;
  /// The first loop program that may read what the operation reads.
  int subkernelFor(OpLoops &nest);
  std::vector<int> dimsOf(llvm::ArrayRef<int> loops) const;
  /// Puts a value into memory.
  void store(mlir::Value value);
  void define(mlir::Value value, int subkernel, int statement, int result);

  //===--- operands ----------------------------------------------------===//

  /// One statement in the making.
  struct Draft {
    int subkernel;
    const OpLoops &nest;
    Statement statement;
    BodyAnalysis body;

    Draft(DispatchAnalyzer &analyzer, int subkernel, const OpLoops &nest, Statement::Kind kind,
          mlir::Operation *op)
        : subkernel(subkernel), nest(nest), statement{kind, op},
          body(analyzer.builders[subkernel], statement, nest, analyzer.nests, *analyzer.joined,
               analyzer.storing) {
      for (int loop : nest.loops)
        statement.loops.push_back(analyzer.dimsOf({loop}));
      if (op)
        statement.sources.resize(op->getNumOperands());
    }
    Draft(const Draft &) = delete;
  };
  /// Where the elements of an operand come from, and along which dimensions they extend.
  mlir::FailureOr<DimSet> read(Draft &draft, mlir::OpOperand &operand);
  mlir::FailureOr<DimSet> readScalar(Draft &draft, mlir::Value scalar, Source &source);
  mlir::FailureOr<DimSet> readMap(Draft &draft, const OperandMap &map, Source &source);
  /// How a tensor is read from memory, where it is put if need be.
  mlir::FailureOr<Access> accessOf(SubkernelBuilder &builder, const OperandMap &map);
  /// Reads those operands that arguments of the body stand for and `isRead`.
  llvm::LogicalResult readOperands(Draft &draft, mlir::linalg::LinalgOp op,
                                   llvm::function_ref<bool(unsigned)> isRead);
  void finish(Draft &draft);

  //===--- elementwise operations and reductions -----------------------===//

  llvm::LogicalResult addMap(OpLoops &nest, mlir::linalg::LinalgOp op);
  llvm::LogicalResult addReduce(OpLoops &nest, mlir::linalg::LinalgOp op);
  /// Whether it is searched for as tile programs do: in one dimension, from the first element on.
  bool isAlongRow(const OpLoops &nest, mlir::linalg::LinalgOp op, const ExtremeParts &parts) const;
  /// The greatest or least element of a row, and its coordinate.
  llvm::LogicalResult addArgReduce(OpLoops &nest, mlir::linalg::LinalgOp op,
                                   const ExtremeParts &parts);

  //===--- folds -------------------------------------------------------===//

  /// Whether the body looks elements up at places that move along a reduced loop and another one.
  bool readsWindows(const OpLoops &nest, mlir::linalg::LinalgOp op) const;
  /// A reduction that goes from element to element, for all results at once.
  llvm::LogicalResult addFold(OpLoops &nest, mlir::linalg::LinalgOp op);

  //===--- scans -------------------------------------------------------===//

  llvm::LogicalResult addScan(OpLoops &nest, graph::ScanOp op);
  /// A scan with any body: a loop that carries the states and stores them.
  llvm::LogicalResult addRecurrence(OpLoops &nest, graph::ScanOp op);

  //===--- sorts -------------------------------------------------------===//

  llvm::LogicalResult addSort(OpLoops &nest, graph::SortOp op);

  //===--- chains of insertions ----------------------------------------===//

  llvm::LogicalResult addPadded(const InsertSliceChain &chain, const OperandMap &map,
                                kernel::DType dtype);
  /// A loop program that stores what the tensor is based on, then the parts, in order: all of an
  /// element's values are stored by one program.
  llvm::LogicalResult addChain(const InsertSliceChain &chain);
  /// Whether the last subkernel has all parts as values, so that it can store them there.
  bool lastHasAllParts(const InsertSliceChain &chain) const;
  /// Whether the result replaces the base: then only the parts are stored.
  bool replacesBase(int number, const InsertSliceChain &chain, kernel::DType dtype);
  llvm::LogicalResult addCopy(int number, const InsertSliceChain &chain, mlir::Value from,
                              const std::optional<OperandMap> &map, llvm::ArrayRef<AxisMap> axes,
                              kernel::DType dtype);
  /// One update after the other, in the order of the scatter's loops; side by side only along axes
  /// that it runs along itself.
  llvm::LogicalResult addUpdates(int number, const InsertSliceChain &chain, kernel::DType dtype);

  //===--- contractions ------------------------------------------------===//

  /// False where the template does not cover it: a loop program does then.
  mlir::FailureOr<bool> addContraction(OpLoops &nest, mlir::linalg::LinalgOp op,
                                       const graph::ContractionParts &parts);
  /// A product that is added to what was there, which fusion does where the product is stored: a
  /// reduction of the one element that the product is.
  llvm::LogicalResult addToInit(OpLoops &nest, mlir::linalg::LinalgOp op, kernel::DType dtype,
                                int temporary);

  //===--- convolutions ------------------------------------------------===//

  llvm::LogicalResult addConvolution(OpLoops &nest, graph::ConvOp op);
  /// The sizes of a convolution, and its result. False when a dimension of that is none of the
  /// kernel's.
  bool describe(SubkernelBuilder &builder, graph::ConvOp op, const OpLoops &nest,
                Convolution &spec);

  //===--- attention ---------------------------------------------------===//

  llvm::LogicalResult addAttention(OpLoops &nest, graph::AttentionOp op);
  llvm::LogicalResult addAttentionGradient(OpLoops &nest, graph::AttentionGradientOp op);
  /// What both read; `accesses`: of the tensors before the scale, in order.
  llvm::LogicalResult readInputs(SubkernelBuilder &builder, const OpLoops &nest,
                                 graph::AttentionInterface op, kernels::AttentionInputs &inputs,
                                 llvm::ArrayRef<Access *> accesses);
  /// Adds a subkernel that computes all results of `op`.
  llvm::LogicalResult addAttentionKernel(SubkernelBuilder builder, graph::AttentionInterface op);

  mlir::func::FuncOp dispatch;
  bool keepsAxes;
  LoopNests nests;
  std::optional<JoinedDims> joined;
  std::vector<SubkernelBuilder> builders;
  int temporaries = 0; // values between subkernels so far
  llvm::MapVector<mlir::Value, Known> values;
  llvm::SetVector<mlir::Value> returned;
  std::string reason;
  std::function<void(mlir::Value)> storing = [this](mlir::Value value) { store(value); };
};

} // namespace tw::conversion
