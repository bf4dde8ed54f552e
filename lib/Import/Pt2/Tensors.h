// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functionalisation. An exported program writes to tensors and to views of them; the torch level
// has only values. Every tensor of the program is a Tensor here: a root with its own memory and a
// present value, or a view that knows how it is derived from another tensor. Writing to a view
// replaces the value of its base by one with the new part in it, and so on up to the root; reading
// a tensor after its root was written derives its value again. Before and after:
//
//   %y = select(%x, 0, 1)          %y  = select(%x, 0, 1)
//   add_(%y, 1)                    %y2 = add(%y, 1)
//                                  %x2 = select_scatter(%x, %y2, 0, 1)    // what %x means from now
#pragma once
#include "Import/Pt2/Nodes/Emit.h"
#include "Import/Pt2/Schema/Schema.h"
#include <deque>
#include <optional>

namespace tw::pt2 {

/// How a view was made: an operation of the table with these operands, one of them the base.
struct ViewStep {
  const torch::Schema *schema = nullptr;
  llvm::SmallVector<mlir::Value> operands;
  unsigned baseOperand = 0;
  mlir::Type opType; // of the operation's result: the view's type, or a list
  int element = -1;  // of a list
  llvm::SmallVector<mlir::Type> elementTypes;
  llvm::SmallVector<mlir::Value> elements; // as they were when the view was made

  /// The operand for a schema argument.
  mlir::Value operand(llvm::StringRef name) const;
};

struct Tensor {
  torch::ValueTensorType type;
  const TensorMeta *meta = nullptr; // may be null
  Tensor *base = nullptr;           // of a view
  ViewStep step;
  mlir::Value value;
  unsigned version = 0;         // the root's version that `value` belongs to; of a root its own
  const char *frozen = nullptr; // of a root that may not be written: why

  Tensor &root() { return base ? base->root() : *this; }
  bool isWritten() { return root().version > 0; }
};

/// Owns the tensors of one import; their addresses are stable.
class TensorStore {
public:
  Tensor *addRoot(mlir::Value value, const TensorMeta *meta);
  Tensor *addView(Tensor *base, ViewStep step, mlir::Value value, const TensorMeta *meta);

  /// The present value.
  mlir::Value read(Emit &emit, Tensor *tensor);
  /// Makes `value`, which has the tensor's type, the present value. On failure nothing has
  /// changed, and the reason is returned.
  std::optional<std::string> write(Emit &emit, Tensor *tensor, mlir::Value value);

private:
  std::deque<Tensor> tensors;
};

/// The base's value after `written` took the place of the view that `step` made of `base`; null
/// when that cannot be expressed.
mlir::Value viewInverse(Emit &emit, const ViewStep &step, mlir::Value base, mlir::Value written);

} // namespace tw::pt2
