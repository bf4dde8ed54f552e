// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Results.h"
#include "DTypes.h"
#include "Errors.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nb = nanobind;

namespace tw::python {

void Results::preset(size_t index, const tw_tensor &memory, const char *name) {
  presets.resize(std::max(presets.size(), index + 1));
  presets[index] = {memory, name};
}

/// Whether the caller's memory is what the output needs; if not the failure says so.
bool Results::fits(const Preset &preset, const tw_tensor &output) {
  const tw_tensor &memory = preset.memory;
  bool isShape = memory.rank == output.rank &&
                 std::equal(memory.sizes, memory.sizes + memory.rank, output.sizes);
  if (!preset.name)
    return true;
  if (isShape && memory.dtype == output.dtype) {
    if (memory.data || std::count(memory.sizes, memory.sizes + memory.rank, 0))
      return true;
    failure = Diagnostic{
        Code::RUNTIME_14,
        fmt::format("{}the memory for output \"{}\" has no data", callee.prefix(), preset.name),
        {},
        {},
        "give memory that has, or none"};
    return false;
  }
  auto text = [](const tw_tensor &tensor) {
    return fmt::format("{}[{}]", tw_dtype_name(tensor.dtype),
                       fmt::join(tensor.sizes, tensor.sizes + tensor.rank, ", "));
  };
  failure = Diagnostic{isShape ? Code::RUNTIME_10 : Code::RUNTIME_11,
                       fmt::format("{}the memory for output \"{}\" is {}, but the output {}",
                                   callee.prefix(), preset.name, text(memory), text(output)),
                       {},
                       {},
                       "give memory of that dtype and those sizes, or none"};
  return false;
}

void *Results::allocate(void *user, int32_t index, const tw_tensor *tensor) {
  auto &results = *static_cast<Results *>(user);
  OwnedTensor &output = results.outputs.emplace_back();
  if (auto at = static_cast<size_t>(index); at < results.presets.size()) {
    const Preset &preset = results.presets[at];
    if (!results.fits(preset, *tensor))
      return nullptr;
    if (preset.memory.data)
      return preset.memory.data;
  } // none is given, or what has no elements
  bool isOnHost =
      results.place.type == dlpack::cpu || (*results.infos)[index].kind != TW_KIND_TENSOR;
  output = isOnHost ? allocateTensor(tensor->dtype, {tensor->sizes, size_t(tensor->rank)})
                    : results.allocateOnDevice(size_t(index), *tensor);
  return output ? static_cast<char *>(output->tensor.data) + output->tensor.byteOffset : nullptr;
}

/// Memory of PyTorch's, which is the current stream's.
OwnedTensor Results::allocateOnDevice(size_t index, const tw_tensor &tensor) {
  if (!torch) {
    failure =
        Diagnostic{Code::PYTHON_2,
                   fmt::format("there is no memory on {} for the results", placeText(place)),
                   {},
                   {},
                   "give memory for each of them by name, or import torch, whose memory is used"};
    return nullptr;
  }
  dlpack::Tensor prototype{
      nullptr, place, tensor.rank, row(tensor.dtype).dlpack, const_cast<int64_t *>(tensor.sizes),
      nullptr, 0};
  dlpack::ManagedVersioned *made = nullptr;
  std::string why;
  auto fail = [](void *why, const char *, const char *message) {
    *static_cast<std::string *>(why) = message;
  };
  if (torch->allocate(&prototype, &made, &why, fail)) {
    failure = Diagnostic{Code::RUNTIME_17, fmt::format("there is no memory for output \"{}\": {}",
                                                       (*infos)[index].name, why)};
    return nullptr;
  }
  return OwnedTensor(made);
}

void Results::checkAllocations() const {
  if (failure)
    raise(*failure);
}

nb::object Results::scalar(size_t index, tw_kind kind) const {
  const void *data = outputs[index]->tensor.data;
  if (kind == TW_KIND_FLOAT) {
    double value;
    std::memcpy(&value, data, sizeof value);
    return nb::float_(value);
  }
  if (kind == TW_KIND_BOOL)
    return nb::bool_(*static_cast<const uint8_t *>(data) != 0);
  int64_t value;
  std::memcpy(&value, data, sizeof value);
  return nb::int_(value);
}

nb::object Results::tensor(size_t index, Library library, nb::handle like) {
  if (torch) {
    nb::object made = torchTensor(*torch, std::move(outputs[index]));
    if (library == Library::Other && nb::hasattr(like, "__array_namespace__"))
      return like.attr("__array_namespace__")().attr("from_dlpack")(made);
    return made;
  }
  nb::object array = numpyArray(std::move(outputs[index]));
  if (library == Library::Other && nb::hasattr(like, "__array_namespace__"))
    return like.attr("__array_namespace__")().attr("from_dlpack")(array);
  return array;
}

} // namespace tw::python
