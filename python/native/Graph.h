// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One compiled graph of torch.compile: called with a list of tensors and ints, it runs the artifact
// and gives the graph's outputs, each with exactly the strides and the aliases of eager PyTorch.
// The artifact knows contiguous tensors alone; which memory they are, and what is a view of what,
// was decided when the graph was compiled (python/tilewright/torch/_layout.py).
#pragma once
#include "GraphArguments.h"
#include "PreparedWeights.h"
#include "Results.h"
#include <optional>
#include <vector>

namespace tw::python {

/// A size, stride or offset: a number, or the element `dynamic` of what the graph's `evaluate`
/// gives.
struct Number {
  int64_t value = 0;
  int dynamic = -1;
};

/// What `evaluate` gives in one call.
using Numbers = std::pmr::vector<int64_t>;

/// A result of the artifact that is memory of its own; with strides where it is not row-major.
struct GraphBase {
  std::vector<Number> sizes, strides;
  nanobind::object dtype; // of torch, where there are strides
};

/// An output of the graph.
struct GraphOutput {
  enum class Kind { Constant, Argument, ArgumentView, Base, BaseView, Int };
  Kind kind = Kind::Constant;
  int index = 0; // of the argument, base, or element of `evaluate`
  std::vector<Number> sizes, strides;
  Number offset;             // from the argument's or base's first element
  nanobind::object constant; // or None
};

/// Where a symbol's value is found: an int argument, or a size of a tensor.
struct SymbolSource {
  int argument;
  int dimension; // -1: the argument itself
};

class Graph {
public:
  /// Takes the sequences of tuples that _layout.py makes; see defineGraph. `frozen`, or none: the
  /// preparation's program, the argument that each of its inputs is, and for each input of the
  /// program the argument that it is, or ~N for result N of the preparation; and the name of the
  /// attribute that counts the writes to a tensor. `device`: of torch, where all tensors are.
  Graph(nanobind::object program, nanobind::sequence inputs, nanobind::sequence bases,
        nanobind::sequence outputs, nanobind::sequence constants, nanobind::sequence sources,
        nanobind::object evaluate, nanobind::object threads, nanobind::object frozen,
        nanobind::object device);

  /// Runs on `arguments`, which it empties, and gives the outputs. Throws.
  nanobind::object call(nanobind::list arguments);
  /// The same for what a caller gives: refuses (PYTHON_3) what is no list, or null.
  nanobind::object callOn(nanobind::handle arguments);
  int64_t preparations() const;
  size_t preparedSets() const;
  int traverse(visitproc visit, void *arg) const;
  void clear();

private:
  Numbers evaluateSizes(nanobind::handle arguments, CallMemory &memory) const;
  void runProgram(Given given, const Numbers &numbers, const dlpack::ExchangeApi &api,
                  Results &results, std::pmr::vector<nanobind::object> &made, CallMemory &memory);

  nanobind::object program, evaluate, threads, device;
  dlpack::Device place; // the same
  std::vector<GraphInput> inputs;
  std::vector<GraphBase> bases;
  std::vector<GraphOutput> outputs;
  std::vector<nanobind::object> constants; // tensors that follow the arguments
  std::vector<SymbolSource> sources;
  std::optional<PreparedWeights> weights;
};

/// Adds _native.Graph.
void defineGraph(nanobind::module_ &module);

} // namespace tw::python
