// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/Elements.h"

#include <algorithm>

namespace tw::kernel::detail {

// ---- Types -------------------------------------------------------------------------------------

namespace {
struct DTypeRow {
  const char *name;
  int bits;
  bool isFloat;
};
constexpr DTypeRow dtypes[] = {{"f16", 16, true},  {"bf16", 16, true},  {"f32", 32, true},
                               {"f64", 64, true},  {"i8", 8, false},    {"i16", 16, false},
                               {"i32", 32, false}, {"i64", 64, false},  {"u8", 8, false},
                               {"i1", 1, false},   {"index", 64, false}};
const DTypeRow &row(DType dtype) {
  return dtypes[size_t(dtype) < std::size(dtypes) ? size_t(dtype) : size_t(DType::i64)];
}
} // namespace

std::string dtypeName(DType dtype) { return row(dtype).name; }
bool isFloat(DType dtype) { return row(dtype).isFloat; }
int bits(DType dtype) { return row(dtype).bits; }
bool isInteger(DType dtype) {
  return !isFloat(dtype) && dtype != DType::i1 && dtype != DType::index;
}

std::string shapeText(const Extents &shape) {
  std::string text;
  for (const tw::Size &extent : shape)
    text += (text.empty() ? "" : ", ") + extent.str();
  return "[" + text + "]";
}

std::string typeText(const Type &type) {
  return dtypeName(type.dtype) + (type.isTile ? shapeText(type.shape) : "");
}

Shape toShape(const Extents &extents) {
  Shape shape;
  for (const tw::Size &extent : extents)
    shape.push_back(Size(std::make_shared<const SizeExpr>(extent)));
  return shape;
}

int64_t checkAxis(Tracer &tracer, Axis axis, const Extents &shape, const std::string &what,
                  Here here) {
  auto rank = int64_t(shape.size());
  if (axis.axis < -rank || axis.axis >= rank)
    tracer.fail(here,
                "axis " + std::to_string(axis.axis) + " is not one of " + what +
                    ", whose shape is " + shapeText(shape),
                rank == 0
                    ? "it has no axes"
                    : "axes are " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
  return axis.axis < 0 ? axis.axis + rank : axis.axis;
}

Extents broadcastShapes(Tracer &tracer, const Extents &a, const Extents &b, const std::string &what,
                        Here here) {
  const Extents &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
  Extents shape = longer;
  size_t lead = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d) {
    tw::Size &extent = shape[lead + d];
    if (extent == shorter[d] || shorter[d] == tw::Size(1))
      continue;
    if (extent == tw::Size(1)) {
      extent = shorter[d];
      continue;
    }
    bool areNumbers = extent.constant() && shorter[d].constant();
    tracer.fail(
        here,
        what + ": shapes " + shapeText(a) + " and " + shapeText(b) + " do not fit: " +
            (a.size() < b.size() ? shorter : longer)[a.size() < b.size() ? d : lead + d].str() +
            " against " +
            (a.size() < b.size() ? longer : shorter)[a.size() < b.size() ? lead + d : d].str(),
        areNumbers ? "extents are equal, or one of them is 1"
                   : "extents must be equal for every call, or one of them 1");
  }
  return shape;
}

tw::Size elementCount(Tracer &tracer, const Extents &shape, Here here) {
  tw::Size count(1);
  for (const tw::Size &extent : shape)
    count = count * extent;
  if (!count.valid())
    tracer.fail(here, "the number of elements of " + shapeText(shape) + " overflows 64 bits");
  return count;
}

// ---- Values ------------------------------------------------------------------------------------

ValuePtr constantOf(Tracer &tracer, const Ref &literal, DType dtype, Here here) {
  std::string text = literalText(literal, dtype);
  return tracer.cached(here, dtypeName(dtype) + " " + text, [&] {
    Attributes attributes;
    attributes.word = text;
    ValuePtr value = tracer.emit1(here, "arith.constant", {}, Type{dtype}, attributes);
    auto named = std::const_pointer_cast<Value>(value);
    if (dtype == DType::index)
      named->name = "c" + (text[0] == '-' ? "_" + text.substr(1) : text);
    auto *number = std::get_if<int64_t>(&literal);
    named->isNonNegative = number && *number >= 0;
    return value;
  });
}

namespace {

ValuePtr sizeValue(Tracer &tracer, const SizePtr &size, Here here) {
  const tw::Size &checked = tracer.checkSize(here, size);
  if (auto number = checked.constant())
    return constantOf(tracer, *number, DType::index, here);
  return tracer.cached(here, "size " + checked.str(), [&] {
    Attributes attributes;
    attributes.size = checked;
    ValuePtr value = tracer.emit1(here, "tile.size", {}, Type{DType::index}, attributes);
    auto named = std::const_pointer_cast<Value>(value);
    named->name = checked.asSymbol().value_or("");
    named->isNonNegative = checked.isNonNegative();
    return value;
  });
}

} // namespace

ValuePtr tileOf(Tracer &tracer, const Ref &ref, const std::string &what, Here here) {
  auto *value = std::get_if<ValuePtr>(&ref);
  if (!value)
    tracer.fail(here, what + " got an empty Tile", "give it a value first");
  tracer.checkUsable(here, *value);
  return *value;
}

ValuePtr valueOf(Tracer &tracer, const Ref &ref, Here here) {
  if (auto *value = std::get_if<ValuePtr>(&ref)) {
    tracer.checkUsable(here, *value);
    return *value;
  }
  if (auto *size = std::get_if<SizePtr>(&ref))
    return sizeValue(tracer, *size, here);
  if (std::holds_alternative<bool>(ref))
    return constantOf(tracer, ref, DType::i1, here);
  if (std::holds_alternative<int64_t>(ref))
    return constantOf(tracer, ref, DType::i64, here);
  if (std::holds_alternative<double>(ref))
    return constantOf(tracer, ref, DType::f64, here);
  tracer.fail(here, "an empty Tile, Index or Scalar is used", "give it a value first");
}

ValuePtr scalarOf(Tracer &tracer, const Ref &ref, DType dtype, const std::string &what, Here here) {
  if (isLiteral(ref)) {
    checkLiteral(tracer, ref, dtype, what, here);
    return constantOf(tracer, ref, dtype, here);
  }
  ValuePtr value = valueOf(tracer, ref, here);
  DType from = value->type.dtype;
  if ((isFloat(from) && !isFloat(dtype)) || (from == DType::i1) != (dtype == DType::i1))
    tracer.fail(
        here, what + ": a scalar of " + dtypeName(from) + " cannot be used as " + dtypeName(dtype),
        "cast one of them: cast(x, " + dtypeName(isFloat(from) ? from : dtype) + ")");
  return castTo(tracer, value, dtype, here);
}

ValuePtr indexOf(Tracer &tracer, const Ref &ref, const std::string &what, Here here) {
  if (std::holds_alternative<int64_t>(ref))
    return constantOf(tracer, ref, DType::index, here);
  ValuePtr value = valueOf(tracer, ref, here);
  DType dtype = value->type.dtype;
  if (value->type.isTile || (!isInteger(dtype) && dtype != DType::index))
    tracer.fail(here, what + " is " + typeText(value->type) + ", but must be an integer",
                value->type.isTile ? "extract(tile) gives the scalar in a tile of one element"
                                   : "cast(x, i64) makes it one");
  return castTo(tracer, value, DType::index, here);
}

ValuePtr fullOf(Tracer &tracer, const ValuePtr &scalar, const Extents &shape, Here here) {
  return tracer.emit1(here, "tile.full", {scalar}, Type{scalar->type.dtype, true, shape});
}

ValuePtr reshapeTo(Tracer &tracer, const ValuePtr &tile, const Extents &shape, Here here) {
  if (tile->type.shape == shape)
    return tile;
  return tracer.emit1(here, "tile.reshape", {tile}, Type{tile->type.dtype, true, shape});
}

ValuePtr broadcastTo(Tracer &tracer, const ValuePtr &tile, const Extents &shape, Here here) {
  Extents aligned(shape.size() - std::min(shape.size(), tile->type.shape.size()), tw::Size(1));
  aligned.insert(aligned.end(), tile->type.shape.begin(), tile->type.shape.end());
  ValuePtr reshaped = reshapeTo(tracer, tile, aligned, here);
  if (aligned == shape)
    return reshaped;
  return tracer.emit1(here, "tile.broadcast", {reshaped}, Type{tile->type.dtype, true, shape});
}

} // namespace tw::kernel::detail
