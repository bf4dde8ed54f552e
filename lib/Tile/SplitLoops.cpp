// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-split (Passes.td).
#include "Tile/SplitLoops.h"
#include "IR/Coded.h"
#include "IR/Graph/Decisions.h"
#include "IR/Tile/LoopBounds.h"
#include "IR/Tile/Variants.h"
#include "Kernels/SplitParts.h"
#include "Tile/CutRows.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include <fmt/format.h>
#include <set>

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_SPLITLOOPS
#include "Tile/Passes.h.inc"

namespace {

/// What an extent that only calls tell is taken for.
constexpr int64_t unknownExtent = 64;

ForOp splittableLoop(KernelOp kernel) {
  for (ForOp loop : kernel.getOps<ForOp>())
    if (loop.canSplit())
      return loop;
  return {};
}

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

int64_t elementsOf(Type type) {
  int64_t count = 1;
  if (auto tile = dyn_cast<RankedTensorType>(type))
    for (int64_t extent : tile.getShape())
      count *= ShapedType::isDynamic(extent) ? unknownExtent : extent;
  return count;
}

/// Of one trip, about. Products are computed while their operands are loaded.
int64_t workOf(ForOp loop, int64_t loadWork) {
  int64_t products = 0, others = 0;
  loop.getBody().walk([&](Operation *op) {
    if (op->getNumResults() != 1)
      return;
    int64_t elements = elementsOf(op->getResult(0).getType());
    if (auto dot = dyn_cast<DotOp>(op)) {
      int64_t depth = cast<RankedTensorType>(dot.getA().getType()).getShape().back();
      products += (ShapedType::isDynamic(depth) ? unknownExtent : depth) * elements;
    } else {
      others += (isa<LoadOp>(op) ? loadWork : 1) * elements;
    }
  });
  return std::max<int64_t>({products, others, 1});
}

std::optional<int64_t> programsOf(KernelOp kernel) {
  int64_t programs = 1;
  for (auto size : kernel.getGrid().getAsRange<SizeAttr>()) {
    auto count = size.getSize().constant();
    if (!count || __builtin_mul_overflow(programs, *count, &programs))
      return std::nullopt;
  }
  return programs;
}

/// Symbols that a call could not bind without the outputs.
bool needsOutputs(KernelOp kernel) {
  std::set<std::string> bound;
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments().getAsRange<ArgumentAttr>())) {
    if (argument.getSymbol())
      bound.insert(argument.getSymbol().str());
    if (auto buffer = dyn_cast<BufferType>(kernel.getBlockArgument(i).getType());
        buffer && argument.getAccess() == Access::In)
      for (const Size &size : sizesOf(buffer))
        if (auto symbol = size.asSymbol())
          bound.insert(*symbol);
  }
  return llvm::any_of(kernel.getSymbols().getAsRange<SymbolAttr>(),
                      [&](SymbolAttr symbol) { return !bound.contains(symbol.getName().str()); });
}

bool isPlainState(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.hasStaticShape() && !tile.getElementType().isIndex();
}

/// Why the loop cannot be split, whatever its sizes; empty if it can.
std::string refusal(KernelOp kernel, ForOp loop) {
  if (!programsOf(kernel))
    return "the number of programs is known only at the call";
  if (auto step = constantOf(loop.getStep()); !step || *step < 1)
    return "its step is not a positive constant";
  if (!llvm::all_of(loop.getResultTypes(), isPlainState))
    return "it carries values other than tiles of static extents";
  for (auto argument : kernel.getArguments().getAsRange<ArgumentAttr>())
    if (argument.getAccess() == Access::InOut)
      return "the kernel updates a buffer in place";
  return needsOutputs(kernel) ? "sizes are known only from the outputs" : "";
}

/// Of each of `count` parts but the last ones.
int64_t tripsOfPart(int64_t trips, int64_t count) {
  return int64_t(llvm::divideCeil(trips, count));
}

