// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/Npy.h"
#include "IO/Element.h"
#include "IO/File.h"
#include "IO/Formats/NpyHeader.h"
#include "IO/OutputFile.h"
#include "Support/Checked.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <string_view>

namespace tw {

namespace {

/// NumPy's names without the byte order; the first row of a dtype is the one written.
struct NpyType {
  std::string_view descr;
  DType dtype;
};
constexpr NpyType types[] = {
    {"f2", DType::F16},  {"f4", DType::F32},  {"f8", DType::F64}, {"i1", DType::I8},
    {"i2", DType::I16},  {"i4", DType::I32},  {"i8", DType::I64}, {"u1", DType::U8},
    {"b1", DType::Bool}, {"u2", DType::BF16}, // the bits, where bf16 is wanted
};

std::optional<DType> findType(std::string_view descr, std::optional<DType> wanted) {
  for (const NpyType &type : types)
    if (type.descr == descr)
      return type.dtype == DType::BF16 && wanted != DType::BF16 ? std::nullopt
                                                                : std::optional(type.dtype);
  return {};
}

Diagnostic unsupportedType(const std::string &name, const std::string &descr) {
  Diagnostic error{Code::IO_5, fmt::format("{}: dtype '{}' is not supported", name, descr)};
  std::string_view plain = std::string_view(descr).substr(std::min<size_t>(1, descr.size()));
  if (plain == "O" || plain.starts_with("O8"))
    error.help = "an array of Python objects is a pickle, which is never opened; convert it with "
                 "numpy's astype";
  else if (plain == "u2")
    error.help = "u16 is read only as the bits of a bf16 tensor";
  else
    error.help = "the supported ones are f2, f4, f8, i1, i2, i4, i8, u1 and b1; convert it with "
                 "numpy's astype";
  return error;
}

/// Copies elements that are stored with the first dimension fastest.
void copyFortran(std::span<const std::byte> data, HostTensor &tensor) {
  const auto &sizes = tensor.sizes();
  size_t width = info(tensor.dtype()).bytes;
  std::vector<int64_t> index(sizes.size(), 0), strides(sizes.size(), 1);
  for (size_t d = 1; d < sizes.size(); ++d)
    strides[d] = strides[d - 1] * sizes[d - 1];
  std::byte *out = tensor.bytes().data();
  int64_t source = 0;
  for (int64_t i = 0; i < tensor.count(); ++i, out += width) {
    std::memcpy(out, data.data() + source * width, width);
    for (size_t d = sizes.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < sizes[d])
        break;
      source -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

void swapBytes(HostTensor &tensor) {
  size_t width = info(tensor.dtype()).bytes;
  std::span<std::byte> bytes = tensor.bytes();
  for (size_t i = 0; i < bytes.size(); i += width)
    std::reverse(bytes.begin() + i, bytes.begin() + i + width);
}

Result<HostTensor> roundToBFloat16(const HostTensor &tensor) {
  TW_ASSIGN(HostTensor result, HostTensor::create(DType::BF16, tensor.sizes()));
  for (int64_t i = 0; i < tensor.count(); ++i)
    storeFloat(DType::BF16, loadDouble(DType::F32, &tensor.bytes()[i * 4]), &result.bytes()[i * 2]);
  return result;
}

} // namespace

Result<HostTensor> parseNpy(std::span<const std::byte> bytes, const std::string &name,
                            std::optional<DType> wanted) {
  TW_ASSIGN(NpyHeader header, parseNpyHeader(bytes, name));
  char order = header.descr.empty() ? '\0' : header.descr[0];
  auto dtype = order == '<' || order == '>' || order == '=' || order == '|'
                   ? findType(header.descr.substr(1), wanted)
                   : std::nullopt;
  if (!dtype)
    return unsupportedType(name, header.descr);
  std::span<const std::byte> data = bytes.subspan(header.dataOffset);
  auto needed = byteCount(*dtype, header.sizes);
  if (!needed || static_cast<uint64_t>(*needed) != data.size())
    return Diagnostic{Code::IO_4,
                      fmt::format("{}: the shape {} needs {} bytes of data, the file has {}", name,
                                  typeText(*dtype, header.sizes),
                                  needed ? std::to_string(*needed) : "more than 2^63", data.size()),
                      {},
                      {},
                      "the file is cut off or damaged: write it again with numpy.save"};
  TW_ASSIGN(HostTensor tensor, HostTensor::create(*dtype, header.sizes));
  if (header.fortranOrder && header.sizes.size() > 1)
    copyFortran(data, tensor);
  else if (!data.empty())
    std::memcpy(tensor.bytes().data(), data.data(), data.size());
  if (order == '>')
    swapBytes(tensor);
  if (*dtype == DType::Bool) // compiled code relies on 0 and 1
    for (std::byte &b : tensor.bytes())
      b = std::byte(b != std::byte(0));
  if (wanted == DType::BF16 && *dtype == DType::F32)
    return roundToBFloat16(tensor);
  return tensor;
}

Result<HostTensor> readNpy(const std::string &path, std::optional<DType> wanted) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  return parseNpy(file.bytes(), path, wanted);
}

/// Magic, version, length and dict, padded so that the data starts at a multiple of 64.
static std::string npyHeader(DType dtype, std::span<const int64_t> sizes) {
  std::string_view descr;
  for (const NpyType &type : types)
    if (type.dtype == dtype)
      descr = type.descr;
  std::string shape;
  for (int64_t size : sizes)
    shape += fmt::format("{}, ", size);
  if (sizes.size() > 1)
    shape.resize(shape.size() - 2);
  else if (sizes.size() == 1)
    shape.resize(shape.size() - 1);
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 info(dtype).bytes == 1 ? '|' : '<', descr, shape);
  bool isLong = dict.size() + 64 > 0xffff;
  size_t start = isLong ? 12 : 10;
  dict.append(63 - (start + dict.size()) % 64, ' ');
  dict += '\n';
  uint32_t length = dict.size();
  std::string text = "\x93NUMPY";
  text += isLong ? '\2' : '\1';
  text += '\0';
  text.append(reinterpret_cast<const char *>(&length), isLong ? 4 : 2);
  return text + dict;
}

Status writeNpy(const std::string &path, const HostTensor &tensor, NpyBFloat16 bfloat16) {
  HostTensor widened;
  const HostTensor *written = &tensor;
  if (tensor.dtype() == DType::BF16 && bfloat16 == NpyBFloat16::AsF32) {
    TW_ASSIGN(widened, HostTensor::create(DType::F32, tensor.sizes()));
    for (int64_t i = 0; i < tensor.count(); ++i)
      storeFloat(DType::F32, loadDouble(DType::BF16, &tensor.bytes()[i * 2]),
                 &widened.bytes()[i * 4]);
    written = &widened;
  }
  std::string header = npyHeader(written->dtype(), written->sizes());
  std::span<const std::byte> pieces[] = {asBytes(header), written->bytes()};
  return writeFile(path, pieces);
}

} // namespace tw
