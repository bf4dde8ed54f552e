// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of a compiled graph that is frozen: what the preparation made of them is kept, and
// made again when a weight is another tensor, lies elsewhere or has been written to.
#pragma once
#include "GraphArguments.h"
#include "Program.h"
#include <memory>
#include <span>

namespace tw::python {

class PreparedWeights {
public:
  /// What runs read; shared with those that still do when another is made.
  struct Values {
    struct Tensor {
      tw_tensor tensor = {};
      std::vector<int64_t> sizes; // of `tensor`
    };
    std::vector<Tensor> tensors; // one for each input of the program; only frozen ones are set
    std::vector<nanobind::object> kept; // what they point to, but for the weights themselves
  };

  /// `taken` says for each input of the preparation which argument of the graph it is; `order` says
  /// so for each input of the graph's program, with ~N for result N of the preparation.
  PreparedWeights(nanobind::object preparation, std::vector<int> taken, std::vector<int> order,
                  const std::vector<GraphInput> &inputs);

  const std::vector<int> &order() const { return programOrder; }
  /// What `program`, the graph's, reads in a call with `given`. Runs the preparation where a weight
  /// has changed. Throws.
  std::shared_ptr<const Values> get(Given given, const std::vector<GraphInput> &inputs,
                                    const Program &program, const dlpack::ExchangeApi &api,
                                    dlpack::Device place, int threads);
  /// How often the preparation has been run.
  int64_t runs() const { return count; }
  int traverse(visitproc visit, void *arg) const;
  void clear();

private:
  /// A weight as it was when it was prepared.
  struct Known {
    int index; // of the argument
    nanobind::object reference;
    const void *object = nullptr, *data = nullptr;
    int64_t version = 0;
  };
  static bool observe(Known &known, nanobind::handle weight, const dlpack::ExchangeApi &api);
  std::shared_ptr<const Values> prepare(Given given, const std::vector<GraphInput> &inputs,
                                        const Program &program, const dlpack::ExchangeApi &api,
                                        dlpack::Device place, int threads);

  nanobind::object preparation; // a Program
  std::vector<int> taken, programOrder;
  std::vector<Known> known;
  std::shared_ptr<const Values> values;
  int64_t count = 0;
};

} // namespace tw::python
