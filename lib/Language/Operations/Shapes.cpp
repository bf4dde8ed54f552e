// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New tiles, contraction, and what changes shapes.
#include "Language/Elements.h"
#include "Support/Counted.h"

#include <algorithm>

namespace tw::kernel::detail {
namespace {

ValuePtr transposeOf(Tracer &tracer, const ValuePtr &x, const std::vector<int> &axes, Here here) {
  const Extents &shape = x->type.shape;
  std::string text;
  std::vector<int64_t> permutation;
  for (int axis : axes) {
    text += (text.empty() ? "" : ", ") + std::to_string(axis);
    permutation.push_back(axis < 0 ? axis + int64_t(shape.size()) : axis);
  }
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool fits = sorted.size() == shape.size();
  for (size_t d = 0; fits && d < sorted.size(); ++d)
    fits = sorted[d] == int64_t(d);
  if (!fits)
    tracer.fail(
        here, "transpose: {" + text + "} is not a permutation of the axes of " + typeText(x->type),
        "give each axis once");
  Type type{x->type.dtype, true, {}};
  for (int64_t d : permutation)
    type.shape.push_back(shape[size_t(d)]);
  Attributes attributes;
  attributes.numbers = permutation;
  return tracer.emit1(here, "tile.transpose", {x}, type, attributes);
}

ValuePtr swapLastTwo(Tracer &tracer, const ValuePtr &x, Here here) {
  auto rank = int(x->type.shape.size());
  if (rank < 2)
    tracer.fail(here, "transpose: " + typeText(x->type) + " has fewer than two axes",
                "reshape it first");
  std::vector<int> axes(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d)
    axes[size_t(d)] = d;
  std::swap(axes[size_t(rank) - 2], axes[size_t(rank) - 1]);
  return transposeOf(tracer, x, axes, here);
}

ValuePtr reshapeOf(Tracer &tracer, const ValuePtr &x, const Shape &shape, Here here) {
  Extents to = tracer.checkShape(here, shape, "reshape");
  tw::Size have = elementCount(tracer, x->type.shape, here), want = elementCount(tracer, to, here);
  if (!(have == want))
    tracer.fail(here,
                "reshape: " + shapeText(x->type.shape) + " has " +
                    tw::counted(have.str(), "element") + ", but " + shapeText(to) + " has " +
                    want.str(),
                have.constant() && want.constant()
                    ? "the numbers of elements must be equal"
                    : "the numbers of elements must be equal for every call");
  return reshapeTo(tracer, x, to, here);
}

ValuePtr broadcastOf(Tracer &tracer, const ValuePtr &x, const Shape &shape, Here here) {
  Extents to = tracer.checkShape(here, shape, "broadcast");
  bool fits = x->type.shape.size() <= to.size() &&
              broadcastShapes(tracer, x->type.shape, to, "broadcast", here) == to;
  if (!fits)
    tracer.fail(
        here, "broadcast: " + shapeText(x->type.shape) + " cannot be stretched to " + shapeText(to),
        "extents are equal or 1, and new axes stand in front");
  return broadcastTo(tracer, x, to, here);
}

/// Whether `count` elements from `offset` on, every `stride`-th, lie in [0, extent).
bool isInside(int64_t offset, int64_t count, int64_t stride, int64_t extent) {
  int64_t span, last;
  if (stride == 0 || offset < 0 || (count > 0 && offset >= extent))
    return false;
  if (count == 0)
    return true;
  return !__builtin_mul_overflow(count - 1, stride, &span) &&
         !__builtin_add_overflow(offset, span, &last) && last >= 0 && last < extent;
}

ValuePtr sliceOf(Tracer &tracer, const ValuePtr &x, const std::vector<int64_t> &offsets,
                 const Shape &shape, std::vector<int64_t> strides, Here here) {
  const Extents &from = x->type.shape;
  Extents to = tracer.checkShape(here, shape, "slice");
  if (strides.empty())
    strides.assign(from.size(), 1);
  if (offsets.size() != from.size() || to.size() != from.size() || strides.size() != from.size())
    tracer.fail(here,
                "slice of " + typeText(x->type) + " got " + tw::counted(offsets.size(), "offset") +
                    ", " + tw::counted(to.size(), "extent") + " and " +
                    tw::counted(strides.size(), "stride"),
                "give one of each for each axis");
  for (size_t d = 0; d < from.size(); ++d) {
    auto have = from[d].constant(), want = to[d].constant();
    if (want && *want <= 1 && strides[d] != 0) // no step is made, so that none is too long
      strides[d] = 1;
    bool isWhole = from[d] == to[d] && offsets[d] == 0 && strides[d] == 1;
    if (isWhole || (have && want && isInside(offsets[d], *want, strides[d], *have)))
      continue;
    tracer.fail(here,
                "slice, axis " + std::to_string(d) + ": " + tw::counted(to[d].str(), "element") +
                    " from " + std::to_string(offsets[d]) + " with stride " +
                    std::to_string(strides[d]) + " " +
                    std::string(tw::oneOrMany(want.value_or(0), "is not", "are not all")) +
                    " inside " + from[d].str(),
                have ? "" : "an axis whose extent is a symbol is taken whole; load a part instead");
  }
  Attributes attributes;
  attributes.numbers = offsets;
  attributes.strides = strides;
  return tracer.emit1(here, "tile.slice", {x}, Type{x->type.dtype, true, to}, attributes);
}

ValuePtr extractOf(Tracer &tracer, const ValuePtr &x, Here here) {
  bool isOne = std::all_of(x->type.shape.begin(), x->type.shape.end(),
                           [](const tw::Size &extent) { return extent == tw::Size(1); });
  if (!isOne)
    tracer.fail(here, "extract: " + typeText(x->type) + " has not one element",
                "load, slice or reduce it to one");
  return tracer.emit1(here, "tile.extract", {x}, Type{x->type.dtype});
}

// ---- Contraction -------------------------------------------------------------------------------

bool isWidened(DType from, DType to) {
  if (isFloat(from) && isFloat(to))
    return from == to || bits(from) < bits(to);
  return from == to && isInteger(from);
}

/// The accumulator's shape, [..., M, N].
Extents dotShape(Tracer &tracer, const ValuePtr &a, const ValuePtr &b, Here here) {
  const Extents &x = a->type.shape, &y = b->type.shape;
  std::string both = typeText(a->type) + " by " + typeText(b->type);
  if (x.size() < 2 || x.size() != y.size())
    tracer.fail(here, "dot: " + both + " do not have one rank of 2 or more",
                "it takes [..., M, K] and [..., K, N]");
  size_t rank = x.size();
  for (size_t d = 0; d + 2 < rank; ++d)
    if (!(x[d] == y[d]))
      tracer.fail(here,
                  "dot: " + both + " differ in axis " + std::to_string(d) + ": " + x[d].str() +
                      " against " + y[d].str(),
                  "axes before the last two must be equal; broadcast stretches them");
  if (!(x[rank - 1] == y[rank - 2]))
    tracer.fail(here,
                "dot: " + both + " do not fit: " + tw::counted(x[rank - 1].str(), "column") +
                    " against " + tw::counted(y[rank - 2].str(), "row"),
                "it takes [..., M, K] and [..., K, N]; transpose swaps the last two axes");
  Extents shape = x;
  shape[rank - 1] = y[rank - 1];
  return shape;
}

ValuePtr dotOf(Tracer &tracer, const ValuePtr &a, const ValuePtr &b, const ValuePtr *acc,
               Here here) {
  Extents shape = dotShape(tracer, a, b, here);
  if (a->type.dtype != b->type.dtype)
    tracer.fail(
        here, "dot: " + typeText(a->type) + " and " + typeText(b->type) + " have different dtypes",
        "cast one of them: cast(x, " + dtypeName(a->type.dtype) + ")");
  DType dtype = a->type.dtype;
  DType wide = isFloat(dtype) && bits(dtype) < 32 ? DType::f32 : dtype;
  Type type{acc ? (*acc)->type.dtype : wide, true, shape};
  if (!isWidened(dtype, type.dtype))
    tracer.fail(here,
                "dot: products of " + dtypeName(dtype) + " cannot be added to " +
                    dtypeName(type.dtype),
                "float accumulators are as wide as the operands or wider, integers have their "
                "dtype: cast the operands");
  if (acc && !((*acc)->type.shape == shape))
    tracer.fail(here, "dot: " + typeText(a->type) + " by " + typeText(b->type) + " gives " +
                          shapeText(shape) + ", but the accumulator is " + typeText((*acc)->type));
  Ref zero = isFloat(type.dtype) ? Ref(0.0) : Ref(int64_t(0));
  ValuePtr sum =
      acc ? *acc : fullOf(tracer, constantOf(tracer, zero, type.dtype, here), shape, here);
  return tracer.emit1(here, "tile.dot", {a, b, sum}, type);
}

// ---- New tiles ---------------------------------------------------------------------------------

ValuePtr iotaOf(Tracer &tracer, const Shape &shape, Axis axis, DType dtype, const Index &start,
                Here here) {
  Extents extents = tracer.checkShape(here, shape, "iota");
  int64_t d = checkAxis(tracer, axis, extents, "iota", here);
  if (!isInteger(dtype) && dtype != DType::index)
    tracer.fail(here, "iota is not for " + dtypeName(dtype),
                "it gives integers: cast(iota(...), " + dtypeName(dtype) + ")");
  Attributes attributes;
  attributes.axis = d;
  DType made = dtype == DType::i32 || dtype == DType::index ? dtype : DType::i64;
  ValuePtr value =
      tracer.emit1(here, "tile.iota", {indexOf(tracer, start.ref(), "the start of iota", here)},
                   Type{made, true, extents}, attributes);
  return castTo(tracer, value, dtype, here);
}

/// Integers that a float dtype is given are its values too.
ValuePtr fullTile(Tracer &tracer, const Shape &shape, const Ref &value, std::optional<DType> dtype,
                  Here here) {
  Extents extents = tracer.checkShape(here, shape, "full");
  if (!dtype && isLiteral(value))
    tracer.fail(here, "full of a number has no dtype", "give one: full(shape, number, f32)");
  ValuePtr scalar =
      dtype ? scalarOf(tracer, value, *dtype, "full", here) : valueOf(tracer, value, here);
  if (!dtype && scalar->type.dtype == DType::index)
    scalar = castTo(tracer, scalar, DType::i64, here);
  return fullOf(tracer, scalar, extents, here);
}

/// A function of one tile: nothing outside of kernels.
template <class Function>
Tile onTile(const char *name, const Tile &x, Here here, const Function &function) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(function(*tracer, tileOf(*tracer, x.ref(), name, here)))) : Tile();
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

Tile full(const Shape &shape, const Scalar &value, DType dtype, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(fullTile(*tracer, shape, value.ref(), dtype, here))) : Tile();
}

