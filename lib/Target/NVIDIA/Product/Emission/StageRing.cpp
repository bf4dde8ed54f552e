// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Emission/StageRing.h"

using namespace mlir;

namespace tw::target::nvidia {

Value StageRing::full(Value stage) const {
  return at.add(at.mul(stage, barrierBytes), plan.barrierOffset);
}
Value StageRing::empty(Value stage) const {
  return at.add(at.mul(stage, barrierBytes), plan.barrierOffset + barrierBytes * plan.stages);
}

void StageRing::initBarriers(int64_t users) const {
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    at.initBarrier(full(at.i32(stage)), 1);
    at.initBarrier(empty(at.i32(stage)), users);
  }
}

StageRing::Slot StageRing::advance(const Slot &slot) const {
  if (plan.stages == 1)
    return {slot.stage, at.bitXor(slot.parity, at.i32(1))};
  Value next = at.add(slot.stage, 1), isLast = at.equal(next, plan.stages);
  return {at.select(isLast, at.i32(0), next),
          at.bitXor(slot.parity, at.select(isLast, at.i32(1), at.i32(0)))};
}

StageRing::Slot StageRing::advanceBy(const Slot &slot, Value count) const {
  Value to = at.add(slot.stage, count), isBeyond = at.isBelow(plan.stages - 1, to);
  return {at.select(isBeyond, at.add(to, -plan.stages), to),
          at.bitXor(slot.parity, at.select(isBeyond, at.i32(1), at.i32(0)))};
}

StageRing::Slot StageRing::skip(const Slot &slot, Value count) const {
  Value to = at.add(slot.stage, count);
  return {at.rem(to, plan.stages), at.bitXor(slot.parity, at.rem(at.div(to, plan.stages), 2))};
}

Value StageRing::offset(Value stage) const {
  return at.add(at.mul(stage, plan.stageBytes), plan.offset);
}

Value StageRing::fill(const Slot &slot, Value bytes) const {
  at.waitFor(empty(slot.stage), at.bitXor(slot.parity, at.i32(1)));
  Value barrier = full(slot.stage);
  at.arriveExpecting(barrier, bytes);
  return barrier;
}

void StageRing::waitUntilFull(const Slot &slot) const { at.waitFor(full(slot.stage), slot.parity); }

void StageRing::release(Value stage, Value isLeader, Value users) const {
  at.when(isLeader, [&] { at.arrive(empty(stage), users); });
}

} // namespace tw::target::nvidia
