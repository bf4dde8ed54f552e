// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "GraphToTile/Configuration/AlignedRows.h"
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "GraphToTile/Configuration/SplitGradients.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "GraphToTile/Configuration/TransformedWeights.h"
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "GraphToTile/Configuration/Variants.h"

namespace tw::conversion {
using tile::Cut;

/// The size, or of one that calls bring what is worth a field of its own at most.
static int64_t most(const Extent &extent) {
  constexpr int64_t unknown = 4096;
  return std::max<int64_t>(1, extent.size.value_or(extent.most.value_or(unknown)));
}

/// That of the innermost of `dims`, along which a block extends.
static int64_t most(const Contraction &contraction, const std::vector<int> &dims) {
  return dims.empty() ? 1 : most(contraction.dims[dims.back()]);
}

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
  int64_t rows = most(contraction, roles.rows), columns = most(contraction, roles.columns);
  space.most = {{"rows", rows},
                {"columns", columns},
                {"row_programs", rows},
                {"column_programs", columns},
                {"panels", columns},
                {"k_block", most(contraction, roles.sums)},
                {"column_parts", contraction.columnParts}};
  return space;
}

static ConfigurationSpace space(const LoopProgram &program, const ConfigurationProblem &) {
  ConfigurationSpace space{&loopSchema(), loopConstraints(program)};
  int64_t longest = 1;
  for (size_t dim = 0; dim < program.dims.size(); ++dim) {
    int64_t size = most(program.dims[dim]);
    longest = std::max(longest, size);
    for (const char *list : {"block", "programs", "chunk"})
      space.most[kernels::ListElement{list, dim}.symbol()] = size;
  }
  space.most["parts"] = longest;
  return space;
}

static ConfigurationSpace space(const Convolution &convolution,
                                const ConfigurationProblem &problem) {
  ConfigurationSpace space{&kernels::convolutionSchema(), convolutionConstraints(convolution)};
  if (!problem.isRhsWeight)
    space.constraints.emplace_back("packed", "0", "what it is multiplied by is no stored weight");
  const auto &spatial = convolution.spatial;
  int64_t width = most(spatial.back().output), columns = most(convolution.outputs);
  space.most = {{"width", width},
                {"height", spatial.size() > 1 ? most(spatial[spatial.size() - 2].output) : 1},
                {"columns", columns},
                {"width_programs", width},
                {"column_programs", columns},
                {"channel_step", most(convolution.channels)}};
  return space;
}

static ConfigurationSpace space(const Attention &attention, const ConfigurationProblem &) {
  int64_t queries = most(attention.dims[attention.queries]);
  std::optional<int> groups = groupDim(attention);
  return {&kernels::attentionSchema(),
          attentionConstraints(attention),
          {{"queries", queries},
           {"keys", most(attention.dims[attention.keys])},
           {"groups", groups ? most(attention.dims[*groups]) : 1},
           {"query_programs", queries}}};
}

static ConfigurationSpace space(const AttentionGradient &gradient, const ConfigurationProblem &) {
  return {&kernels::attentionGradientSchema(),
          attentionGradientConstraints(gradient),
          {{"queries", most(gradient.dims[gradient.queries])},
           {"keys", most(gradient.dims[gradient.keys])}}};
}

static ConfigurationSpace space(const kernels::WinogradWeights &weights,
                                const ConfigurationProblem &) {
  return {&kernels::winogradWeightsSchema(),
          winogradWeightsConstraints(weights),
          {{"channels", weights.channels}}};
}

ConfigurationSpace spaceOf(const ConfigurationProblem &problem) {
  ConfigurationSpace all =
      std::visit([&](const auto &what) { return space(what, problem); }, problem.subkernel.what);
  if (problem.variantOf)
    llvm::append_range(all.constraints, variantConstraints(problem.subkernel, *problem.variantOf));
  if (problem.workers > 0)
    llvm::append_range(all.constraints, workersConstraints(*problem.variantOf));
  return all;
}

