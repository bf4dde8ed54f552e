// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function around a program's graph: which of its inputs are arguments, weights or state, and
// what it returns, by the program's signature and by what the graph turned out to write.
#pragma once
#include "IR/Graph/Graph.h"
#include "Import/Pt2/Nodes/GraphImporter.h"
#include "Import/Pt2/Weights.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tw::pt2 {

class ProgramImporter {
public:
  ProgramImporter(ImportState &state, const Program &program, const WeightSource &weights,
                  const std::string &path)
      : state(state), emit(state.emit), program(program), weights(weights), path(path),
        graph(state, program.graph) {}

  /// Builds @main in `module`. Problems are in the state afterwards.
  void import(mlir::ModuleOp module);

private:
  /// A parameter, buffer or constant. Tied ones are one of these with several names.
  struct Weight {
    StoredTensor stored;
    llvm::StringRef name; // the first
    graph::WeightOp op;
    mlir::Value value;
    Tensor *tensor = nullptr;
    bool isState = false, isTrainable = false;
  };
  struct ArgumentFacts {
    std::string name, role;
    llvm::SmallVector<mlir::NamedAttribute> more;
  };
  struct ResultFacts {
    mlir::Value value;
    std::string name, role;
    llvm::SmallVector<mlir::NamedAttribute> more;
  };

  /// A result that is None or a text, whatever the inputs are: its place among the results that
  /// are handed out.
  struct FixedResult {
    size_t position;
    std::string name;
    std::optional<std::string> text;
  };

  // ProgramInputs.cpp
  void declareSymbols();
  bool mayBeNegative(llvm::StringRef symbol) const;
  mlir::Value declareSymbol(llvm::StringRef name, int64_t min, int64_t max);
  /// A name for the size of a dimension that is no affine expression.
  llvm::StringRef anonymousSymbol(llvm::StringRef tensor, size_t dim);
  void importInput(const InputSpec &spec, const Argument &input);
  void importUserInput(const Argument &input);
  void importConstantInput(const InputSpec &spec);
  void importWeight(const InputSpec &spec);
  void bindShape(mlir::Value tensor, const TensorMeta &meta, llvm::StringRef name);
  mlir::Value addArgument(mlir::Type type, llvm::StringRef name, llvm::StringRef role);

  // ProgramOutputs.cpp
  void importOutputs();
  void importUserOutput(const OutputSpec &spec);
  void importFixedOutput(const Argument &value, const std::string &name);
  void importMutation(const OutputSpec &spec);
  void importGradient(const OutputSpec &spec);
  void addHiddenMutations();
  void makeState(Weight &weight);
  Weight *weightCalled(std::string_view name);
  void checkSharedState();
  void finish();
  mlir::NamedAttribute attr(llvm::StringRef name, const std::string &value) {
    return emit.builder.getNamedAttr(name, emit.builder.getStringAttr(value));
  }

  ImportState &state;
  Emit &emit;
  const Program &program;
  const WeightSource &weights;
  const std::string &path;
  GraphImporter graph;

  mlir::func::FuncOp function;
  mlir::Block *entry = nullptr;
  std::deque<Weight> stored;
  llvm::DenseMap<llvm::StringRef, Weight *> weightByName;
  llvm::MapVector<llvm::StringRef, Tensor *> userInputs;
  llvm::SmallVector<ArgumentFacts> arguments;
  llvm::SmallVector<ResultFacts> results;
  llvm::SmallVector<FixedResult> fixedResults;
  llvm::DenseSet<Tensor *> returnedMutations; // that the signature lists
  std::vector<std::string> outputNames;
  size_t userOutputs = 0;
};

/// The names of the user's outputs in flattened order: their places in what forward returns
/// ("logits", "output_1"), as far as `spec`, a pytree description in JSON, tells.
std::vector<std::string> outputNames(std::string_view spec);

} // namespace tw::pt2
