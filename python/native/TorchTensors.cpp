// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchTensors.h"
#include "Errors.h"
#include <fmt/format.h>

namespace nb = nanobind;

namespace tw::python {

TorchTypes torchTypes;

const TorchTypes &lookForTorch() {
  PyObject *modules = PyImport_GetModuleDict();
  nb::handle torch = PyDict_GetItemString(modules, "torch");
  if (!torch || !nb::hasattr(torch, "Tensor") || !nb::hasattr(torch, "nn"))
    return torchTypes; // or it is being imported just now
  nb::object tensor = torch.attr("Tensor");
  if (!nb::hasattr(tensor, dlpack::exchangeAttribute))
    raise(Diagnostic{Code::PYTHON_9,
                     fmt::format("torch {} has no DLPack exchange API",
                                 nb::str(torch.attr("__version__")).c_str()),
                     {},
                     {},
                     "use torch 2.10 or later, or give NumPy arrays"});
  nb::object capsule = tensor.attr(dlpack::exchangeAttribute);
  auto *api = static_cast<const dlpack::ExchangeApi *>(
      PyCapsule_GetPointer(capsule.ptr(), dlpack::exchangeCapsule));
  if (!api)
    throw nb::python_error();
  torchTypes.parameter = reinterpret_cast<PyTypeObject *>(
      nb::object(torch.attr("nn").attr("Parameter")).release().ptr());
  torchTypes.tensor = reinterpret_cast<PyTypeObject *>(tensor.release().ptr());
  torchTypes.threads = nb::object(torch.attr("get_num_threads")).release();
  torchTypes.api = api;
  return torchTypes;
}

const dlpack::ExchangeApi *importedTorchApi() { return findTorch().api; }

int torchThreads() { return nb::cast<int>(findTorch().threads()); }

bool isTorchSubclass(nb::handle object) {
  const TorchTypes &types = findTorch();
  return types.api && PyType_IsSubtype(Py_TYPE(object.ptr()), types.tensor);
}

bool hasTorchMemory(nb::handle object) {
  if (torchApi(object))
    return true;
  if (!isTorchSubclass(object))
    return false;
  nb::handle type = reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()));
  nb::handle tensor = reinterpret_cast<PyObject *>(findTorch().tensor);
  constexpr const char *dispatch = "__torch_dispatch__";
  return nb::object(type.attr(dispatch)).is(nb::object(tensor.attr(dispatch)));
}

} // namespace tw::python