/// The index arithmetic of positions and bounds.
struct Indexes {
  OpBuilder &b;
  Location loc;
  Value number(int64_t n) { return arith::ConstantIndexOp::create(b, loc, n); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }
  Value select(Value test, Value x, Value y) { return arith::SelectOp::create(b, loc, test, x, y); }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }
  /// y > 0, x >= 0
  Value ceilDiv(Value x, int64_t y) {
    return arith::DivSIOp::create(b, loc, add(x, number(y - 1)), number(y));
  }
  /// Of unsigned numbers, at most 2^63 - 1; no sum overflows.
  Value ceilDivUnsigned(Value x, Value y) {
    Value rest = arith::MinUIOp::create(b, loc, arith::RemUIOp::create(b, loc, x, y), number(1));
    return arith::MinUIOp::create(b, loc, add(arith::DivUIOp::create(b, loc, x, y), rest),
                                  number(INT64_MAX));
  }
};

class Splitter {
public:
  Splitter(KernelOp kernel, int64_t count, const conversion::SplitLimits &limits)
      : kernel(kernel), count(count), isWrittenOut(count <= limits.mostWrittenOut),
        enoughPrograms(limits.enoughPrograms), b(kernel.getContext()), loc(kernel.getLoc()) {
    gridRank = kernel.getGrid().size();
  }

  SplitKernel run() {
    for (Type type : splittableLoop(kernel).getResultTypes())
      split.states.push_back(bufferOf(cast<RankedTensorType>(type)));
    makeParts();
    makeRest();
    return std::move(split);
  }

private:
  SizeAttr size(int64_t n) { return SizeAttr::get(b.getContext(), Size(n)); }

  /// [parts, grid..., extents...]
  BufferType bufferOf(RankedTensorType state) {
    SmallVector<SizeAttr> shape = {size(count)};
    llvm::append_range(shape, kernel.getGrid().getAsRange<SizeAttr>());
    for (int64_t extent : state.getShape())
      shape.push_back(size(extent));
    return BufferType::get(b.getContext(), shape, state.getElementType());
  }

  /// The same elements with the leading dimensions of the buffer, all 1.
  RankedTensorType boxOf(RankedTensorType state) {
    SmallVector<int64_t> shape(gridRank + 1, 1);
    llvm::append_range(shape, state.getShape());
    return RankedTensorType::get(shape, state.getElementType());
  }

  SmallVector<Value> positions(Value part, unsigned firstDim, RankedTensorType state) {
    SmallVector<Value> all = {part};
    for (unsigned d = 0; d < gridRank; ++d)
      all.push_back(ProgramIdOp::create(b, loc, b.getIndexType(), firstDim + d));
    all.append(state.getRank(), Indexes{b, loc}.number(0));
    return all;
  }

  std::string stateName(size_t i) { return "state" + std::to_string(i); }

  /// Adds arguments for the states before argument `at`.
  SmallVector<BlockArgument> addStates(KernelOp to, unsigned at, Access access) {
    SmallVector<Attribute> attributes(to.getArguments().getValue());
    SmallVector<BlockArgument> added;
    for (auto [i, type] : llvm::enumerate(split.states)) {
      added.push_back(to.getBody().insertArgument(at + i, type, loc));
      attributes.insert(attributes.begin() + at + i,
                        ArgumentAttr::get(b.getContext(), stateName(i), access, {}, {}));
    }
    to.setArgumentsAttr(b.getArrayAttr(attributes));
    return added;
  }

  //===--- parts -----------------------------------------------------------===//

  void makeParts() {
    split.parts = OwningOpRef<KernelOp>(cast<KernelOp>(kernel->clone()));
    KernelOp parts = *split.parts;
    parts.setSymName((kernel.getSymName() + "_parts").str());
    ForOp loop = splittableLoop(parts);
    Block &body = parts.getBody().front();
    while (&body.back() != loop.getOperation()) {
      body.back().dropAllUses();
      body.back().erase();
    }
    parts.walk([](ProgramIdOp id) { id.setDim(id.getDim() + 1); });
    addGridDimension(parts);
    unsigned outs = dropOutputs(parts);
    SmallVector<BlockArgument> buffers = addStates(parts, outs, Access::Out);
    b.setInsertionPoint(loop);
    Value part = ProgramIdOp::create(b, loc, b.getIndexType(), 0);
    takePart(loop, part);
    b.setInsertionPointAfter(loop);
    for (auto [state, buffer] : llvm::zip(loop.getResults(), buffers)) {
      auto type = cast<RankedTensorType>(state.getType());
      Value box = ReshapeOp::create(b, loc, boxOf(type), state);
      StoreOp::create(b, loc, box, buffer, positions(part, 1, type), b.getDenseI64ArrayAttr({}),
                      Value(), UnitAttr(), UpdateAttr());
    }
  }

