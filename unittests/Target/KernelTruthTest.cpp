// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of one operation each, interpreted and compiled: the numbers that PyTorch gives, stored.
#include "CompiledKernel.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include "TruthKernels.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace tw::target {
namespace {

/// What PyTorch's numbers and ours may be apart, when the largest is `largest`.
double allowed(DType dtype, double largest) {
  switch (dtype) {
  case DType::F16:
    return 2e-3 * largest;
  case DType::BF16:
    return 1.6e-2 * largest;
  case DType::F32:
    return 4e-6 * largest;
  default:
    return dtype == DType::F64 ? 2e-8 * largest : 0; // nine digits are stored
  }
}

void expectNumbers(const HostTensor &have, const std::string &text) {
  std::vector<double> want;
  std::istringstream stream(text);
  double largest = 1;
  for (std::string word; std::getline(stream, word, ',');) {
    want.push_back(std::stod(word));
    largest = std::max(largest, std::abs(want.back()));
  }
  ASSERT_EQ(have.count(), int64_t(want.size()));
  for (int64_t i = 0; i < have.count(); ++i) {
    const std::byte *p = have.bytes().data() + i * info(have.dtype()).bytes;
    double value = info(have.dtype()).isFloat ? loadDouble(have.dtype(), p)
                                              : double(loadInteger(have.dtype(), p));
    ASSERT_NEAR(value, want[size_t(i)], allowed(have.dtype(), largest)) << "element " << i;
  }
}

TEST(KernelTruth, InterpretedAndCompiled) {
  ASSERT_GE(kernelTruths().size(), 200U);
  std::map<std::string, CompiledKernel> kernels;
  for (const Truth &truth : kernelTruths()) {
    std::string name = std::string(truth.kernel) + " of " + truth.dtype;
    SCOPED_TRACE(name + " " + truth.sizes[0]);
    try {
      CompiledKernel &kernel =
          kernels.try_emplace(name, truthKernel(truth.kernel, truth.dtype)).first->second;
      std::vector<HostTensor> inputs;
      for (const char *sizes : truth.sizes)
        inputs.push_back(
            *readInput(*parseInputSpec(std::string(sizes) + "x" + truth.dtype +
                                       "=random:" + std::to_string(inputs.size() + 1))));
      expectNumbers(kernel.interpret(inputs).at(0), truth.result);
      for (const std::vector<HostTensor> &results : kernel.runInAllWays(inputs))
        expectNumbers(results.at(0), truth.result);
    } catch (const std::exception &problem) {
      ADD_FAILURE() << problem.what();
    }
  }
}

} // namespace
} // namespace tw::target
