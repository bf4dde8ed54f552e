// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the emission of one kernel's program shares: scalar code (scf, arith, math, llvm, nvvm) that
// all threads of a block run together. Scalars are computed by each thread; the elements of a tile
// are dealt to the threads.
//
// A tile is emitted where it is used: `evaluate` gives its element at a point, following the
// operations behind it (a load is read in place). What must exist as a whole is materialized
// (Placement.cpp) in scratch, which is shared memory or the block's part of the workspace; all
// threads fill it and wait for each other before anybody reads it.
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/Common/Index/EmitSize.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace tw::target::nvidia {

/// A coordinate along each dimension of a tile.
using Point = Indices;

/// What a thread computes at one time: neighbours along the last dimension, or one point.
struct Group {
  llvm::SmallVector<Point> points;
  /// Whether the box has this group; missing: surely. Where not, its points are others of the box.
  mlir::Value isInside;
};

/// Where a materialized tile lies.
struct Scratch {
  mlir::Value base;
  Indices strides; // in elements
  mlir::Type element;
};

/// Memory of the caller, row-major.
struct Buffer {
  mlir::Value base;
  Indices sizes, strides;
  mlir::Type element;
};

/// Where an access touches its buffer: element `index`, if `condition` (missing: always).
struct ElementAddress {
  Ix index = 0;
  mlir::Value condition;
};

/// Where a group of neighbours is in a buffer.
struct GroupAddress {
  ElementAddress first;
  /// Whether all of them are there; the same as the first one's condition if `areTogether`: then
  /// there are all or none.
  mlir::Value condition;
  bool areTogether = true;
};

class Emitter {
public:
  /// `cancellation`: of whoever wants the code; may be null.
  Emitter(tile::KernelOp kernel, mlir::OpBuilder &builder,
          const Cancellation *cancellation = nullptr)
      : kernel(kernel), b(builder), loc(kernel.getLoc()), cancellation(cancellation) {}

  tile::KernelOp kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Cancellation *cancellation;

  IndexBuilder ix() { return {b, loc}; }

  // Sizes, scalars and memory (Scalars.cpp)
  Ix size(const Size &size) { return emitSize(b, loc, size, symbols); }
  Indices sizes(llvm::ArrayRef<Size> sizes);
  Indices extents(mlir::Value tile);
  static Indices rowMajor(IndexBuilder ix, llvm::ArrayRef<Ix> sizes);
  /// An emitted scalar of the kernel: index is i64.
  mlir::Value scalar(mlir::Value value) { return scalars.at(value); }
  Ix index(mlir::Value value) { return Ix::of(scalar(value)); }
  mlir::Value constant(mlir::Type type, double number);
  mlir::Value both(mlir::Value a, mlir::Value b); // a and b of i1; either may be missing
  /// i1 is a byte in memory.
  static mlir::Type memoryType(mlir::Type type);
  static int64_t bytesOf(mlir::Type type) { return memoryType(type).getIntOrFloatBitWidth() / 8; }
  mlir::Value address(mlir::Value base, mlir::Type element, const Ix &index);
  mlir::Value loadFrom(mlir::Value base, mlir::Type element, const Ix &index);
  void storeTo(mlir::Value value, mlir::Value base, mlir::Type element, const Ix &index);
  /// i1 from and to a byte.
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

  // Neighbours in memory (Vectors.cpp)
  llvm::SmallVector<mlir::Value> loadFrom(mlir::Value base, mlir::Type element, const Ix &index,
                                          int64_t count);
  void storeTo(mlir::ValueRange values, mlir::Value base, mlir::Type element, const Ix &index);
  /// A power of two that surely divides it.
  static int64_t multipleOf(const Ix &index);

  // Threads (Threads.cpp)
  /// The coordinates of point `number` of a box.
  Point pointAt(Ix number, llvm::ArrayRef<Ix> extents);
  using PointBody = llvm::function_ref<mlir::LogicalResult(const Point &)>;
  /// Deals the points of a box to the threads.
  mlir::LogicalResult overPoints(llvm::ArrayRef<Ix> extents, PointBody body);
  /// A loop that carries values.
  mlir::LogicalResult loop(const Ix &begin, const Ix &end, const Ix &step,
                           llvm::SmallVectorImpl<mlir::Value> &carried,
                           llvm::function_ref<mlir::LogicalResult(const Ix &)> body);
  /// All threads of the program wait for each other; what they have written is seen by all then.
  void barrier();

  // Groups of points (Groups.cpp)
  using GroupBody = llvm::function_ref<mlir::LogicalResult(const Group &)>;
  /// Deals the groups of a box to the threads. A body does for a group that is not inside what it
  /// does for others, but for writing.
  mlir::LogicalResult overGroups(llvm::ArrayRef<Ix> extents, GroupBody body);
  /// The same with values that go from group to group.
  mlir::LogicalResult overGroups(llvm::ArrayRef<Ix> extents,
                                 llvm::SmallVectorImpl<mlir::Value> &carried, GroupBody body);
  /// The same with the groups of all rows together, of which a thread has the same columns in each.
  using RowsBody = llvm::function_ref<mlir::LogicalResult(llvm::ArrayRef<Group>)>;
  mlir::LogicalResult overRows(llvm::ArrayRef<Ix> extents,
                               llvm::SmallVectorImpl<mlir::Value> &carried, RowsBody body);
  /// Rows of a box that are gone through together: `rowsTogether`, or 1.
  int64_t rowsOf(llvm::ArrayRef<Ix> extents) const;
  /// How many neighbours groups of a box have.
  int64_t neighbours(llvm::ArrayRef<Ix> extents) const;
  /// All points of the group that a point is one of; itself, where it is in none.
  llvm::SmallVector<Point> groupOf(const Point &point) const;
  Group groupAt(const Ix &number, llvm::ArrayRef<Ix> extents, int64_t each);
  /// Coordinates along a last dimension, `first` and those behind it, of which elements are read
  /// together.
  llvm::SmallVector<Ix> neighboursFrom(const Ix &first, int64_t count);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> evaluate(mlir::Value tile, const Group &group);
  /// Whether every thread has the same points of such a tile wherever it is gone through, so few
  /// that it keeps what it has computed of them.
  bool isHeld(mlir::RankedTensorType type) const;

  // Elements (Evaluate.cpp, Accesses.cpp)
  mlir::FailureOr<mlir::Value> evaluate(mlir::Value tile, const Point &point);
  /// Reads what `loads` bring to this element, so that `evaluate` only computes with it.
  mlir::LogicalResult readAhead(mlir::Value tile, const Point &point,
                                llvm::ArrayRef<tile::LoadOp> loads);
  /// `evaluate` finds this element of `tile` at this point, in this scope.
  void setElement(mlir::Value tile, const Point &point, mlir::Value value);
  /// Null where it has not been computed in this scope.
  mlir::Value knownElement(mlir::Value tile, const Point &point) const;
  mlir::Value elementwise(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);
  mlir::FailureOr<mlir::Value> load(tile::LoadOp op, const Point &point);
  mlir::FailureOr<mlir::Value> gather(tile::GatherOp op, const Point &point);
  mlir::LogicalResult store(tile::StoreOp op);
  mlir::LogicalResult storeElement(tile::StoreOp op, const Point &point);
  /// Those of a group, as wide as they are aligned.
  mlir::LogicalResult storeGroup(tile::StoreOp op, const Group &group);
  mlir::LogicalResult scatter(tile::ScatterOp op);
  mlir::LogicalResult check(tile::CheckOp op);

  // Materialized tiles (Placement.cpp)
  Scratch allocate(llvm::ArrayRef<Size> extents, mlir::Type element);
  /// Whether so many elements of so many bytes each fit in what is left of shared memory.
  bool hasSharedRoom(llvm::ArrayRef<Size> extents, int64_t each) const;
  Scratch scratchFor(mlir::Value tile);
  mlir::Value read(const Scratch &scratch, const Point &point);
  /// The element of `tile`, which lies in scratch; with it the others of its group.
  mlir::Value readTile(mlir::Value tile, const Scratch &scratch, const Point &point);
  void write(const Scratch &scratch, const Point &point, mlir::Value value);
  void writeGroup(const Scratch &scratch, const Group &group, mlir::ValueRange values);
  /// Computes all of `tile` into scratch; ends with a barrier.
  mlir::LogicalResult fill(const Scratch &scratch, mlir::Value tile);
  /// Whether `tile` has one element, or one for each row that is gone through together: all threads
  /// know them then.
  bool hasElementOfRow(mlir::Value tile) const;
  /// All threads know the elements of such a tile.
  void setElementsOfRows(mlir::Value tile, llvm::ArrayRef<mlir::Value> values);
  /// Computes them in all threads, as scalars are: nobody waits for it.
  mlir::LogicalResult computeElementsOfRows(mlir::Value tile);
  /// Whether a tile is computed once, where it stands, rather than wherever it is used.
  bool isMaterialized(mlir::Value tile);

  // Operations that are emitted where they stand (Block.cpp and their own files)
  mlir::LogicalResult block(mlir::Block &block);
  static bool isScalar(mlir::Operation *op);
  void emitScalar(mlir::Operation *op);
  mlir::LogicalResult reduce(tile::ReduceOp op);
  /// Whether all threads reduce one row together, or the rows that they go through together.
  bool isRowReduction(tile::ReduceOp op) const;
  mlir::LogicalResult scan(tile::ScanOp op);
  mlir::LogicalResult sort(tile::SortOp op);
  mlir::LogicalResult dot(tile::DotOp op);
  mlir::LogicalResult forLoop(tile::ForOp op);
  mlir::LogicalResult branch(mlir::scf::IfOp op);

  SymbolValues symbols;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, Scratch> materialized;
  llvm::SmallVector<Ix> programIds;

  int64_t width = 1;        // most neighbours of a group (Width.h)
  int64_t mostHeld = 0;     // points of a tile that a thread may have in registers
  int64_t rowsTogether = 1; // Width::rows
  int64_t threads = 0;      // of a program
  bool isWarp = false;      // one of several programs in a block, each of which has a warp
  mlir::Value thread;       // the number of this one

  /// Shared memory, and how much of it is taken now, at most, and may be.
  mlir::Value shared;
  int64_t sharedBytes = 0, mostSharedBytes = 0, sharedLimit = 0;
  /// The block's part of the workspace, and how much of it is taken; sizes are emitted at `entry`.
  mlir::Value workspace;
  Ix workspaceBytes = 0;
  std::vector<std::pair<std::vector<Size>, int64_t>> requests; // extents, bytes an element
  mlir::OpBuilder::InsertPoint entry;
  /// int64_t failure[3], and the messages of tile.check: docs/contracts.md, "Target level".
  mlir::Value failureRecord;
  std::vector<std::string> failures;

  /// Forgets what was emitted inside a region that ends.
  struct Scope {
    explicit Scope(Emitter &e)
        : e(e), known(e.known), held(e.held), materialized(e.materialized), scalars(e.scalars),
          sharedBytes(e.sharedBytes) {}
    Scope(const Scope &) = delete;
    ~Scope() {
      e.known = std::move(known);
      e.held = std::move(held);
      e.materialized = std::move(materialized);
      e.scalars = std::move(scalars);
      e.sharedBytes = sharedBytes;
    }
    Emitter &e;
    std::map<std::vector<uintptr_t>, mlir::Value> known;
    std::map<std::vector<int64_t>, Group> held;
    llvm::DenseMap<mlir::Value, Scratch> materialized;
    llvm::DenseMap<mlir::Value, mlir::Value> scalars;
    int64_t sharedBytes;
  };
  std::map<std::vector<uintptr_t>, mlir::Value> known; // by tile and point
  std::map<std::vector<int64_t>, Group> held;          // by box and trip

private:
  mlir::FailureOr<mlir::Value> compute(mlir::Value tile, const Point &point);
  /// The element of an operation that only changes the shape, which is its operand's at `source`;
  /// with it the others of its group, so that where these are is computed once.
  mlir::FailureOr<mlir::Value> evaluateSource(mlir::Operation *op, const Point &point,
                                              Point source);
  mlir::FailureOr<ElementAddress> elementAddress(mlir::Value buffer, mlir::OperandRange positions,
                                                 llvm::ArrayRef<int64_t> strides, mlir::Value mask,
                                                 mlir::Operation *op, const Point &point);
  mlir::Value readElement(const Buffer &buffer, const ElementAddress &where, mlir::Value pad);
  template <typename Op>
  mlir::FailureOr<GroupAddress> groupAddress(Op op, llvm::ArrayRef<Point> group);
  mlir::LogicalResult loadGroup(tile::LoadOp op, llvm::ArrayRef<Point> group);
  /// Writes one element, if the box has its point.
  mlir::LogicalResult storeValue(tile::StoreOp op, const Point &point, mlir::Value value,
                                 mlir::Value isInside);
  Group heldGroup(llvm::ArrayRef<Ix> extents, int64_t each, int64_t count, int64_t trip);
  /// The element of a tile that has one for each row, wherever the row is known only when it runs.
  mlir::Value elementOfRow(mlir::Value tile, const Point &point);
  /// How many groups of a box a thread has, where they are held.
  std::optional<int64_t> groupsOfThread(llvm::ArrayRef<Ix> extents) const;
  void updateElement(mlir::Value value, const Buffer &buffer, const ElementAddress &where,
                     std::optional<tile::Update> update);
  /// After a store: others may read or write the same place next.
  void settle(mlir::Operation *store, mlir::Value buffer);
  /// What evaluating an element costs, in simple operations.
  int64_t costOf(mlir::Value tile);
  llvm::DenseMap<mlir::Value, int64_t> costs;
  /// Whether all that uses `tile` goes through the points of its box, so that threads find what
  /// they have computed already.
  bool isUsedAtOwnPoints(mlir::Value tile);
  llvm::DenseMap<mlir::Value, bool> usedAtOwnPoints;
  /// The operation, or null where there is none, in which an element of `tile` is used at the same
  /// point, through elementwise operations and shapes; nothing where there are several, or some use
  /// is of another kind.
  using Sink = std::optional<mlir::Operation *>;
  Sink sinkOf(mlir::Value tile);
  llvm::DenseMap<mlir::Value, Sink> sinks;
  /// Of groups of several points, by coordinates along the last dimension: the first one of each,
  /// and all of a first one.
  llvm::DenseMap<mlir::Value, mlir::Value> firstOf;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Ix>> groupsOf;
};

} // namespace tw::target::nvidia
