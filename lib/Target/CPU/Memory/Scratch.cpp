// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the thread, and what the plan puts there.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

LogicalResult Emitter::place(ArrayRef<Placement> placements) {
  for (const Placement &one : placements) {
    auto type = cast<RankedTensorType>(one.tile.getType());
    if (one.isView) {
      Memory source = memory.find(one.tile.getDefiningOp()->getOperand(0))->second;
      memory[one.tile] = {source.base, rowMajor(ix(), extents(one.tile)), source.element};
      continue;
    }
    Memory room = allocate(tile::extentsOf(type), type.getElementType());
    if (failed(fill(room, one.tile, one.fill)))
      return failure();
    memory[one.tile] = room;
  }
  return success();
}

FailureOr<Memory> Emitter::asStridedMemory(Value tile, const StridedPlacement &placement) {
  if (failed(place(placement.before)))
    return failure();
  if (!placement.isInBuffer)
    return memory.find(tile)->second;
  Memory memory{{}, {}, cast<RankedTensorType>(tile.getType()).getElementType()};
  Value source = tile;
  while (!source.getDefiningOp<tile::LoadOp>())
    source = source.getDefiningOp()->getOperand(0);
  auto load = source.getDefiningOp<tile::LoadOp>();
  const Buffer &buffer = buffers.find(load.getBuffer())->second;
  for (int d = 0; d < int(cast<RankedTensorType>(tile.getType()).getRank()); ++d) {
    auto [behind, dim] = traceToLoad(tile, d);
    memory.strides.push_back(behind ? buffer.strides[dim] : Ix(0));
  }
  Ix first = 0;
  for (auto [position, stride] : llvm::zip(load.getPositions(), buffer.strides))
    first = ix().add(first, ix().mul(index(position), stride));
  memory.base = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                    memoryType(memory.element), buffer.base,
                                    ArrayRef<LLVM::GEPArg>{ix().value(first)});
  return memory;
}

Value Emitter::addressIn(const Memory &memory, ArrayRef<Ix> at) {
  Ix place = 0;
  for (auto [coordinate, stride] : llvm::zip(at, memory.strides))
    place = ix().add(place, ix().mul(coordinate, stride));
  return LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                             memoryType(memory.element), memory.base,
                             ArrayRef<LLVM::GEPArg>{ix().value(place)});
}

Memory Emitter::storedAt(tile::StoreOp store) {
  const Buffer &buffer = buffers.find(store.getBuffer())->second;
  Ix first = 0;
  for (auto [position, stride] : llvm::zip(store.getPositions(), buffer.strides))
    first = ix().add(first, ix().mul(index(position), stride));
  Value base = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                   memoryType(buffer.element), buffer.base,
                                   ArrayRef<LLVM::GEPArg>{ix().value(first)});
  return {base, buffer.strides, buffer.element};
}

LogicalResult Emitter::fill(const Memory &room, Value tile, const Fill &fill) {
  if (isCancelled(cancellation) || failed(place(fill.before)))
    return failure();
  Scope scope(*this);
  if (fill.transposition)
    return fillTransposed(room, tile, fill);
  return overElements(extents(tile), fill.strips, [&](const Point &point) -> LogicalResult {
    FailureOr<Value> value = evaluate(tile, point);
    if (failed(value))
      return failure();
    write(room, point, *value);
    return success();
  });
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
