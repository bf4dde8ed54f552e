// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Execute.h"
#include "Values.h"
#include "tools/tilewright/Failure.h"

namespace tw::cli {

Status execute(tw_instance *instance, std::span<HostTensor> inputs) {
  std::vector<tw_tensor> tensors;
  for (HostTensor &input : inputs)
    tensors.push_back(toRuntime(input));
  return fromRuntime(
      tw_instance_run(instance, tensors.data(), static_cast<int32_t>(tensors.size()), nullptr, 0));
}

Result<std::vector<HostTensor>> takeOutputs(const tw_program *program, tw_instance *instance) {
  std::vector<HostTensor> outputs;
  for (int i = 0; i < tw_program_describe(program)->output_count; ++i) {
    TW_ASSIGN(HostTensor output, fromRuntime(*tw_instance_output(instance, i)));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

} // namespace tw::cli
