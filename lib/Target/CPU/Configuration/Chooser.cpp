// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/Chooser.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "Target/CPU/Configuration/AttentionCost.h"
#include "Target/CPU/Configuration/AttentionGradientCost.h"
#include "Target/CPU/Configuration/BlocksInMemory.h"
#include "Target/CPU/Configuration/ContractionCost.h"
#include "Target/CPU/Configuration/ConvolutionCost.h"
#include "Target/CPU/Configuration/ForWorkers.h"
#include "Target/CPU/Configuration/LoopCost.h"
#include "Target/CPU/Configuration/Workers.h"
#include "mlir/IR/DialectRegistry.h"
#include <array>

namespace tw::target {
namespace cpu {
namespace {

using conversion::ConfigurationProblem;
using kernels::Configuration;
using tile::Cut;

/// Bytes that every core's second-level cache has. Not the machine's own, so that the same
/// operators of a model share kernels on all of them: blocks alone are chosen by its caches.
constexpr int64_t secondLevelCache = 256 << 10;

/// Rows up to which a product may have a block of its own; the same where pairs are multiplied. A
/// block of few rows is computed whole, so none has much more than twice those of a call. Measured
/// by bench/cpu.py --rows=few,any.
constexpr std::array<int64_t, 6> fewRows = {1, 2, 4, 6, 16, 64};
/// The same where the weight comes from memory: up to 16 rows are one block while it does.
constexpr std::array<int64_t, 7> fewRowsFromMemory = {1, 2, 4, 6, 8, 16, 64};
constexpr std::array<int64_t, 5> fewRowsOfPairs = {1, 2, 4, 16, 64};
/// Queries up to which attention may have a block of its own.
constexpr std::array<int64_t, 2> fewQueries = {1, 16};

/// Of a kernel beside its programs, and of a function on a vector. Measured on an EPYC with AVX-512
/// at some 3.5 GHz: 65 cycles for a kernel whose programs all run on the calling thread, up to
/// 9,000 where two threads share them; 6 for a reciprocal, 9 for a square root, 11 for exp, 23 for
/// erf, 32 for tanh, 40 for log, 65 for sin, whose geometric mean is 19; 3 for a negation with its
/// load and store.
constexpr double dispatchCycles = 1500, functionCycles = 20;

/// Of a sum in registers, where narrower dtypes are widened.
int64_t bytesOf(kernel::DType dtype) {
  return dtype == kernel::f64 || dtype == kernel::i64 ? 8 : 4;
}

class Chooser : public conversion::ConfigurationChooser {
public:
  explicit Chooser(const CpuFeatures &features) : features(features) {}

  FusionLimits fusionLimits() const override {
    FusionLimits limits;
    limits.row = limits.reread = secondLevelCache / sizeof(float);
    return limits;
  }

  /// Tiles are computed a vector at a time. An operation takes a cycle, as does an access where
  /// caches feed it; a function some twenty (docs/performance.md).
  conversion::RecomputationCosts recomputationCosts() const override {
    double lanes = double(features.vectorBytes) / sizeof(float);
    return {dispatchCycles, 1 / lanes, functionCycles / lanes, 1 / lanes};
  }

  /// The rows of a block of products; those of the next programs fill the rest of a cache line.
  int64_t leastTransposedRun() const override { return 6; }

  conversion::SplitLimits splitLimits() const override { return cpu::splitLimits; }

  conversion::RowFusionLimits rowFusionLimits() const override { return cpu::rowFusionLimits; }

