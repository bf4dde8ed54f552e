// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Lowering/LoopEmitter.h"
#include "GraphToTile/Analysis/BodyAnalysis.h"
#include "GraphToTile/Analysis/Combiners.h"
#include "GraphToTile/Analysis/Recognizers.h"
#include "GraphToTile/Analysis/ScatterCombine.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "GraphToTile/Lowering/BodyEmitter.h"
#include "GraphToTile/Lowering/CarriedReductions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace tw::conversion {
namespace {

/// Places of a fold that are written one after the other: a bound of how long a kernel's text
/// becomes, whatever runs it.
constexpr int64_t writtenPlaces = 16;

class LoopEmitter {
public:
  LoopEmitter(TileBuilder &b, StringRef name, const LoopProgram &program,
              const LoopConfiguration &configuration)
      : b(b), program(program), tilings(configuration.tilings),
        frame(b, name, program, configuration) {}

  tile::KernelOp run() {
    Location whole = b.loc;
    std::vector<LoopPosition> positions(program.statements.size(), LoopPosition::Behind);
    auto chunked = llvm::find_if(tilings, [](const LoopTiling &t) { return t.chunk > 0; });
    if (chunked != tilings.end()) {
      int dim = int(chunked - tilings.begin());
      positions = positionsInLoop(program, dim);
      reduceInChunks(dim, chunked->chunk, positions);
    }
    for (auto [number, position] : llvm::enumerate(positions))
      if (position == LoopPosition::Behind)
        emit(int(number));
    // All memory is read before any is written, which may be the same.
    for (const StoredResult &store : program.stores) {
      at(program.statements[store.value.statement]);
      frame.store(store.access, value(store.value));
    }
    b.loc = whole;
    return frame.kernel;
  }

private:
  using Tiles = TileBuilder::Tiles;

  /// The body of one statement.
  struct BodyEmitterFor : BodyEmitter {
    BodyEmitterFor(LoopEmitter &emitter, const Statement &statement)
        : BodyEmitter(emitter.b, emitter.frame, emitter.scopes, statement), emitter(emitter),
          statement(statement) {}

    /// The elements of an operand.
    Value source(unsigned number) {
      const Source &from = statement.sources[number];
      if (from.result)
        return emitter.value(from.result);
      return from.access ? load(*from.access, from.pad) : emit(from.scalar);
    }
    bool isRead(unsigned number) const {
      const Source &from = statement.sources[number];
      return from.result || from.access || from.scalar;
    }
    /// Maps the arguments of the body that stand for operands that are read.
    void mapArguments(Block &block, unsigned first, unsigned count) {
      for (unsigned i = 0; i < count; ++i)
        if (isRead(i))
          map(block.getArgument(first + i), source(i));
    }

    LoopEmitter &emitter;
    const Statement &statement;
  };

  void at(const Statement &statement) {
    if (statement.op)
      b.loc = statement.op->getLoc();
  }

  //===--- statements ---------------------------------------------------------===//

  void emit(int number) {
    const Statement &statement = program.statements[number];
    at(statement);
    if (statement.kind == Statement::Kind::Scatter)
      scatter(statement);
    else if (statement.kind == Statement::Kind::Recurrence)
      recur(statement);
    else if (statement.kind == Statement::Kind::Copy)
      frame.store(*statement.target, BodyEmitterFor(*this, statement).source(0));
    else
      value({number, 0}); // and all others
  }

  /// The tile of a result, which is computed here if it is not known yet.
  Value value(ResultRef result) {
    ArrayRef<int> dims = program.dimsOf(result);
    if (Value known = scopes.result(result, dims))
      return known;
    const Statement &statement = program.statements[result.statement];
    Location outer = b.loc;
    at(statement);
    define(result.statement, compute(statement));
    b.loc = outer;
    return scopes.result(result, dims);
  }

  void define(int statement, ArrayRef<Value> tiles) {
    for (auto [i, tile] : llvm::enumerate(tiles))
      scopes.setResult({statement, int(i)}, tile);
  }

