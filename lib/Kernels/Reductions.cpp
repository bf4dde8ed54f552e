// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Reductions.h"
#include <cmath>
#include <limits>

namespace tw::kernels {
using namespace tw::kernel;
using kernel::Size;

static constexpr Reduction reductions[] = {
    {"sum", sum, 0, [](const Tile &a, const Tile &b) { return a + b; }},
    {"prod", prod, 1, [](const Tile &a, const Tile &b) { return a * b; }},
    {"max", max, -inf, [](const Tile &a, const Tile &b) { return maximum(a, b); }},
    {"min", min, inf, [](const Tile &a, const Tile &b) { return minimum(a, b); }},
    {"any", any, false, [](const Tile &a, const Tile &b) { return a || b; }},
    {"all", all, true, [](const Tile &a, const Tile &b) { return a && b; }},
    {"argmax", argmax, -inf, [](const Tile &a, const Tile &b) { return maximum(a, b); },
     [](const Tile &a, const Tile &b) { return b > a || (b != b && a == a); }},
    {"argmin", argmin, inf, [](const Tile &a, const Tile &b) { return minimum(a, b); },
     [](const Tile &a, const Tile &b) { return b < a || (b != b && a == a); }},
};

const Reduction &reductionOf(const Step &step) {
  return *std::find_if(std::begin(reductions), std::end(reductions),
                       [&](const Reduction &row) { return row.name == step.name; });
}

/// A number, or the least or greatest one of the dtype for an infinity.
static Scalar numberOf(double number, DType dtype) {
  if (dtype <= f64)
    return constant(number, dtype);
  if (dtype == i1)
    return constant(number != 0, dtype);
  if (std::isfinite(number))
    return constant(int64_t(number), dtype);
  if (dtype == u8)
    return constant(number < 0 ? 0 : 255, dtype);
  int bits = dtype == i8 ? 8 : dtype == i16 ? 16 : dtype == i32 ? 32 : 64;
  int64_t least = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return constant(number < 0 ? least : ~least, dtype);
}

CarriedReductions::Carried CarriedReductions::carriedOf(const Step &step) const {
  bool isFloatSum = step.name == "sum" && step.dtype <= f64;
  return reductionOf(step).isFarther ? Carried::ValueAndPlace
         : isFloatSum                ? Carried::ValueAndError
                                     : Carried::Value;
}

CarriedReductions::States CarriedReductions::neutral(const std::function<Size(int)> &extent) const {
  States all;
  std::vector<std::vector<int>> extents = extentsOf(program.steps);
  for (size_t number : steps) {
    const Step &one = step(number);
    Shape shape(program.dims.size(), Size(1));
    for (int dim : extents[number])
      shape[dim] = extent(dim);
    Carried kind = carriedOf(one);
    DType dtype = kind == Carried::ValueAndPlace ? step(one.operands[0]).dtype : one.dtype;
    all.push_back(full(shape, numberOf(reductionOf(one).neutral, dtype), dtype));
    if (kind != Carried::Value)
      all.push_back(zeros(shape, one.dtype));
  }
  return all;
}

CarriedReductions::States CarriedReductions::ofPart(const std::function<Tile(const Step &)> &reduce,
                                                    const Index &first) const {
  States all;
  for (size_t number : steps) {
    const Step &one = step(number);
    Tile result = reduce(one);
    Carried kind = carriedOf(one);
    if (kind == Carried::ValueAndPlace) {
      Step extreme = one;
      extreme.name = one.name.substr(3); // argmax: max
      all.push_back(reduce(extreme));
      all.push_back(result + first);
      continue;
    }
    all.push_back(result);
    if (kind == Carried::ValueAndError)
      all.push_back(zeros(result.shape(), one.dtype));
  }
  return all;
}

CarriedReductions::States CarriedReductions::combined(const States &first,
                                                      const States &second) const {
  States all;
  for (size_t number : steps) {
    size_t at = all.size();
    const Reduction &row = reductionOf(step(number));
    Carried kind = carriedOf(step(number));
    Tile value = row.combine(first[at], second[at]);
    all.push_back(value);
    if (kind == Carried::ValueAndPlace) {
      all.push_back(select(row.isFarther(first[at], second[at]), second[at + 1], first[at + 1]));
    } else if (kind == Carried::ValueAndError) {
      Tile added = value - first[at];
      Tile lost = (first[at] - (value - added)) + (second[at] - added);
      all.push_back(first[at + 1] + second[at + 1] + lost);
    }
  }
  return all;
}

/// The error of an infinite sum is NaN.
static Tile withError(const Tile &sum, const Tile &error) {
  return select(error == error, sum + error, sum);
}

std::vector<Tile> CarriedReductions::results(const States &all) const {
  std::vector<Tile> results;
  size_t next = 0;
  for (size_t number : steps) {
    Carried kind = carriedOf(step(number));
    const Tile &value = all[next++];
    if (kind == Carried::Value)
      results.push_back(value);
    else
      results.push_back(kind == Carried::ValueAndPlace ? all[next] : withError(value, all[next]));
    next += kind != Carried::Value;
  }
  return results;
}

} // namespace tw::kernels
