// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles exist as a whole, and where.
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Emitter.h"
#include "Target/CPU/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::target::cpu {

/// Scratch up to this size comes from the stack.
static constexpr int64_t stackBytes = 16 * 1024;

static Indices rowMajor(IndexBuilder ix, ArrayRef<Ix> extents) {
  Indices strides(extents.size(), Ix(1));
  for (int64_t d = int64_t(extents.size()) - 2; d >= 0; --d)
    strides[d] = ix.mul(strides[d + 1], extents[d + 1]);
  return strides;
}

Memory Emitter::allocate(ArrayRef<Size> wanted, Type element) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  Indices extents = sizes(wanted);
  Ix bytes = ix().alignUp(ix().mul(ix().product(extents), bytesOf(element)), 64);
  Value base;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (bytes.isConstant() && *bytes.constant() <= stackBytes) {
    base = LLVM::AllocaOp::create(b, loc, pointer, b.getI8Type(), ix().value(bytes), 64);
  } else {
    base = LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), workspace,
                               ArrayRef<LLVM::GEPArg>{ix().value(workspaceBytes)});
    workspaceBytes = ix().add(workspaceBytes, bytes);
    requests.push_back({wanted.vec(), bytesOf(element)});
  }
  Memory memory{base, rowMajor(ix(), extents), element};
  entry = b.saveInsertionPoint();
  return memory;
}

std::optional<unsigned> Emitter::registerLanes(RankedTensorType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  int64_t count = type.getNumElements();
  if (count == 1)
    return 1;
  unsigned wide = cpu.vectorBytes / std::max<int64_t>(bytesOf(type.getElementType()), 4);
  // The other registers hold what is multiplied or added.
  int64_t most = cpu.vectorRegisters * 7 / 8;
  if (type.getRank() == 0 || type.getShape().back() % wide != 0 || count / wide > most)
    return std::nullopt;
  return wide;
}

/// Worth keeping rather than computing twice.
static bool isDear(Operation *op) {
  return op && tile::isElementwise(op) &&
         (isa<math::MathDialect>(op->getDialect()) ||
          isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
              arith::RemFOp>(op));
}

bool Emitter::isOneDear(Operation *op) {
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  return type && type.hasStaticShape() && type.getNumElements() == 1 && isDear(op);
}

/// Numbers that follow from coordinates are folded where these are constants.
static bool isFolded(Emitter &e, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return type.getElementType().isIntOrIndex() && type.hasStaticShape() &&
         type.getNumElements() <= Emitter::mostUnrolled * int64_t(e.cpu.vectorBytes) / 8 &&
         e.isComputed(tile, /*fromConstants=*/true);
}

bool Emitter::anyBehind(Value tile, llvm::function_ref<bool(Operation *)> holds) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest = {tile};
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isPlaced(value) || !isa<RankedTensorType>(value.getType()) ||
        !seen.insert(value).second)
      continue;
    if (holds(op))
      return true;
    llvm::append_range(rest, op->getOperands());
  }
  return false;
}

bool Emitter::isWorthKeeping(Value tile) {
  Operation *op = tile.getDefiningOp();
  return op && tile::isElementwise(op) && !tile.hasOneUse() && !isPlaced(tile) &&
         anyBehind(tile,
                   [&](Operation *o) { return isDear(o) && !isFolded(*this, o->getResult(0)); });
}

/// Whether vectors along `lane` of a slice are vectors of its operand that begin at a multiple of
/// `lanes`.
static bool keepsVectors(tile::SliceOp op, int lane, unsigned lanes) {
  return lane < 0 || (op.getStrides()[lane] == 1 && op.getOffsets()[lane] % lanes == 0);
}

