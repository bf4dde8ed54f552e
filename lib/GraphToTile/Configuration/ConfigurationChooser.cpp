// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "GraphToTile/Configuration/SplitGradients.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "GraphToTile/Configuration/TransformedWeights.h"
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "GraphToTile/Configuration/Variants.h"

namespace tw::conversion {
using tile::Cut;

static ConfigurationSpace space(const Contraction &contraction,
                                const ConfigurationProblem &problem) {
  ConfigurationSpace space{&kernels::contractionSchema(), contractionConstraints(contraction)};
  kernels::ContractionRoles roles = rolesOf(contraction);
  if (!problem.isRhsWeight)
    space.constraints.emplace_back("packed", "0",
                                   "the second operand is no weight, which is stored as wanted");
  if (roles.rows.empty())
    space.constraints.emplace_back("rows", "1", "the first operand is a vector");
  if (roles.columns.empty())
    space.constraints.emplace_back("columns", "1", "the second operand is a vector");
  return space;
}

static ConfigurationSpace space(const LoopProgram &program, const ConfigurationProblem &) {
  return {&loopSchema(), loopConstraints(program)};
}

static ConfigurationSpace space(const Convolution &convolution,
                                const ConfigurationProblem &problem) {
  ConfigurationSpace space{&kernels::convolutionSchema(), convolutionConstraints(convolution)};
  if (!problem.isRhsWeight)
    space.constraints.emplace_back("packed", "0", "what it is multiplied by is no stored weight");
  return space;
}

static ConfigurationSpace space(const Attention &attention, const ConfigurationProblem &) {
  return {&kernels::attentionSchema(), attentionConstraints(attention)};
}

static ConfigurationSpace space(const AttentionGradient &gradient, const ConfigurationProblem &) {
  return {&kernels::attentionGradientSchema(), attentionGradientConstraints(gradient)};
}

static ConfigurationSpace space(const kernels::WinogradWeights &weights,
                                const ConfigurationProblem &) {
  return {&kernels::winogradWeightsSchema(), winogradWeightsConstraints(weights)};
}

ConfigurationSpace spaceOf(const ConfigurationProblem &problem) {
  ConfigurationSpace all =
      std::visit([&](const auto &what) { return space(what, problem); }, problem.subkernel.what);
  if (problem.variantOf)
    llvm::append_range(all.constraints, variantConstraints(problem.subkernel, *problem.variantOf));
  return all;
}

std::vector<int64_t> ConfigurationChooser::variantSizes(const ConfigurationProblem &) const {
  return {};
}

std::string whyNoCut(const Subkernel &subkernel, Cut cut) {
  auto *program = std::get_if<LoopProgram>(&subkernel.what);
  switch (cut) {
  case Cut::None:
    return {};
  case Cut::TransposeRhs: {
    auto *convolution = std::get_if<Convolution>(&subkernel.what);
    return std::holds_alternative<Contraction>(subkernel.what) ||
                   (convolution && convolution->isOutputsFirst)
               ? ""
               : "transpose_rhs is for products and for convolutions of filters that come with the "
                 "call, and this is none";
  }
  case Cut::TransformWeights: {
    auto *convolution = std::get_if<Convolution>(&subkernel.what);
    return convolution && kernels::canBeWinograd(*convolution)
               ? ""
               : "transform_weights is for convolutions of f32 with windows of 3 x 3 at every "
                 "place "
                 "and a multiple of 64 outputs, and this is none";
  }
  case Cut::SplitGradients: {
    auto *gradient = std::get_if<AttentionGradient>(&subkernel.what);
    return gradient && canSplitGradients(*gradient)
               ? ""
               : "split_gradients is for gradients of attention with respect to queries and to "
                 "keys or values, and this is none";
  }
  case Cut::SplitReductions: {
    auto dim = program ? longestReducedDim(*program) : std::nullopt;
    return dim && canSplitReductions(*program, *dim)
               ? ""
               : "split_reductions is for reductions that need one another, or are stored beside "
                 "what they reduce";
  }
  }
  return "there is no such cut";
}

std::vector<Subkernel> applyCut(Subkernel subkernel, Cut cut, int &temporaries) {
  if (cut == Cut::SplitReductions)
    return splitReductions(subkernel, *longestReducedDim(std::get<LoopProgram>(subkernel.what)),
                           temporaries);
  if (cut == Cut::SplitGradients)
    return splitGradients(subkernel);
  std::vector<Subkernel> kernels;
  if (cut == Cut::TransposeRhs)
    kernels.push_back(materializeTransposedRhs(subkernel, temporaries++));
  if (cut == Cut::TransformWeights)
    kernels.push_back(materializeTransformedWeights(subkernel, temporaries++));
  kernels.push_back(std::move(subkernel));
  return kernels;
}

} // namespace tw::conversion
