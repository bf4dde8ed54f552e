// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orthogonal polynomials of degree n at x, both from data, in f64, rounded once. The degree is
// truncated to an integer; of a negative degree the value is 0, as in PyTorch.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>
#include <deque>

using namespace mlir;

namespace tw::lower {
namespace {

Value times(const Element &e, double factor, Value x) { return e.mul(e.constant(factor), x); }
Value plus(const Element &e, Value x, double y) { return e.add(x, e.constant(y)); }

Value cosh(const Element &e, Value x) { return math::CoshOp::create(e.b, e.loc, x); }
Value sinh(const Element &e, Value x) { return math::SinhOp::create(e.b, e.loc, x); }
Value cos(const Element &e, Value x) { return math::CosOp::create(e.b, e.loc, x); }
Value sin(const Element &e, Value x) { return math::SinOp::create(e.b, e.loc, x); }

//===----------------------------------------------------------------------===//
// Chebyshev's
//===----------------------------------------------------------------------===//

/// The four kinds: p_0 = 1, p_1 = multiple * x + shift, p_(k+1) = 2 x p_k - p_(k-1).
enum Kind { T, U, V, W };

/// Degrees up to this are computed by the recurrence, which is exact at small integers; those
/// above in closed form.
constexpr int lastByRecurrence = 8;

Value lowDegree(const Element &e, Kind kind, Value x, Value n) {
  static constexpr std::pair<double, double> first[] = {{1, 0}, {2, 0}, {2, -1}, {2, 1}};
  auto [multiple, shift] = first[kind];
  Value twice = e.add(x, x), before = e.constant(1.0);
  Value now = plus(e, times(e, multiple, x), shift), value = before;
  for (int degree = 1; degree <= lastByRecurrence; ++degree) {
    value = e.select(e.eq(n, e.constant(degree)), now, value);
    Value next = e.sub(e.mul(twice, now), before);
    before = now;
    now = next;
  }
  return value;
}

/// sin or cos where `isCircle`, and sinh or cosh where not.
struct Waves {
  const Element &e;
  Value isCircle;

  Value cosine(Value angle) const { return e.select(isCircle, cos(e, angle), cosh(e, angle)); }
  Value sine(Value angle) const { return e.select(isCircle, sin(e, angle), sinh(e, angle)); }
};

/// At |x|, with the angle acos |x| or acosh |x|; W and V are each other's mirror.
Value closedForm(const Element &e, Kind kind, Value size, Value n) {
  Value one = e.constant(1.0), isCircle = e.lt(size, one);
  Value inside = e.select(isCircle, size, one), outside = e.select(isCircle, one, size);
  Value angle = e.select(isCircle, math::AcosOp::create(e.b, e.loc, inside),
                         math::AcoshOp::create(e.b, e.loc, outside));
  Waves waves{e, isCircle};
  Value half = times(e, 0.5, angle), between = e.mul(plus(e, n, 0.5), angle), atOne = one, value;
  switch (kind) {
  case T:
    return waves.cosine(e.mul(n, angle));
  case U:
    atOne = plus(e, n, 1);
    value = e.div(waves.sine(e.mul(atOne, angle)), waves.sine(angle));
    break;
  case V:
    return e.div(waves.cosine(between), waves.cosine(half));
  case W:
    atOne = plus(e, e.add(n, n), 1);
    value = e.div(waves.sine(between), waves.sine(half));
    break;
  }
  return e.select(e.eq(size, one), atOne, value);
}

Value highDegree(const Element &e, Kind kind, Value x, Value n) {
  static constexpr Kind mirrors[] = {T, U, W, V};
  Value size = e.abs(x), isLeft = e.lt(x, e.constant(0.0));
  Value value = closedForm(e, kind, size, n);
  Value mirror = kind == T || kind == U ? value : closedForm(e, mirrors[kind], size, n);
  Value half = times(e, 0.5, n), isOdd = e.ne(half, e.floor(half));
  return e.select(isLeft, e.select(isOdd, e.neg(mirror), mirror), value);
}

template <Kind kind>
Value chebyshevPolynomial(const Element &e, Value x, Value n) {
  Value isLow = e.le(n, e.constant(lastByRecurrence));
  return e.select(isLow, lowDegree(e, kind, x, n), highDegree(e, kind, x, n));
}

/// On [0, 1] instead of [-1, 1].
template <Kind kind>
Value shiftedChebyshev(const Element &e, Value x, Value n) {
  return chebyshevPolynomial<kind>(e, plus(e, e.add(x, x), -1), n);
}

//===----------------------------------------------------------------------===//
// The others, by their recurrences
//===----------------------------------------------------------------------===//

/// p_(k+1) of x, k, p_k and p_(k-1).
using Step = Value (*)(const Element &e, Value x, Value k, Value now, Value before);

Value nextHermiteH(const Element &e, Value x, Value k, Value now, Value before) {
  return times(e, 2, e.sub(e.mul(x, now), e.mul(k, before)));
}
Value nextHermiteHe(const Element &e, Value x, Value k, Value now, Value before) {
  return e.sub(e.mul(x, now), e.mul(k, before));
}
Value nextLaguerre(const Element &e, Value x, Value k, Value now, Value before) {
  Value next = plus(e, k, 1), factor = e.sub(e.add(k, next), x);
  return e.div(e.sub(e.mul(factor, now), e.mul(k, before)), next);
}
Value nextLegendre(const Element &e, Value x, Value k, Value now, Value before) {
  Value next = plus(e, k, 1), factor = e.mul(e.add(k, next), x);
  return e.div(e.sub(e.mul(factor, now), e.mul(k, before)), next);
}

/// p_n from p_0 = 1 and p_(-1) = 0.
template <Step next>
Value byRecurrence(const Element &e, Value x, Value n) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(e.b, e.loc, value);
  };
  Value steps = e.as(DType::I64).cast(n, DType::F64);
  Value end = arith::IndexCastOp::create(e.b, e.loc, e.b.getIndexType(), steps);
  auto loop =
      scf::ForOp::create(e.b, e.loc, index(0), end, index(1),
                         ValueRange{e.constant(1.0), e.constant(0.0), e.constant(0.0)},
                         [&](OpBuilder &b, Location loc, Value, ValueRange carried) {
                           Element inside(b, loc, DType::F64);
                           Value now = carried[0], k = carried[2];
                           scf::YieldOp::create(b, loc,
                                                ValueRange{next(inside, x, k, now, carried[1]), now,
                                                           inside.add(k, inside.constant(1.0))});
                         });
  return loop.getResult(0);
}

