// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the emission of loops for one kernel shares: memory, loops, scalars and the buffers of
// tensor values. Everything is emitted with 64-bit indices and llvm.load/store, no memref; what
// single operations emit (PlainLoops.h) is built from this.
#pragma once
#include "Target/Common/Index/Index.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tw::target::reference {

using Values = llvm::SmallVector<mlir::Value>;

/// Where the elements of a tensor lie, row-major without gaps.
struct Buffer {
  mlir::Value base;
  Indices sizes;
  mlir::Type element;
};

/// One dimension of a tensor of the kernel.
struct Extent {
  mlir::Value tensor;
  int64_t dim;
};

/// What `find` gives for each of a range; fails where it does.
template <typename List, typename Range>
mlir::FailureOr<List> collect(Range &&range, auto find) {
  List list;
  for (auto &&each : range) {
    auto found = find(each);
    if (failed(found))
      return mlir::failure();
    list.push_back(*found);
  }
  return list;
}

/// What the body of an operation sees of the loops around it.
struct BodyScope {
  /// linalg.index / tw.index: the position in each loop.
  llvm::ArrayRef<Ix> indices;
  /// Additions to a sum that is kept outside of the body: they yield the term alone.
  llvm::DenseMap<mlir::Operation *, mlir::Value> terms{};
};

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  IndexBuilder ix() { return {b, loc}; }

  // Memory (Memory.cpp)
  /// The type of an element in memory: i1 and index are i8 and i64 there.
  static mlir::Type stored(mlir::Type element);
  static int64_t bytesOf(mlir::Type element);
  mlir::Value load(const Buffer &buffer, llvm::ArrayRef<Ix> at);
  void store(mlir::Value value, const Buffer &buffer, llvm::ArrayRef<Ix> at);
  /// Copies all elements to a buffer of the same sizes.
  void copy(const Buffer &from, const Buffer &to);
  /// A buffer in the workspace.
  mlir::FailureOr<Buffer> temporary(mlir::Type element, llvm::ArrayRef<Extent> extents);

  // Loops (Loops.cpp)
  using LoopBody = llvm::function_ref<Values(Ix, llvm::ArrayRef<mlir::Value>)>;
  using ReduceBody = llvm::function_ref<Values(llvm::ArrayRef<Ix>, llvm::ArrayRef<mlir::Value>)>;
  /// for (i = lo; i < hi; i += step), with values that it carries.
  Values loop(const Ix &lo, const Ix &hi, const Ix &step, llvm::ArrayRef<mlir::Value> initial,
              LoopBody body);
  /// A nest of loops from 0, the first outermost.
  void nest(llvm::ArrayRef<Ix> sizes, llvm::function_ref<void(llvm::ArrayRef<Ix>)> body);
  /// A nest of loops that carries values. Those that are sums (of sumType) start anew every 256
  /// steps of the innermost loop; the partial sums are added up. The body adds to what it gets.
  Values reduce(llvm::ArrayRef<Ix> sizes, llvm::ArrayRef<mlir::Value> initial,
                llvm::ArrayRef<bool> isSum, ReduceBody body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then);
  mlir::Value ifElse(mlir::Value condition, llvm::function_ref<mlir::Value()> then,
                     mlir::Value otherwise);

  // Scalars (Scalars.cpp)
  /// The type of a scalar in code: index is i64.
  static mlir::Type scalarType(mlir::Type type);
  /// The type that sums are computed in: f64 for floats.
  static mlir::Type sumType(mlir::Type type);
  mlir::Value constant(mlir::Type type, double number);
  /// To a float from another one, to an integer from another one.
  mlir::Value convert(mlir::Value value, mlir::Type to, bool isSigned = true);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// Emits a body; gives what its terminator hands on. `arguments` stand for the block's.
  mlir::FailureOr<Values> body(mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments,
                               const BodyScope &scope);
  /// Emits one scalar operation here.
  mlir::LogicalResult evaluate(mlir::Operation *op, const BodyScope &scope = {});

  // Values of the kernel (Values.cpp)
  /// The emitted scalar for one at the kernel's top level (index, integer or float).
  mlir::FailureOr<mlir::Value> scalar(mlir::Value value);
  mlir::FailureOr<Values> scalarsOf(mlir::ValueRange of);
  mlir::FailureOr<Ix> index(mlir::OpFoldResult value);
  mlir::FailureOr<Indices> indices(llvm::ArrayRef<mlir::OpFoldResult> values);
  static llvm::SmallVector<Extent> extentsOf(mlir::Value tensor);
  mlir::FailureOr<Ix> size(const Extent &extent);
  mlir::FailureOr<Indices> sizes(llvm::ArrayRef<Extent> extents);
  Buffer buffer(mlir::Value tensor) const { return buffers.find(tensor)->second; }

  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Ix> knownSizes; // of dynamic dimensions
  /// Where what the whole call shares goes: before the loops.
  mlir::OpBuilder::InsertPoint entry;
  mlir::Value workspace;
  /// int64_t failure[3].
  mlir::Value failureRecord;

  // What the kernel turned out to need.
  Ix workspaceBytes = 0;
  std::vector<std::pair<mlir::Type, llvm::SmallVector<Extent>>> temporaries;
  std::vector<std::string> failures;

private:
  mlir::FailureOr<Values> scalarOp(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                                   const BodyScope &scope);
  mlir::Value checkIndex(llvm::StringRef message, mlir::Value index, mlir::Value bound);
};

} // namespace tw::target::reference