  Tiles compute(const Statement &statement) {
    switch (statement.kind) {
    case Statement::Kind::Map:
      return elementsOf(statement);
    case Statement::Kind::Reduce:
    case Statement::Kind::ArgReduce:
      return withInits(statement, reduced(statement));
    case Statement::Kind::Scan:
      return scanned(statement);
    case Statement::Kind::Sort:
      return sorted(statement);
    case Statement::Kind::Fold:
      return folded(statement);
    case Statement::Kind::AddToInit:
      return addedToInit(statement);
    case Statement::Kind::Recurrence:
    case Statement::Kind::Copy:
    case Statement::Kind::Scatter:
      break;
    }
    llvm_unreachable("a statement without results");
  }

  /// What is yielded for one element.
  Tiles elementsOf(const Statement &statement) {
    BodyEmitterFor body(*this, statement);
    auto op = cast<linalg::LinalgOp>(statement.op);
    Block &block = *op.getBlock();
    body.mapArguments(block, 0, unsigned(statement.sources.size()));
    for (graph::CheckIndexOp check : unreadChecks(block))
      body.emit(check);
    Tiles tiles;
    for (Value yielded : block.getTerminator()->getOperands())
      tiles.push_back(body.emit(yielded));
    return tiles;
  }

  //===--- reductions ---------------------------------------------------------===//

  /// The elements that a reduction takes, one tile for each of reductionsOf.
  Tiles reducedElements(const Statement &statement) {
    BodyEmitterFor body(*this, statement);
    auto op = cast<linalg::LinalgOp>(statement.op);
    Block &block = *op.getBlock();
    unsigned inputs = op.getNumDpsInputs();
    body.mapArguments(block, 0, inputs);
    if (statement.kind == Statement::Kind::ArgReduce)
      return {body.emit(matchExtreme(op)->element)};
    Tiles tiles;
    for (auto [i, yielded] : llvm::enumerate(block.getTerminator()->getOperands()))
      tiles.push_back(body.emit(elementOf(yielded, block.getArgument(inputs + unsigned(i)))));
    return tiles;
  }

  /// The kind of each reduction.
  static SmallVector<tile::ReduceKind> kindsOf(const Statement &statement) {
    auto op = cast<linalg::LinalgOp>(statement.op);
    if (statement.kind == Statement::Kind::ArgReduce)
      return {matchExtreme(op)->isMax ? tile::ReduceKind::Max : tile::ReduceKind::Min};
    SmallVector<tile::ReduceKind> kinds;
    Block &block = *op.getBlock();
    for (auto [i, yielded] : llvm::enumerate(block.getTerminator()->getOperands()))
      kinds.push_back(
          combinerOf(yielded, block.getArgument(op.getNumDpsInputs() + unsigned(i)))->reduce);
    return kinds;
  }

  /// The results, without what they are combined with at the start.
  Tiles reduced(const Statement &statement) {
    Tiles tiles;
    for (auto [element, kind] : llvm::zip(reducedElements(statement), kindsOf(statement)))
      llvm::append_range(tiles, reduce(statement, element, kind));
    return tiles;
  }

  /// The value and, of an ArgReduce, its coordinate.
  Tiles reduce(const Statement &statement, Value element, tile::ReduceKind kind) {
    // Innermost dimensions first: what is left of the others is short then.
    std::vector<int> dims = statement.dims;
    std::sort(dims.rbegin(), dims.rend());
    Value tile = element;
    for (int dim : dims)
      tile = b.reduce(kind, spread(tile, dim), dim);
    if (statement.kind != Statement::Kind::ArgReduce)
      return {tile};
    auto position =
        kind == tile::ReduceKind::Max ? tile::ReduceKind::ArgMax : tile::ReduceKind::ArgMin;
    return {tile, b.reduce(position, spread(element, dims[0]), dims[0])};
  }

  /// A value that is the same along a dimension counts each time.
  Value spread(Value tile, int dim) {
    Extents extents = TileBuilder::extentsOf(tile);
    extents[dim] = frame.parts[dim].extent;
    return b.broadcast(tile, extents);
  }

  /// Combines sums with what they start from, where that is not neutral.
  Tiles withInits(const Statement &statement, Tiles results) {
    if (statement.kind == Statement::Kind::ArgReduce)
      return results;
    auto op = cast<linalg::LinalgOp>(statement.op);
    BodyEmitterFor body(*this, statement);
    for (auto [i, yielded] : llvm::enumerate(op.getBlock()->getTerminator()->getOperands())) {
      unsigned init = op.getDpsInitOperand(int64_t(i))->getOperandNumber();
      if (!body.isRead(init))
        continue;
      Operation *combine = yielded.getDefiningOp();
      results[i] = b.elementwise(combine->getName().getStringRef(), {body.source(init), results[i]},
                                 TileBuilder::elementOf(results[i]));
    }
    return results;
  }