  Cut chooseCut(const ConfigurationProblem &problem) const override {
    if (auto *product = std::get_if<Contraction>(&problem.subkernel.what)) {
      CPUContraction made = chosen(*product, problem);
      return isRhsTransposeProfitable(*product) && !made.isPacked && !made.hasAccumulatorsInMemory
                 ? Cut::TransposeRhs
                 : Cut::None;
    }
    if (auto *convolution = std::get_if<Convolution>(&problem.subkernel.what))
      return isTransformProfitable(*convolution, unitFor(*convolution), problem.isRhsWeight)
                 ? Cut::TransformWeights
             : isFilterTransposeProfitable(*convolution, unitFor(*convolution)) ? Cut::TransposeRhs
                                                                                : Cut::None;
    if (auto *gradient = std::get_if<AttentionGradient>(&problem.subkernel.what))
      return areGradientsCheaperApart(*gradient, unitFor(*gradient)) ? Cut::SplitGradients
                                                                     : Cut::None;
    auto *program = std::get_if<LoopProgram>(&problem.subkernel.what);
    auto dim = program ? longDim(*program) : std::nullopt;
    return dim && canSplitReductions(*program, *dim) ? Cut::SplitReductions : Cut::None;
  }

  Configuration choose(const ConfigurationProblem &problem) const override {
    if (auto *program = std::get_if<LoopProgram>(&problem.subkernel.what))
      return {"loops", fieldsOf(chooseLoops(*program)), {}, {}};
    if (auto *convolution = std::get_if<Convolution>(&problem.subkernel.what))
      return {"convolution",
              kernels::numbersOf(
                  chooseConvolution(*convolution, unitFor(*convolution), problem.isRhsWeight)),
              {},
              {}};
    if (auto *attention = std::get_if<Attention>(&problem.subkernel.what))
      return {"attention",
              kernels::numbersOf(chooseAttention(*attention, unitFor(*attention))),
              {},
              {}};
    if (auto *gradient = std::get_if<AttentionGradient>(&problem.subkernel.what))
      return {"attention_gradient",
              kernels::numbersOf(chooseAttentionGradient(*gradient, unitFor(*gradient))),
              {},
              {}};
    if (auto *weights = std::get_if<kernels::WinogradWeights>(&problem.subkernel.what))
      return {"winograd_weights", kernels::numbersOf(chooseWinogradWeights(*weights)), {}, {}};
    return configurationOf(chosen(std::get<Contraction>(problem.subkernel.what), problem));
  }

  std::vector<Constraint> constraints(const ConfigurationProblem &problem) const override {
    if (auto *convolution = std::get_if<Convolution>(&problem.subkernel.what)) {
      std::vector<Constraint> constraints =
          convolutionConstraints(*convolution, unitFor(*convolution));
      if (problem.workers > 0 && !convolution->hasTransformedWeights)
        constraints.emplace_back("1", "in_scratch", "sums in registers are made in another order");
      return constraints;
    }
    auto *product = std::get_if<Contraction>(&problem.subkernel.what);
    if (!product)
      return {};
    std::vector<Constraint> constraints = contractionConstraints(*product, unitFor(*product));
    if (problem.variantOf)
      llvm::append_range(constraints, variantConstraints(contractionFrom(*problem.variantOf)));
    if (problem.workers > 0)
      llvm::append_range(constraints, workersConstraints(unitFor(*product)));
    return constraints;
  }

  std::optional<ForWorkers> chooseForWorkers(const ConfigurationProblem &problem,
                                             const Configuration &kernel) const override {
    if (auto *convolution = std::get_if<Convolution>(&problem.subkernel.what)) {
      auto chosen = cpu::chooseForWorkers(*convolution, unitFor(*convolution),
                                          kernels::convolutionFrom(kernel.fields.numbers));
      if (!chosen)
        return std::nullopt;
      return ForWorkers{chosen->workers,
                        {"convolution", kernels::numbersOf(chosen->configuration), {}, {}}};
    }
    auto *product = std::get_if<Contraction>(&problem.subkernel.what);
    if (!product)
      return std::nullopt;
    auto chosen = cpu::chooseForWorkers(*product, unitFor(*product), contractionFrom(kernel));
    return chosen
               ? std::optional(ForWorkers{chosen->workers, configurationOf(chosen->configuration)})
               : std::nullopt;
  }

  int64_t transformedColumns() const override { return panelOutputs; }

  int64_t panelGroup(const Configuration &configuration) const override {
    return contractionFrom(configuration).panelGroup;
  }

