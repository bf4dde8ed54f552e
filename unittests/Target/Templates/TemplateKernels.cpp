// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TemplateKernels.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace tw {

double at(const HostTensor &tensor, int64_t i) {
  const std::byte *p = tensor.bytes().data() + i * info(tensor.dtype()).bytes;
  return info(tensor.dtype()).isFloat ? loadDouble(tensor.dtype(), p)
                                      : double(loadInteger(tensor.dtype(), p));
}

std::vector<double> valuesOf(const HostTensor &tensor) {
  std::vector<double> values(size_t(tensor.count()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = at(tensor, int64_t(i));
  return values;
}

HostTensor randomTensor(const kernels::BufferSpec &buffer, int seed) {
  static const std::map<kernel::DType, std::string> names = {
      {kernel::f16, "f16"}, {kernel::bf16, "bf16"}, {kernel::f32, "f32"},
      {kernel::f64, "f64"}, {kernel::i8, "i8"},     {kernel::i1, "bool"}};
  std::vector<int64_t> sizes;
  for (const kernels::Extent &extent : buffer.shape)
    sizes.push_back(*extent.size);
  std::string text =
      fmt::format("{}x{}=random:{}", fmt::join(sizes, "x"), names.at(buffer.dtype), seed);
  return *readInput(*parseInputSpec(text));
}

std::string withoutDestinations(std::string text) {
  if (size_t found = text.find("tile.destinations, "); found != text.npos)
    text.erase(found, std::string_view("tile.destinations, ").size());
  return text;
}

} // namespace tw
