// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the elements of a tile, in strips of `lanes`; what does not fill a strip is masked.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Sets lanes and mask of the emitter for a while.
class Width {
public:
  Width(Emitter &e, unsigned lanes, Value mask) : e(e), lanes(e.lanes), mask(e.mask) {
    e.lanes = lanes;
    e.mask = mask;
  }
  ~Width() {
    e.lanes = lanes;
    e.mask = mask;
  }

private:
  Emitter &e;
  unsigned lanes;
  Value mask;
};

} // namespace

Value Emitter::firstLanes(const Ix &count, unsigned lanes) {
  if (auto known = count.constant()) {
    SmallVector<bool> counted;
    for (unsigned lane = 0; lane < lanes; ++lane)
      counted.push_back(int64_t(lane) < *known);
    auto type = VectorType::get(int64_t(lanes), b.getI1Type());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(counted)));
  }
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  Type i32 = b.getI32Type();
  auto type = VectorType::get(int64_t(lanes), i32);
  Value offsets =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Width width(*this, lanes, {});
  Value limit = arith::TruncIOp::create(b, loc, i32, ix().value(count));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, offsets, splat(limit));
}

LogicalResult Emitter::loop(const Ix &begin, const Ix &end, const Ix &step,
                            SmallVectorImpl<Value> &carried,
                            llvm::function_ref<LogicalResult(const Ix &)> body) {
  auto from = begin.constant(), to = end.constant(), by = step.constant();
  if (from && to && *from >= *to)
    return success();
  if (from && to && by && *from + *by >= *to)
    return body(begin);
  auto loop = scf::ForOp::create(b, loc, ix().value(begin), ix().value(end), ix().value(step),
                                 llvm::to_vector(carried));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  if (from && to && by && *by > 0)
    ranges.set(loop.getInductionVar(), {*from, *from + (*to - 1 - *from) / *by * *by});
  carried.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  {
    Scope scope(*this);
    if (failed(body(loop.getInductionVar())))
      return failure();
  }
  if (!carried.empty() || !loop.getBody()->mightHaveTerminator())
    scf::YieldOp::create(b, loc, carried);
  carried.assign(loop.getResults().begin(), loop.getResults().end());
  return success();
}

LogicalResult Emitter::alongDimension(Point point, int dim, const Ix &begin, const Ix &end,
                                      unsigned width, SmallVectorImpl<Value> &carried,
                                      CarriedBody body, std::optional<Ix> limit) {
  IndexBuilder x = ix();
  Ix rest = x.rem(x.sub(end, begin), width), whole = x.sub(end, rest);
  point.lane = width > 1 ? dim : -1;
  auto strip = [&](const Ix &at) {
    point.at[dim] = at;
    return body(point, carried);
  };
  {
    Width all(*this, width, {});
    if (failed(loop(begin, limit ? x.min(whole, *limit) : whole, width, carried, strip)))
      return failure();
  }
  if (rest.is(0) || width == 1)
    return success();
  Value some = rest.isConstant() ? Value() : x.less(0, rest);
  auto tail = [&]() -> LogicalResult {
    Scope scope(*this);
    Width part(*this, width, firstLanes(rest, width));
    return strip(whole);
  };
  if (!some)
    return tail();
  auto choice = scf::IfOp::create(b, loc, ValueRange(carried).getTypes(), some,
                                  /*withElseRegion=*/!carried.empty());
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> before = llvm::to_vector(carried);
  b.setInsertionPointToStart(choice.thenBlock());
  if (failed(tail()))
    return failure();
  if (!before.empty()) {
    scf::YieldOp::create(b, loc, carried);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, before);
  }
  carried.assign(choice.getResults().begin(), choice.getResults().end());
  return success();
}

/// All strips, in as many loops as they are cut to.
static LogicalResult inStrips(Emitter &e, ArrayRef<Ix> extents, ArrayRef<Ix> limits,
                              const Strips &strips, const Point &point, Emitter::PointBody body) {
  SmallVector<Value> none;
  auto inner = [&](const Point &at, SmallVectorImpl<Value> &) { return body(at); };
  auto limit = limits.empty() ? std::nullopt : std::optional(limits[strips.lane]);
  auto between = [&](const Ix &begin, const Ix &end) {
    return e.alongDimension(point, strips.lane, begin, end, strips.lanes, none, inner, limit);
  };
  Ix begin = 0;
  for (int64_t cut : strips.cuts) {
    if (failed(between(begin, cut)))
      return failure();
    begin = cut;
  }
  return between(begin, extents[strips.lane]);
}

/// Loops over the dimensions from `dim` on but `lane`, then the strips.
static LogicalResult nest(Emitter &e, ArrayRef<Ix> extents, ArrayRef<Ix> limits,
                          const Strips &strips, unsigned dim, Point &point,
                          Emitter::PointBody body) {
  int lane = strips.lane;
  unsigned width = strips.lanes;
  bool isUnrolled = strips.isUnrolled;
  SmallVector<Value> none;
  if (dim == extents.size()) {
    if (lane < 0) {
      Width one(e, 1, {});
      return body(point);
    }
    if (!isUnrolled)
      return inStrips(e, extents, limits, strips, point, body);
    for (int64_t at = 0; at < *extents[lane].constant(); at += width) {
      Ix rest = *extents[lane].constant() - at;
      Width strip(e, width, *rest.constant() < width ? e.firstLanes(rest, width) : Value());
      point.at[lane] = at;
      point.lane = width > 1 ? lane : -1;
      if (failed(body(point)))
        return failure();
    }
    return success();
  }
  auto step = [&](const Ix &at) {
    point.at[dim] = at;
    return nest(e, extents, limits, strips, dim + 1, point, body);
  };
  if (int(dim) == lane)
    return step(0);
  if (!isUnrolled)
    return e.loop(0, limits.empty() ? extents[dim] : e.ix().min(extents[dim], limits[dim]), 1, none,
                  step);
  for (int64_t at = 0; at < *extents[dim].constant(); ++at)
    if (failed(step(at)))
      return failure();
  return success();
}

LogicalResult Emitter::overElements(ArrayRef<Ix> extents, const Strips &strips, PointBody body,
                                    ArrayRef<Ix> limits) {
  Point point{Indices(extents.size(), Ix(0)), -1, 1};
  return nest(*this, extents, limits, strips, 0, point, body);
}

} // namespace tw::target::cpu
