// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cpu target decides about a kernel before it emits code: plain data, made by
// `planKernel`, printed by `printPlan`, looked up by the emission. docs/cpu-target.md, "The plan",
// says what is in it and what only emission knows.
//
// A plan has the shape of the kernel: a block has one version, or an interior and a boundary one,
// each with a step for each operation that does something where it stands. What is decided for an
// operation is found by walking the steps along with the operations.
#pragma once
#include "IR/Tile/Tile.h"
#include "Support/Cancellation.h"
#include "Target/CPU/CpuFeatures.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>
#include <variant>
#include <vector>

namespace tw::target::cpu {

/// A dimension of a load or a store.
using Access = std::pair<mlir::Operation *, unsigned>;

/// How to go through the elements of a tile: in strips of `lanes` along dimension `lane` (-1: there
/// is but one element, or they go one by one), in loops or unrolled (all coordinates are constants
/// then).
struct Strips {
  int lane = -1;
  unsigned lanes = 1;
  bool isUnrolled = false;
  /// Along `lane`: a loop over strips ends here, and another begins.
  llvm::SmallVector<int64_t> cuts = {};
};

struct Placement;

/// How all elements of a tile are computed into memory.
struct Fill {
  std::vector<Placement> before;
  Strips strips;
  /// Where the tile lies along another dimension in memory than its vectors: square blocks are read
  /// along `strips.lane` and transposed in registers, to vectors of `lanes` along `lane`. So are
  /// the last `rest` elements along `strips.lane` and the last `laneRest` along `lane`, parts of
  /// blocks; 0: what is left over is read element by element.
  struct Transposition {
    int lane;
    unsigned lanes, rest = 0, laneRest = 0;
  };
  std::optional<Transposition> transposition;
};

/// A tile that is put in scratch memory.
struct Placement {
  mlir::Value tile;
  bool isView = false; // it lies where its operand does, reshaped; else `fill` computes it
  Fill fill;
};

using Placements = std::vector<Placement>;

/// A tile with strides: where it lies in its buffer, or in scratch.
struct StridedPlacement {
  bool isInBuffer = false;
  Placements before; // of what is not
};

/// What a store does; it goes through the elements as the step says.
struct StoreStep {
  /// Alone; the first of a group of stores in one loop; made by that one; its last dimension is
  /// interleaved.
  enum class Form { Single, Group, InGroup, Interleaved } form = Form::Single;
  llvm::SmallVector<tile::StoreOp> group;
  /// Loops along these dimensions end where the buffers do: nothing is computed for what lies
  /// beyond.
  llvm::SmallVector<unsigned> limited;
};

struct ReduceStep {
  /// Where the operand is written while it is reduced, for those that read it again: nowhere, in
  /// scratch, or where `output` stores what is made of it.
  enum class Keep { No, Scratch, Output } keep = Keep::No;
  tile::StoreOp output;
  /// Over the results; the step's own strips are over the operand.
  Strips results;
  /// Neighbouring strips of results that one loop along the axis computes, and the steps of it that
  /// are summed side by side: several chains of additions keep the processor from waiting for one.
  int64_t together = 1, sideBySide = 1;
  bool isUnrolled = false;   // the reduced dimension
  bool inRegister = false;   // the one result
  bool hasWholeRows = false; // rows of the result are as long as whole vectors
};

/// An operand of a product.
struct DotOperand {
  /// Read where it is used; through `packed`; in scratch; in scratch in the type of the sums (or
  /// bf16, for b); as a transposed view of the operand of its transpose, in scratch; read where it
  /// is by the first rows of the result, which copy it for the others.
  enum class Form {
    InPlace,
    Panels,
    Scratch,
    Converted,
    TransposedView,
    CopiedByFirstRows
  } form = Form::InPlace;
  Placements before;
  /// Converted and TransposedView: how scratch is filled, unless the operand is there already.
  std::optional<Fill> fill;
};

/// What a product reads of b in the next trip of the loops around it or, after their last ones, in
/// the next program. Lines of it are prefetched beside the steps of this product, at an even rate.
/// Of a b that streams from memory it is what lies a little behind what is read.
struct NextBlock {
  mlir::Operation *load;
  unsigned rowDim; // its rows: what is behind this dimension lies in one piece
  /// By how many elements along each dimension it is further for each number that a loop counts,
  /// of the innermost one first (none of one: it reads the same, or is unknown).
  llvm::SmallVector<llvm::SmallVector<int64_t>> perCount;
  llvm::SmallVector<int64_t> perProgram; // and for the next program
  int64_t part = 0, parts = 1;           // products that read this block share the lines
  int64_t streamAhead = 0;               // bytes; 0: it is another block
};

struct Step;

struct DotStep {
  /// Outer products; dot products of rows of a and columns of b; pairs of bf16 in vectors, or in
  /// tile registers.
  enum class Form { OuterProducts, RowsByColumns, Pairs, Tiles } form = Form::OuterProducts;
  DotOperand a, b;
  StridedPlacement pairsA, pairsB; // of pairs
  /// Rows of a and of the sums in tile registers, where they are as many as its buffer has: then
  /// there is one program along them, and all of its rows are inside. Rows of the sums behind them
  /// are what the sums begin with.
  std::optional<Size> tileRows;
  /// What is packed in pairs beside the product: b or, if that is a transpose, what it turns. Null:
  /// the kernel reads b in pairs.
  mlir::Value packed;
  /// Steps along K past the end of the buffers are not run, nor rows past the end of a's, which
  /// keep what the sums begin with; meanwhile these accesses are inside.
  bool isDepthLimited = false, areRowsLimited = false;
  std::vector<Access> insideMeanwhile;
  /// Lanes of the registers that the result is in; else it is in memory: the accumulator's, or its
  /// own.
  std::optional<unsigned> registers;
  bool updatesAccumulator = false;
  /// Tiles: in the first trip of the loop around, or always where they update no accumulator.
  bool beginsWithZero = false;
  /// The result goes from registers to scratch, to leave them to another product (Products.cpp).
  Placements after;
  std::optional<NextBlock> next;
  Placements before;        // of the accumulator
  std::optional<Fill> fill; // the same, all of it
  int64_t streams = 1;      // parts of the steps along K that are added up side by side
  /// The store, if any, that tiles make themselves, block by block (Epilogues.h), of sums that have
  /// these names: that of the result, then those that loops around give it. Else why they do not,
  /// where they could be asked to.
  std::vector<Step> epilogue;
  llvm::SmallVector<mlir::Value> sums;
  llvm::StringRef noEpilogue;
};

/// A value that is handed to a loop, to its next trip, or out of a branch.
struct HandedOver {
  /// A scalar; in registers (through the elements as `strips` say); in memory, or computed right
  /// into the memory of the value that it takes the place of (`fill`).
  enum class Form { Scalar, Registers, Memory, InPlace } form = Form::Scalar;
  Strips strips;
  Placements before;
  Fill fill;
  /// It lies in the memory of another one that is written now, so that it is moved first.
  std::optional<Fill> move;
  /// To where the next owner expects it.
  std::optional<Fill> copy;
};

using HandOver = std::vector<HandedOver>;

/// A test of a tile of positions, whether it is a straight line: of its first or last element.
struct LinearityTest {
  enum class Kind { Small, Compare, SameAtBothEnds, Equals } kind;
  mlir::Value x, y; // Small: a scalar that sums with do not wrap
  bool atEnd = false, isMax = false, wanted = false;
};

/// What makes the difference between the versions of a block.
struct Guard {
  Access access;
  /// Positions that are a tile: what they must fulfil to be a line, and whether its ends are
  /// tested.
  bool isLine = false;
  std::vector<LinearityTest> tests;
  bool testsFirst = false, testsLast = false;
};

/// A load that a step reads for the last time, and by how many elements along each dimension the
/// next program is further.
struct Prefetch {
  mlir::Operation *load;
  llvm::SmallVector<int64_t> growth;
};

/// A lookup of rows, one of which is prefetched ahead: where it is says the index that lies
/// `growth` elements further along each dimension than that of the row that is read.
struct LookAhead {
  mlir::Operation *indices, *rows; // loads
  unsigned dim = 0;                // of the rows' position that is looked up
  llvm::SmallVector<int64_t> growth;
  /// Along which dimension of the indices a row is the next one; nothing where there is only one.
  std::optional<unsigned> along;
  int64_t lines = 0; // of the cache, of a row
};

struct BlockPlan;

struct LoopStep {
  HandOver initial;
  std::vector<BlockPlan> blocks; // the body
};

struct BranchStep {
  std::vector<BlockPlan> blocks; // then, else
};

/// What is done for an operation where it stands.
struct Step {
  mlir::Operation *op = nullptr;
  /// Whether its result is materialized: in memory (by the last of `before`) or, of one element, in
  /// a register.
  enum class Form { Operation, Materialize, MaterializeElement } form = Form::Operation;
  Placements before;
  Strips strips;
  std::vector<Prefetch> prefetches;
  std::vector<LookAhead> lookAheads;
  std::variant<std::monostate, StoreStep, ReduceStep, DotStep, StridedPlacement, LoopStep,
               BranchStep>
      detail;
};

/// A version of a block.
struct VersionPlan {
  std::vector<Step> steps;
  HandOver results;
};

struct BlockPlan {
  mlir::Block *block = nullptr;
  std::vector<Access> inside;            // in all versions
  llvm::DenseMap<Access, int64_t> lines; // by how much positions grow where they are inside
  std::vector<Guard> guards;             // inside in the interior version
  std::vector<VersionPlan> versions;     // one, or the interior and the boundary version
};

struct KernelPlan {
  llvm::DenseSet<mlir::Value> nonTemporal; // outputs that are written past the caches
  BlockPlan body;
  /// Whether products are of pairs of bf16, whose instructions take denormal numbers as zero; then
  /// so may the one that rounds to bf16.
  bool multipliesPairs = false;
};

/// Fails with a diagnostic where the kernel cannot be emitted, and without one where planning is
/// cancelled.
mlir::FailureOr<KernelPlan> planKernel(tile::KernelOp kernel, const CpuFeatures &cpu,
                                       const Cancellation *cancellation = nullptr);

/// Next to the operations as they are in the kernel's text.
void printPlan(tile::KernelOp kernel, const KernelPlan &plan, llvm::raw_ostream &out);

} // namespace tw::target::cpu
