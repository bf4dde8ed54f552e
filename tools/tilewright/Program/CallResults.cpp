// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CallResults.h"
#include "Execute.h"
#include "tools/tilewright/Failure.h"
#include <fmt/format.h>

namespace tw::cli {

/// Inputs that the call wrote to, and state that it may have changed.
static Status addMutations(const tw_program *program, tw_instance *instance,
                           std::vector<HostTensor> &inputs, std::vector<CallResult> &results) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const tw_value_info *input = tw_program_input(program, static_cast<int>(i)); input->mutated)
      results.push_back({"input", input->name, std::move(inputs[i])});
  for (int i = 0; i < tw_program_describe(program)->state_count; ++i) {
    const tw_value_info *state = tw_program_state(program, i);
    if (!state->mutated)
      continue;
    TW_ASSIGN(HostTensor value, HostTensor::create(static_cast<DType>(state->dtype),
                                                   {state->sizes, state->sizes + state->rank}));
    TW_TRY(fromRuntime(tw_instance_state_get(instance, state->name, value.bytes().data(),
                                             static_cast<int64_t>(value.byteSize()))));
    results.push_back({"state", state->name, std::move(value)});
  }
  return {};
}

Result<std::vector<CallResult>> runForResults(const tw_program *program, tw_instance *instance,
                                              std::vector<HostTensor> inputs) {
  TW_TRY(execute(instance, inputs));
  TW_ASSIGN(std::vector<HostTensor> outputs, takeOutputs(program, instance));
  std::vector<CallResult> results;
  for (size_t i = 0; i < outputs.size(); ++i)
    results.push_back(
        {"output", tw_program_output(program, static_cast<int>(i))->name, std::move(outputs[i])});
  TW_TRY(addMutations(program, instance, inputs, results));
  return results;
}

Result<std::vector<OutputComparison>> compareResults(std::span<const CallResult> results,
                                                     std::span<const CallResult> wanted,
                                                     const std::string &against,
                                                     const ToleranceOptions &tolerances) {
  std::vector<OutputComparison> comparisons;
  for (size_t i = 0; i < results.size(); ++i) {
    const CallResult &result = results[i];
    OutputComparison c;
    c.kind = result.kind;
    c.name = result.name;
    c.against = against;
    TW_ASSIGN(c.found, compare(result.value, wanted[i].value,
                               fmt::format("{} \"{}\"", c.kind, c.name), tolerances));
    comparisons.push_back(std::move(c));
  }
  return comparisons;
}

} // namespace tw::cli
