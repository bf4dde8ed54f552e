// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of a program and inputs that it writes to: which result is the next value of which argument
// of @main, and which dispatch computes it after the last look at the old one.
#pragma once
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace tw::graph {

/// Whether an operation renames the elements of one tensor: a cast, or a reshape. Null: no.
bool isRename(mlir::Operation *op);

/// What `tensor` is another name of.
mlir::Value wholeOf(mlir::Value tensor);

/// Whether a tensor of the host program holds the same in all calls: a weight that the program has,
/// or a part of one. What only calls give is none, even if it is frozen.
bool isConstant(mlir::Value tensor);

/// The result of @main that is the next value of an argument: of state (`tw.state`), or of an input
/// that is written to (`tw.input`). Nothing for other arguments.
std::optional<unsigned> nextValueOf(mlir::func::FuncOp main, unsigned argument);

/// Whether in each call of one kernel its `inputs` are names of one tensor, which nobody else reads
/// then or afterwards, and which its result number `result` may overwrite: a tensor that an
/// operation of @main made, or the old value of an argument whose next value `result` is, or
/// becomes.
bool isReplacedBy(llvm::ArrayRef<DispatchOp> calls, llvm::ArrayRef<unsigned> inputs,
                  unsigned result);

} // namespace tw::graph
