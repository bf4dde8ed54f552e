// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InterpretedDispatch.h"
#include "IO/Element.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace tw::cli {

std::optional<std::vector<int64_t>> sizesOf(const rt::CallBuffer &buffer, const int64_t *scalars) {
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < buffer.sizes.size(); ++d) {
    if (!buffer.sizes[d].fixed && buffer.slots[d] < 0)
      return std::nullopt;
    sizes.push_back(buffer.sizes[d].fixed ? *buffer.sizes[d].fixed : scalars[buffer.slots[d]]);
  }
  return sizes;
}

static Result<HostTensor> copyOf(const rt::CallBuffer &buffer, std::vector<int64_t> sizes,
                                 const void *memory) {
  TW_ASSIGN(HostTensor tensor, HostTensor::create(buffer.dtype, std::move(sizes)));
  if (memory && tensor.byteSize())
    std::memcpy(tensor.bytes().data(), memory, tensor.byteSize());
  return tensor;
}

/// A scalar from what kernels are given (Target/Target.h).
static Result<HostTensor> scalar(DType dtype, int64_t bits) {
  TW_ASSIGN(HostTensor tensor, HostTensor::create(dtype, {}));
  if (info(dtype).isFloat)
    storeFloat(dtype, std::bit_cast<double>(bits), tensor.bytes().data());
  else
    storeInteger(dtype, bits, tensor.bytes().data());
  return tensor;
}

Status DispatchInterpreter::begin(int32_t dispatch, void *const *buffers, const int64_t *scalars) {
  const auto &all = metadata.dispatches[dispatch].buffers;
  tensors.clear();
  int sizeCount = 0;
  isKnown = true;
  for (size_t i = 0; i < all.size(); ++i) {
    for (int slot : all[i].slots)
      sizeCount = std::max(sizeCount, slot + 1);
    auto sizes = sizesOf(all[i], scalars);
    isKnown &= sizes.has_value();
    if (!sizes) {
      tensors.emplace_back();
      continue;
    }
    TW_ASSIGN(HostTensor tensor, copyOf(all[i], *sizes, all[i].isResult ? nullptr : buffers[i]));
    tensors.emplace_back(std::move(tensor));
  }
  values.clear();
  std::string why;
  if (Kernel *kernel = kernelOf(dispatch, why))
    for (size_t i = all.size(); kernel->open.argument(i); ++i)
      values.push_back(scalars[static_cast<size_t>(sizeCount) + i - all.size()]);
  return {};
}

Result<std::vector<HostTensor>> DispatchInterpreter::written(int32_t dispatch,
                                                             void *const *buffers) const {
  const auto &all = metadata.dispatches[dispatch].buffers;
  std::vector<HostTensor> results;
  for (size_t i = 0; i < all.size() && isKnown; ++i) {
    if (!all[i].isResult)
      continue;
    TW_ASSIGN(HostTensor tensor, copyOf(all[i], tensors[i]->sizes(), buffers[i]));
    results.push_back(std::move(tensor));
  }
  return results;
}

DispatchInterpreter::Kernel *DispatchInterpreter::kernelOf(int32_t dispatch, std::string &why) {
  const std::string &name = metadata.dispatches[dispatch].kernel;
  std::unique_ptr<Kernel> &kernel = kernels[name];
  if (!kernel) {
    kernel = std::make_unique<Kernel>();
    auto found = std::ranges::find(metadata.programs, name, &rt::ProgramText::kernel);
    if (found != metadata.programs.end()) {
      kernel->program = &*found;
      tilewright_kernel_options request = {};
      request.text = found->text.c_str();
      kernel->isOpen = kernel->open.open(request) == 0;
    }
  }
  why = kernel->program ? "it cannot be read again" : "it runs on the reference target";
  return kernel->isOpen ? kernel.get() : nullptr;
}

std::optional<std::vector<HostTensor>> DispatchInterpreter::interpret(int32_t dispatch,
                                                                      std::string &why) {
  Kernel *kernel = kernelOf(dispatch, why);
  if (!kernel)
    return std::nullopt;
  why = "not all of its sizes are known";
  if (!isKnown)
    return std::nullopt;
  std::vector<HostTensor> given;
  for (size_t i = 0; const auto *argument = kernel->open.argument(i); ++i) {
    if (!argument->is_input)
      continue;
    if (i < tensors.size()) {
      given.push_back(*std::move(tensors[i]));
      continue;
    }
    auto value = scalar(static_cast<DType>(argument->dtype), values[i - tensors.size()]);
    why = "there is not enough memory";
    if (!value)
      return std::nullopt;
    given.push_back(*std::move(value));
  }
  why = "the interpreter refuses it";
  if (kernel->open.run(given, {}) != 0)
    return std::nullopt;
  auto results = kernel->open.outputs();
  return results ? std::optional(*std::move(results)) : std::nullopt;
}

} // namespace tw::cli