  Tiles addedToInit(const Statement &statement) {
    auto op = cast<linalg::LinalgOp>(statement.op);
    BodyEmitterFor body(*this, statement);
    Value product = body.source(0),
          start = body.source(op.getDpsInitOperand(0)->getOperandNumber());
    Type element = TileBuilder::elementOf(product);
    return {b.elementwise(isa<FloatType>(element) ? "arith.addf" : "arith.addi", {start, product},
                          element)};
  }

  Tiles scanned(const Statement &statement) {
    auto op = cast<graph::ScanOp>(statement.op);
    BodyEmitterFor body(*this, statement);
    Block &block = op.getBody().front();
    unsigned states = unsigned(op.getInitial().size());
    body.mapArguments(block, states, unsigned(op.getInputs().size()));
    Value yielded = block.getTerminator()->getOperand(0);
    BlockArgument state = block.getArgument(0);
    Value element = body.emit(elementOf(yielded, state));
    if (statement.dims.empty())
      return {element};
    int dim = statement.dims[0];
    return {b.scan(*combinerOf(yielded, state)->scan, spread(element, dim), dim, op.getReverse())};
  }

  /// The values and their positions.
  Tiles sorted(const Statement &statement) {
    auto op = cast<graph::SortOp>(statement.op);
    Value element = BodyEmitterFor(*this, statement).source(0);
    if (statement.dims.empty())
      return {element, b.full(b.toI64(b.index(0)), frame.extentsOf({}))};
    int dim = statement.dims[0];
    Size count = frame.parts[dim].extent;
    if (!llvm::is_contained(statement.results[0], dim))
      count = statement.dims.size() > 1 ? frame.parts[statement.dims[1]].extent : Size(1);
    bool isUnsigned = op.getIsUnsigned() && !isa<FloatType>(TileBuilder::elementOf(element));
    Tiles tiles = b.sort(spread(element, dim), dim, count, op.getDescending(), isUnsigned);
    if (statement.dims.size() > 1) { // what is kept extends along another dimension
      auto axes = llvm::to_vector_of<int>(llvm::seq<int>(0, int(frame.parts.size())));
      std::swap(axes[dim], axes[statement.dims[1]]);
      for (Value &tile : tiles)
        tile = b.transpose(tile, axes);
    }
    return tiles;
  }

  //===--- chunks -------------------------------------------------------------===//

  /// A reduction in a loop over chunks.
  struct InChunks {
    int statement;
    CarriedReduction carried;
  };

  SmallVector<InChunks> carriedBy(ArrayRef<int> statements) {
    SmallVector<InChunks> all;
    for (int number : statements) {
      const Statement &statement = program.statements[number];
      bool hasPosition = statement.kind == Statement::Kind::ArgReduce;
      auto types = statement.op->getResultTypes();
      for (auto [i, kind] : llvm::enumerate(kindsOf(statement))) {
        all.push_back({number,
                       {kind, hasPosition, cast<RankedTensorType>(types[i]).getElementType(),
                        frame.extentsOf(statement.results[i])}});
      }
    }
    return all;
  }

