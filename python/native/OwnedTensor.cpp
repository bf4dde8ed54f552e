// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OwnedTensor.h"
#include "DTypes.h"
#include "Errors.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <new>

namespace nb = nanobind;

namespace tw::python {

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// A size of 0 counts as 1, as in PyTorch.
static void setRowMajorStrides(const dlpack::Tensor &tensor) {
  int64_t stride = 1;
  for (int32_t d = tensor.rank; d-- > 0;) {
    tensor.strides[d] = stride;
    stride *= std::max<int64_t>(tensor.sizes[d], 1);
  }
}

/// One block: the description, sizes and strides behind it, and the elements at the next aligned
/// address. Of malloc and not of aligned_alloc, which is several times as slow for small blocks.
OwnedTensor allocateTensor(tw_dtype dtype, std::span<const int64_t> sizes) {
  size_t rank = sizes.size(), bytes = tw_dtype_bytes(dtype);
  for (int64_t size : sizes)
    bytes *= static_cast<size_t>(size);
  void *block = std::malloc(sizeof(dlpack::ManagedVersioned) + 2 * rank * sizeof(int64_t) +
                            TW_TENSOR_ALIGNMENT + bytes);
  if (!block)
    return nullptr;
  auto *tensor = new (block) dlpack::ManagedVersioned{};
  auto *numbers = reinterpret_cast<int64_t *>(tensor + 1);
  auto behind = reinterpret_cast<uintptr_t>(numbers + 2 * rank);
  tensor->version = {1, 1};
  tensor->deleter = [](dlpack::ManagedVersioned *self) { std::free(self); };
  tensor->tensor = {reinterpret_cast<void *>((behind + TW_TENSOR_ALIGNMENT - 1) /
                                             TW_TENSOR_ALIGNMENT * TW_TENSOR_ALIGNMENT),
                    {dlpack::cpu, 0},
                    static_cast<int32_t>(rank),
                    row(dtype).dlpack,
                    numbers,
                    numbers + rank,
                    0};
  std::copy(sizes.begin(), sizes.end(), numbers);
  setRowMajorStrides(tensor->tensor);
  return OwnedTensor(tensor);
}

//===----------------------------------------------------------------------===//
// As arrays of libraries
//===----------------------------------------------------------------------===//

nb::object torchTensor(const dlpack::ExchangeApi &torch, OwnedTensor tensor) {
  void *object = nullptr;
  if (torch.toPython(tensor.release(), &object))
    throw nb::python_error();
  return nb::steal(static_cast<PyObject *>(object));
}

namespace {

/// Memory with the buffer protocol: what NumPy arrays of ours keep alive.
struct Memory {
  OwnedTensor tensor;
  int64_t bytes;
};

int getBuffer(PyObject *self, Py_buffer *view, int flags) {
  Memory *memory = nb::inst_ptr<Memory>(self);
  return PyBuffer_FillInfo(view, self, memory->tensor->tensor.data, memory->bytes, /*readonly=*/0,
                           flags);
}

PyType_Slot memorySlots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)}, {0, nullptr}};

/// NumPy's dtype: by its name, or that of ml_dtypes.
nb::object numpyDType(tw_dtype dtype) {
  if (const char *name = row(dtype).numpy)
    return nb::str(name);
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error &) {
    raise(Diagnostic{Code::PYTHON_8,
                     fmt::format("NumPy has no dtype for {}", tw_dtype_name(dtype)),
                     {},
                     {},
                     "install ml_dtypes, or give and take torch tensors (library=\"torch\")"});
  }
}

} // namespace

void defineMemory(nb::module_ &module) {
  nb::class_<Memory>(module, "_Memory", nb::type_slots(memorySlots),
                     "Memory of an array that a program made.");
}

nb::object numpyArray(OwnedTensor tensor) {
  const dlpack::Tensor view = tensor->tensor; // its sizes live as long as the array's memory
  int64_t bytes = view.dtype.bits / 8;
  nb::object shape = nb::steal(PyTuple_New(view.rank));
  for (int32_t d = 0; d < view.rank; ++d) {
    bytes *= view.sizes[d];
    PyTuple_SET_ITEM(shape.ptr(), d, PyLong_FromLongLong(view.sizes[d]));
  }
  nb::object memory = nb::cast(new Memory{std::move(tensor), bytes}, nb::rv_policy::take_ownership);
  return nb::module_::import_("numpy").attr("ndarray")(shape, numpyDType(*fromDLPack(view.dtype)),
                                                       memory);
}

} // namespace tw::python
