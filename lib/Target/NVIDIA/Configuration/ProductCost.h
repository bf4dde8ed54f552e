// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of products for the tensor cores: which there are, and how long they take by a model of
// one multiprocessor. docs/nvidia-target.md, "Configurations".
#pragma once
#include "Kernels/Contraction.h"
#include "Target/NVIDIA/Configuration/Precision.h"
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {
using kernels::Constraint;
using kernels::Contraction;
using kernels::ContractionConfiguration;

/// Rows up to which a product may have a block of its own, ascending: 16 are as many products as
/// 64, but fewer bytes; one needs no tensor cores.
inline constexpr int64_t productVariants[] = {1, 16, 64, 256, 512};

struct ProductConfiguration {
  ContractionConfiguration block;
  PipelineConfiguration pipeline;
  /// With `block.splitsK`: in how many parts the sum's terms are summed, in programs of their own,
  /// which another launch combines (Tile/SplitLoops.h).
  int64_t parts = 1;

  int64_t partsOfSum() const { return block.splitsK ? parts : 1; }
};

/// All fields of a configuration.
kernels::Numbers blockNumbers(const ProductConfiguration &configuration);
kernels::Numbers pipelineNumbers(const PipelineConfiguration &configuration);

/// Whether a contraction becomes a kernel that the tensor cores can take (Product/Product.h).
bool isForTensorCores(const Contraction &contraction, Precision precision = Precision::F32);
/// Whether it does once its second operand is transposed.
bool isForTensorCoresTransposed(const Contraction &contraction, Precision precision);
/// Whether it is faster on them, once operands whose rows are no multiple of 16 bytes are copied,
/// than it is without them. The copy of a weight is made when the model is compiled.
bool isAlignmentProfitable(const Contraction &contraction, bool isRhsWeight, Precision precision,
                           const GpuArchitecture &architecture);

/// What the target asks beside kernels::contractionConstraints, over the configuration's fields and
/// its own, of a contraction for the tensor cores.
std::vector<Constraint> productConstraints(const Contraction &contraction,
                                           const GpuArchitecture &architecture);
bool isLegal(const Contraction &contraction, const ProductConfiguration &configuration,
             const GpuArchitecture &architecture);

/// The fastest one by the model.
ProductConfiguration chooseProduct(const Contraction &contraction,
                                   const GpuArchitecture &architecture);
/// About how many cycles all programs take.
double productCost(const Contraction &contraction, const ProductConfiguration &configuration,
                   const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
