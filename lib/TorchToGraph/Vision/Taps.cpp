// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Vision/Taps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {

Value BodyIndex::constant(int64_t value) const {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value BodyIndex::add(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
Value BodyIndex::sub(Value x, Value y) const { return arith::SubIOp::create(b, loc, x, y); }
Value BodyIndex::min(Value x, Value y) const { return arith::MinSIOp::create(b, loc, x, y); }
Value BodyIndex::max(Value x, Value y) const { return arith::MaxSIOp::create(b, loc, x, y); }

Value BodyIndex::clamp(Value x, Value size) const {
  return max(min(x, add(size, constant(-1))), constant(0));
}

Value BodyIndex::isInside(Value x, Value size) const {
  // Negative positions are large as unsigned numbers.
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, size);
}

Value BodyIndex::toFloat(const Element &e, Value index) const {
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  return e.cast(number, DType::I64);
}

Value BodyIndex::fromFloat(const Element &e, Value x) const {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), e.as(DType::I64).cast(x, e.dtype));
}

static constexpr double a = -0.75; // of cubic convolution

SmallVector<Value> cubicWeights(const Element &e, Value t) {
  auto times = [&](Value x, double factor) { return e.mul(x, e.constant(factor)); };
  auto plus = [&](Value x, double term) { return e.add(x, e.constant(term)); };
  // ((a + 2) x - (a + 3)) x^2 + 1 up to distance 1, ((a x - 5 a) x + 8 a) x - 4 a up to 2.
  auto near = [&](Value x) { return plus(e.mul(e.mul(plus(times(x, a + 2), -(a + 3)), x), x), 1); };
  auto far = [&](Value x) {
    return plus(e.mul(plus(e.mul(plus(times(x, a), -5 * a), x), 8 * a), x), -4 * a);
  };
  Value rest = e.sub(e.constant(1.0), t);
  return {far(plus(t, 1)), near(t), near(rest), far(plus(rest, 1))};
}

SmallVector<Value> cubicSlopes(const Element &e, Value t) {
  auto times = [&](Value x, double factor) { return e.mul(x, e.constant(factor)); };
  auto plus = [&](Value x, double term) { return e.add(x, e.constant(term)); };
  auto near = [&](Value x) { return e.mul(plus(times(x, 3 * (a + 2)), -2 * (a + 3)), x); };
  auto far = [&](Value x) { return plus(e.mul(plus(times(x, 3 * a), -10 * a), x), 8 * a); };
  Value rest = e.sub(e.constant(1.0), t);
  return {far(plus(t, 1)), near(t), e.neg(near(rest)), e.neg(far(plus(rest, 1)))};
}

Value sumOfTaps(const Element &e, const Tensor &tensor, ArrayRef<Value> position,
                ArrayRef<Taps> taps) {
  if (taps.empty()) {
    Value element = tensor::ExtractOp::create(e.b, e.loc, tensor.value, position);
    return e.cast(element, tensor.dtype);
  }
  SmallVector<Value> at(position);
  Value sum;
  for (const Tap &tap : taps.front()) {
    at[at.size() - taps.size()] = tap.index;
    Value term = sumOfTaps(e, tensor, at, taps.drop_front());
    if (tap.inside) // before the weight, so that a coordinate that is NaN gives NaN
      term = e.select(tap.inside, term, e.constant(0));
    if (tap.weight)
      term = e.mul(term, tap.weight);
    sum = sum ? e.add(sum, term) : term;
  }
  return sum;
}

} // namespace tw::lower
