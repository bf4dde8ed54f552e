// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PreparedWeights.h"
#include "Errors.h"
#include "Results.h"
#include <algorithm>
#include <cstring>

namespace nb = nanobind;

namespace tw::python {

/// The tensor's count of writes, its attribute `name`; -1 where it has none, as tensors of
/// torch.inference_mode.
static int64_t versionOf(nb::handle tensor, const nb::object &name) {
  nb::object version = nb::steal(PyObject_GetAttr(tensor.ptr(), name.ptr()));
  if (version.is_valid())
    return PyLong_AsLongLong(version.ptr());
  PyErr_Clear();
  return -1;
}

/// Where the tensor's elements begin; null where it has no memory.
static const void *memoryOf(nb::handle tensor, const dlpack::ExchangeApi &api) {
  dlpack::Tensor view = {};
  return viewTensor(api, tensor, view) ? static_cast<const char *>(view.data) + view.byteOffset
                                       : nullptr;
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

/// Drops the sets with a weight that no longer lives. They are freed last: that may run Python.
static void dropDead(PreparedWeights::Sets &sets) {
  auto isDead = [](const std::shared_ptr<const PreparedWeights::Set> &set) {
    return !std::all_of(set->known.begin(), set->known.end(),
                        [](const auto &weight) { return isAlive(weight.reference); });
  };
  PreparedWeights::Sets living, dead;
  for (auto &set : sets)
    (isDead(set) ? dead : living).push_back(std::move(set));
  sets = std::move(living);
}

PreparedWeights::PreparedWeights(nb::object preparation, std::vector<int> taken,
                                 std::vector<int> order, nb::object version,
                                 const std::vector<GraphInput> &inputs)
    : preparation(std::move(preparation)), taken(std::move(taken)), programOrder(std::move(order)),
      version(std::move(version)), sets(std::make_shared<Sets>()) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].isFrozen && inputs[i].isUsed)
      frozen.push_back(static_cast<int>(i));
  onDeath = nb::cpp_function([known = std::weak_ptr<Sets>(sets)](nb::handle) {
    if (std::shared_ptr<Sets> sets = known.lock())
      dropDead(*sets);
  });
}

/// What `weight` is now. It may be written to, moved or replaced while it is prepared: it is
/// observed before, so that the next call sees that.
PreparedWeights::Known PreparedWeights::observe(int index, nb::handle weight,
                                                const dlpack::ExchangeApi &api) const {
  Known known = {index, nb::steal(PyWeakref_NewRef(weight.ptr(), onDeath.ptr())), weight.ptr(),
                 memoryOf(weight, api), versionOf(weight, version)};
  if (!known.reference.is_valid())
    throw nb::python_error();
  return known;
}

/// Whether all weights are as they were. A tensor without a count of writes never is.
static bool isCurrent(const PreparedWeights::Set &set, Given given, const dlpack::ExchangeApi &api,
                      const nb::object &version) {
  return std::all_of(set.known.begin(), set.known.end(), [&](const auto &known) {
    nb::handle weight = given[known.index];
    return known.version >= 0 && versionOf(weight, version) == known.version &&
           memoryOf(weight, api) == known.data && isAlive(known.reference);
  });
}

/// The set of these very tensors. Runs no Python, which could change the sets.
PreparedWeights::Sets::iterator PreparedWeights::find(Given given) const {
  return std::find_if(sets->begin(), sets->end(), [&](const auto &set) {
    return std::all_of(set->known.begin(), set->known.end(),
                       [&](const Known &weight) { return weight.object == given[weight.index]; });
  });
}

/// Takes the set of these very tensors out of the others.
std::shared_ptr<const PreparedWeights::Set> PreparedWeights::take(Given given) {
  auto found = find(given);
  if (found == sets->end())
    return nullptr;
  std::shared_ptr<const Set> set = std::move(*found);
  sets->erase(found);
  return set;
}

/// Puts a set in front. What it displaces is freed last: that may run Python.
void PreparedWeights::put(std::shared_ptr<const Set> set, Given given) {
  std::shared_ptr<const Set> older = take(given), last; // another thread may have put it there
  if (sets->size() == mostSets) {
    last = std::move(sets->back());
    sets->pop_back();
  }
  sets->insert(sets->begin(), std::move(set));
}

std::shared_ptr<const PreparedWeights::Set>
PreparedWeights::get(Given given, const std::vector<GraphInput> &inputs, const Program &program,
                     const dlpack::ExchangeApi &api, dlpack::Device place, int threads) {
  std::shared_ptr<const Set> set;
  if (auto found = find(given); found != sets->end()) {
    std::rotate(sets->begin(), found, found + 1);
    set = sets->front();
  }
  if (set && isCurrent(*set, given, api, version))
    return set;
  set = nullptr;
  take(given); // before the new one is made: one copy of these weights at a time
  set = prepare(given, inputs, program, api, place, threads);
  put(set, given);
  return set;
}

/// A copy of `tensor`, which may be a part of the caller's tensors.
static PreparedWeights::Set::Tensor owned(const tw_tensor &tensor) {
  PreparedWeights::Set::Tensor copy{tensor, {tensor.sizes, tensor.sizes + tensor.rank}};
  copy.tensor.sizes = copy.sizes.data();
  return copy;
}

/// Memory that the program can read in place: `arguments` has one, which may be a copy. What is not
/// aligned on a device the runtime copies there.
static PreparedWeights::Set::Tensor readInPlace(GraphArguments &arguments, dlpack::Device place,
                                                PreparedWeights::Set &set) {
  PreparedWeights::Set::Tensor weight = owned(arguments.tensors[0]);
  for (nb::object &copy : arguments.kept)
    set.kept.push_back(std::move(copy));
  if (place.type != dlpack::cpu ||
      reinterpret_cast<uintptr_t>(weight.tensor.data) % TW_TENSOR_ALIGNMENT == 0)
    return weight;
  OwnedTensor copy = allocateTensor(weight.tensor.dtype, weight.sizes);
  if (!copy)
    throw std::bad_alloc();
  std::memcpy(copy->tensor.data, weight.tensor.data, static_cast<size_t>(weight.tensor.bytes));
  weight.tensor.data = copy->tensor.data;
  set.kept.push_back(torchTensor(*importedTorchApi(), std::move(copy)));
  return weight;
}

std::shared_ptr<const PreparedWeights::Set>
PreparedWeights::prepare(Given given, const std::vector<GraphInput> &inputs, const Program &program,
                         const dlpack::ExchangeApi &api, dlpack::Device place, int threads) {
  ++count;
  auto made = std::make_shared<Set>();
  for (int index : frozen)
    made->known.push_back(observe(index, given[index], api));
  auto &prepared = *nb::inst_ptr<Program>(preparation);
  Results results(&api, prepared.outputs(), place);
  GraphArguments run(inputs, api, place);
  for (int index : taken)
    run.add(index, given[index]);
  if (!prepared.outputs().empty())
    prepared.run(run.tensors, results, threads);
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
  onDeath.reset();
  Sets dropped = std::move(*sets);
  sets->clear();
}

} // namespace tw::python
