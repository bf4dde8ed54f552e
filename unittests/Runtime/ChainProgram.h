// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program written by hand (fake/chain.c), whose entry counts how often it runs, on the tests'
// GPU.
#pragma once
#include "OnDevice.h"

namespace tw::testing {

/// What chain.c computes.
struct Chain {
  std::vector<float> total = {1, 2, 3, 4}, steps = {0, 0, 0, 0};
  std::vector<float> run(const std::vector<float> &x, int64_t amount, bool twice) {
    std::vector<float> y;
    for (size_t i = 0; i < x.size(); ++i) {
      float w = float(i % 4 + 1), t = x[i] * w;
      if (i < 4)
        total[i] += t;
      float v = t + (i < 4 ? total[i] : 0);
      y.push_back((twice ? v * w : v) + float(amount < 100 ? amount : -amount));
    }
    for (float &step : steps)
      ++step;
    return y;
  }
};

inline std::vector<float> ascending(size_t count, float first = 1) {
  std::vector<float> x;
  for (size_t i = 0; i < count; ++i)
    x.push_back(first + float(i));
  return x;
}

inline uint64_t address(const Tensor &tensor) { return reinterpret_cast<uint64_t>(tensor.data()); }

/// An instance, and calls of it with memory of the device.
struct Running {
  explicit Running(tw_graphs graphs = TW_GRAPHS_AUTO)
      : program(path("chain"), "cuda"), instance(program, 1, graphs) {}
  Gpu gpu; // lives longest
  Program program;
  Instance instance;
  int64_t amount = 7, calls = 0;
  bool twice = false;
  Tensor mark = gpu.tensor({-1, -1});

  void enqueue(const Tensor &x, const Tensor &y, cu_stream stream = nullptr) {
    instance.enqueue(stream, {x, Tensor::scalar(amount), Tensor::scalar(twice)},
                     std::vector{y, mark, Tensor::scalar(calls)});
  }
  Tensor room(size_t count) { return gpu.tensor(std::vector<float>(count, -1)); }
  /// Until there is a graph that these calls launch.
  void warmUp(const Tensor &x, const Tensor &y) {
    for (int i = 0; i < 3; ++i)
      enqueue(x, y);
    instance.wait();
    ASSERT_STREQ(instance.graphs().reason, "");
  }
  std::vector<float> state(const char *name) {
    std::vector<float> values(4);
    instance.getState(name, std::span(values));
    return values;
  }
};

} // namespace tw::testing
