// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for the outputs of one run, allocated when their sizes are known, and the Python objects
// that own it afterwards.
#pragma once
#include "Arguments.h"
#include "CallMemory.h"
#include "OwnedTensor.h"
#include "Support/Diagnostic.h"
#include <optional>

namespace tw::python {

class Results {
public:
  /// In main memory. `torch`: tensors are PyTorch's; null: arrays of NumPy.
  explicit Results(const dlpack::ExchangeApi *torch) : torch(torch) {}
  /// Tensors are in the memory of `place`. `infos`: the program's outputs, which outlive this, as
  /// does `memory`, of the lists.
  Results(const dlpack::ExchangeApi *torch, const std::vector<tw_value_info> &infos,
          dlpack::Device place, Callee callee = {}, std::pmr::memory_resource *memory = heap())
      : torch(torch), infos(&infos), place(place), callee(callee), outputs(memory),
        presets(memory) {
    outputs.reserve(infos.size());
  }
  Results(const Results &) = delete;

  /// Output `index` goes to the caller's memory: there will be no object for it. With a `name` the
  /// run fails when the memory has other sizes, or another dtype, than the output.
  void preset(size_t index, const tw_tensor &memory, const char *name = nullptr);

  /// A tw_allocate_callback whose user is a Results; needs no GIL.
  static void *allocate(void *results, int32_t output, const tw_tensor *tensor);
  /// Throws what an allocation failed with, if one did.
  void checkAllocations() const;

  dlpack::Device where() const { return place; }
  size_t count() const { return outputs.size(); }
  /// Output `index` as a new torch tensor, NumPy array or, of Library::Other, what the namespace of
  /// the array `like` makes of it.
  nanobind::object tensor(size_t index, Library library, nanobind::handle like);
  /// Output `index`, a scalar of `kind`, as a Python number.
  nanobind::object scalar(size_t index, tw_kind kind) const;

private:
  OwnedTensor allocateOnDevice(size_t index, const tw_tensor &tensor);

  const dlpack::ExchangeApi *torch;
  const std::vector<tw_value_info> *infos = nullptr;
  dlpack::Device place;
  Callee callee;
  std::pmr::vector<OwnedTensor> outputs; // null where there is a preset
  struct Preset {
    tw_tensor memory = {}; // without data: none
    const char *name = nullptr;
  };
  bool fits(const Preset &preset, const tw_tensor &output);

  std::pmr::vector<Preset> presets;
  std::optional<Diagnostic> failure;
};

} // namespace tw::python
