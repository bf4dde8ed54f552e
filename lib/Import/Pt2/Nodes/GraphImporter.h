// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over one graph of an exported program: its nodes become operations of the torch dialect
// in order. A subgraph of a higher-order operator has a walker of its own, with its own names.
#pragma once
#include "Import/Pt2/Problems.h"
#include "Import/Pt2/Tensors.h"
#include "Import/Pt2/Types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tw::pt2 {

/// What all graphs of one import share.
struct ImportState {
  std::string model; // the file's name, for messages
  Emit emit;
  TensorStore tensors;
  Problems problems;
  int nodeCount = 0;                                     // imported so far, over all graphs
  llvm::MapVector<llvm::StringRef, mlir::Value> symbols; // torch.symbolic_int by name

  ImportState(mlir::MLIRContext *context, std::string model)
      : model(std::move(model)), emit(context) {}
};

/// What a name of a graph stands for: a tensor, a Python scalar, or nothing usable, because what
/// defines it could not be imported (which has been reported).
struct Binding {
  Tensor *tensor = nullptr;
  mlir::Value scalar;
  bool isPoisoned() const { return !tensor && !scalar; }
};

class GraphImporter {
public:
  GraphImporter(ImportState &state, const Graph &graph);
  /// A subgraph that is part of `outer`'s block.
  GraphImporter(GraphImporter &outer, const Graph &graph);

  /// Gives a name its meaning. Fails when the graph has it already.
  llvm::LogicalResult define(llvm::StringRef name, Binding binding);
  /// Makes `name` mean what `other` means.
  llvm::LogicalResult rebind(llvm::StringRef name, llvm::StringRef other);
  /// Imports all nodes; what cannot be imported is reported and its results are poisoned.
  void importNodes();

  /// The meaning of a name; reports one that is not defined (yet).
  mlir::FailureOr<Binding> lookup(llvm::StringRef name);
  /// The present value of a name or constant.
  mlir::FailureOr<mlir::Value> valueOf(const Argument &argument);
  mlir::FailureOr<Tensor *> tensorOf(const Argument &argument);
  /// The type the file gives to a tensor name.
  mlir::FailureOr<torch::ValueTensorType> typeOf(llvm::StringRef name);
  /// As `typeOf` for what programs are given, which cannot be complex.
  mlir::FailureOr<torch::ValueTensorType> inputTypeOf(llvm::StringRef name);
  const TensorMeta *metaOf(llvm::StringRef name) const;

  ImportState &state;
  Emit &emit;
  const Graph &graph;
  /// Set inside torch.autocast: operators convert their inputs as their results' dtypes say.
  bool isAutocast = false;

  /// Reports a problem at the node that is being imported.
  llvm::LogicalResult fail(Code code, const std::string &message, const std::string &help = "");

private:
  friend class NodeImporter;
  llvm::DenseMap<llvm::StringRef, Binding> names;
  llvm::DenseMap<llvm::StringRef, const TensorMeta *> metas;
  const Node *node = nullptr; // the one being imported
};

} // namespace tw::pt2
