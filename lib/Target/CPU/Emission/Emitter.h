// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the emission of one kernel's program shares. Code is scf, arith, math and llvm on scalars
// and on vectors of one length at a time; indices are i64.
//
// A tile is emitted where it is used: `evaluate` gives its elements at a point, following the
// operations behind it (a load is read in place). What must exist as a whole is placed in registers
// or in memory of the thread first, as the kernel's plan says (Plan/Plan.h).
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/CPU/Emission/Values.h"
#include "Target/CPU/Plan/Analysis/Expressions.h"
#include "Target/CPU/Plan/Analysis/Folding.h"
#include "Target/CPU/Plan/Plan.h"
#include "Target/Common/Index/EmitSize.h"
#include "Target/Common/Index/IndexRanges.h"
#include "Target/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>
#include <set>

namespace tw::target::cpu {

class Emitter {
public:
  Emitter(tile::KernelOp kernel, mlir::OpBuilder &builder, const CpuFeatures &cpu)
      : kernel(kernel), b(builder), loc(kernel.getLoc()), cpu(cpu) {}

  /// Whether a tile is in registers or memory where code is emitted now.
  bool isPlaced(mlir::Value tile) const {
    return memory.contains(tile) || registers.contains(tile);
  }

  tile::KernelOp kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const CpuFeatures &cpu;

  IndexBuilder ix() { return {b, loc}; }

  // Sizes and scalars (Scalars.cpp)
  Ix size(const Size &size);
  Indices sizes(llvm::ArrayRef<Size> sizes);
  Indices extents(mlir::Value tile);
  /// An emitted scalar of the kernel: index is i64.
  mlir::Value scalar(mlir::Value value);
  Ix index(mlir::Value value) { return Ix::of(scalar(value)); }
  static mlir::Type scalarType(mlir::Type type);
  /// i1 is a byte in memory. f16 and bf16 are integers there: LLVM takes vectors of what it has no
  /// vector unit for apart.
  static mlir::Type memoryType(mlir::Type type);
  static int64_t bytesOf(mlir::Type type) { return memoryType(type).getIntOrFloatBitWidth() / 8; }
  mlir::Value constant(mlir::Type type, double number);

  // Vectors (Vectors.cpp)
  /// `element` as it is for one lane, else a vector of `lanes` of it.
  mlir::Type typeOf(mlir::Type element, bool isVector) const;
  mlir::Value splat(mlir::Value scalar);
  mlir::Value asVector(mlir::Value value) {
    return lanes == 1 || llvm::isa<mlir::VectorType>(value.getType()) ? value : splat(value);
  }
  /// 0, step, 2 step, ... as i64.
  mlir::Value laneOffsets(int64_t step);
  mlir::Value loadFrom(mlir::Value base, mlir::Type element, const Ix &index, bool isVector,
                       int64_t step, mlir::Value mask, mlir::Value pad);
  /// The same without a gather, where the CPU can: every `step`-th element as it is in memory, or
  /// those at `index` + `offsets` (Patterns.cpp). Lanes that are not `wanted` (missing: all are)
  /// hold anything. Null where a gather is better.
  mlir::Value loadStrided(mlir::Value base, mlir::Type stored, const Ix &index, int64_t step,
                          mlir::Value wanted);
  mlir::Value loadPattern(mlir::Value base, mlir::Type stored, const Ix &index,
                          llvm::ArrayRef<int64_t> offsets, mlir::Value wanted);
  /// Elements at `index` + `offsets`, where they lie near each other; else null. Lanes that are
  /// off hold `pad`, or anything if it is missing.
  mlir::Value loadNear(mlir::Value base, mlir::Type element, const Ix &index,
                       llvm::ArrayRef<int64_t> offsets, mlir::Value mask, mlir::Value pad);
  /// Elements at `index` + `each`, loaded one by one; a null stands for a lane that is off.
  mlir::Value loadEach(mlir::Value base, mlir::Type element, const Ix &index,
                       llvm::ArrayRef<mlir::Value> each);
  /// A vector of scalars; a null stands for a lane that holds anything.
  mlir::Value fromLanes(mlir::Type type, llvm::ArrayRef<mlir::Value> each);
  /// Elements at the indices of a vector.
  mlir::Value gatherFrom(mlir::Value base, mlir::Type element, mlir::Value indices,
                         mlir::Value mask, mlir::Value pad);
  void storeTo(mlir::Value value, mlir::Value base, mlir::Type element, const Ix &index,
               const Ix &laneStride, mlir::Value mask, bool isNonTemporal = false);
  /// Without masked loads LLVM makes a branch for each lane; here lanes that are off go to memory
  /// to spare.
  mlir::Value scalarizedLoad(mlir::Value base, mlir::Type stored, mlir::Value places,
                             mlir::Value mask, mlir::Value pad);
  /// Memory of the thread, of 8 bytes, that nobody looks at.
  mlir::Value spareMemory();
  mlir::Value both(mlir::Value a, mlir::Value b); // a and b of i1; either may be missing

