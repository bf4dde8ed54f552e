// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the points of a tile are dealt in groups of neighbours along the last dimension, which are
// read and written by one instruction. Row-major as in Threads.cpp: thread t has groups t,
// t + threads, ... Where that are few, they are written out instead of a loop: every thread then
// has the same points whenever this box is gone through, and what it has computed of them stays in
// its registers (`known`). Groups that are not there are computed as the last one is, and dropped.
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

int64_t Emitter::neighbours(ArrayRef<Ix> extents) const {
  return extents.empty() || multipleOf(extents.back()) < width ? 1 : width;
}

std::optional<int64_t> Emitter::groupsOfThread(int64_t points, int64_t each) const {
  int64_t groups = points / each, trips = llvm::divideCeil(groups, std::max<int64_t>(threads, 1));
  bool areAllBusy = int64_t(llvm::alignTo(uint64_t(groups), lanesOfWarp)) >= threads;
  return areAllBusy && trips * each <= mostHeld ? std::optional(trips) : std::nullopt;
}

bool Emitter::isHeld(RankedTensorType type) const {
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return false;
  SmallVector<Ix> extents(type.getShape().begin(), type.getShape().end());
  return groupsOfThread(type.getNumElements(), neighbours(extents)).has_value();
}

/// Group `number` of a box.
Group Emitter::groupAt(const Ix &number, ArrayRef<Ix> extents, int64_t each) {
  SmallVector<Ix> groups(extents);
  if (each > 1)
    groups.back() = ix().div(groups.back(), each);
  Point first = pointAt(number, groups);
  if (each == 1)
    return {{first}, {}};
  Group group;
  for (const Ix &at : neighboursFrom(ix().mul(first.back(), each), each)) {
    first.back() = at;
    group.points.push_back(first);
  }
  return group;
}

SmallVector<Ix> Emitter::neighboursFrom(const Ix &first, int64_t count) {
  if (count == 1)
    return {first};
  Value begin = ix().value(first);
  SmallVector<Ix> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(ix().add(Ix(begin), i));
    firstOf[all.back().dynamic()] = begin;
  }
  return groupsOf[begin] = all;
}

SmallVector<Point> Emitter::groupOf(const Point &point) const {
  auto isOne = [&](const Ix &at) { return at.dynamic() && firstOf.contains(at.dynamic()); };
  if (point.empty() || !isOne(point.back()) || llvm::count_if(point, isOne) > 1)
    return {point};
  SmallVector<Point> group;
  for (const Ix &at : groupsOf.find(firstOf.lookup(point.back().dynamic()))->second) {
    group.push_back(point);
    group.back().back() = at;
  }
  return group;
}

/// Group number `trip` of this thread, which all that goes through this box here shares.
Group Emitter::heldGroup(ArrayRef<Ix> extents, int64_t each, int64_t count, int64_t trip) {
  std::vector<int64_t> key{each, trip};
  for (const Ix &extent : extents)
    key.push_back(*extent.constant());
  auto found = held.find(key);
  if (found != held.end())
    return found->second;
  Ix number = ix().add(thread, trip * threads);
  Value isInside;
  if ((trip + 1) * threads > count) {
    isInside = ix().less(number, count);
    number = ix().min(number, count - 1);
  }
  Group group = groupAt(number, extents, each);
  group.isInside = isInside;
  return held[key] = group;
}

LogicalResult Emitter::overGroups(ArrayRef<Ix> extents, SmallVectorImpl<Value> &carried,
                                  GroupBody body) {
  int64_t each = neighbours(extents);
  Ix points = ix().product(extents);
  std::optional<int64_t> trips;
  if (points.estimate(0) > 0)
    trips = groupsOfThread(*points.constant(), each);
  if (trips) {
    for (int64_t trip = 0; trip < *trips; ++trip)
      if (failed(body(heldGroup(extents, each, *points.constant() / each, trip))))
        return failure();
    return success();
  }
  auto one = [&](const Ix &number) { return body(groupAt(number, extents, each)); };
  return loop(thread, ix().div(points, each), threads, carried, one);
}

LogicalResult Emitter::overGroups(ArrayRef<Ix> extents, GroupBody body) {
  Ix points = ix().product(extents);
  if (neighbours(extents) == 1 && points.estimate(threads + 1) < threads) // one each at most
    return overPoints(extents, [&](const Point &point) { return body({{point}, {}}); });
  SmallVector<Value> none;
  return overGroups(extents, none, body);
}

FailureOr<SmallVector<Value>> Emitter::evaluate(Value tile, const Group &group) {
  SmallVector<Value> values;
  for (const Point &point : group.points) {
    FailureOr<Value> value = evaluate(tile, point);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return values;
}

} // namespace tw::target::nvidia
