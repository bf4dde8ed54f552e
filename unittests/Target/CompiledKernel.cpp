// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompiledKernel.h"
#include "Driver/KernelTool/CompiledKernel.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include "Import/Text/Kernels.h"
#include "Interpreter/Interpreter.h"
#include "KernelJit.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "mlir/IR/DialectRegistry.h"
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

mlir::DialectRegistry configurations() {
  mlir::DialectRegistry registry;
  conversion::registerConfigurations(registry);
  registerNVIDIAConfigurations(registry);
  return registry;
}

} // namespace

struct CompiledKernel::State {
  State(const std::string &text, const std::string &target)
      : context(configurations(), mlir::MLIRContext::Threading::DISABLED),
        module(must(importKernelString(&context, text, "k"))),
        kernel(llvm::cast<tile::KernelOp>(must(findKernel(*module, "", "k")))),
        code(must(tw::CompiledKernel::compile(kernel, target))) {}

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tile::KernelOp kernel;
  tw::CompiledKernel code;
};

CompiledKernel::CompiledKernel(const std::string &text, const std::string &cpu)
    : state(std::make_unique<State>(text, testedTarget(cpu))) {}
CompiledKernel::~CompiledKernel() = default;

std::vector<HostTensor> CompiledKernel::interpret(const std::vector<HostTensor> &given) {
  interpreter::Run run = must(interpreter::interpret(state->kernel, given));
  for (const interpreter::Finding &finding : run.findings)
    ADD_FAILURE() << finding.problem.render();
  return std::move(run.results);
}

std::vector<HostTensor> CompiledKernel::run(const std::vector<HostTensor> &given) {
  return must(state->code.run(given, /*threads=*/2));
}

std::vector<std::vector<HostTensor>>
CompiledKernel::runInAllWays(const std::vector<HostTensor> &given) {
  std::vector<std::vector<HostTensor>> all;
  for (const Way &choose : waysToRun()()) {
    choose();
    all.push_back(run(given));
  }
  return all;
}

std::function<std::vector<Way>()> &waysToRun() {
  static std::function<std::vector<Way>()> ways = [] { return std::vector<Way>{[] {}}; };
  return ways;
}

static double elementOf(const HostTensor &tensor, int64_t i) {
  const std::byte *p = tensor.bytes().data() + i * info(tensor.dtype()).bytes;
  return info(tensor.dtype()).isFloat ? loadDouble(tensor.dtype(), p)
                                      : double(loadInteger(tensor.dtype(), p));
}

static void expectNear(const HostTensor &want, const HostTensor &have, double allowed,
                       const std::string &what) {
  ASSERT_EQ(want.sizes(), have.sizes());
  for (int64_t i = 0; i < want.count(); ++i) {
    double a = elementOf(want, i), b = elementOf(have, i);
    bool isSame = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= allowed;
    ASSERT_TRUE(isSame) << what << ": element " << i << " is " << b << ", interpreted " << a
                        << "; they may differ by " << allowed;
  }
}

void CompiledKernel::expectAll(const std::vector<HostTensor> &want,
                               const std::vector<HostTensor> &given,
                               const std::vector<double> &allowed, const std::string &what) {
  for (const std::vector<HostTensor> &have : runInAllWays(given)) {
    ASSERT_EQ(want.size(), have.size());
    for (size_t i = 0; i < want.size(); ++i)
      expectNear(want[i], have[i], allowed[i], what + " result " + std::to_string(i));
  }
}

void CompiledKernel::expectSame(const std::vector<HostTensor> &given,
                                const std::vector<double> &allowed) {
  expectAll(interpret(given), given, allowed, "");
}

void CompiledKernel::expectSame(const std::vector<std::string> &inputs, double tolerance) {
  std::vector<HostTensor> given;
  for (const std::string &spec : inputs)
    given.push_back(must(readInput(must(parseInputSpec(spec)))));
  std::vector<HostTensor> want = must(interpreter::interpret(state->kernel, given)).results;
  std::vector<double> allowed;
  for (const HostTensor &x : want) {
    double largest = 0;
    for (int64_t i = 0; i < x.count(); ++i)
      if (double value = std::abs(elementOf(x, i)); std::isfinite(value))
        largest = std::max(largest, value);
    DTypeInfo dtype = info(x.dtype());
    allowed.push_back(!dtype.isFloat ? 0 : largest * (dtype.bytes == 2 ? 0.01 : tolerance));
  }
  expectAll(want, given, allowed, state->kernel.getSymName().str() + inputs[0]);
}

} // namespace tw::target
