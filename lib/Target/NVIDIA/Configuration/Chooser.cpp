// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Target/NVIDIA/Configuration/AttentionCost.h"
#include "Target/NVIDIA/Configuration/LoopCost.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/ProductCost.h"
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
  Chooser(const GpuArchitecture &architecture,
          std::shared_ptr<const conversion::ConfigurationChooser> others, Precision precision)
      : architecture(architecture), others(std::move(others)), precision(precision) {}

  FusionLimits fusionLimits() const override {
    FusionLimits limits;
    limits.alignment = bufferAlignment;
    return limits;
  }

  conversion::SplitLimits splitLimits() const override { return nvidia::splitLimits; }

  tile::Cut chooseCut(const ConfigurationProblem &problem) const override {
    if (productOf(problem))
      return tile::Cut::None;
    auto *contraction = std::get_if<Contraction>(&problem.subkernel.what);
    if (contraction && problem.isRhsWeight && isForTensorCoresTransposed(*contraction, precision))
      return tile::Cut::TransposeRhs; // when the model is compiled
    tile::Cut cut = others->chooseCut(problem);
    auto *convolution = std::get_if<kernels::Convolution>(&problem.subkernel.what);
    bool readsGiven = convolution && convolution->isOutputsFirst && cut == tile::Cut::None;
    return readsGiven ? tile::Cut::TransposeRhs : cut; // threads read neighbouring outputs
  }

  Configuration choose(const ConfigurationProblem &problem) const override {
    if (const Attention *attention = attentionOf(problem)) {
      AttentionChoice chosen = *chooseAttention(*attention, architecture);
      return {"attention", kernels::numbersOf(chosen.block), schemaName,
              numbersOf({chosen.stages, chosen.warpGroups})};
    }
    const Contraction *product = productOf(problem);
    if (!product)
      return chooseOther(problem);
    ProductConfiguration chosen = chooseProduct(*product, architecture);
    return {"contraction", kernels::numbersOf(chosen.block), schemaName,
            numbersOf(chosen.pipeline)};
  }

  std::vector<Constraint> constraints(const ConfigurationProblem &problem) const override {
    if (const Attention *attention = attentionOf(problem))
      return attentionConstraints(*attention, architecture);
    const Contraction *product = productOf(problem);
    return product ? productConstraints(*product, architecture)
                   : plainConstraints(problem.subkernel);
  }

  int64_t transformedColumns() const override { return panelOutputs; }

  std::vector<int64_t> variantSizes(const ConfigurationProblem &problem) const override {
    bool isPlain =
        std::holds_alternative<Contraction>(problem.subkernel.what) && !productOf(problem);
    return isPlain ? std::vector<int64_t>(std::begin(plainVariants), std::end(plainVariants))
                   : std::vector<int64_t>();
  }

  std::optional<double> cost(const ConfigurationProblem &problem,
                             const Configuration &configuration) const override {
    const Contraction *product = productOf(problem);
    const Attention *attention = attentionOf(problem);
    if (!product && !attention)
      return others->cost(problem, configuration);
    auto field = [&](const char *name) {
      const kernels::Numbers &fields = configuration.targetFields.numbers;
      auto found = fields.find(name);
      return found == fields.end() ? 0 : found->second;
    };
    if (attention)
      return attentionCost(*attention,
                           {kernels::attentionFrom(configuration.fields.numbers),
                            field(stagesField), field(warpGroupsField)},
                           architecture);
    return productCost(*product,
                       {kernels::contractionFrom(configuration.fields.numbers),
                        {field(stagesField), field(warpGroupsField), field(pingPongField) != 0}},
                       architecture);
  }

private:
  static kernels::Numbers numbersOf(const PipelineConfiguration &pipeline) {
    return {{stagesField, pipeline.stages},
            {warpGroupsField, pipeline.warpGroups},
            {pingPongField, pipeline.isPingPong}};
  }

  /// The common fields of what `others` chooses: those of another target mean nothing here.
  Configuration chooseOther(const ConfigurationProblem &problem) const {
    Configuration chosen = others->choose(problem);
    chosen.target.clear();
    chosen.targetFields = {};
    if (auto *program = std::get_if<conversion::LoopProgram>(&problem.subkernel.what)) {
      conversion::LoopConfiguration loops = conversion::loopsFrom(chosen.fields, *program);
      growPrograms(*program, loops, architecture);
      chosen.fields = conversion::fieldsOf(loops);
    }
    return chosen;
  }

  const Attention *attentionOf(const ConfigurationProblem &problem) const {
    auto *attention = std::get_if<Attention>(&problem.subkernel.what);
    return attention && isForTensorCores(*attention) && chooseAttention(*attention, architecture)
               ? attention
               : nullptr;
  }

  const Contraction *productOf(const ConfigurationProblem &problem) const {
    auto *contraction = std::get_if<Contraction>(&problem.subkernel.what);
    return contraction && isForTensorCores(*contraction, precision) ? contraction : nullptr;
  }

  const GpuArchitecture &architecture;
  std::shared_ptr<const conversion::ConfigurationChooser> others;
  Precision precision;
};

} // namespace
} // namespace nvidia

std::unique_ptr<const conversion::ConfigurationChooser>
createNVIDIAChooser(const GpuArchitecture &architecture,
                    std::shared_ptr<const conversion::ConfigurationChooser> others,
                    Precision precision) {
  return std::make_unique<nvidia::Chooser>(architecture, std::move(others), precision);
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
           "they share a program's rows"}},
         /*dealsTrips=*/true});
  });
}

} // namespace tw::target
