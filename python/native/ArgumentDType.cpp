// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArgumentDType.h"
#include "DTypes.h"
#include <array>
#include <iterator>
#include <string_view>

namespace nb = nanobind;

namespace tw::python {

/// By NumPy's own dtypes, of which there is one object each, and which are asked for in a third of
/// the time of a buffer. None of others.
static std::optional<tw_dtype> ofNumPy(nb::handle array) {
  using Objects = std::array<PyObject *, std::size(dtypes)>;
  static const Objects known = [] {
    Objects objects = {};
    nb::object make = nb::module_::import_("numpy").attr("dtype");
    for (const DTypeRow &row : dtypes)
      if (row.numpy)
        objects[row.dtype] = make(row.numpy).release().ptr();
    return objects;
  }();
  static PyObject *name = PyUnicode_InternFromString("dtype");
  nb::object dtype = nb::steal(PyObject_GetAttr(array.ptr(), name));
  if (!dtype.is_valid())
    throw nb::python_error();
  for (const DTypeRow &row : dtypes)
    if (known[row.dtype] == dtype.ptr())
      return row.dtype;
  return std::nullopt;
}

static std::optional<tw_dtype> ofBuffer(nb::handle object) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT)) {
    PyErr_Clear();
    return std::nullopt;
  }
  auto dtype = fromBufferFormat(buffer.format, buffer.itemsize);
  PyBuffer_Release(&buffer);
  return dtype;
}

std::optional<tw_dtype> plainDTypeOf(nb::handle object) {
  if (const dlpack::ExchangeApi *api = torchApi(object)) {
    dlpack::Tensor view;
    return viewTensor(*api, object, view) ? fromDLPack(view.dtype) : std::nullopt;
  }
  if (std::string_view(Py_TYPE(object.ptr())->tp_name) == "numpy.ndarray")
    if (auto dtype = ofNumPy(object))
      return dtype;
  return PyObject_CheckBuffer(object.ptr()) ? ofBuffer(object) : std::nullopt;
}

tw_dtype dtypeOf(const Slot &slot, nb::handle object) {
  if (auto dtype = plainDTypeOf(object))
    return *dtype;
  Arguments reader(1, gpuOf(object).value_or(dlpack::Device()));
  reader.add(slot, object);
  return reader.tensors()[0].dtype;
}

} // namespace tw::python