  // Elements (Evaluate.cpp, Accesses.cpp, Prefetch.cpp)
  mlir::FailureOr<mlir::Value> evaluate(mlir::Value tile, const Point &point);
  mlir::FailureOr<mlir::Value> load(tile::LoadOp op, const Point &point);
  mlir::FailureOr<mlir::Value> gather(tile::GatherOp op, const Point &point);
  /// Prefetches what the next program reads where this one reads `index`, if that is planned.
  void prefetchNext(tile::LoadOp op, const Ix &index);
  /// The same of a row that is looked up.
  void prefetchLookups(tile::LoadOp op, const Point &point);
  /// Prefetches `lines` of a row that is looked up later, from where its element `at` is one that
  /// is read now, if there is an index for it.
  void prefetchAhead(const LookAhead &ahead, const Indices &at, int64_t lines);
  /// Prefetches the line with the element at `index` from `base` on, to the first-level cache or
  /// only to the second.
  void prefetch(mlir::Value base, mlir::Type element, const Ix &index, bool toFirstLevel);
  mlir::LogicalResult store(tile::StoreOp op, const Point &point);
  /// Those of a group, each value before the first is stored.
  mlir::LogicalResult storeAt(const StoreStep &plan, const Point &point);
  mlir::Value elementwise(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);

  // Stores past the caches (NonTemporalStores.cpp)
  /// Stores a whole vector so, if the buffer wants it and the vector is known to be aligned.
  bool storeNonTemporal(mlir::Value value, const Buffer &buffer, const Ix &index);
  /// Right before the function returns.
  void finishNonTemporalStores();

  // Loops (Strips.cpp)
  using PointBody = llvm::function_ref<mlir::LogicalResult(const Point &)>;
  using CarriedBody = llvm::function_ref<mlir::LogicalResult(
      const Point &, llvm::SmallVectorImpl<mlir::Value> &carried)>;
  /// Runs over all elements of a tile; the body sees `lanes` and `mask`. With `limits`, one for
  /// each dimension, loops leave out strips from there on.
  mlir::LogicalResult overElements(llvm::ArrayRef<Ix> extents, const Strips &strips, PointBody body,
                                   llvm::ArrayRef<Ix> limits = {});
  /// Strips of [begin, end) along one dimension, with carried values; whole ones only up to a
  /// limit.
  mlir::LogicalResult alongDimension(Point point, int dim, const Ix &begin, const Ix &end,
                                     unsigned width, llvm::SmallVectorImpl<mlir::Value> &carried,
                                     CarriedBody body, std::optional<Ix> limit = {});
  /// A mask of the first `count` of `lanes`.
  mlir::Value firstLanes(const Ix &count, unsigned lanes);
  mlir::LogicalResult loop(const Ix &begin, const Ix &end, const Ix &step,
                           llvm::SmallVectorImpl<mlir::Value> &carried,
                           llvm::function_ref<mlir::LogicalResult(const Ix &)> body);