LogicalResult Emitter::prepare(Value tile, const Domain &domain, int lane) {
  // What is used again has been seen to: expressions are walked through once, not path by path.
  llvm::DenseSet<std::pair<Value, int>> none;
  llvm::SaveAndRestore all(prepared, prepared ? prepared : &none);
  if (!prepared->insert({tile, lane}).second)
    return success();
  if (memory.contains(tile) || !isa<RankedTensorType>(tile.getType()))
    return success();
  if (auto found = registers.find(tile); found != registers.end()) {
    auto type = cast<RankedTensorType>(tile.getType());
    bool isOne = type.getNumElements() == 1;
    bool fits =
        domain.isUnrolled && found->second.lanes == domain.lanes && lane == int(type.getRank()) - 1;
    return isOne || fits ? success() : toMemory(tile);
  }
  Operation *op = tile.getDefiningOp();
  if (!op)
    return emitError(loc, "a tile without a place"), failure();
  if (isWorthKeeping(tile) || turnedFrom(tile, lane))
    return toMemory(tile);
  if (isa<tile::BroadcastOp, tile::ReshapeOp, tile::TransposeOp, tile::SliceOp>(op)) {
    if (auto slice = dyn_cast<tile::SliceOp>(op); slice && !keepsVectors(slice, lane, domain.lanes))
      return prepare(slice.getOperand(), domain, -1);
    if (auto source = sourceLane(op, lane))
      return prepare(op->getOperand(0), domain, *source);
    return reshapeInMemory(cast<tile::ReshapeOp>(op));
  }
  if (auto loadOp = dyn_cast<tile::LoadOp>(op)) {
    for (auto [d, position] : llvm::enumerate(loadOp.getPositions()))
      if (failed(prepare(position, domain, int(d) == lane ? 0 : -1)))
        return failure();
    return loadOp.getMask() ? prepare(loadOp.getMask(), domain, lane) : success();
  }
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && failed(prepare(operand, domain, lane)))
      return failure();
  return success();
}

/// Row-major elements lie where they lay.
LogicalResult Emitter::reshapeInMemory(tile::ReshapeOp op) {
  if (failed(toMemory(op.getOperand())))
    return failure();
  Memory source = memory.find(op.getOperand())->second;
  memory[op.getResult()] = {source.base, rowMajor(ix(), extents(op.getResult())), source.element};
  return success();
}

LogicalResult Emitter::toMemory(Value tile) {
  if (memory.contains(tile))
    return success();
  auto type = cast<RankedTensorType>(tile.getType());
  Memory room = allocate(tile::extentsOf(type), type.getElementType());
  if (failed(fill(room, tile)))
    return failure();
  memory[tile] = room;
  return success();
}

FailureOr<Memory> Emitter::nearby(Value tile) {
  Value source = tile;
  while (!memory.contains(tile) && source.getDefiningOp() &&
         isa<tile::ReshapeOp, tile::TransposeOp>(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  auto loadOp = memory.contains(tile) ? nullptr : source.getDefiningOp<tile::LoadOp>();
  bool isInside = loadOp && !loadOp.getMask() && loadOp.getStrides().empty();
  for (unsigned d = 0; isInside && d < loadOp.getPositions().size(); ++d)
    isInside =
        inside.contains({loadOp, d}) && !isa<RankedTensorType>(loadOp.getPositions()[d].getType());
  Memory place{{}, {}, cast<RankedTensorType>(tile.getType()).getElementType()};
  for (auto [d, extent] : llvm::enumerate(extents(tile))) {
    auto [load, dim] = isInside ? loadBehind(tile, int(d)) : std::pair(tile::LoadOp(), -1);
    isInside = isInside && (load || extent.is(1));
    place.strides.push_back(load ? buffers.find(load.getBuffer())->second.strides[dim] : Ix(0));
  }
  if (!isInside) {
    if (failed(toMemory(tile)))
      return failure();
    return memory.find(tile)->second;
  }
  const Buffer &buffer = buffers.find(loadOp.getBuffer())->second;
  Ix first = 0;
  for (auto [position, stride] : llvm::zip(loadOp.getPositions(), buffer.strides))
    first = ix().add(first, ix().mul(index(position), stride));
  place.base = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                   memoryType(place.element), buffer.base,
                                   ArrayRef<LLVM::GEPArg>{ix().value(first)});
  return place;
}

/// The one store that `tile` gets to through elementwise operations; what else is made of it are
/// reductions, which stand before.
static tile::StoreOp storeOfAll(Value tile) {
  tile::StoreOp store;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest = {tile};
  SmallVector<Operation *> reductions;
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      auto found = dyn_cast<tile::StoreOp>(user);
      if (isa<tile::ReduceOp>(user))
        reductions.push_back(user);
      else if (found && (!store || store == found) && found.getTile() == value)
        store = found;
      else if (!found && tile::isElementwise(user))
        rest.push_back(user->getResult(0));
      else
        return {};
    }
  }
  bool isLast = store && store->getBlock() == tile.getParentBlock() &&
                llvm::all_of(reductions, [&](Operation *op) {
                  return op->getBlock() == store->getBlock() && op->isBeforeInBlock(store);
                });
  return isLast ? store : tile::StoreOp();
}

