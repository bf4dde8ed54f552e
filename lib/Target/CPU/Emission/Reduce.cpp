// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.reduce. Along the lanes several vectors are carried, so that the processor need not wait for
// one sum before the next, and the error stays that of short sums.
#include "Target/CPU/Emission/Reducer.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

constexpr unsigned parallelSums = 4;

class ReduceEmitter {
public:
  ReduceEmitter(Emitter &e, tile::ReduceOp op, const Step &step)
      : e(e), op(op), step(step), plan(std::get<ReduceStep>(step.detail)), axis(int(op.getAxis())),
        extents(e.extents(op.getOperand())),
        alongLanes(step.strips.lane == axis && step.strips.lanes > 1), reducer(e, op, alongLanes) {}

  LogicalResult run() {
    if (failed(e.place(step.before)))
      return failure();
    if (plan.keep == ReduceStep::Keep::Output)
      kept = e.storedAt(plan.output);
    else if (plan.keep == ReduceStep::Keep::Scratch)
      kept = roomFor(op.getOperand());
    return plan.inRegister ? single() : many();
  }

private:
  Memory roomFor(Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    return e.allocate(tw::tile::extentsOf(type), type.getElementType());
  }

  /// Rows of the result as long as whole vectors.
  Memory wideRoom() {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    std::vector<Size> extents = tw::tile::extentsOf(type);
    extents.back() = Size(int64_t(llvm::alignTo(type.getShape().back(), plan.results.lanes)));
    return e.allocate(extents, type.getElementType());
  }

  LogicalResult single() {
    FailureOr<Value> value = failure();
    {
      Emitter::Scope scope(e);
      Point point{Indices(extents.size(), Ix(0)), -1, 1};
      value = elementAt(point);
    }
    if (failed(value))
      return failure();
    finishKept();
    e.registers[op.getResult()] = {1, {*value}};
    return success();
  }

  LogicalResult many() {
    bool isWide = plan.hasWholeRows;
    Memory room = isWide ? wideRoom() : roomFor(op.getResult());
    Indices outer = extents;
    outer.erase(outer.begin() + axis);
    {
      Emitter::Scope scope(e);
      auto body = [&](const Point &at) -> LogicalResult {
        Point point{at.at, at.lane, 1};
        point.at.insert(point.at.begin() + axis, Ix(0));
        if (point.lane >= axis)
          ++point.lane;
        FailureOr<Value> value = elementAt(point);
        if (failed(value))
          return failure();
        llvm::SaveAndRestore whole(e.mask, isWide ? Value() : e.mask);
        e.write(room, at, *value);
        return success();
      };
      if (failed(e.overElements(outer, plan.results, body)))
        return failure();
    }
    finishKept();
    e.memory[op.getResult()] = room;
    return success();
  }

  void finishKept() {
    if (kept)
      e.memory[op.getOperand()] = *kept;
  }

  /// The result at `point` (its coordinate along the axis does not matter), rounded.
  FailureOr<Value> elementAt(const Point &point) {
    SmallVector<Value> carried;
    LogicalResult done = alongLanes ? inVectors(point, carried) : oneByOne(point, carried);
    if (failed(done))
      return failure();
    return reducer.finish(carried);
  }

  LogicalResult oneByOne(Point point, SmallVectorImpl<Value> &carried) {
    const Ix &extent = extents[axis];
    reducer.initial(carried, e.lanes);
    auto one = [&](const Ix &at) {
      point.at[axis] = at;
      return accumulate(point, carried);
    };
    if (!plan.isUnrolled)
      return e.loop(0, extent, 1, carried, one);
    for (int64_t at = 0; at < *extent.constant(); ++at)
      if (failed(one(at)))
        return failure();
    return success();
  }

  LogicalResult inVectors(const Point &point, SmallVectorImpl<Value> &carried) {
    unsigned width = step.strips.lanes;
    const Ix &extent = extents[axis];
    Ix start = 0;
    auto known = extent.constant();
    if (!known || *known >= int64_t(width) * parallelSums) {
      start = e.ix().mul(e.ix().div(extent, width * parallelSums), width * parallelSums);
      if (failed(inParallel(point, width, start, carried)))
        return failure();
    } else {
      reducer.initial(carried, width);
    }
    return e.alongDimension(
        point, axis, start, extent, width, carried,
        [&](const Point &at, SmallVectorImpl<Value> &values) { return accumulate(at, values); });
  }

  /// Several vectors at a time up to `end`; what they hold is joined in `carried`.
  LogicalResult inParallel(Point point, unsigned width, const Ix &end,
                           SmallVectorImpl<Value> &carried) {
    SmallVector<Value> all;
    for (unsigned i = 0; i < parallelSums; ++i)
      reducer.initial(all, width);
    unsigned each = all.size() / parallelSums;
    llvm::SaveAndRestore lanes(e.lanes, width);
    llvm::SaveAndRestore mask(e.mask, Value());
    point.lane = axis;
    auto several = [&](const Ix &at) -> LogicalResult {
      for (unsigned i = 0; i < parallelSums; ++i) {
        point.at[axis] = e.ix().add(at, int64_t(i) * width);
        SmallVector<Value> part(ArrayRef(all).slice(i * each, each));
        if (failed(accumulate(point, part)))
          return failure();
        llvm::copy(part, all.begin() + i * each);
      }
      return success();
    };
    if (failed(e.loop(0, end, int64_t(width) * parallelSums, all, several)))
      return failure();
    carried.assign(all.begin(), all.begin() + each);
    for (unsigned i = 1; i < parallelSums; ++i)
      reducer.join(carried, ArrayRef(all).slice(i * each, each));
    return success();
  }

  LogicalResult accumulate(const Point &point, SmallVectorImpl<Value> &carried) {
    FailureOr<Value> found = e.evaluate(op.getOperand(), point);
    if (failed(found))
      return failure();
    if (kept)
      e.write(*kept, point, *found);
    reducer.accumulate(*found, point, carried);
    return success();
  }

  Emitter &e;
  tile::ReduceOp op;
  const Step &step;
  const ReduceStep &plan;
  int axis;
  Indices extents;
  bool alongLanes; // the axis is the one that vectors lie along
  Reducer reducer;
  std::optional<Memory> kept;
};

} // namespace

LogicalResult Emitter::reduce(tile::ReduceOp op, const Step &step) {
  return ReduceEmitter(*this, op, step).run();
}

} // namespace tw::target::cpu