std::optional<ConfigurationChooser::ForWorkers>
ConfigurationChooser::chooseForWorkers(const ConfigurationProblem &, const Configuration &) const {
  return std::nullopt;
}

std::vector<int64_t> ConfigurationChooser::variantSizes(const ConfigurationProblem &) const {
  return {};
}

std::string whyNoCut(const Subkernel &subkernel, Cut cut, const ConfigurationChooser &chooser) {
  auto *program = std::get_if<LoopProgram>(&subkernel.what);
  switch (cut) {
  case Cut::None:
    return {};
  case Cut::TransposeRhs: {
    auto *convolution = std::get_if<Convolution>(&subkernel.what);
    auto *product = std::get_if<Contraction>(&subkernel.what);
    return (product && !readsWindows(*product)) || (convolution && convolution->isOutputsFirst)
               ? ""
               : "transpose_rhs is for products and for convolutions of filters that come with the "
                 "call, and this is none";
  }
  case Cut::TransformWeights: {
    auto *convolution = std::get_if<Convolution>(&subkernel.what);
    int64_t columns = chooser.transformedColumns();
    return convolution && kernels::canBeWinograd(*convolution, columns)
               ? ""
               : "transform_weights is for convolutions of f32 with windows of 3 x 3 at every "
                 "place and a multiple of " +
                     std::to_string(columns) + " outputs, and this is none";
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
  case Cut::AlignRows: {
    auto *product = std::get_if<Contraction>(&subkernel.what);
    std::optional<int64_t> bytes = chooser.rowAlignment();
    if (!bytes)
      return "align_rows is for targets whose products want aligned rows, and this one's do not";
    return product && canAlignRows(*product, *bytes)
               ? ""
               : "align_rows is for products of operands with rows of a known length that is no "
                 "multiple of " +
                     std::to_string(*bytes) + " bytes, and this is none";
  }
  }
  return "there is no such cut";
}

std::vector<Subkernel> applyCut(Subkernel subkernel, Cut cut, int &temporaries,
                                const ConfigurationChooser &chooser) {
  if (cut == Cut::SplitReductions)
    return splitReductions(subkernel, *longestReducedDim(std::get<LoopProgram>(subkernel.what)),
                           temporaries);
  if (cut == Cut::SplitGradients)
    return splitGradients(subkernel);
  std::vector<Subkernel> kernels;
  if (cut == Cut::AlignRows)
    kernels = materializeAlignedRows(subkernel, *chooser.rowAlignment(), temporaries);
  if (cut == Cut::TransposeRhs)
    kernels.push_back(materializeTransposedRhs(subkernel, temporaries++));
  if (cut == Cut::TransformWeights)
    kernels.push_back(
        materializeTransformedWeights(subkernel, temporaries++, chooser.transformedColumns()));
  kernels.push_back(std::move(subkernel));
  return kernels;
}

std::optional<std::vector<Subkernel>> applyCuts(std::vector<Subkernel> subkernels, int &temporaries,
                                                tile::DispatchConfigurationAttr configured,
                                                const ConfigurationChooser &chooser,
                                                std::string &why) {
  why = "its configuration is of another form";
  if (configured.getCuts().size() != subkernels.size())
    return std::nullopt;
  std::vector<Subkernel> kernels;
  for (auto [subkernel, cut] : llvm::zip(subkernels, configured.getCuts())) {
    if (!whyNoCut(subkernel, cut.getValue(), chooser).empty())
      return std::nullopt;
    for (Subkernel &kernel : applyCut(std::move(subkernel), cut.getValue(), temporaries, chooser))
      kernels.push_back(std::move(kernel));
  }
  if (configured.getKernels().size() != kernels.size())
    return std::nullopt;
  for (auto [kernel, configuration] : llvm::zip(kernels, configured.getKernels()))
    if (configuration.getKind() != spaceOf({kernel, true}).schema->name)
      return std::nullopt;
  why.clear();
  return kernels;
}

} // namespace tw::conversion