  // What is known of lanes (Lanes.cpp)
  /// What is left of a value when its constants are folded.
  mlir::OpFoldResult folded(mlir::Value value) { return folding.folded(value); }
  /// A mask that is a constant.
  std::optional<llvm::SmallVector<bool>> constantLanes(mlir::Value mask);
  /// The scalar that all lanes of a mask hold; null: they may differ.
  mlir::Value sameInAll(mlir::Value mask);
  /// A vector, or a scalar, of i64 as a sum.
  std::optional<BasePlusLaneOffsets> baseAndLaneOffsets(mlir::Value vector);
  bool isComputed(mlir::Value tile) const {
    return cpu::isComputed(tile, [&](mlir::Value one) { return isPlaced(one); });
  }
  /// Whether positions that are a tile are inside and a line, as a guard tests it
  /// (LinearityGuards.cpp).
  mlir::FailureOr<mlir::Value> linearityGuard(const Guard &guard);
  /// A vector of positions, emitted for a point, as a sum.
  std::optional<BasePlusLaneOffsets> positions(mlir::Value vector, const Point &point);

  // Placements (Scratch.cpp, InRegisterTranspose.cpp)
  mlir::LogicalResult place(llvm::ArrayRef<Placement> placements);
  mlir::FailureOr<Memory> asStridedMemory(mlir::Value tile, const StridedPlacement &placement);
  /// Computes all of `tile` into `room`.
  mlir::LogicalResult fill(const Memory &room, mlir::Value tile, const Fill &fill);
  mlir::LogicalResult fillTransposed(const Memory &room, mlir::Value tile, const Fill &fill);
  /// Where `store` writes a tile.
  Memory storedAt(tile::StoreOp store);
  void write(const Memory &room, const Point &point, mlir::Value value);
  mlir::Value read(const Memory &room, const Point &point);
  /// The address of an element.
  mlir::Value addressIn(const Memory &memory, llvm::ArrayRef<Ix> at);
  Memory allocate(llvm::ArrayRef<Size> extents, mlir::Type element);
  /// Columns of `lanes` vectors of `lanes` elements as rows.
  void transposeSquare(llvm::SmallVectorImpl<mlir::Value> &rows);

  // Operations that are emitted where they stand (Block.cpp, Reduce.cpp, Sort.cpp, ...)
  /// Emits a block in its versions; `finish` gives the values, of `types`, that go on.
  using Finish = llvm::function_ref<mlir::LogicalResult(const HandOver &,
                                                        llvm::SmallVectorImpl<mlir::Value> &)>;
  mlir::LogicalResult block(const BlockPlan &plan, mlir::TypeRange types,
                            llvm::SmallVectorImpl<mlir::Value> &results, Finish finish);
  mlir::LogicalResult operation(const Step &step);
  mlir::LogicalResult storeTiles(tile::StoreOp op, const Step &step);
  mlir::LogicalResult storeInterleaved(tile::StoreOp op, const Step &step);
  mlir::LogicalResult reduce(tile::ReduceOp op, const Step &step);
  mlir::LogicalResult scan(tile::ScanOp op, const Step &step);
  mlir::LogicalResult sort(tile::SortOp op, const Step &step);
  mlir::LogicalResult dot(tile::DotOp op, const Step &step);
  mlir::LogicalResult scatter(tile::ScatterOp op, const Step &step);
  mlir::LogicalResult check(tile::CheckOp op, const Step &step);
  /// Checked positions at a point.
  mlir::FailureOr<mlir::Value> checkAt(tile::CheckOp op, const Point &point);