  /// What is reduced along `dim` is carried by a loop over chunks.
  void reduceInChunks(int dim, int64_t chunk, ArrayRef<LoopPosition> positions) {
    SmallVector<int> statements;
    for (auto [i, position] : llvm::enumerate(positions)) {
      if (position == LoopPosition::Before)
        emit(int(i));
      else if (position != LoopPosition::Behind)
        loadInvariants(program.statements[i], dim);
      if (position == LoopPosition::Reduced)
        statements.push_back(int(i));
    }
    SmallVector<InChunks> reductions = carriedBy(statements);
    Tiles start;
    for (const InChunks &one : reductions)
      llvm::append_range(start, one.carried.neutral(b));
    Size size = frame.size(dim), trips = floorDiv(size, chunk), rest = mod(size, chunk);
    auto body = [&](Value number, ValueRange states) {
      return addChunk(reductions, dim, chunk, b.mul(number, chunk), states);
    };
    auto combine = [&](ValueRange first, ValueRange second) {
      return combined(reductions, first, second);
    };
    tile::ForOp loop = b.loop(b.index(0), b.index(trips), b.index(1), start, body, combine);
    loop.setCommutative(
        llvm::all_of(reductions, [](const InChunks &one) { return one.carried.isCommutative(); }));
    moveLoopInvariantCode(loop);
    Tiles last(loop.getResults());
    if (!rest.constant() || *rest.constant() > 0)
      last = addChunk(reductions, dim, rest, b.index(trips * chunk), last);
    for (int number : statements) {
      Tiles results;
      size_t at = 0;
      for (const InChunks &one : reductions) {
        ValueRange states = ValueRange(last).slice(at, one.carried.stateCount());
        at += one.carried.stateCount();
        if (one.statement == number)
          llvm::append_range(results, one.carried.results(b, states));
      }
      this->at(program.statements[number]);
      define(number, withInits(program.statements[number], results));
    }
  }

  /// Loads what does not extend along the dimension before the loop.
  void loadInvariants(const Statement &statement, int dim) {
    BodyEmitterFor body(*this, statement);
    for (const Source &source : statement.sources)
      if (source.access && !source.access->covers(dim))
        body.load(*source.access, source.pad);
    for (auto &[op, lookUp] : statement.lookUps)
      if (!lookUp.isGather && !lookUp.access.covers(dim))
        body.load(lookUp.access, lookUp.pad);
  }

  /// The states after `count` more elements, all of which exist, from `first` on.
  Tiles addChunk(ArrayRef<InChunks> reductions, int dim, const Size &count, Value first,
                 ValueRange states) {
    LoopFrame::DimPart whole = frame.parts[dim];
    frame.parts[dim] = {count, first};
    scopes.enter({dim});
    Tiles chunk;
    int previous = -1;
    Tiles results;
    size_t next = 0;
    for (const InChunks &one : reductions) {
      if (one.statement != previous) {
        at(program.statements[one.statement]);
        results = reduced(program.statements[one.statement]);
        for (Value &result : results)
          result = b.broadcast(result, one.carried.extents);
        previous = one.statement;
        next = 0;
      }
      size_t count = one.carried.hasPosition ? 2 : 1;
      llvm::append_range(chunk,
                         one.carried.ofChunk(b, ValueRange(results).slice(next, count), first));
      next += count;
    }
    Tiles sum = combined(reductions, states, chunk);
    scopes.leave();
    frame.parts[dim] = whole;
    return sum;
  }

  Tiles combined(ArrayRef<InChunks> reductions, ValueRange first, ValueRange second) {
    Tiles all;
    for (const InChunks &one : reductions) {
      size_t at = all.size(), count = one.carried.stateCount();
      llvm::append_range(all,
                         one.carried.combined(b, first.slice(at, count), second.slice(at, count)));
    }
    return all;
  }

  //===--- folds --------------------------------------------------------------===//

  using FoldBody = llvm::function_ref<Tiles(ValueRange)>;

  /// Runs a body for each place along the dimensions of a fold, outermost first; of one in reverse
  /// from the last place to the first.
  Tiles foldAlong(const Statement &statement, size_t level, ValueRange carried, FoldBody body,
                  bool isReverse = false) {
    if (level == statement.dims.size())
      return body(carried);
    int dim = statement.dims[level];
    Size size = frame.size(dim);
    auto at = [&](Value place, ValueRange now) {
      LoopFrame::DimPart whole = frame.parts[dim];
      frame.parts[dim] = {Size(1), place};
      scopes.enter({dim});
      Tiles next = foldAlong(statement, level + 1, now, body, isReverse);
      scopes.leave();
      frame.parts[dim] = whole;
      return next;
    };
    int64_t step = isReverse ? -1 : 1;
    if (!isShort(statement)) {
      Value first = b.index(isReverse ? size + Size(-1) : Size(0));
      Value end = b.index(isReverse ? Size(-1) : size);
      return Tiles(b.loop(first, end, b.index(step), carried, at).getResults());
    }
    Tiles states(carried);
    int64_t count = *size.constant(), place = isReverse ? count - 1 : 0;
    for (int64_t trip = 0; trip < count; ++trip, place += step)
      states = at(b.index(place), states);
    return states;
  }

