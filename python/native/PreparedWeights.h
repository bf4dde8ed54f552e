// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of a compiled graph that is frozen: what the preparation made of them is kept, and
// made again when a weight is another tensor, lies elsewhere or has been written to. Models of one
// class share a graph, as do equal blocks of one model: each set of weights is kept by itself.
#pragma once
#include "GraphArguments.h"
#include "Program.h"
#include <memory>
#include <span>

namespace tw::python {

class PreparedWeights {
public:
  /// A weight as it was when it was prepared.
  struct Known {
    int index; // of the argument
    nanobind::object reference;
    const void *object = nullptr, *data = nullptr;
    int64_t version = 0;
  };
  /// What runs read, and the weights that it was made of. Never changed once others can see it, so
  /// that no thread sees one thread's weights with what another has made; shared with runs that
  /// still read it when it is replaced.
  struct Set {
    struct Tensor {
      tw_tensor tensor = {};
      std::vector<int64_t> sizes; // of `tensor`
    };
    std::vector<Known> known;
    std::vector<Tensor> tensors; // one for each input of the program; only frozen ones are set
    // What they point to, but for the weights themselves: a run has these among its arguments.
    std::vector<nanobind::object> kept;
  };
  /// Sets of weights that all live, the one used last in front.
  using Sets = std::vector<std::shared_ptr<const Set>>;
  /// Of a graph. More than any model has equal blocks; whoever makes new tensors for some weights
  /// in each call, and keeps them all, still ends with a bounded number of copies of the others.
  static constexpr size_t mostSets = 128;

  /// `taken` says for each input of the preparation which argument of the graph it is; `order` says
  /// so for each input of the graph's program, with ~N for result N of the preparation. `version`
  /// is the name of the attribute that counts the writes to a tensor.
  PreparedWeights(nanobind::object preparation, std::vector<int> taken, std::vector<int> order,
                  nanobind::object version, const std::vector<GraphInput> &inputs);

  const std::vector<int> &order() const { return programOrder; }
  /// What `program`, the graph's, reads in a call with `given`. Runs the preparation where these
  /// weights are new or one has changed. Throws.
  std::shared_ptr<const Set> get(Given given, const std::vector<GraphInput> &inputs,
                                 const Program &program, const dlpack::ExchangeApi &api,
                                 dlpack::Device place, int threads);
  /// How often the preparation has been run.
  int64_t runs() const { return count; }
  /// How many sets are kept.
  size_t size() const { return sets->size(); }
  int traverse(visitproc visit, void *arg) const;
  void clear();

private:
  Sets::iterator find(Given given) const;
  std::shared_ptr<const Set> take(Given given);
  void put(std::shared_ptr<const Set> set, Given given);
  Known observe(int index, nanobind::handle weight, const dlpack::ExchangeApi &api) const;
  std::shared_ptr<const Set> prepare(Given given, const std::vector<GraphInput> &inputs,
                                     const Program &program, const dlpack::ExchangeApi &api,
                                     dlpack::Device place, int threads);

  nanobind::object preparation; // a Program
  std::vector<int> taken, programOrder;
  nanobind::object version;
  std::vector<int> frozen; // arguments that are weights
  std::shared_ptr<Sets> sets;
  nanobind::object onDeath; // of a weight: drops its sets
  int64_t count = 0;
};

} // namespace tw::python
