// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One node of a graph. The functions for the kinds of nodes are in files of their own: AtenNodes
// (plain operators and views), Mutations (in-place ones), SpecialNodes (those that need more than
// their schema says), SymbolicNodes (Python arithmetic on sizes), HigherOrder (subgraphs).
#pragma once
#include "Import/Pt2/Nodes/GraphImporter.h"

namespace tw::pt2 {

class NodeImporter {
public:
  NodeImporter(GraphImporter &importer, const Node &node)
      : graph(importer), emit(importer.emit), tensors(importer.state.tensors), node(node) {}

  /// Imports the node. On failure a problem has been reported, unless one of its inputs was
  /// poisoned; its results are not defined then.
  llvm::LogicalResult import();
  /// Makes every result that is not defined a poisoned one.
  void poisonResults();

  // AtenNodes.cpp
  llvm::LogicalResult importOperator(const torch::Schema &schema);
  llvm::LogicalResult importCustom();
  // Mutations.cpp
  llvm::LogicalResult importMutation(const torch::Schema &schema);
  // SpecialNodes.cpp: empty when the operator is not special
  std::optional<llvm::LogicalResult> importSpecial(const torch::Schema &schema);
  // ForEach.cpp: empty when it is no operator on lists, or none that elements have
  std::optional<llvm::LogicalResult> importForEach(const torch::Schema &schema);
  // SymbolicNodes.cpp: empty when the target is no arithmetic
  std::optional<llvm::LogicalResult> importSymbolic();
  // HigherOrder.cpp
  llvm::LogicalResult importHigherOrder();

  //===--------------------------------------------------------------------===//
  // Arguments (Arguments.cpp)
  //===--------------------------------------------------------------------===//

  /// The node's argument by name, or null.
  const Argument *input(llvm::StringRef name) const;
  /// A constant argument as given or by the schema's default.
  std::optional<bool> boolInput(const torch::Schema &schema, llvm::StringRef name) const;
  /// `argument` as a value for `pattern`; `name` is for messages.
  mlir::FailureOr<mlir::Value> materialise(const Argument &argument,
                                           const torch::TypePattern &pattern, llvm::StringRef name);
  /// `argument` as a value of the type that its kind suggests.
  mlir::FailureOr<mlir::Value> materialiseNatural(const Argument &argument);
  /// One operand for each argument of `schema`, defaults included. Arguments go by the names of
  /// `schema`; `overrides` replace what the node gives.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  operandsFor(const torch::Schema &schema,
              llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Value>> overrides = {});
  /// The overload that takes Python numbers where the node gives them for tensors; `schema` itself
  /// when there is none.
  const torch::Schema &overloadForScalars(const torch::Schema &schema) const;

  //===--------------------------------------------------------------------===//
  // Results (AtenNodes.cpp)
  //===--------------------------------------------------------------------===//

  /// The types of the operation's results, as the file gives them.
  mlir::FailureOr<llvm::SmallVector<mlir::Type>> resultTypes();
  /// Defines output number `index` as (the elements of) `value`.
  llvm::LogicalResult defineOutput(size_t index, mlir::Value value);
  /// Makes an operation of the table.
  mlir::Operation *create(const torch::Schema &schema, mlir::ValueRange operands,
                          mlir::TypeRange types);
  llvm::LogicalResult fail(Code code, const std::string &message, const std::string &help = "") {
    return graph.fail(code, message, help);
  }
  /// "aten.add.Tensor", for messages.
  std::string operatorName() const;

  GraphImporter &graph;
  Emit &emit;
  TensorStore &tensors;
  const Node &node;

private:
  // AtenNodes.cpp
  llvm::LogicalResult importView(const torch::Schema &schema, const Argument &baseArgument,
                                 unsigned baseOperand);
  llvm::LogicalResult importPossibleView(const torch::Schema &schema, Tensor *base,
                                         mlir::Type type);
  llvm::LogicalResult wrongArgument(llvm::StringRef name, std::string_view given,
                                    llvm::StringRef expected);
  mlir::FailureOr<mlir::Value> materialiseList(const Argument &argument,
                                               const torch::TypePattern &pattern,
                                               llvm::StringRef name);
  mlir::FailureOr<mlir::Value> scalarTensor(mlir::Value scalar);
  void bindSizes(mlir::Value tensor, const TensorMeta &meta);
  void applyAutocast(llvm::MutableArrayRef<mlir::Value> operands, mlir::TypeRange types);
};

/// "torch.aten.add" of "torch.aten.add.Tensor".
llvm::StringRef operatorBase(llvm::StringRef opName);

/// What a view's result is to its input: itself, a view of its memory, or a copy. That of reshape,
/// contiguous, to, ... goes by the strides that the file gives; without them it may be either.
enum class Sharing { Identity, View, Copy, Unknown };
Sharing sharing(const torch::Schema &schema, const TensorMeta &from, const TensorMeta &to);

/// The operator that computes what `schema` would write: add for add_ and add.out; null when there
/// is none. Results that it returns before the written values: `plainResults`.
const torch::Schema *functionalForm(const torch::Schema &schema, unsigned &plainResults);

} // namespace tw::pt2
