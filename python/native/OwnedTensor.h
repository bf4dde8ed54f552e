// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in memory of our own: description and elements are one block in the form of DLPack, which
// becomes a tensor of PyTorch or a NumPy array without a copy.
#pragma once
#include "DLPack.h"
#include "tilewright/tilewright.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <span>

namespace tw::python {

struct ReleaseTensor {
  void operator()(dlpack::ManagedVersioned *tensor) const { tensor->deleter(tensor); }
};
/// A row-major tensor, aligned to TW_TENSOR_ALIGNMENT: in main memory, or PyTorch's on a device.
using OwnedTensor = std::unique_ptr<dlpack::ManagedVersioned, ReleaseTensor>;

/// Its elements are not set. Null when there is not enough memory. Needs no GIL.
OwnedTensor allocateTensor(tw_dtype dtype, std::span<const int64_t> sizes);

/// As a new tensor of PyTorch.
nanobind::object torchTensor(const dlpack::ExchangeApi &torch, OwnedTensor tensor);
/// As a new NumPy array. Throws PYTHON_8 when NumPy has no such dtype and ml_dtypes is not there.
nanobind::object numpyArray(OwnedTensor tensor);

/// Adds the type of what NumPy arrays of ours keep alive.
void defineMemory(nanobind::module_ &module);

} // namespace tw::python
