// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the points of a tile are dealt in groups of neighbours along the last dimension, which are
// read and written by one instruction. Row-major as in Threads.cpp: thread t has groups t,
// t + threads, ... Where that are few, they are written out instead of a loop: every thread then
// has the same points whenever this box is gone through, and what it has computed of them stays in
// its registers (`known`). Groups that are not there are computed as the last one is, and dropped.
//
// Of several rows that a program reduces, a thread has the same groups in each, one row after the
// other: what rows share, as the weights of a norm, it reads and converts once for all of them.
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

int64_t Emitter::neighbours(ArrayRef<Ix> extents) const {
  return extents.empty() || multipleOf(extents.back()) < width ? 1 : width;
}

int64_t Emitter::rowsOf(ArrayRef<Ix> extents) const {
  int64_t rows = 1;
  for (const Ix &extent : extents.drop_back(extents.empty() ? 0 : 1))
    rows *= extent.estimate(0);
  return rows == rowsTogether && extents.size() > 1 ? rows : 1;
}

std::optional<int64_t> Emitter::groupsOfThread(ArrayRef<Ix> extents) const {
  int64_t points = 1, each = neighbours(extents), rows = rowsOf(extents);
  for (const Ix &extent : extents)
    points *= extent.estimate(0);
  if (points == 0)
    return std::nullopt;
  int64_t groups = points / rows / each,
          trips = llvm::divideCeil(groups, std::max<int64_t>(threads, 1));
  bool areAllBusy = int64_t(llvm::alignTo(uint64_t(groups), lanesOfWarp)) >= threads;
  return areAllBusy && trips * each * rows <= mostHeld ? std::optional(trips) : std::nullopt;
}

bool Emitter::isHeld(RankedTensorType type) const {
  SmallVector<Ix> extents(type.getShape().begin(), type.getShape().end());
  return type.hasStaticShape() && groupsOfThread(extents).has_value();
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

LogicalResult Emitter::overRows(ArrayRef<Ix> extents, SmallVectorImpl<Value> &carried,
                                RowsBody body) {
  int64_t each = neighbours(extents), rows = rowsOf(extents);
  SmallVector<Ix> row(extents);
  if (rows > 1)
    std::fill(row.begin(), std::prev(row.end()), Ix(1));
  auto all = [&](const Group &first) {
    SmallVector<Group> groups(size_t(rows), first);
    for (int64_t number = 0; rows > 1 && number < rows; ++number) {
      Point place = pointAt(number, extents.drop_back());
      for (Point &point : groups[size_t(number)].points)
        llvm::copy(place, point.begin());
    }
    return body(groups);
  };
  Ix groups = ix().div(ix().product(row), each);
  if (std::optional<int64_t> trips = groupsOfThread(extents)) {
    for (int64_t trip = 0; trip < *trips; ++trip)
      if (failed(all(heldGroup(row, each, *groups.constant(), trip))))
        return failure();
    return success();
  }
  // Of several rows there is much to read at one time: a number of trips that is known lets ptxas
  // begin those of the next one early.
  if (rows > 1 && groups.estimate(1) % threads == 0)
    return loop(0, ix().div(groups, threads), 1, carried, [&](const Ix &trip) {
      return all(groupAt(ix().add(ix().mul(trip, threads), thread), row, each));
    });
  return loop(thread, groups, threads, carried,
              [&](const Ix &number) { return all(groupAt(number, row, each)); });
}

LogicalResult Emitter::overGroups(ArrayRef<Ix> extents, SmallVectorImpl<Value> &carried,
                                  GroupBody body) {
  return overRows(extents, carried, [&](ArrayRef<Group> rows) {
    return success(llvm::all_of(rows, [&](const Group &row) { return succeeded(body(row)); }));
  });
}

LogicalResult Emitter::overGroups(ArrayRef<Ix> extents, GroupBody body) {
  Ix points = ix().product(extents);
  if (neighbours(extents) == 1 && rowsOf(extents) == 1 &&
      points.estimate(threads + 1) < threads) // one each at most
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
