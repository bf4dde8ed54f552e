// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where every tensor of @main lives: in the caller's memory, in a weight, in the state, or in a
// temporary of the arena, and for how long. Decided once, before any code is emitted.
//
// Tensors that share memory form a set: a value and its reshapes; a loop-carried value and the
// initial and next values that can be made in its place; the two values an scf.if yields; an
// elementwise result and the dying input it overwrites. What cannot share is copied: the emitter
// copies wherever the two sides of a yield, an init or a return are in different sets.
#pragma once
#include "IR/Graph/Mutations.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace tw {

/// What kind of memory a set of tensors is in.
enum class BufferKind { Temporary, Output, Input, State, Weight };

/// Memory of a set. `index` counts temporaries, outputs (metadata order), inputs, state tensors.
struct BufferAssignment {
  BufferKind kind = BufferKind::Temporary;
  int index = -1;
};

/// A temporary: steps of the host program in which it holds something, both included.
struct Temporary {
  int64_t begin = 0, end = 0;
  std::optional<int64_t> bytes; // empty: known at run time
};

/// Numbers of arguments and results among their own kind (docs/contracts.md: tw.role).
struct Signature {
  explicit Signature(mlir::func::FuncOp main);
  llvm::SmallVector<int> inputOf;        // by argument: its input number, or -1
  llvm::SmallVector<int> stateOf;        // by argument: its state number, or -1
  llvm::SmallVector<int> outputOf;       // by result: its output number, or -1
  llvm::SmallVector<int> nextOf;         // by result: the state whose new value it is, or -1
  llvm::SmallVector<int> writtenInputOf; // by result: the input whose new value it is, or -1
  int inputs = 0, outputs = 0, states = 0;
};

/// For each kernel, the (tensor input, out) pairs that may be one buffer: target::KernelInfo.
using SharedPairs = llvm::StringMap<std::vector<std::pair<unsigned, unsigned>>>;

/// Bytes of a contiguous tensor; empty when dynamic.
std::optional<int64_t> bytesOf(mlir::RankedTensorType type);

class StoragePlan {
public:
  StoragePlan(mlir::func::FuncOp main, const SharedPairs &pairs);

  /// The place of a tensor of @main, that of the tensor it is a part of for a slice.
  BufferAssignment assignmentOf(mlir::Value tensor) const;
  /// False for a tensor.empty that only gives a dispatch its shape.
  bool hasMemory(mlir::Value tensor) const { return setOf.contains(graph::wholeOf(tensor)); }
  /// True when both are the whole of the same memory, so that nothing is to be copied.
  bool same(mlir::Value a, mlir::Value b) const;
  /// When `op`, which touches memory, runs: its step of the host program.
  int64_t stepOf(mlir::Operation *op) const { return steps.lookup(op).first; }
  /// The temporary of its own for what operand `index` of `op` must be staged in (values that a
  /// yield or return exchanges), or for the serial workspace of a dispatch (index -1); -1 if none.
  int staging(mlir::Operation *op, int index) const;

  /// Whether a result is made in the place of the input whose new value it is.
  bool isWrittenInPlace(unsigned result);
  /// Says of all state and inputs that are written to, as remarks, whether each is updated in
  /// place, and if not why it is copied.
  void reportMutations();

  llvm::SmallVector<Temporary> temporaries;
  Signature signature;

  /// A temporary that is live in exactly the step of `op`; its bytes are set by the caller.
  int addStaging(mlir::Operation *op, int index, std::optional<int64_t> bytes);

private:
  struct Set {
    BufferAssignment assignment;
    int64_t begin = INT64_MAX, end = -1; // first write and last access
    std::optional<int64_t> bytes;
    bool fixed() const { return assignment.kind != BufferKind::Temporary; }
  };
  void number(mlir::Block &block);
  void collect(mlir::Block &block);
  void addSet(mlir::Value value, BufferAssignment assignment, int64_t begin);
  int64_t accessStep(mlir::OpOperand &use, mlir::Block *home) const;
  int64_t lastAccess(mlir::Value root) const;
  int find(mlir::Value tensor) const;
  int find(int set) const;
  bool unite(mlir::Value a, mlir::Value b);
  void placeOutputs(bool written);
  void placeBranches(mlir::Block &block);
  void placeLoop(mlir::Operation *loop);
  void placeNext(mlir::Operation *loop, mlir::Value carried, mlir::Value next, mlir::Value result);
  void placeInserts(mlir::Operation *insert);
  bool isNextValue(BufferAssignment assignment, mlir::Value value);
  void reuseDying(mlir::Operation *dispatch, const SharedPairs &pairs);
  void numberTemporaries();

  mlir::func::FuncOp main;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> steps; // begin and end of each op
  int64_t step = 0;
  llvm::SmallVector<Set> sets;
  mutable llvm::SmallVector<int> parents;
  llvm::DenseMap<mlir::Value, int> setOf;
  llvm::DenseMap<std::pair<mlir::Operation *, int>, int> stagings;
};

} // namespace tw
