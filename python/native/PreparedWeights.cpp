// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PreparedWeights.h"
#include "Errors.h"
#include "Results.h"
#include <cstring>

namespace nb = nanobind;

namespace tw::python {

PreparedWeights::PreparedWeights(nb::object preparation, std::vector<int> taken,
                                 std::vector<int> order, const std::vector<GraphInput> &inputs)
    : preparation(std::move(preparation)), taken(std::move(taken)), programOrder(std::move(order)) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].isFrozen && inputs[i].isUsed)
      known.push_back({static_cast<int>(i), {}, nullptr, nullptr, 0});
}

/// The tensor's count of writes; -1 where it has none, as tensors of torch.inference_mode.
static int64_t versionOf(nb::handle tensor) {
  nb::object version = nb::steal(PyObject_GetAttr(tensor.ptr(), TW_NAME("_version")));
  if (version.is_valid())
    return PyLong_AsLongLong(version.ptr());
  PyErr_Clear();
  return -1;
}

/// Whether a weak reference still has its object.
static bool isAlive(nb::handle reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *object = nullptr;
  bool alive = PyWeakref_GetRef(reference.ptr(), &object) == 1;
  Py_XDECREF(object);
  return alive;
#else
  return PyWeakref_GetObject(reference.ptr()) != Py_None;
#endif
}

/// Writes down what `weight` is. Whether it is what was known. A tensor without a count of writes
/// never is.
bool PreparedWeights::observe(Known &known, nb::handle weight, const dlpack::ExchangeApi &api) {
  dlpack::Tensor view = {};
  const void *data = viewTensor(api, weight, view)
                         ? static_cast<const char *>(view.data) + view.byteOffset
                         : nullptr;
  int64_t version = versionOf(weight);
  bool isSame = known.object == weight.ptr() && known.data == data && known.version == version &&
                version >= 0 && isAlive(known.reference);
  if (!isSame)
    known = {known.index, nb::steal(PyWeakref_NewRef(weight.ptr(), nullptr)), weight.ptr(), data,
             version};
  if (!known.reference.is_valid())
    throw nb::python_error();
  return isSame;
}

std::shared_ptr<const PreparedWeights::Values>
PreparedWeights::get(Given given, const std::vector<GraphInput> &inputs, const Program &program,
                     const dlpack::ExchangeApi &api, dlpack::Device place, int threads) {
  bool isCurrent = values != nullptr;
  for (Known &weight : known)
    isCurrent &= observe(weight, given[weight.index], api);
  if (!isCurrent) {
    values = nullptr; // before the new ones are made: one copy of them at a time
    values = prepare(given, inputs, program, api, place, threads);
  }
  return values;
}

/// A copy of `tensor`, which may be a part of the caller's tensors.
static PreparedWeights::Values::Tensor owned(const tw_tensor &tensor) {
  PreparedWeights::Values::Tensor copy{tensor, {tensor.sizes, tensor.sizes + tensor.rank}};
  copy.tensor.sizes = copy.sizes.data();
  return copy;
}

/// Memory that the program can read in place: `arguments` has one, which may be a copy. What is not
/// aligned on a device the runtime copies there.
static PreparedWeights::Values::Tensor readInPlace(GraphArguments &arguments, dlpack::Device place,
                                                   PreparedWeights::Values &values) {
  PreparedWeights::Values::Tensor weight = owned(arguments.tensors[0]);
  for (nb::object &copy : arguments.kept)
    values.kept.push_back(std::move(copy));
  if (place.type != dlpack::cpu ||
      reinterpret_cast<uintptr_t>(weight.tensor.data) % TW_TENSOR_ALIGNMENT == 0)
    return weight;
  OwnedTensor copy = allocateTensor(weight.tensor.dtype, weight.sizes);
  if (!copy)
    throw std::bad_alloc();
  std::memcpy(copy->tensor.data, weight.tensor.data, static_cast<size_t>(weight.tensor.bytes));
  weight.tensor.data = copy->tensor.data;
  values.kept.push_back(torchTensor(*importedTorchApi(), std::move(copy)));
  return weight;
}

std::shared_ptr<const PreparedWeights::Values>
PreparedWeights::prepare(Given given, const std::vector<GraphInput> &inputs, const Program &program,
                         const dlpack::ExchangeApi &api, dlpack::Device place, int threads) {
  ++count;
  auto &prepared = *nb::inst_ptr<Program>(preparation);
  Results results(&api, prepared.outputs(), place);
  GraphArguments run(inputs, api, place);
  for (int index : taken)
    run.add(index, given[index]);
  if (!prepared.outputs().empty())
    prepared.run(run.tensors, results, threads);
  auto made = std::make_shared<Values>();
  made->tensors.resize(programOrder.size());
  for (size_t i = 0; i < programOrder.size(); ++i) {
    int source = programOrder[i];
    if (source >= 0) {
      if (!inputs[source].isFrozen)
        continue;
      GraphArguments weight(inputs, api, place);
      weight.add(source, given[source]);
      made->tensors[i] = readInPlace(weight, place, *made);
      continue;
    }
    const tw_value_info &info = program.inputs()[i];
    int number = ~source;
    nb::object result = results.tensor(static_cast<size_t>(number), Library::Torch, {});
    dlpack::Tensor view;
    if (!viewTensor(api, result, view))
      throw nb::type_error("a prepared weight has no memory");
    made->tensors[i] = owned({static_cast<char *>(view.data) + view.byteOffset, info.bytes,
                              info.dtype, info.rank, info.sizes});
    made->kept.push_back(std::move(result));
  }
  return made;
}

int PreparedWeights::traverse(visitproc visit, void *arg) const {
  Py_VISIT(preparation.ptr());
  return 0;
}

void PreparedWeights::clear() {
  preparation.reset();
  values = nullptr;
  known.clear();
}

} // namespace tw::python
