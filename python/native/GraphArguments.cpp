// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphArguments.h"
#include "DTypes.h"
#include "Errors.h"
#include <fmt/format.h>
#include <functional>
#include <numeric>

namespace nb = nanobind;

namespace tw::python {

GraphArguments::GraphArguments(const std::vector<GraphInput> &inputs,
                               const dlpack::ExchangeApi &api, dlpack::Device place,
                               std::pmr::memory_resource *memory)
    : tensors(memory), inputs(inputs), api(api), place(place), ints(memory), permuted(memory) {
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

static int64_t countOf(const dlpack::Tensor &view) {
  return std::accumulate(view.sizes, view.sizes + view.rank, int64_t(1), std::multiplies<>());
}

/// How many elements a tensor has whose dimensions lie in this order; none where they do not.
static std::optional<int64_t> countInOrder(const dlpack::Tensor &view,
                                           const std::vector<int> &order) {
  int64_t count = 1;
  for (size_t i = order.size(); i-- > 0;) {
    int d = order[i];
    if (view.sizes[d] == 0)
      return 0;
    if (view.sizes[d] != 1 && view.strides[d] != count)
      return std::nullopt;
    count *= view.sizes[d];
  }
  return count;
}

/// Whether the elements are still to be negated. Asked where that may be: it takes longer than all
/// else that is done with an argument. A part of a complex number is dense when it is one element.
static bool isNegated(nb::handle tensor, const GraphInput &input, int64_t count) {
  return (input.mayBeNegated || count == 1) &&
         callMethod(tensor, TW_NAME("is_neg")).is(nb::handle(Py_True));
}

/// A copy of `given` whose dimensions and memory are in `order`, as the artifact takes it.
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

void GraphArguments::refuse(size_t index, nb::handle object, bool isTensor) const {
  std::string what =
      isTensor
          ? fmt::format("not in {}, or of another dtype than it was compiled for", placeText(place))
          : aType(object);
  raise(Diagnostic{isTensor ? Code::PYTHON_2 : Code::PYTHON_1,
                   fmt::format("argument {} of a compiled graph is {}", index, what),
                   {},
                   {},
                   fmt::format("give plain tensors in {}", placeText(place))});
}

const int64_t *GraphArguments::sizesOf(const GraphInput &input, const dlpack::Tensor &view) {
  if (input.order.empty())
    return view.sizes;
  permuted.reserve(inputs.size()); // tensors point into it
  auto &sizes = permuted.emplace_back();
  sizes.reserve(input.order.size());
  for (int d : input.order)
    sizes.push_back(view.sizes[d]);
  return sizes.data();
}

void GraphArguments::push(const dlpack::Tensor &view, const int64_t *sizes, int64_t count,
                          tw_dtype dtype) {
  tensors.push_back({static_cast<char *>(view.data) + view.byteOffset,
                     count * (view.dtype.bits / 8), dtype, view.rank, sizes});
}

void GraphArguments::addCopy(const GraphInput &input, nb::handle object) {
  nb::object copy = ordered(object, input.order);
  dlpack::Tensor view;
  if (!viewTensor(api, copy, view))
    throw nb::type_error("a copy of a tensor has no memory");
  if (input.isMutated)
    copies.emplace_back(nb::borrow(object), inCallersOrder(copy, input.order));
  kept.push_back(std::move(copy));
  push(view, view.sizes, countOf(view), *fromDLPack(view.dtype));
}

void GraphArguments::addTensor(const GraphInput &input, size_t index, nb::handle object) {
  if (!torchApi(object) && !hasTorchMemory(object))
    refuse(index, object, /*isTensor=*/false);
  dlpack::Tensor view;
  bool isHere = viewTensor(api, object, view) && view.device == place;
  auto dtype = isHere ? fromDLPack(view.dtype) : std::nullopt;
  if (!dtype)
    refuse(index, object, /*isTensor=*/true);
  auto count = input.order.empty() ? contiguousCount(view.rank, view.sizes, view.strides)
                                   : countInOrder(view, input.order);
  if (!count || isNegated(object, input, *count))
    return addCopy(input, object);
  push(view, sizesOf(input, view), *count, *dtype);
}

} // namespace tw::python
