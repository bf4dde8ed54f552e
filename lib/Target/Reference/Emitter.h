// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the emission of loops for one kernel shares: memory, loops, scalars and the buffers of
// tensor values. Everything is emitted with 64-bit indices and llvm.load/store, no memref; the
// emitters of the single operations (Operations.h) are built from this.
#pragma once
#include "Target/Index.h"
#include "Target/Target.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <set>

namespace tw::target::reference {

/// Where the elements of a tensor value lie: element (i, j, ...) at `base` + element number
/// `offset` + i * strides[0] + j * strides[1] + ... . Views are other numbers on the same base.
struct Buffer {
  mlir::Value base;
  Ix offset;
  Indices sizes, strides;
  mlir::Type element;
  /// From this dimension on row-major without gaps: there, a stride is the next dimension's stride
  /// times its size, and the last one is 1.
  unsigned denseFrom = 0;

  bool isDense(unsigned from) const { return from >= denseFrom; }
};

/// lo, lo + 1, ..., lo + len - 1. `full` when that is all there is.
struct Range {
  Ix lo, len;
  bool full = true;
};

/// Row-major strides of `sizes`.
Indices rowMajor(IndexBuilder ix, llvm::ArrayRef<Ix> sizes);

/// The scalar that one of the tw dialect's region operations puts in place of tw.index, and more of
/// what a body sees of the loops around it.
struct BodyScope {
  /// linalg.index / tw.index: the position in each loop.
  llvm::ArrayRef<Ix> indices;
  /// Fast-math flags of `reduction`, the operation that combines partial results.
  mlir::Operation *reduction = nullptr;
};

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, const CpuFeatures &cpu)
      : b(builder), loc(loc), cpu(cpu) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  const CpuFeatures &cpu;

  IndexBuilder ix() { return {b, loc}; }

  // Memory (Memory.cpp)
  /// The type of an element in memory: i1 and index are i8 and i64 there.
  static mlir::Type stored(mlir::Type element);
  static int64_t bytesOf(mlir::Type element);
  mlir::Value pointer(const Buffer &buffer, const Ix &element);
  mlir::Value load(const Buffer &buffer, const Ix &element);
  void store(mlir::Value value, const Buffer &buffer, const Ix &element);
  mlir::Value loadVector(const Buffer &buffer, const Ix &element, unsigned lanes);
  void storeVector(mlir::Value value, const Buffer &buffer, const Ix &element);
  Ix linear(const Buffer &buffer, llvm::ArrayRef<Ix> indices);
  /// Room of a constant size on the stack, taken once a call.
  Buffer onStack(mlir::Type element, int64_t count);
  /// Copies all of `from` within `ranges` to `to`.
  void copy(const Buffer &from, const Buffer &to, llvm::ArrayRef<Range> ranges);

  // Loops (Memory.cpp)
  using LoopBody = llvm::function_ref<void(Ix)>;
  using CarriedBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(Ix, llvm::ArrayRef<mlir::Value>)>;
  /// for (i = lo; i < hi; i += step). `parallel`: no iteration depends on another through memory.
  void loop(const Ix &lo, const Ix &hi, const Ix &step, LoopBody body, bool parallel = false);
  llvm::SmallVector<mlir::Value> loop(const Ix &lo, const Ix &hi, const Ix &step,
                                      llvm::ArrayRef<mlir::Value> initial, CarriedBody body);
  /// A nest of loops, the first range outermost.
  void nest(llvm::ArrayRef<Range> ranges, llvm::function_ref<void(llvm::ArrayRef<Ix>)> body,
            bool parallel = false);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);

  // Scalars (Scalars.cpp)
  /// The type of a scalar in code: index is i64.
  static mlir::Type scalarType(mlir::Type type);
  /// The values that the block's terminator hands on. `arguments` stand for the block's.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  body(mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments, const BodyScope &scope);
  /// One scalar operation on `operands` (already emitted).
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  scalarOp(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands, const BodyScope &scope);
  mlir::Value convert(mlir::Value value, mlir::Type to, bool isSigned = true);
  mlir::Value widen(mlir::Value half);
  mlir::Value narrow(mlir::Value single, mlir::Type half);
  mlir::Value constant(mlir::Type type, double number);

  // Values of the kernel (Kernel.cpp)
  /// The emitted scalar for one at the kernel's top level (index, integer or float).
  mlir::FailureOr<mlir::Value> scalar(mlir::Value value);
  mlir::FailureOr<Ix> index(mlir::OpFoldResult value);
  /// The size of dimension `dim` of the kernel's tensor `value`.
  mlir::FailureOr<Ix> size(mlir::Value value, int64_t dim);
  mlir::FailureOr<Indices> sizes(mlir::Value value);
  /// The buffer of the kernel's tensor `value`.
  const Buffer &buffer(mlir::Value value) const { return buffers.find(value)->second; }
  /// The range of dimension `dim` of a result: this iteration's rows, or all of `size`.
  Range range(unsigned dim, const Ix &size) const {
    return dim < rows.size() ? rows[dim] : Range{0, size, true};
  }
  llvm::SmallVector<Range> ranges(llvm::ArrayRef<Ix> sizes) const;

  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Indices> knownSizes;
  /// This iteration's part of the leading dimensions of every result.
  llvm::SmallVector<Range> rows;
  /// Where scalars of the kernel's top level and stack room go: before the loop over rows.
  mlir::OpBuilder::InsertPoint entry;
  /// int64_t failure[3].
  mlir::Value failureRecord;
  std::vector<std::string> failures;
  std::set<std::string> imports;
  /// Tags of the loads and stores that do not depend on each other within a parallel loop.
  llvm::SmallVector<mlir::Attribute> accessGroups;

  mlir::FailureOr<llvm::SmallVector<mlir::Value>> evaluate(mlir::Operation *op);

private:
  mlir::FailureOr<Ix> computeSize(mlir::Value value, int64_t dim);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> checkIndex(mlir::Operation *op, mlir::Value index,
                                                             mlir::Value bound);
};

} // namespace tw::target::reference
