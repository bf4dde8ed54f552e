// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.reduce. Several vectors are carried, along the lanes as across them, so that the processor
// need not wait for one sum before the next, and the error stays that of short sums.
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
    Memory room = plan.hasWholeRows ? wideRoom() : roomFor(op.getResult());
    Indices outer = extents;
    outer.erase(outer.begin() + axis);
    {
      Emitter::Scope scope(e);
      LogicalResult done = plan.together > 1 ? inGroups(room, outer) : eachAlone(room, outer);
      if (failed(done))
        return failure();
    }
    finishKept();
    e.memory[op.getResult()] = room;
    return success();
  }

  LogicalResult eachAlone(const Memory &room, const Indices &outer) {
    return e.overElements(outer, plan.results, [&](const Point &at) -> LogicalResult {
      FailureOr<Value> value = elementAt(inOperand(at));
      if (failed(value))
        return failure();
      write(room, at, *value);
      return success();
    });
  }

  /// Where a result comes from; its coordinate along the axis does not matter.
  Point inOperand(const Point &at) const {
    Point point{at.at, at.lane, 1};
    point.at.insert(point.at.begin() + axis, Ix(0));
    if (point.lane >= axis)
      ++point.lane;
    return point;
  }

  void write(const Memory &room, const Point &at, Value value) {
    llvm::SaveAndRestore whole(e.mask, plan.hasWholeRows ? Value() : e.mask);
    e.write(room, at, value);
  }

  /// Groups of `together` strips of the results, then what is left.
  LogicalResult inGroups(const Memory &room, Indices outer) {
    int lane = plan.results.lane;
    int64_t columns = *outer[lane].constant(), group = plan.together * plan.results.lanes,
            whole = columns - columns % group;
    outer[lane] = 1;
    return e.overElements(outer, {-1, 1, plan.results.isUnrolled}, [&](Point at) -> LogicalResult {
      at.lane = lane;
      auto groupAt = [&](const Ix &first) {
        at.at[lane] = first;
        return together(room, at, std::min(group, columns - first.constant().value_or(0)));
      };
      for (int64_t first = 0; plan.results.isUnrolled && first < whole; first += group)
        if (failed(groupAt(first)))
          return failure();
      SmallVector<Value> none;
      if (!plan.results.isUnrolled && failed(e.loop(0, whole, group, none, groupAt)))
        return failure();
      return whole < columns ? groupAt(whole) : success();
    });
  }

  /// `columns` results from `first` on, in vectors of which the last one may be a part.
  LogicalResult together(const Memory &room, const Point &first, int64_t columns) {
    unsigned width = plan.results.lanes;
    llvm::SaveAndRestore lanes(e.lanes, width);
    llvm::SaveAndRestore mask(e.mask, Value());
    SmallVector<Point> results;
    SmallVector<Strip> strips;
    for (int64_t column = 0; column < columns; column += width) {
      Point &at = results.emplace_back(first);
      at.at[first.lane] = e.ix().add(first.at[first.lane], column);
      bool isPart = columns - column < width;
      strips.push_back({inOperand(at), isPart ? e.firstLanes(columns - column, width) : Value()});
    }
    SmallVector<SmallVector<Value>> carried;
    if (failed(acrossLanes(strips, carried)))
      return failure();
    for (auto [at, strip, values] : llvm::zip(results, strips, carried)) {
      e.mask = strip.mask;
      write(room, at, reducer.finish(values));
    }
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

  LogicalResult oneByOne(const Point &point, SmallVectorImpl<Value> &carried) {
    if (plan.isUnrolled)
      return unrolled(point, carried);
    SmallVector<SmallVector<Value>> all;
    if (failed(acrossLanes(Strip{point, e.mask}, all)))
      return failure();
    carried = all.front();
    return success();
  }

  LogicalResult unrolled(Point point, SmallVectorImpl<Value> &carried) {
    reducer.initial(carried, e.lanes);
    for (int64_t at = 0; at < *extents[axis].constant(); ++at) {
      point.at[axis] = at;
      if (failed(accumulate(point, carried)))
        return failure();
    }
    return success();
  }

  /// What one vector of results is made of; the coordinate along the axis does not matter.
  struct Strip {
    Point at;
    Value mask;
  };

  /// What is carried for each of the strips, in one loop along the axis that takes `sideBySide`
  /// steps at a time.
  LogicalResult acrossLanes(ArrayRef<Strip> strips, SmallVectorImpl<SmallVector<Value>> &carried) {
    const Ix &extent = extents[axis];
    int64_t steps = plan.sideBySide;
    Ix whole = e.ix().sub(extent, e.ix().rem(extent, steps));
    SmallVector<Value> all;
    for (size_t i = 0; i < strips.size() * steps; ++i)
      reducer.initial(all, e.lanes);
    size_t each = all.size() / (strips.size() * steps), ofStep = each * strips.size();
    auto step = [&](const Ix &at, size_t first) -> LogicalResult {
      for (const Strip &strip : strips) {
        Point point = strip.at;
        point.at[axis] = at;
        llvm::SaveAndRestore mask(e.mask, strip.mask);
        SmallVector<Value> part(ArrayRef(all).slice(first, each));
        if (failed(accumulate(point, part)))
          return failure();
        llvm::copy(part, all.begin() + first);
        first += each;
      }
      return success();
    };
    auto several = [&](const Ix &at) -> LogicalResult {
      for (int64_t i = 0; i < steps; ++i)
        if (failed(step(e.ix().add(at, i), i * ofStep)))
          return failure();
      return success();
    };
    if (failed(e.loop(0, whole, steps, all, several)))
      return failure();
    joinSteps(all, each, ofStep);
    if (failed(e.loop(whole, extent, 1, all, [&](const Ix &at) { return step(at, 0); })))
      return failure();
    for (size_t first = 0; first < ofStep; first += each)
      carried.emplace_back(ArrayRef(all).slice(first, each));
    return success();
  }

  /// Leaves what the first step of all carries, joined with the others.
  void joinSteps(SmallVectorImpl<Value> &all, size_t each, size_t ofStep) {
    for (size_t other = ofStep; other < all.size(); other += each) {
      SmallVector<Value> into(ArrayRef(all).slice(other % ofStep, each));
      reducer.join(into, ArrayRef(all).slice(other, each));
      llvm::copy(into, all.begin() + other % ofStep);
    }
    all.truncate(ofStep);
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
