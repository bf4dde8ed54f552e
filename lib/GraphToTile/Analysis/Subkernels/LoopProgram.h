// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one kernel that is no template computes: operations of a dispatch, each with the loop
// dimensions it runs along and how its operands lie in memory. The bodies of the operations stay
// where they are; Lowering/LoopEmitter.h clones them.
#pragma once
#include "Kernels/Access.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tw::conversion {
using kernels::Access;
using kernels::Axis;
using kernels::BufferSpec;
using kernels::DimRenumbering;
using kernels::Extent;

/// A result of a statement of the same program.
struct ResultRef {
  int statement = -1, result = 0;
  explicit operator bool() const { return statement >= 0; }
  bool operator==(const ResultRef &) const = default;
};

/// Where the elements of an operand come from; at most one of the three.
struct Source {
  mlir::Value scalar = {};           // a constant, or an argument of the function
  ResultRef result = {};             // an earlier statement
  std::optional<Access> access = {}; // memory
  mlir::Value pad = {};              // of memory: the scalar that lies outside of the buffer
};

/// How a body's tensor.extract (or the select that pads it) reads memory.
struct LookUp {
  Access access;        // a gather has a buffer, but no axes
  bool isGather = true; // at positions that are data; else a box, as `access` says
  mlir::Value pad = {}; // as in Source
};

struct Statement {
  enum class Kind {
    Map,        // elementwise
    Reduce,     // each result is a known reduction of an element along `dims`
    ArgReduce,  // two results: the greatest or least element along `dims`, and its coordinate
    Scan,       // along dims[0]
    Recurrence, // a scan with any body: it runs for one element of dims[0] after the other and
                // carries states, which go to `targets`
    Sort,       // along dims[0]; along dims[1], if there is one, the first of the sorted ones
    Fold,       // the body runs for one element of `dims` after the other and carries its results
    AddToInit,  // what an operation adds to, plus its result from memory (sources[0])
    Copy,       // sources[0] to `target`
    Scatter,    // for one element of `dims` after the other an update of `target`
  };
  Kind kind = Kind::Map;
  mlir::Operation *op = nullptr;            // none of a Copy
  std::vector<Source> sources = {};         // one for each operand of `op`
  std::vector<int> dims = {};               // see Kind
  std::vector<std::vector<int>> loops = {}; // the dimensions of each loop of `op`, outermost first
  std::vector<std::vector<int>> results = {}; // the dimensions that each result extends along
  std::vector<int> carriedDims = {};          // that what loops in the body carry extends along
  std::optional<Access> target = {};          // see Kind
  std::vector<Access> targets = {};           // see Kind
  // Of a Scatter: which of the yielded coordinates are positions along the axes of `target` that
  // run along no dimension.
  std::vector<int> positions = {};
  bool hasLoop = false, hasCheck = false; // in the body
  llvm::MapVector<mlir::Operation *, LookUp> lookUps = {};
  // The dimensions whose extents, multiplied, a tensor.dim of the body is.
  llvm::MapVector<mlir::Operation *, std::vector<int>> sizes = {};
};

/// A result that goes to memory.
struct StoredResult {
  ResultRef value;
  Access access;
};

/// A program has one tile of each result; dimensions that only some results extend along are
/// broadcast.
struct LoopProgram {
  std::vector<Extent> dims = {};
  std::vector<BufferSpec> buffers = {};
  std::vector<std::pair<mlir::Value, kernel::DType>> scalars = {}; // arguments of the function
  std::vector<std::pair<mlir::Value, std::string>> sizes = {}; // index arguments and their symbols
  std::vector<Statement> statements = {};                      // in order
  std::vector<StoredResult> stores = {};                       // after all of them
  std::vector<int> unitDims = {}; // of which a program takes one element
  /// An input and the output that begins as a copy of it, or lies in its place: what no statement
  /// stores stays what it was.
  struct Begin {
    int input, output;
  };
  std::optional<Begin> begin = {};

  /// The dimensions that a result extends along.
  const std::vector<int> &dimsOf(ResultRef value) const {
    return statements[size_t(value.statement)].results[size_t(value.result)];
  }
};

/// Every access, to change or to look at; memory is written where `isStore`.
void forEachAccess(LoopProgram &program,
                   llvm::function_ref<void(Access &access, bool isStore)> visit);
void forEachAccess(const LoopProgram &program,
                   llvm::function_ref<void(const Access &access, bool isStore)> visit);

/// Takes the dimensions out that nothing runs along.
void dropUnusedDims(LoopProgram &program);

/// Puts outputs behind the inputs, as calls bring them; gives the former number of each buffer.
std::vector<int> putOutputsLast(LoopProgram &program);

} // namespace tw::conversion
