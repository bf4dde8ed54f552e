// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of printing one kernel. Printer.cpp has the kernel's head, Statements.cpp blocks with
// loops and branches, Operations.cpp the table of operations, Elementwise.cpp, Memory.cpp and
// Shapes.cpp what stands in it, Operands.cpp the operands that the language takes as they are.
#pragma once
#include "Language/Source/Expression.h"
#include "Language/Source/Names.h"
#include "Language/Source/Source.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace tw::source {

class Printer;

/// How an operation is written.
struct Row {
  llvm::StringRef operation;
  Expression (Printer::*write)(mlir::Operation *op, const Row &row);
  const char *word = "";     // the operator, or the function
  int strength = Primary;    // of the operator
  bool isSigned = false;     // i8 means i8 here, and not u8
  const char *onBool = "";   // the operator on i1, where it is another one
  const char *variable = ""; // what its value is called where the model has no name for it
};

/// The row of an operation; null if there is none.
const Row *findRow(llvm::StringRef operation);

class Printer {
public:
  explicit Printer(tile::KernelOp kernel) : kernel(kernel) {}
  Result<std::string> run(const std::string &doc);

  // ---- Rows of the table
  Expression infix(mlir::Operation *op, const Row &row);
  Expression negative(mlir::Operation *op, const Row &row);
  Expression quotient(mlir::Operation *op, const Row &row);
  Expression unsignedOp(mlir::Operation *op, const Row &row);
  Expression call(mlir::Operation *op, const Row &row);
  Expression compare(mlir::Operation *op, const Row &row);
  Expression select(mlir::Operation *op, const Row &row);
  Expression convert(mlir::Operation *op, const Row &row);
  Expression constant(mlir::Operation *op, const Row &row);
  Expression size(mlir::Operation *op, const Row &row);
  Expression programId(mlir::Operation *op, const Row &row);
  Expression load(mlir::Operation *op, const Row &row);
  Expression gather(mlir::Operation *op, const Row &row);
  Expression store(mlir::Operation *op, const Row &row);
  Expression check(mlir::Operation *op, const Row &row);
  Expression full(mlir::Operation *op, const Row &row);
  Expression iota(mlir::Operation *op, const Row &row);
  Expression dot(mlir::Operation *op, const Row &row);
  Expression reduce(mlir::Operation *op, const Row &row);
  Expression scan(mlir::Operation *op, const Row &row);
  Expression sort(mlir::Operation *op, const Row &row);
  Expression broadcast(mlir::Operation *op, const Row &row);
  Expression reshape(mlir::Operation *op, const Row &row);
  Expression transpose(mlir::Operation *op, const Row &row);
  Expression slice(mlir::Operation *op, const Row &row);
  Expression extract(mlir::Operation *op, const Row &row);
  Expression loop(mlir::Operation *op, const Row &row);
  Expression branch(mlir::Operation *op, const Row &row);

private:
  // ---- The head
  void printHead();
  void printSymbols();
  void printArgument(unsigned number);
  void printAttributes();
  void printGrid();

  // ---- Statements
  void printBlock(mlir::Block &block);
  void printStatement(mlir::Operation *op);
  void printComment(mlir::Location loc);
  void printNodes();
  /// The values that a block leaves, as `return` gives them; of these dtypes.
  void printReturn(mlir::Operation *yield, llvm::ArrayRef<DType> dtypes);
  std::string returned(mlir::Value value, DType dtype);
  /// Declares variables for results with these dtypes: "Tile acc = ", "auto [a, b] = ".
  std::string declare(mlir::Operation *op, llvm::ArrayRef<DType> dtypes);
  std::string parameterList(llvm::ArrayRef<mlir::BlockArgument> arguments,
                            llvm::ArrayRef<std::string> names, llvm::ArrayRef<DType> dtypes);
  void comment(std::string what);
  void line(std::string what);
  /// Something that the language cannot say; the first one counts.
  Expression fail(mlir::Operation *op, const std::string &what);

  // ---- Values
  /// Whether an operation has no place of its own in the text: it stands where its value is used.
  bool isInline(mlir::Operation *op, const Expression &expression);
  bool alwaysInline(mlir::Operation *op);
  size_t countUses(mlir::Value value);
  std::string variableName(mlir::Value value);
  /// Gives a value a variable.
  std::string define(mlir::Value value, const std::string &wanted, DType dtype);

  const Expression &use(mlir::Value value);
  /// The same as a handle that is no Number: "constant(2.0, f32)".
  Expression handle(mlir::Value value);
  /// As a Scalar where it is no tile: "Scalar(m)".
  Expression scalarHandle(mlir::Value value);
  /// With this meaning of i8.
  Expression as(Expression expression, DType dtype);
  Expression asSigned(const Expression &expression);
  /// Positions, bounds: an index, a size, or a number.
  std::string position(mlir::Value value);
  std::string positions(mlir::ValueRange values);
  std::string shape(mlir::Type tile);
  std::string shape(llvm::ArrayRef<Size> extents);
  std::string optionsText(std::vector<std::string> options);
  std::string maskText(mlir::Value mask);
  std::string padText(mlir::Value pad, DType dtype);

  // ---- Shapes that follow from others
  /// A tile's value before it was made the shape of other operands, if that stands here; or null.
  mlir::Value unstretched(mlir::Value value, mlir::Block *block);
  /// The scalar in a tile of one value that is made here; or null.
  mlir::Value filling(mlir::Value value, mlir::Block *block);
  /// Whether a reshape keeps the axis that a reduction has dropped: sum(x, 1).
  static bool keepsAxis(tile::ReshapeOp op);
  /// Operands of an operation on elements without what brings them to one shape.
  llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation *op);
  bool givesShape(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);
  /// Their expressions, with one meaning of i8, and at least one that fixes the dtype.
  llvm::SmallVector<Expression> expressionsOf(mlir::Operation *op, const Row &row);
  /// Whether the language knows of an index that it is not negative.
  bool isNonNegative(mlir::Value index);
  bool isSumOfNonNegative(mlir::Operation *op);

  tile::KernelOp kernel;
  Names names;
  std::map<std::string, std::string> symbols; // variables
  llvm::DenseMap<mlir::Value, Expression> values;
  llvm::DenseMap<mlir::Value, std::string> buffers;
  llvm::DenseSet<mlir::Value> variables;   // values that have one
  llvm::DenseSet<mlir::Value> nonNegative; // results of arithmetic on indices
  std::vector<std::string> programIds;
  std::string text, lastPlace, indent;
  bool isOfModel = false; // the kernel computes nodes of a model
  std::optional<Diagnostic> failure;
};

} // namespace tw::source
