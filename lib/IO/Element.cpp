// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Element.h"
#include <bit>
#include <cassert>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace tw {

static_assert(std::endian::native == std::endian::little, "files are read in place");

uint16_t toBFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (bits >> 16) | 0x40; // quiet, so that dropping low bits cannot make it an infinity
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

float fromBFloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// IEEE 754 binary16. Without F16C the compiler calls a function of many branches, which made
/// comparisons of large results take seconds.
static float fromHalf(uint16_t bits) {
  constexpr uint32_t infinity = 0x7c00, mantissaShift = 23 - 10, signShift = 16;
  uint32_t magnitude = bits & 0x7fffU, sign = bits & 0x8000U;
  float value = std::bit_cast<float>(magnitude << mantissaShift) * 0x1p112f; // subnormals, too
  if (magnitude >= infinity)
    value = std::bit_cast<float>(magnitude << mantissaShift | 0x7f800000U);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign << signShift);
}

template <typename T>
static T load(const std::byte *p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <typename T>
static void store(T value, std::byte *p) {
  std::memcpy(p, &value, sizeof value);
}

int64_t loadInteger(DType dtype, const std::byte *p) {
  switch (dtype) {
  case DType::I8:
    return load<int8_t>(p);
  case DType::I16:
    return load<int16_t>(p);
  case DType::I32:
    return load<int32_t>(p);
  case DType::I64:
    return load<int64_t>(p);
  case DType::U8:
    return load<uint8_t>(p);
  case DType::Bool:
    return load<uint8_t>(p) != 0;
  default:
    assert(false && "not an integer dtype");
    return 0;
  }
}

double loadDouble(DType dtype, const std::byte *p) {
  switch (dtype) {
  case DType::F16:
    return fromHalf(load<uint16_t>(p));
  case DType::BF16:
    return fromBFloat16(load<uint16_t>(p));
  case DType::F32:
    return load<float>(p);
  case DType::F64:
    return load<double>(p);
  default:
    return static_cast<double>(loadInteger(dtype, p));
  }
}

void storeFloat(DType dtype, double value, std::byte *p) {
  switch (dtype) {
  case DType::F16:
    return store(static_cast<_Float16>(value), p);
  case DType::BF16:
    return store(toBFloat16(static_cast<float>(value)), p);
  case DType::F32:
    return store(static_cast<float>(value), p);
  case DType::F64:
    return store(value, p);
  default:
    assert(false && "not a float dtype");
  }
}

void storeInteger(DType dtype, int64_t value, std::byte *p) {
  // Little endian: the low bytes come first.
  std::memcpy(p, &value, info(dtype).bytes);
}

std::string elementText(DType dtype, const std::byte *p) {
  if (dtype == DType::Bool)
    return loadInteger(dtype, p) ? "true" : "false";
  if (!info(dtype).isFloat)
    return fmt::format("{}", loadInteger(dtype, p));
  double value = loadDouble(dtype, p);
  return dtype == DType::F64 ? fmt::format("{}", value)
                             : fmt::format("{}", static_cast<float>(value));
}

IntegerRange integerRange(DType dtype) {
  if (dtype == DType::Bool)
    return {0, 1};
  int bits = info(dtype).bytes * 8;
  if (!info(dtype).isSigned)
    return {0, (int64_t(1) << bits) - 1};
  int64_t max = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return {-max - 1, max};
}

double largestFinite(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 65504;
  case DType::BF16:
    return fromBFloat16(0x7f7f);
  case DType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

} // namespace tw
