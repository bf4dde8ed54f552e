// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles exist as a whole, and where: in shared memory while there is some, else in the
// block's part of the workspace.
#include "IR/Tile/Elementwise.h"
#include "Target/Common/Index/Bounds.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Emission/Width.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t roomAlignment = 16; // bytes, in shared memory

/// What costs at most this is computed again wherever it is used; the second, where it would lie in
/// the workspace, which is a write and a read of memory for an exponential.
static constexpr int64_t mostRepeated = 6, mostRepeatedForWorkspace = 64;
/// An expression that costs more is computed in parts, so that no piece of code becomes too large.
static constexpr int64_t mostAtOnce = 2000;

//===--- scratch ---------------------------------------------------------===//

static std::optional<int64_t> knownBytes(ArrayRef<Size> extents, int64_t each) {
  for (const Size &extent : extents) {
    if (!extent.constant())
      return std::nullopt;
    each *= *extent.constant();
  }
  return each;
}

bool Emitter::hasSharedRoom(ArrayRef<Size> extents, int64_t each) const {
  std::optional<int64_t> bytes = knownBytes(extents, each);
  return bytes && sharedBytes + *bytes <= sharedLimit;
}

Scratch Emitter::allocate(ArrayRef<Size> extents, Type element) {
  int64_t bytes = bytesOf(element);
  if (hasSharedRoom(extents, bytes)) {
    Value base = address(shared, b.getI8Type(), sharedBytes);
    sharedBytes += int64_t(llvm::alignTo(uint64_t(*knownBytes(extents, bytes)), roomAlignment));
    mostSharedBytes = std::max(mostSharedBytes, sharedBytes);
    return {base, rowMajor(ix(), sizes(extents)), element};
  }
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  requests.push_back({extents.vec(), bytes});
  Value base = address(workspace, b.getI8Type(), workspaceBytes);
  Indices all = sizes(extents);
  workspaceBytes = ix().add(workspaceBytes, ix().alignUp(ix().mul(ix().product(all), bytes), 64));
  Indices strides = rowMajor(ix(), all);
  return {base, strides, element};
}

Scratch Emitter::scratchFor(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return allocate(tile::extentsOf(type), type.getElementType());
}

static Ix indexIn(Emitter &e, const Scratch &scratch, const Point &point) {
  Ix index = 0;
  for (auto [at, stride] : llvm::zip(point, scratch.strides))
    index = e.ix().add(index, e.ix().mul(at, stride));
  return index;
}

Value Emitter::read(const Scratch &scratch, const Point &point) {
  return loadFrom(scratch.base, scratch.element, indexIn(*this, scratch, point));
}

Value Emitter::readTile(Value tile, const Scratch &scratch, const Point &point) {
  SmallVector<Point> group = groupOf(point);
  if (group.size() == 1)
    return read(scratch, point);
  SmallVector<Value> values = loadFrom(
      scratch.base, scratch.element, indexIn(*this, scratch, group.front()), int64_t(group.size()));
  Value own;
  for (auto [at, value] : llvm::zip(group, values)) {
    setElement(tile, at, value);
    if (at.back().same(point.back()))
      own = value;
  }
  return own;
}

void Emitter::write(const Scratch &scratch, const Point &point, Value value) {
  storeTo(value, scratch.base, scratch.element, indexIn(*this, scratch, point));
}

void Emitter::writeGroup(const Scratch &scratch, const Group &group, ValueRange values) {
  OpBuilder::InsertionGuard guard(b);
  if (group.isInside)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, group.isInside, false).thenBlock());
  storeTo(values, scratch.base, scratch.element, indexIn(*this, scratch, group.points.front()));
}

LogicalResult Emitter::fill(const Scratch &scratch, Value tile) {
  LogicalResult done = overGroups(extents(tile), [&](const Group &group) -> LogicalResult {
    FailureOr<SmallVector<Value>> values = evaluate(tile, group);
    if (succeeded(values))
      writeGroup(scratch, group, *values);
    return success(succeeded(values));
  });
  barrier();
  return done;
}

bool Emitter::hasElementOfRow(Value tile) const {
  auto type = cast<RankedTensorType>(tile.getType());
  return type.hasStaticShape() && (type.getNumElements() == 1 ||
                                   (rowsTogether > 1 && type.getNumElements() == rowsTogether));
}