  // Checks where positions are used (Checks.cpp)
  /// The check that gives the positions of a tile, and the point there; null: another operation, or
  /// it has been made.
  tile::CheckOp checkBehind(mlir::Value tile, Point &point);
  /// Where all positions of the strip are known to be good: the tile that has them in memory, and
  /// the point there.
  mlir::Value trusted(mlir::Value tile, Point &point);
  /// Whether all of a strip's positions pass their `checks`, which then need not be made; null if
  /// none of them is to be made here, or all must be. `at`: the point in a tile of positions.
  mlir::FailureOr<mlir::Value> goodPositions(mlir::ValueRange positions,
                                             llvm::function_ref<Point(unsigned)> at,
                                             llvm::SmallVectorImpl<mlir::Operation *> &checks);
  mlir::FailureOr<mlir::Value> allGood(tile::CheckOp op, const Point &point);
  llvm::DenseSet<mlir::Operation *> trustedChecks;
  /// Whether a tile of positions comes out of a check that they are in [0, size).
  bool isChecked(mlir::Value tile, const Ix &size);
  mlir::Value checked(mlir::Value value, const Ix &bound, mlir::Value wanted, int64_t message);
  /// Writes one element where `condition` (may be missing) holds.
  void updateElement(mlir::Value value, const Buffer &buffer, const Ix &index,
                     std::optional<tile::Update> update, mlir::Value condition);
  mlir::LogicalResult forLoop(tile::ForOp op, const LoopStep &step);
  mlir::LogicalResult branch(mlir::scf::IfOp op, const BranchStep &step);
  /// `wide` elements of a float tile in another float type.
  mlir::Value convertFloat(mlir::Value value, mlir::Type element);
  /// A vector of f32 as bf16 by one instruction; null where there is none, or it may not be used.
  mlir::Value roundToBf16(mlir::Value value, mlir::Type element);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

  /// Whoever wants the code no more; may be null.
  const Cancellation *cancellation = nullptr;
  SymbolValues symbols;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, Memory> memory;
  llvm::DenseMap<mlir::Value, Registers> registers;
  llvm::SmallVector<Ix> programIds;

  /// How many elements are emitted at once, and which of these count (missing: all).
  unsigned lanes = 1;
  mlir::Value mask;

  /// What loop variables and numbers of programs can be.
  IndexRanges ranges;

  /// Whether the version for programs at the edge of their buffers is being emitted.
  bool isBoundary = false;

  /// Dimensions of accesses that are known to lie inside their buffer where code is emitted now.
  llvm::DenseSet<Access> inside;

  /// By how much positions grow from one to the next where they are `inside`.
  llvm::DenseMap<Access, int64_t> lines;

  /// Of the step that is being emitted.
  llvm::ArrayRef<Prefetch> prefetches;
  llvm::ArrayRef<LookAhead> lookAheads;

  /// Whether the tile registers of AMX have been configured, and anything has been streamed.
  bool usesTiles = false, streams = false;

  /// Where scratch comes from: the workspace, and how much of it is taken so far.
  mlir::Value workspace;
  Ix workspaceBytes = 0;
  std::vector<std::pair<std::vector<Size>, int64_t>> requests; // extents, bytes an element
  mlir::OpBuilder::InsertPoint entry;
  std::set<std::string> imports;
  /// int64_t failure[3], and the messages of tile.check: docs/contracts.md, "Target level".
  mlir::Value failureRecord;
  /// Whether what is rounded to bf16 may be zero where it is denormal
  /// (KernelPlan::multipliesPairs).
  bool mayRoundDenormalsToZero = false;
  std::vector<std::string> failures;

  /// Forgets what was emitted inside a region that ends.
  struct Scope {
    explicit Scope(Emitter &e) : e(e), known(e.known), memory(e.memory), registers(e.registers) {}
    ~Scope() {
      e.known = std::move(known);
      e.memory = std::move(memory);
      e.registers = std::move(registers);
    }
    Emitter &e;
    std::map<std::vector<uintptr_t>, mlir::Value> known;
    llvm::DenseMap<mlir::Value, Memory> memory;
    llvm::DenseMap<mlir::Value, Registers> registers;
  };
  std::map<std::vector<uintptr_t>, mlir::Value> known; // by tile and point

  /// Operations that there are already (SharedFunction.h). They live on because what is known of
  /// values is kept by these.
  mlir::Block leftOver;

private:
  mlir::Value spare;
  Folding folding;

  mlir::FailureOr<mlir::Value> compute(mlir::Value tile, const Point &point);
  mlir::Value loadOne(mlir::Value base, mlir::Type element, const Ix &index, mlir::Value mask,
                      mlir::Value pad);
  mlir::Value loadVector(mlir::Value base, mlir::Type element, const Ix &index, mlir::Value mask,
                         mlir::Value pad);
};

/// Gives the tile registers back, if they were used.
void releaseTiles(Emitter &e);

} // namespace tw::target::cpu