  void addGridDimension(KernelOp parts) {
    SmallVector<Attribute> grid = {size(count)};
    llvm::append_range(grid, kernel.getGrid());
    parts.setGridAttr(b.getArrayAttr(grid));
    if (auto block = kernel->getAttrOfType<DenseI64ArrayAttr>(TileDialect::blockName)) {
      // Programs are few, so each is worth a worker.
      SmallVector<int64_t> ones(block.size() + 1, 1);
      parts->setAttr(TileDialect::blockName, b.getDenseI64ArrayAttr(ones));
    }
  }

  /// Returns the number of the argument after the last input.
  unsigned dropOutputs(KernelOp parts) {
    SmallVector<Attribute> kept(parts.getArguments().getValue());
    for (unsigned i = kept.size(); i-- > 0;)
      if (cast<ArgumentAttr>(kept[i]).getAccess() == Access::Out) {
        parts.getBody().eraseArgument(i);
        kept.erase(kept.begin() + i);
      }
    parts.setArgumentsAttr(b.getArrayAttr(kept));
    return inputsEnd(parts);
  }

  static unsigned inputsEnd(KernelOp kernel) {
    unsigned end = 0;
    for (auto [i, argument] : llvm::enumerate(kernel.getArguments().getAsRange<ArgumentAttr>()))
      if (argument.getAccess() == Access::In)
        end = i + 1;
    return end;
  }

  /// Parts are equally many trips, the last ones fewer.
  void takePart(ForOp loop, Value part) {
    constexpr int64_t mostStep = int64_t(1) << 61; // as bounds: parts reach beyond the end by less
    int64_t step = *constantOf(loop.getStep());
    if (!hasSmallBounds(loop) || step > mostStep / count)
      return takePartOfAny(loop, part);
    if (std::optional<int64_t> trips = loop.constantTripCount())
      return takeKnownPart(loop, part, *trips);
    Indexes ix{b, loc};
    Value begin = loop.getBegin();
    Value length = ix.sub(ix.max(begin, loop.getEnd()), begin);
    Value trips = ix.ceilDiv(length, step), each = ix.ceilDiv(trips, count);
    Value first = ix.min(ix.mul(part, each), trips), last = ix.min(ix.add(first, each), trips);
    loop.getBeginMutable().assign(ix.add(begin, ix.mul(first, ix.number(step))));
    loop.getEndMutable().assign(ix.add(begin, ix.mul(last, ix.number(step))));
  }

  /// Bounds may be any numbers of 64 bits: from data, or the caller's. No call lives to see the end
  /// of a loop of 2^63 trips.
  void takePartOfAny(ForOp loop, Value part) {
    Indexes ix{b, loc};
    Value begin = loop.getBegin(), end = ix.max(begin, loop.getEnd());
    Value step = ix.number(*constantOf(loop.getStep()));
    Value trips = ix.ceilDivUnsigned(ix.sub(end, begin), step);
    Value each = ix.ceilDivUnsigned(trips, ix.number(count));
    Value first = ix.min(ix.mul(part, each), trips), last = ix.min(ix.add(first, each), trips);
    // Trip number `trips` would begin beyond the end, and perhaps beyond 64 bits.
    Value hasTrips = ix.less(first, trips);
    Value start = ix.add(begin, ix.mul(ix.select(hasTrips, first, ix.number(0)), step));
    Value stop = ix.select(ix.less(last, trips), ix.add(begin, ix.mul(last, step)), end);
    loop.getBeginMutable().assign(start);
    loop.getEndMutable().assign(ix.select(hasTrips, stop, start));
  }

  /// Where they come out even, it is plain that each has the same number.
  void takeKnownPart(ForOp loop, Value part, int64_t trips) {
    Indexes ix{b, loc};
    int64_t each = tripsOfPart(trips, count), length = each * *constantOf(loop.getStep());
    Value begin = ix.add(loop.getBegin(), ix.mul(part, ix.number(length)));
    Value end = ix.add(begin, ix.number(length));
    if (each * count != trips)
      end = ix.min(end, loop.getEnd());
    loop.getBeginMutable().assign(begin);
    loop.getEndMutable().assign(end);
  }

  //===--- the rest --------------------------------------------------------===//

