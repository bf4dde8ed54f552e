// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphArguments.h"
#include "DTypes.h"
#include "Errors.h"
#include <algorithm>
#include <fmt/format.h>

namespace nb = nanobind;

namespace tw::python {

GraphArguments::GraphArguments(const std::vector<GraphInput> &inputs,
                               const dlpack::ExchangeApi &api, dlpack::Device place)
    : inputs(inputs), api(api), place(place) {
  tensors.reserve(inputs.size());
}

void GraphArguments::add(size_t index, nb::handle object) {
  const GraphInput &input = inputs[index];
  if (!input.isUsed)
    return;
  if (input.isInt) {
    ints.reserve(inputs.size()); // tensors point into it
    int64_t &value = ints.emplace_back(PyLong_AsLongLong(object.ptr()));
    if (value == -1 && PyErr_Occurred())
      throw nb::python_error();
    tensors.push_back({&value, sizeof value, TW_I64, 0, nullptr});
    return;
  }
  addTensor(input, index, object);
}

void GraphArguments::writeBack() const {
  for (const auto &[given, copy] : copies)
    callMethod(given, TW_NAME("copy_"), copy.ptr());
}

static bool isInOrder(const dlpack::Tensor &view, const std::vector<int> &order) {
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    int d = order[i];
    if (view.sizes[d] == 0)
      return true;
    if (view.sizes[d] != 1 && view.strides[d] != expected)
      return false;
    expected *= view.sizes[d];
  }
  return true;
}

static bool isOneElement(const dlpack::Tensor &view) {
  return std::all_of(view.sizes, view.sizes + view.rank, [](int64_t size) { return size == 1; });
}

/// Whether the elements are still to be negated. Asked where that may be: it takes longer than all
/// else that is done with an argument. A part of a complex number is dense when it is one element.
static bool isNegated(nb::handle tensor, const GraphInput &input, const dlpack::Tensor &view) {
  return (input.mayBeNegated || isOneElement(view)) &&
         callMethod(tensor, TW_NAME("is_neg")).is(nb::handle(Py_True));
}

/// A copy of `given` whose memory is in `order`, as the artifact takes it.
static nb::object ordered(nb::handle given, const std::vector<int> &order) {
  nb::object tensor = callMethod(given, TW_NAME("resolve_neg"));
  if (order.empty())
    return callMethod(tensor, TW_NAME("contiguous"));
  nb::list dimensions;
  for (int d : order)
    dimensions.append(d);
  nb::object turned = callMethod(tensor, TW_NAME("permute"), nb::tuple(dimensions).ptr());
  return callMethod(turned, TW_NAME("contiguous"));
}

static nb::object inCallersOrder(const nb::object &copy, const std::vector<int> &order) {
  if (order.empty())
    return copy;
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[order[i]] = static_cast<int>(i);
  nb::list dimensions;
  for (int d : inverse)
    dimensions.append(d);
  return callMethod(copy, TW_NAME("permute"), nb::tuple(dimensions).ptr());
}

void GraphArguments::addTensor(const GraphInput &input, size_t index, nb::handle object) {
  dlpack::Tensor view;
  if (!hasTorchMemory(object))
    raise(Diagnostic{Code::PYTHON_1,
                     fmt::format("argument {} of a compiled graph is {}", index, aType(object)),
                     {},
                     {},
                     fmt::format("give plain tensors in {}", placeText(place))});
  if (!viewTensor(api, object, view))
    view.device.type = -1;
  auto dtype = view.device == place ? fromDLPack(view.dtype) : std::nullopt;
  if (!dtype)
    raise(Diagnostic{Code::PYTHON_2,
                     fmt::format("argument {} of a compiled graph is not in {}, or of another "
                                 "dtype than it was compiled for",
                                 index, placeText(place)),
                     {},
                     {},
                     fmt::format("give plain tensors in {}", placeText(place))});
  bool isDense = input.order.empty()
                     ? contiguousCount(view.rank, view.sizes, view.strides).has_value()
                     : isInOrder(view, input.order);
  isDense = isDense && !isNegated(object, input, view);
  std::vector<int64_t> *sizes = nullptr;
  if (!input.order.empty()) {
    permuted.reserve(inputs.size()); // tensors point into it
    sizes = &permuted.emplace_back();
    for (int d : input.order)
      sizes->push_back(view.sizes[d]);
  }
  if (!isDense) {
    nb::object copy = ordered(object, input.order);
    if (!viewTensor(api, copy, view))
      throw nb::type_error("a copy of a tensor has no memory");
    if (input.isMutated)
      copies.emplace_back(nb::borrow(object), inCallersOrder(copy, input.order));
    kept.push_back(std::move(copy));
  }
  int64_t bytes = tw_dtype_bytes(*dtype);
  for (int32_t d = 0; d < view.rank; ++d)
    bytes *= view.sizes[d];
  tensors.push_back({static_cast<char *>(view.data) + view.byteOffset, bytes, *dtype, view.rank,
                     sizes ? sizes->data() : view.sizes});
}

} // namespace tw::python
