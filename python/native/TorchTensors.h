// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which objects are PyTorch's tensors, and their memory, through the DLPack C exchange API.
#pragma once
#include "DLPack.h"
#include <nanobind/nanobind.h>

namespace tw::python {

/// PyTorch's types, looked up once; never released, as the modules that hold them are not either.
struct TorchTypes {
  PyTypeObject *tensor = nullptr, *parameter = nullptr;
  const dlpack::ExchangeApi *api = nullptr;
  nanobind::handle threads;
};
extern TorchTypes torchTypes;

/// Finds them once torch is imported.
[[gnu::cold]] const TorchTypes &lookForTorch();
inline const TorchTypes &findTorch() { return torchTypes.api ? torchTypes : lookForTorch(); }

/// The exchange table of PyTorch's tensors when `object` is one (subclasses are not, but
/// nn.Parameter is), else null. Asked for each argument of each call.
inline const dlpack::ExchangeApi *torchApi(nanobind::handle object) {
  const TorchTypes &types = findTorch();
  PyTypeObject *type = Py_TYPE(object.ptr());
  return types.api && (type == types.tensor || type == types.parameter) ? types.api : nullptr;
}
/// The same for torch.Tensor itself; null when torch is not imported. Throws PYTHON_9 when it is
/// too old to have one.
const dlpack::ExchangeApi *importedTorchApi();

/// Whether an object is a tensor of torch, a plain one or of a subclass.
bool isTorchSubclass(nanobind::handle object);
/// Whether an object is a tensor of torch with elements in its memory: a plain one, or one of a
/// subclass that does not say with a __torch_dispatch__ of its own what operators do with it.
bool hasTorchMemory(nanobind::handle object);

/// torch.get_num_threads(), where torch is imported.
int torchThreads();

/// Views a tensor's memory; false (and no Python error) for one that has none. PyTorch's function
/// also throws C++ exceptions, which say nothing that our messages do not.
inline bool viewTensor(const dlpack::ExchangeApi &api, nanobind::handle object,
                       dlpack::Tensor &out) {
  try {
    if (api.view(object.ptr(), &out) == 0)
      return true;
  } catch (...) {
  }
  PyErr_Clear();
  return false;
}

} // namespace tw::python