  void makeRest() {
    split.rest = OwningOpRef<KernelOp>(cast<KernelOp>(kernel->clone()));
    KernelOp rest = *split.rest;
    ForOp loop = splittableLoop(rest);
    SmallVector<BlockArgument> buffers = addStates(rest, inputsEnd(rest), Access::In);
    b.setInsertionPoint(loop);
    loop.replaceAllUsesWith(isWrittenOut ? combineInSequence(loop, buffers)
                                         : combineInLoop(loop, buffers));
    SmallVector<Type> states(loop.getResultTypes());
    loop.erase();
    if (isWrittenOut)
      shareRows(rest, buffers, states);
  }

  /// Programs for as many rows as leave none of the workers without any; rows are the first
  /// dimension of all states.
  void shareRows(KernelOp rest, ArrayRef<BlockArgument> buffers, ArrayRef<Type> states) {
    int64_t all = cast<RankedTensorType>(states[0]).getRank() > 0
                      ? cast<RankedTensorType>(states[0]).getDimSize(0)
                      : 1;
    int64_t rows = all, programs = *programsOf(kernel);
    while (rows > 1 && (all % rows != 0 || programs * (all / rows) < enoughPrograms))
      --rows;
    if (rows == all)
      return;
    removeUnused(rest);
    SmallVector<std::pair<Value, unsigned>> tiles;
    for (BlockArgument buffer : buffers)
      for (Operation *user : buffer.getUsers())
        tiles.push_back({cast<LoadOp>(user).getResult(), 1 + gridRank});
    cutRows(rest, tiles, rows);
  }

  /// What the loop alone has used.
  static void removeUnused(KernelOp rest) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(rest.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  SmallVector<Value> combineInSequence(ForOp loop, ArrayRef<BlockArgument> buffers) {
    Indexes ix{b, loc};
    SmallVector<Value> all = load(loop, buffers, ix.number(0));
    for (int64_t part = 1; part < count; ++part)
      all = combine(loop, all, load(loop, buffers, ix.number(part)));
    return all;
  }

  SmallVector<Value> combineInLoop(ForOp loop, ArrayRef<BlockArgument> buffers) {
    Indexes ix{b, loc};
    SmallVector<Value> first = load(loop, buffers, ix.number(0));
    auto merge = ForOp::create(b, loc, loop.getResultTypes(), ix.number(1), ix.number(count),
                               ix.number(1), first);
    Block &body = merge.getBody().emplaceBlock();
    Value part = body.addArgument(b.getIndexType(), loc);
    for (Type type : loop.getResultTypes())
      body.addArgument(type, loc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&body);
    YieldOp::create(b, loc,
                    combine(loop, body.getArguments().drop_front(), load(loop, buffers, part)));
    return merge.getResults();
  }

  SmallVector<Value> combine(ForOp loop, ValueRange before, ValueRange after) {
    Block &both = loop.getCombine().front();
    IRMapping mapping;
    SmallVector<Value> states(before);
    llvm::append_range(states, after);
    mapping.map(both.getArguments(), states);
    for (Operation &op : both.without_terminator())
      b.clone(op, mapping);
    SmallVector<Value> results;
    for (Value result : both.getTerminator()->getOperands())
      results.push_back(mapping.lookup(result));
    return results;
  }

  SmallVector<Value> load(ForOp loop, ArrayRef<BlockArgument> buffers, Value part) {
    SmallVector<Value> states;
    for (auto [result, buffer] : llvm::zip(loop.getResultTypes(), buffers)) {
      auto type = cast<RankedTensorType>(result);
      Value box = LoadOp::create(b, loc, boxOf(type), buffer, positions(part, 0, type),
                                 b.getDenseI64ArrayAttr({}), Value(), Value());
      states.push_back(ReshapeOp::create(b, loc, type, box));
    }
    return states;
  }

  KernelOp kernel;
  int64_t count;
  bool isWrittenOut;
  int64_t enoughPrograms;
  OpBuilder b;
  Location loc;
  unsigned gridRank = 0;
  SplitKernel split;
};

struct SplitLoops : impl::SplitLoopsBase<SplitLoops> {
  using SplitLoopsBase::SplitLoopsBase;

