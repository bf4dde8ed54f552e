// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompiledKernel.h"
#include "Driver/CompiledKernel.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include "Import/Text/Kernels.h"
#include "Interpreter/Interpreter.h"
#include <cmath>
#include <gtest/gtest.h>

namespace tw::target {
namespace {

/// The value, or an exception that fails the test.
template <typename T>
T must(Result<T> result) {
  if (!result)
    throw std::runtime_error(result.error().render());
  return *std::move(result);
}

} // namespace

struct CompiledKernel::State {
  explicit State(const std::string &text)
      : context(mlir::MLIRContext::Threading::DISABLED),
        module(must(importKernelString(&context, text, "k"))),
        kernel(llvm::cast<tile::KernelOp>(must(findKernel(*module, "", "k")))),
        code(must(tw::CompiledKernel::compile(kernel))) {}

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tile::KernelOp kernel;
  tw::CompiledKernel code;
};

CompiledKernel::CompiledKernel(const std::string &text) : state(std::make_unique<State>(text)) {}
CompiledKernel::~CompiledKernel() = default;

std::vector<HostTensor> CompiledKernel::interpret(const std::vector<HostTensor> &given) {
  interpreter::Run run = must(interpreter::interpret(state->kernel, given));
  return std::move(run.results);
}

std::vector<HostTensor> CompiledKernel::run(const std::vector<HostTensor> &given) {
  return must(state->code.run(given, /*threads=*/2));
}

void CompiledKernel::expectSame(const std::vector<std::string> &inputs, double tolerance) {
  std::vector<HostTensor> given;
  for (const std::string &spec : inputs)
    given.push_back(must(readInput(must(parseInputSpec(spec)))));
  std::vector<HostTensor> want = interpret(given), have = run(given);
  ASSERT_EQ(want.size(), have.size());
  for (auto [x, y] : llvm::zip(want, have)) {
    ASSERT_EQ(x.count(), y.count());
    DType dtype = x.dtype();
    int64_t bytes = info(dtype).bytes;
    double largest = 0;
    auto at = [&](HostTensor &tensor, int64_t i) {
      const std::byte *p = tensor.bytes().data() + i * bytes;
      return info(dtype).isFloat ? loadDouble(dtype, p) : double(loadInteger(dtype, p));
    };
    for (int64_t i = 0; i < x.count(); ++i)
      if (std::isfinite(at(x, i)))
        largest = std::max(largest, std::abs(at(x, i)));
    double allowed = !info(dtype).isFloat ? 0 : bytes == 2 ? largest * 0.01 : largest * tolerance;
    for (int64_t i = 0; i < x.count(); ++i) {
      double a = at(x, i), b = at(y, i);
      bool isSame = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= allowed;
      ASSERT_TRUE(isSame) << state->kernel.getSymName().str() << inputs[0] << ": element " << i
                          << " is " << b << ", interpreted " << a;
    }
  }
}

} // namespace tw::target