/// NaN from the degree on at which PyTorch gives it for this dtype.
template <Step next, DType dtype>
Value hermite(const Element &e, Value x, Value n) {
  Value isBeyond = e.gt(n, e.constant(dtype == DType::F64 ? 512 : 128));
  Value degree = e.select(isBeyond, e.constant(0.0), n);
  return e.select(isBeyond, e.constant(NAN), byRecurrence<next>(e, x, degree));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Polynomial = Value (*)(const Element &e, Value x, Value n);

LogicalResult lowerPolynomial(Lowering &ctx, Polynomial polynomial) {
  return ctx.done(pointwise(
      ctx, {ctx.arg("x"), ctx.arg("n")}, ctx.resultDType(),
      [&](Element &e, ValueRange x) {
        Value hasDegree = e.gt(x[1], e.constant(-1.0)), zero = e.constant(0.0);
        Value degree = e.floor(e.select(e.gt(x[1], zero), x[1], zero));
        return e.select(hasDegree, polynomial(e, x[0], degree), zero);
      },
      DType::F64));
}

template <Polynomial polynomial>
LogicalResult lower(Lowering &ctx) {
  return lowerPolynomial(ctx, polynomial);
}

template <Step next>
LogicalResult lowerHermite(Lowering &ctx) {
  bool isDouble = ctx.resultDType() == DType::F64;
  return lowerPolynomial(ctx, isDouble ? hermite<next, DType::F64> : hermite<next, DType::F32>);
}

constexpr std::pair<StringRef, LoweringFn> names[] = {
    {"chebyshev_polynomial_t", lower<chebyshevPolynomial<T>>},
    {"chebyshev_polynomial_u", lower<chebyshevPolynomial<U>>},
    {"chebyshev_polynomial_v", lower<chebyshevPolynomial<V>>},
    {"chebyshev_polynomial_w", lower<chebyshevPolynomial<W>>},
    {"shifted_chebyshev_polynomial_t", lower<shiftedChebyshev<T>>},
    {"shifted_chebyshev_polynomial_u", lower<shiftedChebyshev<U>>},
    {"shifted_chebyshev_polynomial_v", lower<shiftedChebyshev<V>>},
    {"shifted_chebyshev_polynomial_w", lower<shiftedChebyshev<W>>},
    {"hermite_polynomial_h", lowerHermite<nextHermiteH>},
    {"hermite_polynomial_he", lowerHermite<nextHermiteHe>},
    {"laguerre_polynomial_l", lower<byRecurrence<nextLaguerre>>},
    {"legendre_polynomial_p", lower<byRecurrence<nextLegendre>>},
};

} // namespace

Family polynomialsFamily() {
  static const auto *rows = [] {
    auto *made = new std::vector<LoweringRow>;
    static std::deque<std::string> texts;
    for (const auto &[name, function] : names)
      for (StringRef overload : {"", ".n_scalar", ".x_scalar"})
        made->push_back(
            {texts.emplace_back(("torch.aten.special_" + name + overload).str()), function});
    return made;
  }();
  return {"Orthogonal polynomials", *rows};
}

} // namespace tw::lower