  void runOnOperation() override {
    conversion::SplitLimits limits{enoughPrograms, wantedPrograms, leastWork,
                                   partsOfUnknown, loadWork,       mostWrittenOut};
    SymbolTable table(getOperation());
    llvm::StringMap<SmallVector<graph::DispatchOp>> calls;
    getOperation().walk([&](graph::DispatchOp op) { calls[op.getKernel()].push_back(op); });
    // A variant is not called as such; its kernel, whose programs only calls tell, is not split.
    llvm::DenseSet<Operation *> variants = allVariants(getOperation());
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      if (variants.contains(kernel))
        continue;
      std::string why;
      int64_t count = chooseParts(kernel, limits, why);
      if (count == 1) {
        if (!why.empty())
          emitReport(kernel.getLoc()) << "its loop runs on one worker: " << why;
        continue;
      }
      SplitKernel split = splitLoop(kernel, count, limits);
      KernelOp parts = split.parts.release(), rest = split.rest.release();
      Block::iterator place = std::next(kernel->getIterator());
      std::string name = kernel.getSymName().str();
      table.erase(kernel);
      table.insert(parts, place);
      table.insert(rest, place);
      for (graph::DispatchOp call : calls[name])
        replace(call, parts, split.states);
    }
  }

  static void replace(graph::DispatchOp call, KernelOp parts, ArrayRef<BufferType> states) {
    OpBuilder b(call);
    ArrayAttr configured = graph::configuredNames(call);
    SmallVector<Value> rooms, inputs;
    for (BufferType state : states) {
      SmallVector<int64_t> shape;
      for (const Size &size : sizesOf(state))
        shape.push_back(*size.constant());
      rooms.push_back(tensor::EmptyOp::create(b, call.getLoc(), shape, state.getElementType()));
    }
    auto first = graph::DispatchOp::create(b, call.getLoc(), ValueRange(rooms).getTypes(),
                                           parts.getSymName(), call.getInputs(), rooms);
    unsigned buffers = 0;
    for (auto argument : parts.getArguments().getAsRange<ArgumentAttr>())
      buffers += argument.getAccess() == Access::In;
    llvm::append_range(inputs, call.getInputs().take_front(buffers));
    llvm::append_range(inputs, first.getResults());
    llvm::append_range(inputs, call.getInputs().drop_front(buffers));
    call.getInputsMutable().assign(inputs);
    for (graph::DispatchOp op : {first, call})
      op->setAttr(graph::configuredName, configured);
  }
};

} // namespace

/// How many parts the configuration asks for; 0: it leaves them to the limits.
static int64_t askedParts(KernelOp kernel) {
  auto configuration = kernel->getAttrOfType<ConfigurationAttr>(TileDialect::configurationName);
  auto parts = configuration ? configuration.getFields().getAs<IntegerAttr>(kernels::splitPartsName)
                             : IntegerAttr();
  return parts ? parts.getInt() : 0;
}

/// So many that each has a trip.
static int64_t withoutEmptyParts(int64_t count, std::optional<int64_t> trips) {
  if (!trips || count <= 1 || *trips < 1)
    return std::max<int64_t>(count, 1);
  return int64_t(llvm::divideCeil(*trips, tripsOfPart(*trips, count)));
}

int64_t chooseParts(KernelOp kernel, const conversion::SplitLimits &limits, std::string &why) {
  ForOp loop = splittableLoop(kernel);
  if (!loop)
    return 1;
  int64_t asked = askedParts(kernel);
  if (asked == 1)
    return 1;
  why = refusal(kernel, loop);
  if (!why.empty())
    return 1;
  int64_t programs = *programsOf(kernel);
  std::optional<int64_t> trips = loop.constantTripCount();
  if (asked > 0 && programs > 0 && limits.enoughPrograms > 0)
    return why = graph::unwanted, withoutEmptyParts(asked, trips);
  if (programs == 0 || programs >= limits.enoughPrograms)
    return why = fmt::format("there are {} programs", programs), 1;
  int64_t count = limits.wantedPrograms / programs;
  if (!trips)
    return std::min(count, limits.partsOfUnknown);
  int64_t leastTrips = int64_t(llvm::divideCeil(limits.leastWork, workOf(loop, limits.loadWork)));
  count = std::min(count, *trips / leastTrips);
  why = fmt::format("{} iterations are too few to share", *trips);
  return withoutEmptyParts(count, trips);
}

SplitKernel splitLoop(KernelOp kernel, int64_t count, const conversion::SplitLimits &limits) {
  return Splitter(kernel, count, limits).run();
}

} // namespace tw::tile