Tile full(const Shape &shape, const Scalar &value, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(fullTile(*tracer, shape, value.ref(), std::nullopt, here))) : Tile();
}

Tile zeros(const Shape &shape, DType dtype, Here here) {
  return dtype == i1 ? full(shape, false, i1, here) : full(shape, 0, dtype, here);
}

Scalar constant(const Scalar &value, DType dtype, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Scalar(Ref(scalarOf(*tracer, value.ref(), dtype, "constant", here))) : Scalar();
}

Tile iota(const Shape &shape, Axis axis, DType dtype, const Index &start, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(iotaOf(*tracer, shape, axis, dtype, start, here))) : Tile();
}

Tile dot(const Tile &a, const Tile &b, Here here) {
  return onTile("dot", a, here, [&](Tracer &tracer, const ValuePtr &left) {
    return dotOf(tracer, left, tileOf(tracer, b.ref(), "dot", here), nullptr, here);
  });
}

Tile dot(const Tile &a, const Tile &b, const Tile &acc, Here here) {
  return onTile("dot", a, here, [&](Tracer &tracer, const ValuePtr &left) {
    ValuePtr right = tileOf(tracer, b.ref(), "dot", here);
    ValuePtr sum = tileOf(tracer, acc.ref(), "dot", here);
    return dotOf(tracer, left, right, &sum, here);
  });
}

