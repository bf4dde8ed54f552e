// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Bounds.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

/// The message of an assertion: "aten.view: ...".
static std::string named(Lowering &ctx, const std::string &message) {
  StringRef shown = ctx.name();
  shown.consume_front("torch.");
  return shown.str() + ": " + message;
}

/// The message of an assertion with its values filled in.
static std::string filledIn(std::string message, std::initializer_list<int64_t> values) {
  for (int64_t value : values)
    if (auto place = message.find("%lld"); place != std::string::npos)
      message.replace(place, 4, std::to_string(value));
  return message;
}

static void require(Lowering &ctx, arith::CmpIPredicate predicate, OpFoldResult x, OpFoldResult y,
                    const std::string &message) {
  if (auto a = constantOf(x), c = constantOf(y); a && c) {
    ctx.refuse(filledIn(message, {*a, *c}));
    return;
  }
  IndexMath math{ctx.b, ctx.loc};
  Value left = math.value(x), right = math.value(y);
  Value holds = arith::CmpIOp::create(ctx.b, ctx.loc, predicate, left, right);
  graph::AssertOp::create(ctx.b, ctx.loc, holds, named(ctx, message), ValueRange{left, right});
}

void requireAtMost(Lowering &ctx, OpFoldResult x, OpFoldResult y, const Twine &message) {
  if (!ctx.allSizes().knownAtMost(x, y))
    require(ctx, arith::CmpIPredicate::sle, x, y, message.str());
}

void requireSame(Lowering &ctx, OpFoldResult x, OpFoldResult y, const Twine &message) {
  if (auto a = constantOf(x), c = constantOf(y); a && c && *a != *c)
    ctx.refuse(filledIn(message.str(), {*a, *c}));
  else
    ctx.allSizes().requireEqual(ctx.b, ctx.loc, x, y, named(ctx, message.str()));
}

void requireDifferent(Lowering &ctx, OpFoldResult x, OpFoldResult y, const Twine &message) {
  auto a = constantOf(x), c = constantOf(y);
  if (!a || !c || *a == *c)
    require(ctx, arith::CmpIPredicate::ne, x, y, message.str());
}

void requireSizes(Lowering &ctx, ArrayRef<OpFoldResult> sizes) {
  for (OpFoldResult size : sizes)
    requireAtMost(ctx, ctx.b.getIndexAttr(0), size, "a size must be at least %lld, not %lld");
}

SmallVector<OpFoldResult> agreedSizes(Lowering &ctx, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> result = ctx.refined(sizes);
  for (auto [computed, known] : llvm::zip_equal(sizes, result))
    requireSame(ctx, computed, known, "its result has size %lld, but the program says %lld");
  return result;
}

OpFoldResult smaller(Lowering &ctx, OpFoldResult x, OpFoldResult y) {
  if (ctx.allSizes().knownAtMost(x, y))
    return x;
  return ctx.allSizes().knownAtMost(y, x) ? y : IndexMath{ctx.b, ctx.loc}.min(x, y);
}

OpFoldResult greater(Lowering &ctx, OpFoldResult x, OpFoldResult y) {
  if (ctx.allSizes().knownAtMost(x, y))
    return y;
  return ctx.allSizes().knownAtMost(y, x) ? x : IndexMath{ctx.b, ctx.loc}.max(x, y);
}

OpFoldResult wrappedIndex(Lowering &ctx, OpFoldResult x, OpFoldResult size) {
  IndexMath math{ctx.b, ctx.loc};
  if (ctx.allSizes().knownAtMost(math.constant(0), x))
    return x;
  OpFoldResult fromEnd = math.add(x, size);
  if (ctx.allSizes().knownAtMost(x, math.constant(-1)))
    return fromEnd;
  Value isNegative = arith::CmpIOp::create(ctx.b, ctx.loc, arith::CmpIPredicate::slt, math.value(x),
                                           math.value(math.constant(0)));
  return arith::SelectOp::create(ctx.b, ctx.loc, isNegative, math.value(fromEnd), math.value(x))
      .getResult();
}

OpFoldResult checkedIndex(Lowering &ctx, OpFoldResult index, OpFoldResult size, int64_t dim) {
  IndexMath math{ctx.b, ctx.loc};
  if (auto given = constantOf(index), bound = constantOf(size);
      given && bound && (*given < -*bound || *given >= *bound)) {
    ctx.refuse(
        fmt::format("index {} is out of range for dimension {} with size {}", *given, dim, *bound));
    return math.constant(0);
  }
  OpFoldResult position = wrappedIndex(ctx, index, size);
  if (ctx.allSizes().knownAtMost(math.constant(0), position) &&
      ctx.allSizes().knownAtMost(math.add(position, math.constant(1)), size))
    return position;
  // As unsigned numbers, negative positions are beyond every size.
  require(ctx, arith::CmpIPredicate::ult, position, size,
          fmt::format("index %lld is out of range for dimension {} with size %lld", dim));
  return position;
}

OpFoldResult positionArgument(Lowering &ctx, StringRef name) {
  auto scalar = ctx.arg(name).scalar();
  return scalar && scalar->kind == Scalar::Kind::Int ? scalar->value : ctx.size(name);
}

std::pair<Tensor, int64_t> selfAndDim(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  if (self.rank() == 0)
    ctx.refuse("a tensor without dimensions has no parts");
  return {self, dim};
}

Range pythonRange(Lowering &ctx, OpFoldResult size, OpFoldResult start, OpFoldResult end,
                  int64_t step) {
  IndexMath math{ctx.b, ctx.loc};
  if (step < 1) {
    ctx.refuse(fmt::format("the step of a slice must be at least 1, not {}", step));
    step = 1;
  }
  OpFoldResult zero = math.constant(0);
  auto inside = [&](OpFoldResult x) {
    if (auto known = constantOf(x); known && *known == std::numeric_limits<int64_t>::max())
      return size;
    return smaller(ctx, greater(ctx, wrappedIndex(ctx, x, size), zero), size);
  };
  OpFoldResult first = inside(start);
  OpFoldResult last = greater(ctx, inside(end), first);
  return {first, math.ceilDiv(math.sub(last, first), math.constant(step)), step};
}

Range rangeArgument(Lowering &ctx, OpFoldResult size) {
  OpFoldResult start = ctx.has("start") ? ctx.size("start") : ctx.b.getIndexAttr(0);
  OpFoldResult end = ctx.has("end") ? ctx.size("end") : size;
  return pythonRange(ctx, size, start, end, ctx.integer("step", 1));
}

} // namespace tw::lower
