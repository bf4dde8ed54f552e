// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of attention for the tensor cores: which there are, and how long they take by a model of
// one multiprocessor. docs/nvidia-target.md, "Configurations".
#pragma once
#include "Kernels/Attention.h"
#include "Target/NVIDIA/Attention/AttentionPlan.h"

namespace tw::target::nvidia {

struct AttentionChoice {
  kernels::AttentionConfiguration block;
  int64_t stages = 0;
  int64_t warpGroups = 0; // with `block.splitsKeys` trips are dealt to them
  int64_t parts = 1;      // with `block.splitsKeys`: of the keys, which another launch combines
  bool isTriggerLate = false;

  int64_t partsOfKeys() const { return block.splitsKeys ? parts : 1; }
};

kernels::Numbers blockNumbers(const AttentionChoice &choice);
PipelineConfiguration pipelineOf(const AttentionChoice &choice);

/// Whether attention becomes a kernel that the tensor cores can take (Attention/Attention.h).
bool isForTensorCores(const kernels::Attention &attention);

/// What the target asks beside kernels::attentionConstraints, of attention for the tensor cores.
std::vector<kernels::Constraint> attentionConstraints(const kernels::Attention &attention,
                                                      const GpuArchitecture &architecture);
bool isLegal(const kernels::Attention &attention, const AttentionChoice &choice,
             const GpuArchitecture &architecture);

/// The fastest one by the model; nothing where none fits.
std::optional<AttentionChoice> chooseAttention(const kernels::Attention &attention,
                                               const GpuArchitecture &architecture);
/// About how many cycles all programs take.
double attentionCost(const kernels::Attention &attention, const AttentionChoice &choice,
                     const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
