// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunKernel.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include "Import/Text/Kernels.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw {

static std::string resultText(const HostTensor &tensor) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const std::byte *p = tensor.bytes().data() + i * info(tensor.dtype()).bytes;
    if (tensor.dtype() == DType::F64)
      values.push_back(fmt::format("{}", loadDouble(tensor.dtype(), p)));
    else if (info(tensor.dtype()).isFloat)
      values.push_back(fmt::format("{}", float(loadDouble(tensor.dtype(), p))));
    else
      values.push_back(fmt::format("{}", loadInteger(tensor.dtype(), p)));
  }
  return fmt::format("{}={}", tensor.typeText(), fmt::join(values, ","));
}

static std::string errorText(const Diagnostic &error) {
  return fmt::format("error {}: {}", info(error.code).number, error.message);
}

/// "12" of "k:12:3".
static std::string lineOf(const std::string &place) {
  size_t first = place.find(':'), second = place.rfind(':');
  return first == place.npos ? "" : place.substr(first + 1, second - first - 1);
}

static std::string findingText(const interpreter::Finding &finding) {
  std::string text = fmt::format("\n{} {} @{}", info(finding.problem.code).number,
                                 finding.problem.message, lineOf(finding.problem.location));
  if (!finding.program.empty())
    text += fmt::format(" [{}]", fmt::join(finding.program, ", "));
  return finding.others ? text + fmt::format(" +{}", finding.others) : text;
}

static Result<interpreter::Run> run(const std::string &text, const Specs &inputs,
                                    const interpreter::Options &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  TW_ASSIGN(auto module, importKernelString(&context, text, "k"));
  TW_ASSIGN(mlir::Operation * kernel, findKernel(*module, "", "k"));
  std::vector<HostTensor> tensors;
  for (const std::string &input : inputs) {
    TW_ASSIGN(InputSpec spec, parseInputSpec(input));
    TW_ASSIGN(HostTensor tensor, readInput(spec));
    tensors.push_back(std::move(tensor));
  }
  return interpreter::interpret(llvm::cast<tile::KernelOp>(kernel), tensors, options);
}

std::string runKernel(const std::string &text, const Specs &inputs,
                      const interpreter::Options &options) {
  auto done = run(text, inputs, options);
  if (!done)
    return errorText(done.error());
  std::vector<std::string> results;
  for (const HostTensor &result : done->results)
    results.push_back(resultText(result));
  std::string all = fmt::format("{}", fmt::join(results, "; "));
  for (const interpreter::Finding &finding : done->findings)
    all += findingText(finding);
  for (const std::string &note : done->notes)
    all += "\n" + note;
  return all;
}

std::string runBody(const std::string &arguments, const std::string &body, const Specs &inputs,
                    const interpreter::Options &options) {
  return runKernel("tile.kernel @k(" + arguments +
                       ") grid [1] {\n%c0 = arith.constant 0 : index\n" + body + "\n}\n",
                   inputs, options);
}

} // namespace tw
