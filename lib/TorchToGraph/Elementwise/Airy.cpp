// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Airy's function Ai, in f64, rounded once: a series in the middle, and beyond it what is left of
// its asymptotic forms, in z = 2/3 |x|^(3/2).
#include "TorchToGraph/Builders/Elementwise/Chebyshev.h"
#include "TorchToGraph/Builders/Elementwise/InDouble.h"
#include "TorchToGraph/Elementwise/BesselTables.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

// Where the series of scripts/chebyshev.py meet.
constexpr double leftEnd = -4, rightEnd = 2;

double phaseAt(double x) { return 2.0 / 3 * std::pow(std::abs(x), 1.5); }

/// |x| beyond an end, and the end elsewhere; its z and 1 / sqrt(sqrt |x|).
struct Beyond {
  Value z, scale;

  Beyond(const Element &e, Value x, double end) {
    Value size = e.max(end < 0 ? e.neg(x) : x, e.constant(std::abs(end))), root = e.sqrt(size);
    z = e.mul(e.constant(2.0 / 3), e.mul(size, root));
    scale = e.rsqrt(root);
  }
};

Value airyMiddleOf(const Element &e, Value x) {
  Value inside = e.max(e.min(x, e.constant(rightEnd)), e.constant(leftEnd));
  Value fromMiddle = e.sub(inside, e.constant((leftEnd + rightEnd) / 2));
  return chebyshevSeries(e, airyMiddle, e.mul(fromMiddle, e.constant(2 / (rightEnd - leftEnd))));
}

Value airyRightOf(const Element &e, Value x) {
  Beyond at(e, x, rightEnd);
  Value t = e.sub(e.div(e.constant(2 * phaseAt(rightEnd)), at.z), e.constant(1));
  return e.mul(e.mul(at.scale, e.exp(e.neg(at.z))), chebyshevSeries(e, airyFar, t));
}

Value airyLeftOf(const Element &e, Value x) {
  Beyond at(e, x, leftEnd);
  Value inverse = e.div(e.constant(phaseAt(leftEnd)), at.z);
  Value t = e.sub(e.mul(e.constant(2), e.mul(inverse, inverse)), e.constant(1));
  Value phase = e.sub(at.z, e.constant(M_PI_4));
  Value cosine = math::CosOp::create(e.b, e.loc, phase);
  Value sine = math::SinOp::create(e.b, e.loc, phase);
  Value sum = e.add(e.mul(chebyshevSeries(e, airyCosine, t), cosine),
                    e.mul(e.div(chebyshevSeries(e, airySine, t), at.z), sine));
  return e.mul(e.mul(e.constant(1 / std::sqrt(M_PI)), at.scale), sum);
}

/// NaN at both infinities, as PyTorch.
Value airy(const Element &e, Value x) {
  Value value = e.select(e.gt(x, e.constant(rightEnd)), airyRightOf(e, x), airyMiddleOf(e, x));
  value = e.select(e.lt(x, e.constant(leftEnd)), airyLeftOf(e, x), value);
  return e.select(e.eq(e.abs(x), e.constant(double(INFINITY))), e.constant(NAN), value);
}

} // namespace

Family airyFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.special_airy_ai", lowerInDouble<airy>},
  };
  return {"Airy functions", rows};
}

} // namespace tw::lower
