// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "Kernels/SplitParts.h"
#include "Target/NVIDIA/Configuration/AttentionCost.h"
#include "Target/NVIDIA/Configuration/PlainAttention.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainConvolution.h"
#include "Target/NVIDIA/Configuration/PlainLoops.h"
#include "Target/NVIDIA/Configuration/PlainProduct.h"
#include "Target/NVIDIA/Configuration/ProductCost.h"
#include "Target/NVIDIA/Product/Operand.h"
#include "Target/NVIDIA/Product/Pipeline.h"
#include "mlir/IR/DialectRegistry.h"

namespace tw::target {
namespace nvidia {
namespace {

using conversion::ConfigurationProblem;
using kernels::Attention;
using kernels::Configuration;

class Chooser : public conversion::ConfigurationChooser {
public:
  Chooser(const GpuArchitecture &architecture, Precision precision)
      : architecture(architecture), precision(precision) {}

  FusionLimits fusionLimits() const override {
    FusionLimits limits;
    limits.alignment = bufferAlignment;
    return limits;
  }

  conversion::SplitLimits splitLimits() const override { return nvidia::splitLimits(architecture); }

  tile::Cut chooseCut(const ConfigurationProblem &problem) const override {
    if (productOf(problem))
      return tile::Cut::None;
    return std::visit([&](const auto &what) { return cutOf(what, problem.isRhsWeight); },
                      problem.subkernel.what);
  }

  Configuration choose(const ConfigurationProblem &problem) const override {
    if (const Attention *attention = attentionOf(problem)) {
      AttentionChoice chosen = *chooseAttention(*attention, architecture);
      return {"attention", blockNumbers(chosen), schemaName, pipelineNumbers(pipelineOf(chosen))};
    }
    if (const Contraction *product = productOf(problem)) {
      ProductConfiguration chosen = chooseProduct(*product, architecture);
      return {"contraction", blockNumbers(chosen), schemaName, pipelineNumbers(chosen.pipeline)};
    }
    return std::visit([&](const auto &what) { return choosePlain(what, problem); },
                      problem.subkernel.what);
  }

  std::vector<Constraint> constraints(const ConfigurationProblem &problem) const override {
    if (const Attention *attention = attentionOf(problem))
      return attentionConstraints(*attention, architecture);
    const Contraction *product = productOf(problem);
    return product ? productConstraints(*product, architecture)
                   : plainConstraints(problem.subkernel);
  }

  int64_t transformedColumns() const override { return panelOutputs; }
  std::optional<int64_t> rowAlignment() const override { return tmaAlignment; }

  std::vector<int64_t> variantSizes(const ConfigurationProblem &problem) const override {
    if (!std::holds_alternative<Contraction>(problem.subkernel.what))
      return {};
    return productOf(problem)
               ? std::vector<int64_t>(std::begin(productVariants), std::end(productVariants))
               : std::vector<int64_t>(std::begin(plainVariants), std::end(plainVariants));
  }

  std::optional<double> cost(const ConfigurationProblem &problem,
                             const Configuration &configuration) const override {
    const kernels::Numbers &own = configuration.targetFields.numbers;
    auto field = [&](const char *name) {
      auto found = own.find(name);
      return found == own.end() ? 0 : found->second;
    };
    const kernels::Numbers &fields = configuration.fields.numbers;
    auto split = fields.find(kernels::splitPartsName);
    int64_t parts = split == fields.end() ? 1 : std::max<int64_t>(1, split->second);
    if (const Attention *attention = attentionOf(problem))
      return attentionCost(*attention,
                           {kernels::attentionFrom(fields), field(stagesField),
                            field(warpGroupsField), parts, field(lateTriggerField) != 0},
                           architecture);
    if (const Contraction *product = productOf(problem))
      return productCost(*product,
                         {kernels::contractionFrom(fields),
                          {field(stagesField), field(warpGroupsField), field(pingPongField) != 0},
                          parts},
                         architecture);
    return std::visit([&](const auto &what) { return costOfPlain(what, fields); },
                      problem.subkernel.what);
  }

private:
  //===--- the plain lowering -------------------------------------------------===//

