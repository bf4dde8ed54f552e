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

/// Rows up to which a product may have a block of its own, ascending: fewer than 64 take as long,
/// but for one, which needs no tensor cores.
inline constexpr int64_t productVariants[] = {1, 64, 512};

struct ProductConfiguration {
  ContractionConfiguration block;
  PipelineConfiguration pipeline;
};

/// Whether a contraction becomes a kernel that the tensor cores can take (Product/Product.h).
bool isForTensorCores(const Contraction &contraction, Precision precision = Precision::F32);
/// Whether it does once its second operand is transposed.
bool isForTensorCoresTransposed(const Contraction &contraction, Precision precision);

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