std::optional<Memory> Emitter::roomInResult(Value tile) {
  auto store = storeOfAll(tile);
  if (!store || store.getMask() || store.getUpdate() || !store.getStrides().empty() ||
      store.getTile().getType() != tile.getType() || !store.getBuffer().hasOneUse())
    return std::nullopt;
  auto argument = kernel.getArgument(cast<BlockArgument>(store.getBuffer()).getArgNumber());
  if (argument.getAccess() != tile::Access::Out || argument.getInit())
    return std::nullopt;
  const Buffer &buffer = buffers.find(store.getBuffer())->second;
  if (buffer.isStreamed)
    return std::nullopt;
  Ix first = 0;
  for (auto [d, position] : llvm::enumerate(store.getPositions())) {
    if (isa<RankedTensorType>(position.getType()) || !scalars.contains(position) ||
        !inside.contains({store, unsigned(d)}))
      return std::nullopt;
    first = ix().add(first, ix().mul(index(position), buffer.strides[d]));
  }
  if (tilesInResults.try_emplace(store, tile).first->second != tile)
    return std::nullopt;
  Value base = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                   memoryType(buffer.element), buffer.base,
                                   ArrayRef<LLVM::GEPArg>{ix().value(first)});
  return Memory{base, buffer.strides, buffer.element};
}

LogicalResult Emitter::fill(const Memory &room, Value tile) {
  llvm::SaveAndRestore<decltype(prepared)> anew(prepared, nullptr); // for a domain of its own
  Indices all = extents(tile);
  Domain domain = domainOf(all, lanesFor(tile));
  auto from = isPlaced(tile) ? std::nullopt : turnedFrom(tile, domain.lane);
  int lane = domain.lane;
  if (from) {
    domain.lane = *from;
    domain.isUnrolled = false;
  }
  if (auto found = registers.find(tile); found != registers.end()) {
    domain.isUnrolled = true;
    domain.lanes = found->second.lanes;
    domain.lane = int(all.size()) - 1;
  } else if (Operation *op = tile.getDefiningOp(); op && !memory.contains(tile)) {
    for (Value operand : op->getOperands())
      if (!isa<tile::BufferType>(operand.getType()) && failed(prepareOperand(op, operand, domain)))
        return failure();
  }
  domain.cuts = cutsFor(tile, domain);
  Scope scope(*this);
  if (from)
    return fillTurned(room, tile, lane, *from);
  return overElements(domain, [&](const Point &point) -> LogicalResult {
    FailureOr<Value> value = evaluate(tile, point);
    if (failed(value))
      return failure();
    write(room, point, *value);
    return success();
  });
}

/// `tile` is about to be emitted over `domain` itself, not what it is an operand of.
LogicalResult Emitter::prepareOperand(Operation *op, Value operand, const Domain &domain) {
  int lane = domain.lane;
  if (isa<tile::BroadcastOp, tile::ReshapeOp, tile::TransposeOp, tile::SliceOp>(op)) {
    auto source = sourceLane(op, lane);
    if (!source)
      return reshapeInMemory(cast<tile::ReshapeOp>(op));
    auto slice = dyn_cast<tile::SliceOp>(op);
    lane = slice && !keepsVectors(slice, lane, domain.lanes) ? -1 : *source;
  } else if (isa<tile::LoadOp>(op) && operand.getType() != op->getResult(0).getType()) {
    lane = 0; // a position
  }
  return prepare(operand, domain, lane);
}

void Emitter::write(const Memory &room, const Point &point, Value value) {
  Ix index = 0;
  for (auto [at, stride] : llvm::zip(point.at, room.strides))
    index = ix().add(index, ix().mul(at, stride));
  bool isVector = point.lane >= 0 && lanes > 1;
  if (getElementTypeOrSelf(value.getType()) != scalarType(room.element))
    value = convertFloat(value, room.element);
  storeTo(isVector ? asVector(value) : value, room.base, room.element, index,
          isVector ? room.strides[point.lane] : Ix(1), isVector ? mask : Value());
}

} // namespace tw::target::cpu
