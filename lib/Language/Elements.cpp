// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/Elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

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
    shape.push_back(Size(std::make_shared<const tw::Size>(extent)));
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

// ---- Numbers -----------------------------------------------------------------------------------

bool isLiteral(const Ref &ref) {
  return std::holds_alternative<bool>(ref) || std::holds_alternative<int64_t>(ref) ||
         std::holds_alternative<double>(ref);
}

namespace {

/// The shortest text that reads as the number again, with the point that MLIR asks for.
template <class Float>
std::string shortest(Float number) {
  std::array<char, 64> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  std::string text(buffer.data(), end);
  size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos)
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  return text;
}

/// Infinities and NaN are written as their bits.
std::string bitsText(double number, DType dtype) {
  static constexpr struct {
    DType dtype;
    const char *infinity, *minusInfinity, *nan;
  } rows[] = {{DType::f16, "0x7C00", "0xFC00", "0x7E00"},
              {DType::bf16, "0x7F80", "0xFF80", "0x7FC0"},
              {DType::f32, "0x7F800000", "0xFF800000", "0x7FC00000"},
              {DType::f64, "0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"}};
  for (auto &row : rows)
    if (row.dtype == dtype)
      return std::isnan(number) ? row.nan : number > 0 ? row.infinity : row.minusInfinity;
  return "0.0";
}

double asDouble(const Ref &literal) {
  if (auto *number = std::get_if<double>(&literal))
    return *number;
  if (auto *number = std::get_if<int64_t>(&literal))
    return double(*number);
  return std::get<bool>(literal);
}

std::string plainText(const Ref &literal) {
  if (auto *number = std::get_if<double>(&literal))
    return std::isfinite(*number) ? shortest(*number)
           : std::isnan(*number)  ? "nan"
           : *number > 0          ? "inf"
                                  : "-inf";
  if (auto *number = std::get_if<int64_t>(&literal))
    return std::to_string(*number);
  return std::get<bool>(literal) ? "true" : "false";
}

} // namespace

void checkLiteral(Tracer &tracer, const Ref &literal, DType dtype, const std::string &what,
                  Here here) {
  auto refuse = [&](const std::string &help) {
    tracer.fail(here, what + ": " + plainText(literal) + " is not a value of " + dtypeName(dtype),
                help);
  };
  bool isBool = std::holds_alternative<bool>(literal);
  if (isBool != (dtype == DType::i1))
    refuse(isBool ? "i1 is the dtype of true and false" : "the values of i1 are true and false");
  if (isFloat(dtype) || isBool)
    return;
  auto *number = std::get_if<int64_t>(&literal);
  if (!number)
    refuse("cast the tile to a float dtype, or give an integer");
  int width = bits(dtype);
  int64_t least = dtype == DType::u8 ? 0 : width == 64 ? INT64_MIN : -(int64_t(1) << (width - 1));
  int64_t most = dtype == DType::u8 ? 255
                 : width == 64      ? INT64_MAX
                                    : (int64_t(1) << (width - 1)) - 1;
  if (*number < least || *number > most)
    refuse("its values are " + std::to_string(least) + " to " + std::to_string(most));
}

std::string literalText(const Ref &literal, DType dtype) {
  if (isFloat(dtype)) {
    double number = asDouble(literal);
    if (!std::isfinite(number) || (dtype == DType::f32 && !std::isfinite(float(number))))
      return bitsText(number, dtype);
    return dtype == DType::f32 ? shortest(float(number)) : shortest(number);
  }
  if (dtype == DType::u8) // the text has signless integers
    return std::to_string(int8_t(uint8_t(std::get<int64_t>(literal))));
  return plainText(literal);
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
    // Sums and products of symbols; a difference may be negative.
    named->isNonNegative = checked.str().find('-') == std::string::npos;
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
