// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++ numbers in kernels: which are values of a dtype, and how the text has them.
#include "Language/Elements.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tw::kernel::detail {

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

} // namespace tw::kernel::detail
