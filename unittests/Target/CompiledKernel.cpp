// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompiledKernel.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include "Import/Text/Kernels.h"
#include "Interpreter/Interpreter.h"
#include "KernelJit.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <regex>

namespace tw::target {
namespace {

/// The value, or an exception that fails the test.
template <typename T>
T must(Result<T> result) {
  if (!result)
    throw std::runtime_error(result.error().render());
  return *std::move(result);
}

BoundKernel bindCall(const KernelSignature &signature, const std::vector<HostTensor> &given) {
  std::vector<GivenArgument> arguments;
  size_t next = 0;
  for (const KernelArgument &argument : signature.arguments) {
    GivenArgument &one = arguments.emplace_back();
    if (!argument.isGiven())
      continue;
    const HostTensor &tensor = given.at(next++);
    one.dtype = tensor.dtype();
    one.sizes = {tensor.sizes().begin(), tensor.sizes().end()};
    if (!argument.isBuffer() && !info(tensor.dtype()).isFloat)
      one.integer = loadInteger(tensor.dtype(), tensor.bytes().data());
  }
  return must(bindKernel(signature, arguments));
}

/// What a kernel's slot for a scalar holds.
int64_t slotOf(const HostTensor &scalar) {
  if (info(scalar.dtype()).isFloat)
    return std::bit_cast<int64_t>(loadDouble(scalar.dtype(), scalar.bytes().data()));
  return loadInteger(scalar.dtype(), scalar.bytes().data());
}

HostTensor copyOf(const HostTensor &tensor) {
  HostTensor copy =
      must(HostTensor::create(tensor.dtype(), {tensor.sizes().begin(), tensor.sizes().end()}));
  std::memcpy(copy.bytes().data(), tensor.bytes().data(), tensor.bytes().size());
  return copy;
}

} // namespace

struct CompiledKernel::State {
  explicit State(const std::string &text)
      : context(mlir::MLIRContext::Threading::DISABLED),
        module(must(importKernelString(&context, text, "k"))),
        kernel(llvm::cast<tile::KernelOp>(must(findKernel(*module, "", "k")))),
        signature(interpreter::signatureOf(kernel)),
        code(std::regex_replace(text, std::regex("@" + signature.name + "\\("), "@k(")) {}

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tile::KernelOp kernel;
  KernelSignature signature;
  KernelJit code;
};

CompiledKernel::CompiledKernel(const std::string &text) : state(std::make_unique<State>(text)) {}
CompiledKernel::~CompiledKernel() = default;

std::vector<HostTensor> CompiledKernel::interpret(const std::vector<HostTensor> &given) {
  interpreter::Run run = must(interpreter::interpret(state->kernel, given));
  return std::move(run.results);
}

std::vector<HostTensor> CompiledKernel::run(const std::vector<HostTensor> &given) {
  const KernelSignature &signature = state->signature;
  BoundKernel bound = bindCall(signature, given);
  std::vector<HostTensor> buffers;
  std::vector<int64_t> sizes, scalars;
  size_t next = 0;
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    const HostTensor *input = argument.isGiven() ? &given.at(next++) : nullptr;
    if (!argument.isBuffer()) {
      scalars.push_back(slotOf(*input));
      continue;
    }
    buffers.push_back(input ? copyOf(*input)
                            : must(HostTensor::create(argument.dtype, bound.sizes[i])));
    for (auto [size, value] : llvm::zip(argument.sizes, bound.sizes[i]))
      if (!size.constant())
        sizes.push_back(value);
  }
  sizes.insert(sizes.end(), scalars.begin(), scalars.end());
  std::vector<void *> pointers;
  for (HostTensor &buffer : buffers)
    pointers.push_back(buffer.bytes().data());
  state->code.run(pointers, sizes);
  std::vector<HostTensor> results;
  size_t number = 0;
  for (const KernelArgument &argument : signature.arguments)
    if (argument.isBuffer() && argument.isResult())
      results.push_back(std::move(buffers[number++]));
    else
      number += argument.isBuffer();
  return results;
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
      ASSERT_TRUE(isSame) << state->signature.name << inputs[0] << ": element " << i << " is " << b
                          << ", interpreted " << a;
    }
  }
}

} // namespace tw::target
