// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a compiled graph as its artifact takes them: memory in the order of dimensions
// that the graph was compiled for.
#pragma once
#include "Arguments.h"
#include "CallMemory.h"
#include <span>
#include <vector>

namespace tw::python {

/// How an argument enters the artifact.
struct GraphInput {
  bool isInt = false;
  bool isUsed = true;     // else it is only passed on
  bool isMutated = false; // the artifact writes it
  std::vector<int> order; // dimensions from the outermost in memory; empty: row-major
  bool isFrozen = false;  // a weight whose value seldom changes
  // Its elements may still be to be negated when they are read. Of others with more than one
  // element Dynamo has seen that they are not, and guards it.
  bool mayBeNegated = false;
};

/// Calls a method of a tensor whose name is only looked up once. Throws.
template <typename... Args>
nanobind::object callMethod(nanobind::handle object, PyObject *name, Args... args) {
  PyObject *stack[] = {object.ptr(), args...};
  PyObject *result =
      PyObject_VectorcallMethod(name, stack, sizeof...(args) + 1, /*kwnames=*/nullptr);
  if (!result)
    throw nanobind::python_error();
  return nanobind::steal(result);
}

/// The text as a Python string that is made once.
#define TW_NAME(text)                                                                              \
  [] {                                                                                             \
    static PyObject *name = PyUnicode_InternFromString(text);                                      \
    return name;                                                                                   \
  }()

/// A call's arguments and, behind them, the graph's constants: what holds them outlives the run.
using Given = std::span<PyObject *const>;

/// The arguments of one run.
class GraphArguments {
public:
  /// `place`: where all tensors must be. `memory`: of the lists.
  GraphArguments(const std::vector<GraphInput> &inputs, const dlpack::ExchangeApi &api,
                 dlpack::Device place, std::pmr::memory_resource *memory = heap());

  /// Adds argument `index` of the graph, where the artifact uses it. Throws PYTHON_1, PYTHON_2.
  void add(size_t index, nanobind::handle object);
  /// What was written to copies goes to the tensors that were given.
  void writeBack() const;

  std::pmr::vector<tw_tensor> tensors;
  std::vector<nanobind::object> kept; // the copies that they point to

private:
  void addTensor(const GraphInput &input, size_t index, nanobind::handle object);
  /// The same for one whose memory is not as the artifact takes it.
  [[gnu::noinline]] void addCopy(const GraphInput &input, nanobind::handle object);
  /// Adds memory as the artifact takes it; `sizes` outlive the run.
  void push(const dlpack::Tensor &view, const int64_t *sizes, int64_t count, tw_dtype dtype);
  /// The sizes in the artifact's order.
  const int64_t *sizesOf(const GraphInput &input, const dlpack::Tensor &view);
  [[noreturn]] void refuse(size_t index, nanobind::handle object, bool isTensor) const;

  const std::vector<GraphInput> &inputs;
  const dlpack::ExchangeApi &api;
  dlpack::Device place;
  std::pmr::vector<int64_t> ints;
  std::pmr::vector<std::pmr::vector<int64_t>> permuted;
  std::vector<std::pair<nanobind::object, nanobind::object>> copies;
};

} // namespace tw::python