  tile::Cut cutOf(const Contraction &contraction, bool isRhsWeight) const {
    if (isAlignmentProfitable(contraction, isRhsWeight, precision, architecture))
      return tile::Cut::AlignRows;
    bool isForTensorCores = hasTensorCores(architecture) && isRhsWeight &&
                            isForTensorCoresTransposed(contraction, precision);
    return isForTensorCores || isTransposeProfitable(contraction, isRhsWeight, architecture)
               ? tile::Cut::TransposeRhs
               : tile::Cut::None;
  }
  tile::Cut cutOf(const kernels::Convolution &convolution, bool isWeight) const {
    if (isWeight && isTransformProfitable(convolution, architecture))
      return tile::Cut::TransformWeights;
    // Threads next to each other read outputs next to each other.
    return convolution.isOutputsFirst ? tile::Cut::TransposeRhs : tile::Cut::None;
  }
  tile::Cut cutOf(const kernels::AttentionGradient &gradient, bool) const {
    return areGradientsBetterApart(gradient) ? tile::Cut::SplitGradients : tile::Cut::None;
  }
  tile::Cut cutOf(const conversion::LoopProgram &program, bool) const {
    auto dim = sharedDim(program, architecture);
    return dim && canSplitReductions(program, *dim) ? tile::Cut::SplitReductions : tile::Cut::None;
  }
  tile::Cut cutOf(const auto &, bool) const { return tile::Cut::None; }

  Configuration choosePlain(const conversion::LoopProgram &program,
                            const ConfigurationProblem &) const {
    return {"loops", conversion::fieldsOf(choosePlainLoops(program, architecture)), {}, {}};
  }
  Configuration choosePlain(const Contraction &contraction,
                            const ConfigurationProblem &problem) const {
    return plain("contraction",
                 problem.variantOf
                     ? choosePlainVariant(
                           contraction, kernels::contractionFrom(problem.variantOf->fields.numbers),
                           architecture)
                     : choosePlainProduct(contraction, problem.isRhsWeight, architecture));
  }
  Configuration choosePlain(const kernels::Convolution &convolution,
                            const ConfigurationProblem &) const {
    return plain("convolution", choosePlainConvolution(convolution, architecture));
  }
  Configuration choosePlain(const kernels::WinogradWeights &weights,
                            const ConfigurationProblem &) const {
    return plain("winograd_weights", choosePlainWinogradWeights(weights));
  }
  Configuration choosePlain(const Attention &attention, const ConfigurationProblem &) const {
    return plain("attention", choosePlainAttention(attention, architecture));
  }
  Configuration choosePlain(const kernels::AttentionGradient &gradient,
                            const ConfigurationProblem &) const {
    return plain("attention_gradient", choosePlainGradient(gradient, architecture));
  }
  static Configuration plain(const char *kind, const auto &chosen) {
    return {kind, kernels::numbersOf(chosen), {}, {}};
  }

  std::optional<double> costOfPlain(const Contraction &contraction,
                                    const kernels::Numbers &fields) const {
    return plainProductCost(contraction, kernels::contractionFrom(fields), architecture);
  }
  std::optional<double> costOfPlain(const kernels::Convolution &convolution,
                                    const kernels::Numbers &fields) const {
    return plainConvolutionCost(convolution, kernels::convolutionFrom(fields), architecture);
  }
  std::optional<double> costOfPlain(const Attention &attention,
                                    const kernels::Numbers &fields) const {
    return plainAttentionCost(attention, kernels::attentionFrom(fields), architecture);
  }
  std::optional<double> costOfPlain(const kernels::AttentionGradient &gradient,
                                    const kernels::Numbers &fields) const {
    return plainGradientCost(gradient, kernels::attentionGradientFrom(fields), architecture);
  }
  std::optional<double> costOfPlain(const auto &, const kernels::Numbers &) const {
    return std::nullopt;
  }

  const Attention *attentionOf(const ConfigurationProblem &problem) const {
    auto *attention = std::get_if<Attention>(&problem.subkernel.what);
    return attention && hasTensorCores(architecture) && isForTensorCores(*attention) &&
                   chooseAttention(*attention, architecture)
               ? attention
               : nullptr;
  }

  const Contraction *productOf(const ConfigurationProblem &problem) const {
    auto *contraction = std::get_if<Contraction>(&problem.subkernel.what);
    return contraction && hasTensorCores(architecture) && isForTensorCores(*contraction, precision)
               ? contraction
               : nullptr;
  }

  const GpuArchitecture &architecture;
  Precision precision;
};

} // namespace
} // namespace nvidia

std::unique_ptr<const conversion::ConfigurationChooser>
createNVIDIAChooser(const GpuArchitecture &architecture, Precision precision) {
  return std::make_unique<nvidia::Chooser>(architecture, precision);
}

void registerNVIDIAConfigurations(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *, tile::TileDialect *dialect) {
    dialect->registerSchema(
        {nvidia::schemaName,
         {{nvidia::stagesField, ConfigurationField::Number, 1,
           "stages of the ring in shared memory that TMA fills"},
          {nvidia::warpGroupsField, ConfigurationField::Number, 1, "warp groups that multiply"},
          {nvidia::pingPongField, ConfigurationField::Flag, 0,
           "whether each warp group has programs of its own, in turns; else "
           "they share a program's rows"},
          {nvidia::lateTriggerField, ConfigurationField::Flag, 0,
           "whether the launch behind may begin only when results are about to be stored"}}});
  });
}

} // namespace tw::target