  std::vector<int64_t> variantSizes(const ConfigurationProblem &problem) const override {
    if (std::holds_alternative<Attention>(problem.subkernel.what))
      return {fewQueries.begin(), fewQueries.end()};
    auto *product = std::get_if<Contraction>(&problem.subkernel.what);
    if (!product)
      return {};
    CPUContraction kernel = chosen(*product, problem);
    if (kernel.isInterleaved())
      return {fewRowsOfPairs.begin(), fewRowsOfPairs.end()};
    if (kernel.isPacked && isForgotten(*product))
      return {fewRowsFromMemory.begin(), fewRowsFromMemory.end()};
    return {fewRows.begin(), fewRows.end()};
  }

  std::optional<double> cost(const ConfigurationProblem &problem,
                             const Configuration &configuration) const override {
    if (auto time = problem.workers > 0 ? timeForWorkers(problem, configuration) : std::nullopt)
      return time;
    if (auto *convolution = std::get_if<Convolution>(&problem.subkernel.what))
      return convolutionCost(*convolution, kernels::convolutionFrom(configuration.fields.numbers),
                             unitFor(*convolution));
    if (auto *attention = std::get_if<Attention>(&problem.subkernel.what))
      return attentionCost(*attention, kernels::attentionFrom(configuration.fields.numbers),
                           unitFor(*attention));
    if (auto *gradient = std::get_if<AttentionGradient>(&problem.subkernel.what))
      return attentionGradientCost(*gradient,
                                   kernels::attentionGradientFrom(configuration.fields.numbers),
                                   unitFor(*gradient));
    auto *product = std::get_if<Contraction>(&problem.subkernel.what);
    if (!product)
      return std::nullopt;
    CPUContraction block = contractionFrom(configuration);
    return contractionCost(*product, block, unitFor(*product)) +
           cyclesOfUnaskedPairs(*product, block);
  }

private:
  VectorUnit unitFor(const kernels::AttentionInputs &attention) const {
    return vectorUnit(features, bytesOf(attention.sum));
  }
  VectorUnit unitFor(const Convolution &convolution) const {
    return vectorUnit(features, bytesOf(convolution.sum));
  }
  VectorUnit unitFor(const Contraction &product) const {
    return vectorUnit(features, bytesOf(product.sum));
  }

  std::optional<double> timeForWorkers(const ConfigurationProblem &problem,
                                       const Configuration &configuration) const {
    if (auto *convolution = std::get_if<Convolution>(&problem.subkernel.what))
      return cpu::timeForWorkers(*convolution, unitFor(*convolution),
                                 kernels::convolutionFrom(configuration.fields.numbers),
                                 problem.workers);
    auto *product = std::get_if<Contraction>(&problem.subkernel.what);
    return product ? cpu::timeForWorkers(*product, unitFor(*product),
                                         contractionFrom(configuration), problem.workers)
                   : std::nullopt;
  }

  CPUContraction chosen(const Contraction &product, const ConfigurationProblem &problem) const {
    if (problem.variantOf)
      return chooseVariant(product, unitFor(product), contractionFrom(*problem.variantOf));
    return chooseContraction(product, unitFor(product), problem.isRhsWeight);
  }

  CpuFeatures features;
};

} // namespace

VectorUnit vectorUnit(const CpuFeatures &features, int64_t bytes) {
  VectorUnit unit{std::max<int64_t>(1, features.vectorBytes / bytes), features.vectorRegisters};
  if (auto pairs = features.pairTile()) {
    unit.pairRows = pairs->rows;
    unit.pairColumns = pairs->columns;
  }
  unit.hasSlowThirdLevel = features.hasSlowThirdLevel;
  unit.panelRows = features.panelRows;
  unit.caches = features.caches;
  return unit;
}

} // namespace cpu

std::unique_ptr<const conversion::ConfigurationChooser>
createCPUChooser(const CpuFeatures &features) {
  return std::make_unique<cpu::Chooser>(features);
}

void registerCPUConfigurations(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *, tile::TileDialect *dialect) {
    dialect->registerSchema(cpu::cpuSchema());
  });
}

} // namespace tw::target