Tile transpose(const Tile &x, Here here) {
  return onTile("transpose", x, here, [&](Tracer &tracer, const ValuePtr &value) {
    return swapLastTwo(tracer, value, here);
  });
}

Tile transpose(const Tile &x, const std::vector<int> &permutation, Here here) {
  return onTile("transpose", x, here, [&](Tracer &tracer, const ValuePtr &value) {
    return transposeOf(tracer, value, permutation, here);
  });
}

Tile reshape(const Tile &x, const Shape &shape, Here here) {
  return onTile("reshape", x, here, [&](Tracer &tracer, const ValuePtr &value) {
    return reshapeOf(tracer, value, shape, here);
  });
}

Tile broadcast(const Tile &x, const Shape &shape, Here here) {
  return onTile("broadcast", x, here, [&](Tracer &tracer, const ValuePtr &value) {
    return broadcastOf(tracer, value, shape, here);
  });
}

Tile slice(const Tile &x, const std::vector<int64_t> &offsets, const Shape &extents,
           const std::vector<int64_t> &strides, Here here) {
  return onTile("slice", x, here, [&](Tracer &tracer, const ValuePtr &value) {
    return sliceOf(tracer, value, offsets, extents, strides, here);
  });
}

Tile keep(const Tile &x, Here here) {
  return onTile("keep", x, here, [&](Tracer &tracer, const ValuePtr &value) {
    return tracer.emit1(here, "tile.keep", {value}, value->type);
  });
}

Scalar extract(const Tile &x, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  return Scalar(Ref(extractOf(*tracer, tileOf(*tracer, x.ref(), "extract", here), here)));
}

} // namespace tw::kernel
