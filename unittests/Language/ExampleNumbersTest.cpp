// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of examples/kernels, interpreted, against PyTorch: the numbers agree, and the
// interpreter finds nothing that an author cannot have meant.
#include "../Interpreter/RunKernel.h"
#include "tilewright/KernelLibrary.h"
#include <cmath>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sstream>

namespace tw {
namespace {

struct Truth {
  const char *kernel;
  std::vector<tw_kernel_binding> bindings;
  Specs inputs;
  const char *result;
};

const Truth truths[] = {
#include "ExampleTruth.inc"
};

std::vector<double> numbersOf(const std::string &text) {
  std::vector<double> numbers;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');)
    numbers.push_back(std::stod(word));
  return numbers;
}

std::string traceText(const Truth &truth) {
  void *handle = dlopen(EXAMPLE_KERNELS, RTLD_NOW | RTLD_LOCAL);
  auto *entry = reinterpret_cast<tw_kernel_library_entry *>(dlsym(handle, TW_KERNEL_LIBRARY_ENTRY));
  const tw_kernel_trace *trace =
      entry()->trace(truth.kernel, truth.bindings.data(), truth.bindings.size());
  std::string text = trace->text ? trace->text : "";
  entry()->free_trace(trace);
  return text;
}

TEST(ExampleNumbers, ArePyTorchs) {
  for (const Truth &truth : truths) {
    std::string result = runKernel(traceText(truth), truth.inputs);
    std::string where = std::string(truth.kernel) + " of " + truth.inputs[0];
    // Few keys make few trips, in which combine is hardly tried; that is no finding.
    size_t end = result.find('\n'), note = result.find("combine was hardly tried");
    ASSERT_TRUE(end == std::string::npos || note < result.find('\n', end + 1)) << where << result;
    result.resize(std::min(end, result.size()));
    ASSERT_FALSE(result.starts_with("error")) << where << "\n" << result;
    std::vector<double> have = numbersOf(result.substr(result.find('=') + 1));
    std::vector<double> want = numbersOf(truth.result);
    ASSERT_EQ(have.size(), want.size()) << where << "\n" << result;
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(have[i], want[i], 2e-6 * (1 + std::abs(want[i]))) << where << ", element " << i;
  }
}

} // namespace
} // namespace tw
