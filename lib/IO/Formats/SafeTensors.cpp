// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/SafeTensors.h"
#include "IO/Formats/Json.h"
#include "IO/HostTensor.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <set>

namespace tw {

namespace {

constexpr uint64_t maxHeader = 100'000'000;

struct SafeTensorType {
  std::string_view name;
  DType dtype;
};
constexpr SafeTensorType types[] = {
    {"F16", DType::F16}, {"BF16", DType::BF16}, {"F32", DType::F32}, {"F64", DType::F64},
    {"I8", DType::I8},   {"I16", DType::I16},   {"I32", DType::I32}, {"I64", DType::I64},
    {"U8", DType::U8},   {"BOOL", DType::Bool},
};

Diagnostic malformed(const std::string &name, std::string what) {
  return {Code::IO_6, fmt::format("{}: {}", name, what)};
}

Result<DType> parseType(const Json &json, const std::string &name, const std::string &tensor) {
  TW_ASSIGN(std::string_view text, json.string());
  for (const SafeTensorType &type : types)
    if (type.name == text)
      return type.dtype;
  return Diagnostic{Code::IO_7, fmt::format("{}: tensor {} has dtype {}, which is not supported",
                                            name, tensor, text)};
}

Result<std::vector<int64_t>> parseIntegers(const Json &json) {
  std::vector<int64_t> result;
  TW_TRY(json.forEach([&](const Json &element) -> Status {
    TW_ASSIGN(int64_t number, element.integer());
    result.push_back(number);
    return {};
  }));
  return result;
}

/// One member of the header. Offsets are checked against the data's `size`, and against the shape.
Result<SafeTensor> parseTensor(std::string_view key, const Json &json, const std::string &name,
                               int64_t start, int64_t size) {
  SafeTensor tensor;
  tensor.name = key;
  TW_ASSIGN(Json dtype, json.get("dtype"));
  TW_ASSIGN(tensor.dtype, parseType(dtype, name, tensor.name));
  TW_ASSIGN(Json shape, json.get("shape"));
  TW_ASSIGN(tensor.sizes, parseIntegers(shape));
  TW_ASSIGN(Json offsets, json.get("data_offsets"));
  TW_ASSIGN(std::vector<int64_t> range, parseIntegers(offsets));
  if (range.size() != 2 || range[0] < 0 || range[1] < range[0] || range[1] > size)
    return malformed(name, fmt::format("tensor {} is not at a range inside the {} bytes of data",
                                       tensor.name, size));
  tensor.offset = start + range[0];
  tensor.bytes = range[1] - range[0];
  auto needed = byteCount(tensor.dtype, tensor.sizes);
  if (needed != tensor.bytes)
    return malformed(name, fmt::format("tensor {} is {}, {} bytes, but its range has {}",
                                       tensor.name, typeText(tensor.dtype, tensor.sizes),
                                       needed ? std::to_string(*needed) : "more than 2^63",
                                       tensor.bytes));
  return tensor;
}

Status parseMetadata(const Json &json, SafeTensors &result) {
  return json.forEachMember([&](std::string_view key, const Json &value) -> Status {
    TW_ASSIGN(std::string_view text, value.string());
    result.metadata.emplace(key, text);
    return {};
  });
}

/// The tensors, sorted, follow each other from `start` to `end`.
Status checkCover(const SafeTensors &file, const std::string &name, int64_t start, int64_t end) {
  int64_t at = start;
  for (const SafeTensor &tensor : file.tensors) {
    if (tensor.offset != at)
      return malformed(name, fmt::format("tensor {} starts at byte {} of the data, the one before "
                                         "it ends at {}",
                                         tensor.name, tensor.offset - start, at - start));
    at += tensor.bytes;
  }
  if (at != end)
    return malformed(
        name, fmt::format("the tensors have {} bytes, the file has {}", at - start, end - start));
  return {};
}

} // namespace

const SafeTensor *SafeTensors::find(std::string_view name) const {
  for (const SafeTensor &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

Result<SafeTensors> parseSafeTensors(std::span<const std::byte> bytes, const std::string &name) {
  uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return malformed(
        name, fmt::format("the file has {} bytes, too few for a header length", bytes.size()));
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > maxHeader || length > bytes.size() - sizeof length)
    return malformed(name, fmt::format("the header says it has {} bytes; the file has {} more, and "
                                       "{} is the limit",
                                       length, bytes.size() - sizeof length, maxHeader));
  std::string_view text(reinterpret_cast<const char *>(bytes.data()) + sizeof length, length);
  if (!text.starts_with('{'))
    return malformed(name, "the header does not start with {");
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(text, name + ": header"));
  int64_t start = sizeof length + length, end = bytes.size();
  SafeTensors result;
  std::set<std::string_view> seen;
  TW_TRY(document.root().forEachMember([&](std::string_view key, const Json &value) -> Status {
    if (!seen.insert(key).second)
      return malformed(name, fmt::format("{} is there twice", key));
    if (key == "__metadata__")
      return parseMetadata(value, result);
    TW_ASSIGN(SafeTensor tensor, parseTensor(key, value, name, start, end - start));
    result.tensors.push_back(std::move(tensor));
    return {};
  }));
  // Empty tensors share their offset with the one that follows.
  std::ranges::sort(result.tensors, {}, [](const SafeTensor &tensor) {
    return std::pair(tensor.offset, tensor.bytes);
  });
  TW_TRY(checkCover(result, name, start, end));
  return result;
}

Result<std::map<std::string, std::string>>
parseSafeTensorsIndex(std::string_view json, const std::string &name, const std::string &folder) {
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(json, name));
  TW_ASSIGN(Json map, document.root().get("weight_map"));
  std::map<std::string, std::string> files;
  TW_TRY(map.forEachMember([&](std::string_view key, const Json &value) -> Status {
    TW_ASSIGN(std::string_view file, value.string());
    if (file.empty() || file == "." || file == ".." ||
        file.find_first_of(std::string_view("/\\\0", 3)) != file.npos)
      return malformed(name, fmt::format("tensor {} is said to be in \"{}\", which is not a file "
                                         "beside the index",
                                         key, file));
    if (!files.emplace(key, folder + "/" + std::string(file)).second)
      return malformed(name, fmt::format("{} is there twice", key));
    return {};
  }));
  return files;
}

} // namespace tw
