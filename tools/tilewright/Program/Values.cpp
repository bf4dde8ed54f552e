// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Values.h"
#include "IO/Element.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tw::cli {

static_assert(int(DType::F16) == TW_F16 && int(DType::I8) == TW_I8 && int(DType::Bool) == TW_BOOL,
              "both sides number dtypes alike");

std::string typeText(const tw_value_info &value) {
  std::string text = tw_dtype_name(value.dtype);
  for (int d = 0; d < value.rank; ++d)
    text += fmt::format("{}{}", d ? ", " : "[", value.size_texts[d]);
  return value.rank ? text + "]" : text;
}

tw_tensor toRuntime(HostTensor &tensor) {
  tw_tensor result = {};
  result.data = tensor.bytes().data();
  result.bytes = static_cast<int64_t>(tensor.byteSize());
  result.dtype = static_cast<tw_dtype>(tensor.dtype());
  result.rank = static_cast<int32_t>(tensor.sizes().size());
  result.sizes = tensor.sizes().data();
  return result;
}

Result<HostTensor> fromRuntime(const tw_tensor &tensor) {
  std::vector<int64_t> sizes(tensor.sizes, tensor.sizes + tensor.rank);
  TW_ASSIGN(HostTensor copy, HostTensor::create(static_cast<DType>(tensor.dtype), sizes));
  if (copy.byteSize())
    std::memcpy(copy.bytes().data(), tensor.data, copy.byteSize());
  return copy;
}

namespace {

std::string elementText(const HostTensor &tensor, int64_t i) {
  return tw::elementText(tensor.dtype(), &tensor.bytes()[i * info(tensor.dtype()).bytes]);
}

/// Prints dimension `d` of the tensor from the flat index `at`; each element of this dimension has
/// `stride` elements inside.
class Printer {
public:
  explicit Printer(const HostTensor &tensor) : tensor(tensor), all(tensor.count() <= 1000) {}

  std::string print(size_t d, int64_t at, int64_t stride) {
    if (d == tensor.sizes().size())
      return elementText(tensor, at);
    int64_t size = tensor.sizes()[d];
    int64_t inner = size ? stride / size : 0;
    bool innermost = d + 1 == tensor.sizes().size();
    std::string separator = innermost ? ", " : ",\n" + std::string(d + 1, ' ');
    std::string text = "[";
    for (int64_t i = 0; i < size; ++i) {
      if (!all && i == edge && size > 2 * edge) {
        text += separator + "...";
        i = size - edge;
      }
      text += (i ? separator : "") + print(d + 1, at + i * inner, inner);
    }
    return text + "]";
  }

private:
  static constexpr int64_t edge = 3;
  const HostTensor &tensor;
  bool all;
};

} // namespace

std::string valuesText(const HostTensor &tensor) {
  if (tensor.count() == 0)
    return "[]";
  return Printer(tensor).print(0, 0, tensor.count());
}

void writeJson(JsonWriter &json, std::string_view name, const HostTensor &tensor, int64_t limit) {
  json.beginObject().member("name", name).member("dtype", info(tensor.dtype()).name);
  json.key("sizes").beginArray();
  for (int64_t size : tensor.sizes())
    json.value(size);
  json.endArray();
  if (tensor.count() <= limit) {
    json.key("values").beginArray();
    for (int64_t i = 0; i < tensor.count(); ++i) {
      std::string text = elementText(tensor, i);
      if (text.find('n') == text.npos)
        json.raw(text);
      else // nan, inf
        json.value(text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY);
    }
    json.endArray();
  }
  json.endObject();
}

std::string bytesText(int64_t bytes) {
  if (bytes < 10'000)
    return fmt::format("{} bytes", bytes);
  static constexpr const char *units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  int unit = 0;
  for (; value >= 1000 && unit < 5; ++unit)
    value /= 1000;
  return fmt::format("{:.3g} {} ({} bytes)", value, units[unit], bytes);
}

} // namespace tw::cli