LogicalResult Emitter::computeElementsOfRows(Value tile) {
  SmallVector<Value> values;
  Indices all = extents(tile);
  for (int64_t row = 0; row < cast<RankedTensorType>(tile.getType()).getNumElements(); ++row) {
    FailureOr<Value> value = evaluate(tile, pointAt(row, all));
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  setElementsOfRows(tile, values);
  return success();
}

void Emitter::setElementsOfRows(Value tile, ArrayRef<Value> values) {
  Indices all = extents(tile);
  for (auto [row, value] : llvm::enumerate(values))
    setElement(tile, pointAt(int64_t(row), all), value);
  costs[tile] = 1;
}

Value Emitter::elementOfRow(Value tile, const Point &point) {
  if (!hasElementOfRow(tile) || rowsTogether == 1)
    return {};
  Value element;
  Indices all = extents(tile);
  for (int64_t row = 0; row < rowsTogether; ++row) {
    Point place = pointAt(row, all);
    Value value = knownElement(tile, place);
    if (!value)
      return {};
    Value isHere;
    for (auto [at, of] : llvm::zip(point, place))
      if (!at.same(of))
        isHere = both(isHere, ix().equal(at, of));
    element = !element ? value
              : isHere ? Value(arith::SelectOp::create(b, loc, isHere, value, element))
                       : value;
  }
  return element;
}

//===--- what is materialized -----------------------------------------------===//

int64_t Emitter::costOf(Value tile) {
  if (materialized.contains(tile))
    return 1;
  if (auto found = costs.find(tile); found != costs.end())
    return found->second;
  Operation *op = tile.getDefiningOp();
  int64_t cost = 0;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      cost = std::min(cost + costOf(operand), mostAtOnce * 2);
  if (tile::isElementwise(op))
    cost += ownCost(op);
  else if (isa<tile::LoadOp, tile::GatherOp>(op))
    cost += 2;
  return costs[tile] = cost;
}

/// Whether `user` asks for the same element of its operand several times.
static bool repeats(Operation *user, Value operand) {
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(user))
    return broadcast.getOperand().getType() != broadcast.getResult().getType();
  if (auto dot = dyn_cast<tile::DotOp>(user))
    return operand == dot.getA() || operand == dot.getB();
  // Positions along a dimension, and what is counted or sorted.
  if (auto load = dyn_cast<tile::LoadOp>(user))
    return llvm::is_contained(load.getPositions(), operand);
  if (auto store = dyn_cast<tile::StoreOp>(user))
    return llvm::is_contained(store.getPositions(), operand);
  return false;
}

Emitter::Sink Emitter::sinkOf(Value tile) {
  if (auto found = sinks.find(tile); found != sinks.end())
    return found->second;
  Operation *only = nullptr;
  bool isOne = llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != tile.getParentBlock() || repeats(user, tile))
      return false;
    bool isPassedOn =
        tile::isElementwise(user) ||
        isa<tile::ReshapeOp, tile::TransposeOp, tile::SliceOp, tile::BroadcastOp>(user);
    Sink sink = isPassedOn ? sinkOf(user->getResult(0)) : Sink(user);
    bool isSame = sink && (!*sink || !only || only == *sink);
    if (isSame && *sink)
      only = *sink;
    return isSame;
  });
  return sinks[tile] = isOne ? Sink(only) : std::nullopt;
}

/// Whether another program or thread may have written the buffer that `op` reads before its tile is
/// used.
static bool readsChangingBuffer(Operation *op) {
  Value buffer;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    buffer = load.getBuffer();
  else if (auto gather = dyn_cast<tile::GatherOp>(op))
    buffer = gather.getBuffer();
  else
    return false;
  return llvm::any_of(buffer.getUsers(),
                      [](Operation *user) { return isa<tile::StoreOp, tile::ScatterOp>(user); });
}

bool Emitter::isUsedAtOwnPoints(Value tile) {
  if (auto found = usedAtOwnPoints.find(tile); found != usedAtOwnPoints.end())
    return found->second;
  bool isUsed = llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != tile.getParentBlock())
      return false;
    if (auto store = dyn_cast<tile::StoreOp>(user))
      return use.get() == store.getTile() && !repeats(user, tile);
    if (auto reduce = dyn_cast<tile::ReduceOp>(user))
      return isRowReduction(reduce);
    return tile::isElementwise(user) && isUsedAtOwnPoints(user->getResult(0));
  });
  return usedAtOwnPoints[tile] = isUsed;
}

bool Emitter::isMaterialized(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (readsChangingBuffer(op))
    return true;
  auto type = cast<RankedTensorType>(tile.getType());
  bool atOwnPoints = isUsedAtOwnPoints(tile);
  if (atOwnPoints && isHeld(type))
    return false;
  int64_t cost = costOf(tile);
  bool isShared = hasSharedRoom(tile::extentsOf(type), bytesOf(type.getElementType()));
  if (cost <= (atOwnPoints && !isShared ? mostRepeatedForWorkspace : mostRepeated))
    return false;
  return cost > mostAtOnce || !sinkOf(tile);
}

} // namespace tw::target::nvidia
