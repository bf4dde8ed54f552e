// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/InputSpec.h"
#include "IO/Element.h"
#include "IO/File.h"
#include "IO/Formats/Npy.h"
#include "Support/Counted.h"
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tw {

namespace {

constexpr const char *specHelp =
    "write @file.npy, 2x3xf32=1,2,3,4,5,6, 2x3xf32=0 (one value for all), 2x3xf32=random:1, "
    "2x3xf32=@raw.bin, or i64=5 for a scalar; NAME= before it names the input";

Diagnostic malformed(std::string_view text, std::string what, std::string help = specHelp) {
  return {Code::IO_8, fmt::format("input \"{}\": {}", text, what), {}, {}, std::move(help)};
}

/// All of `text` as a number; empty when it is not one or does not fit.
template <typename T>
std::optional<T> number(std::string_view text) {
  T value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return {};
  return value;
}

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

std::vector<std::string> splitValues(std::string_view text) {
  std::vector<std::string> values;
  if (trim(text).empty())
    return values;
  for (size_t comma; (comma = text.find(',')) != text.npos; text.remove_prefix(comma + 1))
    values.emplace_back(trim(text.substr(0, comma)));
  values.emplace_back(trim(text));
  return values;
}

/// What stands behind "TYPE=".
Result<InputSpec> parseTyped(InputSpec spec, std::string_view source) {
  if (source.starts_with('@')) {
    if (source.size() == 1)
      return malformed(spec.text, "no file name follows @", "write @file.npy or 2x3xf32=@raw.bin");
    spec.source = InputSpec::RawFile{std::string(source.substr(1))};
    return spec;
  }
  if (source.starts_with("random:")) {
    auto seed = number<uint64_t>(source.substr(7));
    if (!seed)
      return malformed(spec.text, fmt::format("\"{}\" is not a seed", source.substr(7)),
                       "a seed is a whole number from 0 to 18446744073709551615");
    spec.source = InputSpec::Random{*seed};
    return spec;
  }
  InputSpec::Values values{splitValues(source)};
  auto bytes = byteCount(spec.dtype, spec.sizes);
  size_t given = values.texts.size();
  if (!bytes)
    return malformed(spec.text, "the number of bytes of this tensor does not fit 63 bits",
                     "give smaller sizes");
  size_t elements = *bytes / info(spec.dtype).bytes;
  if (given != elements && given != 1)
    return malformed(spec.text,
                     fmt::format("{} has {}, but {} {} given", typeText(spec.dtype, spec.sizes),
                                 counted(elements, "element"), counted(given, "value"),
                                 oneOrMany(given, "is", "are")),
                     fmt::format("give {}, or one for all", counted(elements, "value")));
  spec.source = std::move(values);
  return spec;
}

} // namespace

std::optional<TensorType> parseType(std::string_view text) {
  TensorType type;
  for (size_t x; (x = text.find('x')) != text.npos; text.remove_prefix(x + 1)) {
    auto size = number<int64_t>(text.substr(0, x));
    if (!size || *size < 0)
      return {};
    type.sizes.push_back(*size);
  }
  auto dtype = parseDType(text);
  if (!dtype)
    return {};
  type.dtype = *dtype;
  return type;
}

Result<InputSpec> parseInputSpec(std::string_view text) {
  InputSpec spec;
  spec.text = text;
  std::string_view rest = text;
  size_t equals = rest.starts_with('@') ? rest.npos : rest.find('=');
  if (equals != rest.npos && !parseType(rest.substr(0, equals))) {
    spec.name = rest.substr(0, equals);
    if (spec.name.empty())
      return malformed(text, "nothing stands before the =");
    rest.remove_prefix(equals + 1);
  }
  if (rest.starts_with('@')) {
    if (rest.size() == 1)
      return malformed(text, "no file name follows @", "write @file.npy or 2x3xf32=@raw.bin");
    spec.source = InputSpec::NpyFile{std::string(rest.substr(1))};
    return spec;
  }
  equals = rest.find('=');
  auto type = parseType(rest.substr(0, equals));
  if (!type)
    return malformed(text, fmt::format("\"{}\" is not a type like 2x3xf32; dtypes are f16, bf16, "
                                       "f32, f64, i8, i16, i32, i64, u8 and bool",
                                       spec.name.empty() || equals != rest.npos
                                           ? rest.substr(0, equals)
                                           : std::string_view(spec.name)));
  if (equals == rest.npos)
    return malformed(text, "no = and values follow the type");
  spec.dtype = type->dtype;
  spec.sizes = std::move(type->sizes);
  return parseTyped(std::move(spec), rest.substr(equals + 1));
}

namespace {

Diagnostic doesNotFit(const InputSpec &spec, std::string_view value) {
  DType dtype = spec.dtype;
  std::string help;
  if (value.starts_with("random"))
    help = "random values are random:SEED, SEED being a whole number: random:1";
  else if (info(dtype).isFloat)
    help = fmt::format("its values are numbers from {0:g} to {1:g}, nan, inf and -inf",
                       -largestFinite(dtype), largestFinite(dtype));
  else if (dtype == DType::Bool)
    help = "its values are 0, 1, false and true";
  else
    help = fmt::format("its values are whole numbers from {} to {}", integerRange(dtype).min,
                       integerRange(dtype).max);
  return {
      Code::IO_9,
      fmt::format("input \"{}\": \"{}\" is not a value of {}", spec.text, value, info(dtype).name),
      {},
      {},
      help};
}

/// Parses one value and stores it at `p`; false when it does not fit the dtype.
bool storeText(DType dtype, std::string_view text, std::byte *p) {
  if (info(dtype).isFloat) {
    auto value = number<double>(text.starts_with('+') ? text.substr(1) : text);
    if (!value)
      return false;
    storeFloat(dtype, *value, p);
    return !std::isfinite(*value) || std::isfinite(loadDouble(dtype, p));
  }
  if (dtype == DType::Bool && (text == "true" || text == "false"))
    return storeInteger(dtype, text == "true", p), true;
  auto value = number<int64_t>(text);
  IntegerRange range = integerRange(dtype);
  if (!value || *value < range.min || *value > range.max)
    return false;
  return storeInteger(dtype, *value, p), true;
}

Result<HostTensor> fromValues(const InputSpec &spec, const InputSpec::Values &values) {
  TW_ASSIGN(HostTensor tensor, HostTensor::create(spec.dtype, spec.sizes));
  size_t width = info(spec.dtype).bytes;
  std::byte *out = tensor.bytes().data();
  std::byte only[8];
  for (const std::string &text : values.texts) {
    bool splat = values.texts.size() == 1;
    if (!storeText(spec.dtype, text, splat ? only : out))
      return doesNotFit(spec, text);
    if (!splat)
      out += width;
  }
  if (values.texts.size() == 1)
    for (int64_t i = 0; i < tensor.count(); ++i)
      std::memcpy(out + i * width, only, width);
  return tensor;
}

uint64_t splitmix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Result<HostTensor> fromRandom(const InputSpec &spec, uint64_t seed) {
  TW_ASSIGN(HostTensor tensor, HostTensor::create(spec.dtype, spec.sizes));
  size_t width = info(spec.dtype).bytes;
  std::byte *out = tensor.bytes().data();
  for (int64_t i = 0; i < tensor.count(); ++i, out += width) {
    uint64_t z = splitmix64(seed + (uint64_t(i) + 1) * 0x9e3779b97f4a7c15);
    if (info(spec.dtype).isFloat)
      storeFloat(spec.dtype, static_cast<double>(z >> 11) * 0x1p-52 - 1, out);
    else
      storeInteger(spec.dtype, spec.dtype == DType::Bool ? z >> 63 : (z >> 33) % 10, out);
  }
  return tensor;
}

Result<HostTensor> fromRawFile(const InputSpec &spec, const std::string &path) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  auto needed = byteCount(spec.dtype, spec.sizes);
  if (!needed || static_cast<uint64_t>(*needed) != file.bytes().size())
    return Diagnostic{Code::IO_10, fmt::format("input \"{}\": {} needs {} bytes, {} has {}",
                                               spec.text, typeText(spec.dtype, spec.sizes),
                                               needed ? std::to_string(*needed) : "more than 2^63",
                                               path, file.bytes().size())};
  TW_ASSIGN(HostTensor tensor, HostTensor::create(spec.dtype, spec.sizes));
  if (*needed)
    std::memcpy(tensor.bytes().data(), file.bytes().data(), *needed);
  if (spec.dtype == DType::Bool) // compiled code relies on 0 and 1
    for (std::byte &b : tensor.bytes())
      b = std::byte(b != std::byte(0));
  return tensor;
}

} // namespace

Result<HostTensor> readInput(const InputSpec &spec, std::optional<DType> wanted) {
  if (auto *file = std::get_if<InputSpec::NpyFile>(&spec.source))
    return readNpy(file->path, wanted);
  if (auto *file = std::get_if<InputSpec::RawFile>(&spec.source))
    return fromRawFile(spec, file->path);
  if (auto *random = std::get_if<InputSpec::Random>(&spec.source))
    return fromRandom(spec, random->seed);
  return fromValues(spec, std::get<InputSpec::Values>(spec.source));
}

} // namespace tw
