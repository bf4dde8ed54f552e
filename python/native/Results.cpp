// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Results.h"
#include "DTypes.h"
#include "Errors.h"
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nb = nanobind;

namespace tw::python {

//===----------------------------------------------------------------------===//
// Memory of our own
//===----------------------------------------------------------------------===//

namespace {

/// Aligned memory with the buffer protocol: what NumPy arrays of ours keep alive.
struct Memory {
  void *data;
  int64_t bytes;
  Memory(void *data, int64_t bytes) : data(data), bytes(bytes) {}
  Memory(const Memory &) = delete;
  ~Memory() { std::free(data); }
};

int getBuffer(PyObject *self, Py_buffer *view, int flags) {
  Memory *memory = nb::inst_ptr<Memory>(self);
  return PyBuffer_FillInfo(view, self, memory->data, memory->bytes, /*readonly=*/0, flags);
}

PyType_Slot memorySlots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)}, {0, nullptr}};

} // namespace

void defineMemory(nb::module_ &module) {
  nb::class_<Memory>(module, "_Memory", nb::type_slots(memorySlots),
                     "Memory of an array that a program made.");
}

void *allocateMemory(int64_t bytes) {
  int64_t rounded = (std::max<int64_t>(bytes, 1) + TW_TENSOR_ALIGNMENT - 1) / TW_TENSOR_ALIGNMENT *
                    TW_TENSOR_ALIGNMENT;
  return std::aligned_alloc(TW_TENSOR_ALIGNMENT, static_cast<size_t>(rounded));
}

static nb::tuple sizesTuple(const std::vector<int64_t> &sizes) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(sizes.size())));
  for (size_t d = 0; d < sizes.size(); ++d)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(d), PyLong_FromLongLong(sizes[d]));
  return nb::borrow<nb::tuple>(tuple);
}

/// NumPy's dtype: by its name, or that of ml_dtypes.
static nb::object numpyDType(tw_dtype dtype) {
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

nb::object numpyArray(void *data, int64_t bytes, tw_dtype dtype,
                      const std::vector<int64_t> &sizes) {
  nb::object memory = nb::cast(new Memory(data, bytes), nb::rv_policy::take_ownership);
  nb::object shape = sizesTuple(sizes);
  return nb::module_::import_("numpy").attr("ndarray")(shape, numpyDType(dtype), memory);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Results::~Results() {
  for (Output &output : outputs) {
    std::free(output.data);
    if (output.managed)
      output.managed->deleter(output.managed);
  }
}

void Results::fail(void *results, const char *kind, const char *message) {
  static_cast<Results *>(results)->failure =
      Diagnostic{Code::RUNTIME_17,
                 fmt::format("an output cannot be allocated: {}: {}", kind, message),
                 {},
                 {},
                 "give smaller inputs"};
}

static dlpack::Tensor prototype(tw_dtype dtype, std::vector<int64_t> &sizes) {
  return {nullptr,
          {dlpack::cpu, 0},
          static_cast<int32_t>(sizes.size()),
          row(dtype).dlpack,
          sizes.data(),
          nullptr,
          0};
}

bool Results::allocateTorch(Output &output) {
  dlpack::Tensor wanted = prototype(output.dtype, output.sizes);
  return torch->allocate(&wanted, &output.managed, this, fail) == 0;
}

void Results::preset(size_t index, const tw_tensor &memory, const char *name) {
  presets.resize(std::max(presets.size(), index + 1));
  presets[index] = {memory, name};
}

/// Whether the caller's memory is what the output needs; if not the failure says so.
bool Results::fits(const Preset &preset, const tw_tensor &output) {
  const tw_tensor &memory = preset.memory;
  bool isShape = memory.rank == output.rank &&
                 std::equal(memory.sizes, memory.sizes + memory.rank, output.sizes);
  if (!preset.name || (isShape && memory.dtype == output.dtype))
    return true;
  auto text = [](const tw_tensor &tensor) {
    return fmt::format("{}[{}]", tw_dtype_name(tensor.dtype),
                       fmt::join(tensor.sizes, tensor.sizes + tensor.rank, ", "));
  };
  failure = Diagnostic{isShape ? Code::RUNTIME_10 : Code::RUNTIME_11,
                       fmt::format("the memory for output \"{}\" is {}, but the output {}",
                                   preset.name, text(memory), text(output)),
                       {},
                       {},
                       "give memory of that dtype and those sizes, or none"};
  return false;
}

void *Results::allocate(void *user, int32_t index, const tw_tensor *tensor) {
  auto &results = *static_cast<Results *>(user);
  results.outputs.push_back(
      {tensor->dtype, tensor->bytes, {tensor->sizes, tensor->sizes + tensor->rank}});
  Output &output = results.outputs.back();
  if (auto at = static_cast<size_t>(index);
      at < results.presets.size() && results.presets[at].memory.data)
    return results.fits(results.presets[at], *tensor) ? results.presets[at].memory.data : nullptr;
  if (results.torch)
    return results.allocateTorch(output) ? output.managed->tensor.data : nullptr;
  output.data = allocateMemory(output.bytes);
  return output.data;
}

void Results::checkAllocations() const {
  if (failure)
    raise(*failure);
}

nb::object Results::scalar(size_t index, tw_kind kind) const {
  const Output &output = outputs[index];
  const void *data = output.managed ? output.managed->tensor.data : output.data;
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
  Output &output = outputs[index];
  if (torch) {
    void *object = nullptr;
    if (torch->toPython(std::exchange(output.managed, nullptr), &object))
      throw nb::python_error();
    return nb::steal(static_cast<PyObject *>(object));
  }
  nb::object array =
      numpyArray(std::exchange(output.data, nullptr), output.bytes, output.dtype, output.sizes);
  if (library == Library::Other && nb::hasattr(like, "__array_namespace__"))
    return like.attr("__array_namespace__")().attr("from_dlpack")(array);
  return array;
}

nb::object torchTensor(const dlpack::ExchangeApi &torch, tw_dtype dtype,
                       const std::vector<int64_t> &sizes, void *&data) {
  std::vector<int64_t> shape = sizes;
  dlpack::Tensor wanted = prototype(dtype, shape);
  dlpack::ManagedVersioned *managed = nullptr;
  auto fail = [](void *, const char *, const char *message) {
    PyErr_SetString(PyExc_MemoryError, message);
  };
  void *object = nullptr;
  if (torch.allocate(&wanted, &managed, nullptr, fail))
    throw nb::python_error();
  data = managed->tensor.data;
  if (torch.toPython(managed, &object))
    throw nb::python_error();
  return nb::steal(static_cast<PyObject *>(object));
}

} // namespace tw::python