  /// Whether a fold has so few places that it is written out.
  bool isShort(const Statement &statement) const {
    int64_t places = 1;
    for (int dim : statement.dims)
      places *= std::min(program.dims[dim].size.value_or(writtenPlaces + 1), writtenPlaces + 1);
    return places <= writtenPlaces;
  }

  Tiles folded(const Statement &statement) {
    auto op = cast<linalg::LinalgOp>(statement.op);
    Block &block = *op.getBlock();
    unsigned inputs = op.getNumDpsInputs();
    Extents extents = frame.extentsOf(statement.results[0]);
    Tiles inits;
    BodyEmitterFor before(*this, statement);
    for (OpOperand &init : op.getDpsInitsMutable())
      inits.push_back(b.broadcast(before.source(init.getOperandNumber()), extents));
    return foldAlong(statement, 0, inits, [&](ValueRange states) {
      BodyEmitterFor body(*this, statement);
      body.mapArguments(block, 0, inputs);
      for (auto [argument, state] : llvm::zip(block.getArguments().drop_front(inputs), states))
        body.map(argument, state);
      Tiles next;
      for (Value yielded : block.getTerminator()->getOperands())
        next.push_back(b.broadcast(body.emit(yielded), extents));
      return next;
    });
  }

  /// Stores the states after each element.
  void recur(const Statement &statement) {
    auto op = cast<graph::ScanOp>(statement.op);
    Block &block = op.getBody().front();
    unsigned inputs = unsigned(op.getInputs().size()), count = unsigned(op.getInitial().size());
    Extents extents = frame.extentsOf(statement.carriedDims);
    Tiles inits;
    BodyEmitterFor before(*this, statement);
    for (unsigned i = 0; i < count; ++i)
      inits.push_back(b.broadcast(before.source(inputs + i), extents));
    auto step = [&](ValueRange states) {
      BodyEmitterFor body(*this, statement);
      body.mapArguments(block, count, inputs);
      for (auto [argument, state] : llvm::zip(block.getArguments(), states))
        body.map(argument, state);
      Tiles next;
      for (Value yielded : block.getTerminator()->getOperands())
        next.push_back(b.broadcast(body.emit(yielded), extents));
      for (auto [target, state] : llvm::zip(statement.targets, next))
        frame.store(target, state);
      return next;
    };
    foldAlong(statement, 0, inits, step, op.getReverse());
  }

  static bool isElement(Value tile) { return llvm::all_of(TileBuilder::extentsOf(tile), isOne); }

  void scatter(const Statement &statement) {
    auto op = cast<graph::ScatterOp>(statement.op);
    Block &block = op.getBody().front();
    foldAlong(statement, 0, {}, [&](ValueRange) {
      BodyEmitterFor body(*this, statement);
      body.mapArguments(block, 0, block.getNumArguments());
      auto yielded = block.getTerminator()->getOperands();
      Value value = body.emit(yielded.back());
      StringRef combine = combineOperation(op);
      auto combined = [&](Value there, Value value) {
        return b.elementwise(combine, {there, value}, TileBuilder::elementOf(value));
      };
      LoopFrame::Combine how = nullptr;
      if (!combine.empty())
        how = combined;
      Tiles positions;
      for (int axis : statement.positions)
        positions.push_back(body.emit(yielded[axis]));
      if (llvm::all_of(positions, isElement)) {
        for (Value &position : positions)
          position = b.toIndex(b.extract(position));
        frame.update(*statement.target, value, positions, how);
      } else {
        frame.updateElements(*statement.target, value, positions, how);
      }
      return Tiles();
    });
  }

  TileBuilder &b;
  const LoopProgram &program;
  const std::vector<LoopTiling> &tilings;
  LoopFrame frame;
  TileScopes scopes;
};

} // namespace

tile::KernelOp emitLoops(OpBuilder &builder, Location loc, StringRef name,
                         const LoopProgram &program, const LoopConfiguration &configuration) {
  OpBuilder::InsertionGuard guard(builder);
  TileBuilder b(builder, loc);
  return LoopEmitter(b, name, program, configuration).run();
}

} // namespace tw::conversion
