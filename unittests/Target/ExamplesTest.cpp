// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of examples/kernels, compiled: PyTorch's numbers on small inputs in small blocks, and
// the interpreter's in the blocks that the examples have of themselves.
#include "CompiledKernel.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include "tilewright/KernelLibrary.h"
#include <cmath>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace tw::target {
namespace {

struct Truth {
  const char *kernel;
  std::vector<tw_kernel_binding> bindings;
  std::vector<std::string> inputs;
  const char *result;
};

const Truth truths[] = {
#include "../Language/ExampleTruth.inc"
};

std::string traced(const char *kernel, const std::vector<tw_kernel_binding> &bindings) {
  void *handle = dlopen(EXAMPLE_KERNELS, RTLD_NOW | RTLD_LOCAL);
  auto *entry = reinterpret_cast<tw_kernel_library_entry *>(dlsym(handle, TW_KERNEL_LIBRARY_ENTRY));
  const tw_kernel_trace *trace = entry()->trace(kernel, bindings.data(), bindings.size());
  std::string text = trace->text ? trace->text : trace->error;
  entry()->free_trace(trace);
  return text;
}

std::vector<HostTensor> read(const std::vector<std::string> &specs) {
  std::vector<HostTensor> tensors;
  for (const std::string &spec : specs)
    tensors.push_back(*readInput(*parseInputSpec(spec)));
  return tensors;
}

/// Kernels that several cases need are compiled once.
CompiledKernel &compiled(const std::string &text) {
  static std::map<std::string, CompiledKernel> kernels;
  return kernels.try_emplace(text, text).first->second;
}

void expectNumbers(const HostTensor &result, const char *numbers) {
  std::istringstream wanted(numbers);
  int64_t i = 0;
  for (std::string word; std::getline(wanted, word, ','); ++i) {
    ASSERT_LT(i, result.count());
    double want = std::stod(word), have = loadDouble(DType::F32, result.bytes().data() + 4 * i);
    EXPECT_NEAR(have, want, 4e-6 * (1 + std::abs(want))) << "element " << i;
  }
  EXPECT_EQ(i, result.count());
}

TEST(Examples, CompiledArePyTorchs) {
  for (const Truth &truth : truths) {
    SCOPED_TRACE(std::string(truth.kernel) + " of " + truth.inputs[0]);
    for (const std::vector<HostTensor> &results :
         compiled(traced(truth.kernel, truth.bindings)).runInAllWays(read(truth.inputs))) {
      ASSERT_EQ(results.size(), 1u);
      expectNumbers(results[0], truth.result);
    }
  }
}

struct Case {
  const char *kernel;
  std::vector<std::string> inputs;
};

const Case cases[] = {
    {"softmax", {"5x1000xf32=random:1"}},
    {"gemm", {"70x130xf32=random:1", "65x130xf32=random:2"}},
    {"flash_attention",
     {"2x40x64xf32=random:1", "2x150x64xf32=random:2", "2x150x64xf32=random:3", "f64=0.125"}},
    {"causal_flash_attention",
     {"2x70x16xf32=random:1", "2x70x16xf32=random:2", "2x70x16xf32=random:3", "f64=0.25"}},
    {"decode_attention",
     {"8x64xf32=random:1", "8x3000x64xf32=random:2", "8x3000x64xf32=random:3", "f64=0.125"}},
    {"layer_norm", {"3x129xf32=random:1", "129xf32=random:2", "129xf32=random:3", "f64=1e-5"}},
    {"add_mul_activation",
     {"17x65xf32=random:1", "17x65xf32=random:2", "65xf32=random:3", "f64=1.5"}},
    {"dlrm_interaction", {"3x9x16xf32=random:1"}},
    {"lora",
     {"33x70xf32=random:1", "65x70xf32=random:2", "65xf32=random:3", "8x70xf32=random:4",
      "65x8xf32=random:5", "f64=0.5"}},
    {"mlp",
     {"33x70xf32=random:1", "70x65xf32=random:2", "65xf32=random:3", "65x10xf32=random:4",
      "10xf32=random:5"}},
};

TEST(Examples, CompiledAsInterpreted) {
  for (const Case &one : cases) {
    SCOPED_TRACE(one.kernel);
    CompiledKernel(traced(one.kernel, {})).expectSame(one.inputs);
  }
}

} // namespace
} // namespace tw::target
