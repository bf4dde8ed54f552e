// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that are inputs of a program (IR/Graph/CallWeights.h). What HoistWeights would evaluate
// at compile time becomes a program of its own, the preparation, which is run when a weight has
// changed:
//
//   @main(%x) { %w = tw.weight<"<given>" 0, strides [1, 784]> : tensor<784x10xf32>  ... }
// becomes
//   @main(%x, %prepared.0: tensor<784x10xf32>) { ... }
//   @main(%w: tensor<10x784xf32>) -> (%prepared.0: tensor<784x10xf32>)      in another module
//
// A weight that is read as it lies in memory is an argument of the program itself; no copy of it is
// made.
#pragma once
#include "Graph/ConstantEvaluator.h"
#include "IR/Graph/CallWeights.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tw {

class Preparation : public ConstantEvaluator {
public:
  /// Remembers the sizes that callers know the given weights by: those of `imported`, which no pass
  /// has changed yet. `known` evaluates what depends on none of them.
  Preparation(mlir::ModuleOp imported, ConstantEvaluator &known);

  /// Keeps the computations for the preparation; the weights are its results. What depends on no
  /// given weight is evaluated at once.
  mlir::FailureOr<llvm::SmallVector<graph::WeightAttr>>
  evaluate(mlir::OwningOpRef<mlir::ModuleOp> module) override;
  std::vector<std::byte> elementsOf(graph::WeightAttr weight) override {
    return graph::isGivenByCalls(weight) ? std::vector<std::byte>() : known.elementsOf(weight);
  }

  /// Makes arguments of all weights of `program` that calls give: behind the model's own inputs the
  /// given ones that it reads as they are, and the results of the preparation ("prepared.N"), each
  /// in the order in which they are first read. Returns the preparation: from given weights, by
  /// their names, to those results, in order. Ends this object.
  mlir::OwningOpRef<mlir::ModuleOp> take(mlir::ModuleOp program);

private:
  struct Given {
    mlir::StringAttr name;
    mlir::RankedTensorType type;
  };
  using Read = std::pair<graph::WeightAttr, mlir::RankedTensorType>;

  mlir::Value givenArgument(mlir::func::FuncOp function,
                            llvm::DenseMap<int64_t, mlir::Value> &known, int64_t number);
  mlir::Value source(graph::WeightAttr weight);
  mlir::Value read(mlir::OpBuilder &b, Read what);
  bool isReadDirectly(Read what) const;
  mlir::Value programArgument(mlir::OpBuilder &b, mlir::func::FuncOp program, Read what);
  void finish();

  ConstantEvaluator &known;
  llvm::DenseMap<int64_t, Given> given;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;                        // of `module`
  llvm::SmallVector<mlir::Value> values;              // what <prepared> weights stand for
  llvm::DenseMap<int64_t, mlir::Value> taken, direct; // arguments of `function`, of the program
  llvm::MapVector<Read, mlir::Value> prepared;        // arguments of the program, in order
};

} // namespace tw
