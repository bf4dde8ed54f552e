// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/Source/Expression.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <charconv>
#include <cmath>

using namespace mlir;

namespace tw::source {

//===----------------------------------------------------------------------===//
// dtypes and numbers
//===----------------------------------------------------------------------===//

std::string dtypeText(DType dtype) {
  static constexpr const char *names[] = {"f16", "bf16", "f32", "f64", "i8",          "i16",
                                          "i32", "i64",  "u8",  "i1",  "DType::index"};
  return names[size_t(dtype)];
}

DType dtypeOf(Type element) {
  if (element.isIndex())
    return DType::index;
  if (element.isF16())
    return DType::f16;
  if (element.isBF16())
    return DType::bf16;
  if (element.isF32())
    return DType::f32;
  if (element.isF64())
    return DType::f64;
  if (element.isUnsignedInteger(8))
    return DType::u8;
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return DType::i1;
  case 8:
    return DType::i8;
  case 16:
    return DType::i16;
  case 32:
    return DType::i32;
  default:
    return DType::i64;
  }
}

/// The shortest text that C++ and then the kernel language read as this value.
static std::string floatText(const APFloat &value) {
  if (value.isNaN())
    return "std::numeric_limits<double>::quiet_NaN()";
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  APFloat wide = value;
  bool loses;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  double number = wide.convertToDouble();
  std::array<char, 64> buffer;
  char *begin = buffer.data(), *end = begin + buffer.size();
  bool isSingle = &value.getSemantics() == &APFloat::IEEEsingle();
  std::string text(begin, isSingle ? std::to_chars(begin, end, float(number)).ptr
                                   : std::to_chars(begin, end, number).ptr);
  if (isSingle && float(std::strtod(text.c_str(), nullptr)) != float(number))
    text.assign(begin, std::to_chars(begin, end, number).ptr);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string numberText(TypedAttr value, DType dtype) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return floatText(number.getValue());
  APInt number = cast<IntegerAttr>(value).getValue();
  if (dtype == DType::i1)
    return number.isZero() ? "false" : "true";
  if (dtype == DType::u8)
    return std::to_string(number.getZExtValue());
  int64_t extended = number.getSExtValue();
  return extended == INT64_MIN ? "INT64_MIN" : std::to_string(extended);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {

/// Size::build's arithmetic on C++: what changes nothing is left out.
struct SizeWriter {
  const std::map<std::string, std::string> &symbols;

  Expression constant(int64_t number) const {
    return {std::to_string(number), Handle::Number, DType::index, number < 0 ? Unary : Primary};
  }
  Expression symbol(const std::string &name) const {
    auto found = symbols.find(name);
    return {found == symbols.end() ? name : found->second, Handle::Size, DType::index};
  }
  Expression add(const Expression &a, const Expression &b) const {
    if (a.text == "0" || b.text == "0")
      return a.text == "0" ? b : a;
    if (b.text.starts_with("-"))
      return {a.asOperand(Sum) + " - " + b.text.substr(1), Handle::Size, DType::index, Sum};
    return {a.asOperand(Sum) + " + " + b.asOperand(Product), Handle::Size, DType::index, Sum};
  }
  Expression mul(const Expression &a, const Expression &b) const {
    if (a.text == "1" || b.text == "1")
      return a.text == "1" ? b : a;
    return {a.asOperand(Product) + " * " + b.asOperand(Unary), Handle::Size, DType::index, Product};
  }
  Expression call(const char *name, const Expression &a, const Expression &b) const {
    return {std::string(name) + "(" + a.text + ", " + b.text + ")", Handle::Size, DType::index};
  }
  Expression floorDiv(const Expression &a, const Expression &b) const {
    return call("floorDiv", a, b);
  }
  Expression ceilDiv(const Expression &a, const Expression &b) const {
    return call("ceilDiv", a, b);
  }
  Expression mod(const Expression &a, const Expression &b) const { return call("mod", a, b); }
};

} // namespace

Expression sizeExpression(const Size &size, const std::map<std::string, std::string> &symbols) {
  return size.build(SizeWriter{symbols});
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string joined(const std::vector<std::string> &parts) { return llvm::join(parts, ", "); }

std::string quotedText(StringRef text) {
  std::string result = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (uint8_t(c) < 32 || uint8_t(c) >= 127) // octal: three digits at most
      result += {'\\', char('0' + uint8_t(c) / 64), char('0' + uint8_t(c) / 8 % 8),
                 char('0' + uint8_t(c) % 8)};
    else
      result += c;
  return result + "\"";
}

} // namespace tw::source
