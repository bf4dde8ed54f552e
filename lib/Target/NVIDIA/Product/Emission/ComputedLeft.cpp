// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose left operand is computed, element by element, from what TMA has brought: each
// thread reads the elements that wgmma wants of it from shared memory, and computes what it
// multiplies in registers, while the products of the trip before go on.
#include "Target/NVIDIA/Product/Emission/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

/// As wgmma has them, 16 terms are four registers of two neighbours.
static constexpr int64_t termsOfInstruction = 16, registersOfInstruction = 4, pieceBytes = 16;

/// Begins a trip of the loop: its scalars.
void ProductEmitter::setTrip(const Ix &number) {
  tile::ForOp loop = product.loop;
  e.scalars[loop.getInductionVar()] = e.ix().value(
      e.ix().add(e.index(loop.getBegin()), e.ix().mul(number, e.index(loop.getStep()))));
  emitScalars(loop.getBody().front());
}

/// Two neighbours of what `a` loads, from shared memory.
void ProductEmitter::readPair(Value stage, Value row, Value column, const Point points[2]) {
  tile::LoadOp load = product.a.load;
  Type element = load.getType().getElementType();
  int64_t bytes = Emitter::bytesOf(element), rowBytes = plan.a.swizzle.rowBytes;
  Value byte = at.mul(column, bytes), inRow = at.rem(byte, rowBytes);
  Value unit = at.bitXor(at.div(inRow, pieceBytes),
                         at.rem(at.div(row, mostRowBytes / rowBytes), rowBytes / pieceBytes));
  Value offset = at.add(ring.offset(stage), at.mul(at.div(byte, rowBytes), plan.a.chunkBytes()));
  offset = at.add(at.add(offset, at.mul(row, rowBytes)),
                  at.add(at.mul(unit, pieceBytes), at.rem(inRow, pieceBytes)));
  Value pair = LLVM::LoadOp::create(b, loc, VectorType::get({2}, Emitter::memoryType(element)),
                                    at.pointer(offset), unsigned(2 * bytes));
  for (int64_t i : {0, 1})
    e.setElement(load.getResult(), points[i],
                 e.fromMemory(LLVM::ExtractElementOp::create(b, loc, pair, at.i32(i)), element));
}

/// Of 64 rows, what the warp group multiplies in one trip, whose stage is full.
FailureOr<SmallVector<Value>> ProductEmitter::leftOf(Value stage, int64_t block) {
  auto narrow = [&](const Ix &x) -> Value {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), e.ix().value(x));
  };
  tile::LoadOp load = product.a.load;
  tile::DotOp dot = product.dot;
  SmallVector<Value> registers;
  for (int64_t number = 0; number < product.depth / 2; number += 2) {
    Ix row = fragment.row(block, number);
    Point inLoad[2], inOperand[2];
    for (int64_t i : {0, 1}) {
      Ix column = fragment.column(number + i);
      inLoad[i].assign(size_t(load.getType().getRank()), Ix(0));
      inLoad[i][product.a.freeDim] = row;
      inLoad[i][product.a.sumDim] = column;
      inOperand[i] = {row, column};
    }
    readPair(stage, narrow(row), narrow(inOperand[0][1]), inLoad);
    FailureOr<Value> low = e.evaluate(dot.getA(), inOperand[0]),
                     high = e.evaluate(dot.getA(), inOperand[1]);
    if (failed(low) || failed(high))
      return failure();
    registers.push_back(at.packed(*low, *high));
  }
  return registers;
}

/// Of all rows of the warp group, in order.
SmallVector<Value> ProductEmitter::computeLeft(const StageRing::Slot &slot) {
  ring.waitUntilFull(slot);
  SmallVector<Value> registers;
  for (int64_t block = 0; block < plan.blocksOfGroup; ++block) {
    FailureOr<SmallVector<Value>> own = leftOf(slot.stage, block);
    hasFailed |= failed(own);
    registers.append(succeeded(own) ? *own
                                    : SmallVector<Value>(size_t(product.depth / 4), at.i32(0)));
  }
  return registers;
}

/// Begins all products of a trip.
void ProductEmitter::multiplyComputed(Value stage, ComputedTrip &trip) {
  Value other = at.descriptor(at.add(ring.offset(stage), plan.b.offset), plan.b.descriptor());
  auto ofBlock = size_t(product.depth / 4);
  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  for (int64_t k = 0; k < product.depth; k += termsOfInstruction)
    for (auto [block, sum] : llvm::enumerate(trip.sums)) {
      auto first = block * ofBlock + size_t(k / termsOfInstruction * registersOfInstruction);
      sum = at.multiplyRegisters({product.element, product.columns, 0,
                                  k == 0 ? trip.addsToSums : Value(), plan.b.isSumInnermost},
                                 ArrayRef(trip.left).slice(first, registersOfInstruction),
                                 movedBy(other, plan.b.offsetOf(0, k)), sum);
    }
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
}

SmallVector<Value> ProductEmitter::ComputedTrip::values() const {
  SmallVector<Value> all(sums);
  all.append(left);
  all.push_back(addsToSums);
  return all;
}

ProductEmitter::ComputedTrip ProductEmitter::tripOf(ArrayRef<Value> values) const {
  auto blocks = size_t(plan.blocksOfGroup);
  return {SmallVector<Value>(values.take_front(blocks)),
          SmallVector<Value>(values.drop_front(blocks).drop_back()), values.back()};
}

/// All trips of one program. The registers of a left operand are carried from where they are
/// computed to the trip after it, which begins their products and waits for them: ptxas keeps
/// registers that products read unchanged within a trip, but not into the next one (PTX ISA,
/// "wgmma.mma_async": changing them before the wait is undefined).
SmallVector<Value> ProductEmitter::sumUpComputed(StageRing::Slot &slot) {
  Value none = LLVM::UndefOp::create(b, loc, at.sumsType(product.columns));
  ComputedTrip first{SmallVector<Value>(size_t(plan.blocksOfGroup), none), {}, at.i32(0)};
  {
    std::optional<Emitter::Scope> scope; // without a loop, the kernel's own scalars
    if (product.loop) {
      scope.emplace(e);
      setTrip(0);
    }
    first.left = computeLeft(slot);
  }
  Value last = slot.stage;
  slot = ring.advance(slot);
  SmallVector<Value> carried = first.values();
  laterTrips(slot, last, carried,
             [&](Value number, const StageRing::Slot &current, Value before,
                 SmallVectorImpl<Value> &next) {
               Emitter::Scope scope(e);
               setTrip(Value(arith::ExtUIOp::create(b, loc, b.getI64Type(), number)));
               ComputedTrip trip = tripOf(next);
               multiplyComputed(before, trip);
               trip.left = computeLeft(current);
               NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 0);
               ring.release(before, group.isLeader);
               trip.addsToSums = at.i32(1);
               next = trip.values();
             });
  ComputedTrip lastTrip = tripOf(carried);
  multiplyComputed(last, lastTrip);
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 0);
  ring.release(last, group.isLeader);
  return lastTrip.sums;
}

} // namespace tw::target::nvidia
