// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-tile-programs (Passes.td).
#include "GraphToTile/Analysis/Subkernels/DispatchCalls.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "GraphToTile/Configuration/Overrides.h"
#include "GraphToTile/Configuration/Variants.h"
#include "GraphToTile/Lowering/HostViews.h"
#include "GraphToTile/Lowering/LoopEmitter.h"
#include "GraphToTile/Passes.h"
#include "IR/Coded.h"
#include "IR/Graph/Values.h"
#include "IR/Tile/Tile.h"
#include "IR/Tile/Variants.h"
#include "Import/Text/Kernels.h"
#include "Language/Trace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw::conversion {
#define GEN_PASS_DEF_TILEPROGRAMS
#include "GraphToTile/Passes.h.inc"

using namespace kernels;
namespace {

const std::vector<BufferSpec> &buffersOf(const Subkernel &subkernel) {
  return std::visit([](auto &what) -> const std::vector<BufferSpec> & { return what.buffers; },
                    subkernel.what);
}

/// Collects what the verifier says of a kernel, instead of showing it.
class VerifierText {
public:
  explicit VerifierText(MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          text = diagnostic.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

struct TilePrograms : impl::TileProgramsBase<TilePrograms> {
  explicit TilePrograms(std::shared_ptr<const ConfigurationChooser> chooser)
      : chooser(std::move(chooser)) {}

  void runOnOperation() override {
    DispatchCalls calls(getOperation());
    // All are analysed before the first is replaced, as tw-configure saw them.
    std::vector<std::pair<func::FuncOp, FailureOr<DispatchAnalysis>>> configured;
    for (func::FuncOp function : calls.functions)
      if (function->hasAttr(tile::TileDialect::configurationName)) {
        std::string why;
        configured.emplace_back(function, calls.analyze(function, why));
        if (failed(configured.back().second))
          keep(function, why);
      }
    for (auto &[function, analysis] : configured)
      if (succeeded(analysis))
        convert(function, *analysis, calls);
  }

  /// Leaves a function to the reference target.
  static void keep(func::FuncOp function, const std::string &why) {
    emitReport(function.getLoc()) << "runs on the reference target: " << why;
    function->removeAttr(tile::TileDialect::configurationName);
  }

  void convert(func::FuncOp function, DispatchAnalysis &analysis, const DispatchCalls &calls) {
    auto configured = function->getAttrOfType<tile::DispatchConfigurationAttr>(
        tile::TileDialect::configurationName);
    std::string why;
    SmallVector<tile::KernelOp> kernels;
    if (failed(configure(analysis, configured, why)) ||
        failed(write(function, analysis, kernels, why)))
      return keep(function, why);
    std::vector<SmallVector<tile::KernelOp>> variants;
    for (auto [number, kernel] : llvm::enumerate(kernels)) {
      tile::ConfigurationAttr configuration = configured.getKernels()[number];
      kernel->setAttr(tile::TileDialect::configurationName, configuration);
      if (std::string symbol = variantSymbol(analysis.subkernels[number]); !symbol.empty())
        kernel->setAttr(tile::variantSizeName, StringAttr::get(kernel->getContext(), symbol));
      variants.push_back(writeVariants(kernel, analysis.subkernels[number], configuration));
    }
    for (graph::DispatchOp call : calls.of(function))
      replace(function, call, analysis, kernels);
    SmallVector<std::string> names;
    for (size_t number = 0; number < kernels.size(); ++number)
      names.push_back(kernelName(function.getName().str(), kernels.size(), number));
    function.erase(); // which still has the name
    for (auto [number, kernel] : llvm::enumerate(kernels)) {
      kernel.setSymName(names[number]);
      nameVariants(kernel, variants[number]);
    }
  }

  /// The kernels for small sizes and many workers, behind the kernel that they are variants of. One
  /// that the template does not take is left out, and the report says why.
  SmallVector<tile::KernelOp> writeVariants(tile::KernelOp kernel, const Subkernel &subkernel,
                                            tile::ConfigurationAttr configuration) {
    SmallVector<tile::KernelOp> variants;
    OpBuilder b(kernel->getContext());
    for (tile::VariantAttr variant : configuration.getVariants()) {
      bool isForSizes = variant.getMost() > 0;
      if (isForSizes && variantSymbol(subkernel).empty())
        continue;
      Configuration made = fromAttribute(variant.getConfiguration()),
                    base = fromAttribute(configuration);
      Subkernel bounded = isForSizes ? boundedBy(subkernel, variant.getMost()) : subkernel;
      std::string why = misfit({bounded, true, &base, variant.getWorkers()}, made);
      b.setInsertionPointAfter(variants.empty() ? kernel : variants.back());
      tile::KernelOp written =
          why.empty() ? trace(b, kernel.getLoc(), bounded, made, why) : tile::KernelOp();
      if (written && failed(isVerified(written, why))) {
        written.erase();
        written = {};
      }
      if (!written) {
        auto report = emitReport(kernel.getLoc());
        isForSizes ? report << "has no variant for sizes up to " << variant.getMost() << ": " << why
                   : report << "has no variant for " << variant.getWorkers()
                            << " workers or more: " << why;
        continue;
      }
      if (!isForSizes)
        written->setAttr(tile::TileDialect::workersName, b.getI64IntegerAttr(variant.getWorkers()));
      written->setAttr(tile::TileDialect::configurationName, variant.getConfiguration());
      variants.push_back(written);
    }
    return variants;
  }

  /// "k0_max6" or "k0_workers5", or with underscores where there is one.
  static void nameVariants(tile::KernelOp kernel, ArrayRef<tile::KernelOp> variants) {
    auto module = kernel->getParentOfType<ModuleOp>();
    for (tile::KernelOp variant : variants) {
      std::string name = (kernel.getSymName() + tile::variantSuffix(variant)).str();
      while (module.lookupSymbol(name))
        name += "_";
      variant.setSymName(name);
    }
    tile::setVariants(kernel, variants);
  }

  /// The subkernels after the cuts, and how each is made.
  LogicalResult configure(DispatchAnalysis &analysis, tile::DispatchConfigurationAttr configured,
                          std::string &why) {
    configurations.clear();
    auto kernels =
        applyCuts(std::move(analysis.subkernels), analysis.temporaries, configured, *chooser, why);
    if (!kernels)
      return failure();
    analysis.subkernels = *std::move(kernels);
    for (auto [subkernel, given] : llvm::zip(analysis.subkernels, configured.getKernels())) {
      configurations.push_back(fromAttribute(given));
      if (why = misfit({subkernel, true}, configurations.back()); !why.empty())
        return failure();
    }
    return success();
  }

  /// Why the kernel of a configuration would be no kernel of the problem, on any target; empty if
  /// it is one.
  std::string misfit(const ConfigurationProblem &problem, const Configuration &made) {
    ConfigurationSpace space = spaceOf(problem);
    Numbers values = made.symbols();
    if (const Constraint *violated = firstViolated(space.constraints, values))
      return describe(*violated, values, made.fields.texts());
    auto *product = std::get_if<Contraction>(&problem.subkernel.what);
    if (!product)
      return {};
    if (problem.variantOf && chooser->panelGroup(made) != chooser->panelGroup(*problem.variantOf))
      return "all variants of a kernel read one packing";
    return refusePanelGroup(*product, contractionOf(made));
  }

  /// With what the target's own fields say of its panels.
  ContractionConfiguration contractionOf(const Configuration &configuration) const {
    ContractionConfiguration made = contractionFrom(configuration.fields.numbers);
    made.panelGroup = chooser->panelGroup(configuration);
    return made;
  }

  /// Writes a kernel for each subkernel, in front of the function.
  LogicalResult write(func::FuncOp function, const DispatchAnalysis &analysis,
                      SmallVectorImpl<tile::KernelOp> &kernels, std::string &why) {
    OpBuilder b(function);
    for (auto [number, subkernel] : llvm::enumerate(analysis.subkernels)) {
      Location loc = b.getFusedLoc(subkernel.locations);
      auto *program = std::get_if<LoopProgram>(&subkernel.what);
      tile::KernelOp kernel = program
                                  ? emitLoops(b, loc, "written", *program,
                                              loopsFrom(configurations[number].fields, *program))
                                  : trace(b, loc, subkernel, configurations[number], why);
      if (kernel)
        kernels.push_back(kernel);
      if (!kernel || failed(isVerified(kernel, why))) {
        for (tile::KernelOp written : kernels)
          written.erase();
        return failure();
      }
    }
    return success();
  }

  LogicalResult isVerified(tile::KernelOp kernel, std::string &why) {
    VerifierText verifier(&getContext());
    if (succeeded(mlir::verify(kernel)))
      return success();
    return why = verifier.text, failure();
  }

  tile::KernelOp trace(OpBuilder &b, Location loc, const Subkernel &subkernel,
                       const Configuration &made, std::string &why) {
    const Numbers &fields = made.fields.numbers;
    kernel::TraceResult traced = kernel::trace("written", [&] {
      if (auto *product = std::get_if<Contraction>(&subkernel.what))
        writeContraction(*product, contractionOf(made));
      else if (auto *attention = std::get_if<Attention>(&subkernel.what))
        writeAttention(*attention, attentionFrom(fields));
      else if (auto *gradient = std::get_if<AttentionGradient>(&subkernel.what))
        writeAttentionGradient(*gradient, attentionGradientFrom(fields));
      else if (auto *weights = std::get_if<WinogradWeights>(&subkernel.what))
        writeWinogradWeights(*weights, winogradWeightsFrom(fields));
      else
        writeConvolution(std::get<Convolution>(subkernel.what), convolutionFrom(fields));
    });
    if (traced.error)
      return why = traced.error->message, tile::KernelOp();
    auto module = importKernelString(&getContext(), traced.text, "written");
    if (!module)
      return why = module.error().message, tile::KernelOp();
    auto kernel = *(*module)->getOps<tile::KernelOp>().begin();
    kernel->remove();
    b.insert(kernel);
    kernel->setLoc(loc);
    return kernel;
  }

  void replace(func::FuncOp function, graph::DispatchOp call, const DispatchAnalysis &analysis,
               MutableArrayRef<tile::KernelOp> kernels) {
    OpBuilder b(call);
    SmallVector<Value> arguments(call.getInputs());
    llvm::append_range(arguments, call.getOuts());
    HostViews views(b, call.getLoc(), arguments);
    SmallVector<graph::ValueAttr> inner = graph::valuesOf(call, graph::innerName);
    for (const Subkernel &subkernel : analysis.subkernels)
      for (auto [use, spec] : llvm::zip(subkernel.tensors, buffersOf(subkernel)))
        views.learn(use, spec.shape);
    for (auto [number, kernel] : llvm::enumerate(kernels)) {
      const Subkernel &subkernel = analysis.subkernels[number];
      SmallVector<Value> inputs, outs;
      SmallVector<Type> types;
      for (auto [i, use] : llvm::enumerate(subkernel.tensors)) {
        const BufferSpec &spec = buffersOf(subkernel)[i];
        if (spec.isOutput) {
          Type element = cast<tile::BufferType>(kernel.getBody().getArgument(i).getType())
                             .getTileElementType();
          outs.push_back(views.empty(spec.shape, element));
          types.push_back(outs.back().getType());
        } else if (isPacked(subkernel, number, i)) {
          inputs.push_back(packedWeight(
              views, arguments[cast<BlockArgument>(use.tensor).getArgNumber()], subkernel, number));
        } else {
          inputs.push_back(views.toBuffer(use, spec.shape));
        }
      }
      if (auto *program = std::get_if<LoopProgram>(&subkernel.what)) {
        for (auto &[scalar, dtype] : program->scalars)
          inputs.push_back(arguments[cast<BlockArgument>(scalar).getArgNumber()]);
        for (auto &[size, symbol] : program->sizes)
          inputs.push_back(arguments[cast<BlockArgument>(size).getArgNumber()]);
      }
      Location loc = kernels.size() == 1
                         ? call.getLoc()
                         : relocated(kernel.getLoc(), function.getLoc(), call.getLoc());
      auto dispatch = graph::DispatchOp::create(
          b, loc, types, kernelName(function.getName().str(), kernels.size(), number), inputs,
          outs);
      unsigned next = 0;
      SmallVector<graph::ValueAttr> values;
      for (auto [use, spec] : llvm::zip(subkernel.tensors, buffersOf(subkernel)))
        if (spec.isOutput) {
          if (cast<RankedTensorType>(types[next]).getElementType() == elementOf(use))
            addValues(use, next, inner, values);
          views.define(use, dispatch.getResult(next++));
        }
      graph::setValues(dispatch, values);
    }
    Operation *end = function.getBody().front().getTerminator();
    for (auto [result, value] : llvm::zip(call.getResults(), end->getOperands()))
      result.replaceAllUsesWith(views.tensor(value));
    call.erase();
  }

  static SmallVector<Location> partsOf(Location loc) {
    auto fused = dyn_cast<FusedLoc>(loc);
    return fused && !fused.getMetadata() ? llvm::to_vector(fused.getLocations())
                                         : SmallVector<Location>{loc};
  }

  /// Where a kernel of one of several calls of a function comes from: its places in the function,
  /// which are those of the first call, become those of this one.
  static Location relocated(Location kernel, Location function, Location call) {
    SmallVector<Location> from = partsOf(function), to = partsOf(call), places;
    if (from.size() != to.size())
      return call;
    for (Location part : partsOf(kernel)) {
      auto at = size_t(llvm::find(from, part) - from.begin());
      places.push_back(at < from.size() ? to[at] : part);
    }
    return Builder(call.getContext()).getFusedLoc(places);
  }

  /// Null for a temporary, which has no tensor.
  static Type elementOf(const TensorUse &use) {
    return use.tensor ? cast<RankedTensorType>(use.tensor.getType()).getElementType() : Type();
  }

  /// Which values of the source a buffer holds, `result` of the dispatch: those of the tensor in
  /// the function, as the call says by `inner`.
  static void addValues(const TensorUse &use, unsigned result, ArrayRef<graph::ValueAttr> inner,
                        SmallVectorImpl<graph::ValueAttr> &values) {
    for (graph::ValueAttr own : graph::valuesOf(use.tensor))
      for (graph::ValueAttr value : inner)
        if (value.getResult() == own.getNumber() && own.getOrder().empty())
          values.push_back(graph::ValueAttr::get(own.getContext(), result, value.getNumber(),
                                                 value.getType(), value.getOrder(),
                                                 value.getPart()));
  }

  /// Whether a buffer of a subkernel comes in panels.
  bool isPacked(const Subkernel &subkernel, size_t number, size_t buffer) const {
    const Numbers &fields = configurations[number].fields.numbers;
    if (auto *convolution = std::get_if<Convolution>(&subkernel.what))
      return convolutionFrom(fields).isPacked && int(buffer) == convolution->w;
    auto *contraction = std::get_if<Contraction>(&subkernel.what);
    return contraction && contractionFrom(fields).isPacked && int(buffer) == contraction->b.buffer;
  }

  Value packedWeight(HostViews &views, Value tensor, const Subkernel &subkernel,
                     size_t number) const {
    const Configuration &configuration = configurations[number];
    if (auto *convolution = std::get_if<Convolution>(&subkernel.what))
      return views.packedWeight(
          tensor, subkernel.tensors[convolution->w].view,
          {packedOrder(*convolution), convolutionFrom(configuration.fields.numbers).columns});
    auto &product = std::get<Contraction>(subkernel.what);
    ContractionConfiguration made = contractionOf(configuration);
    return views.packedWeight(
        tensor, subkernel.tensors[product.b.buffer].view,
        {packedOrder(product), panelOf(made), made.columnParts, made.panelGroup});
  }

  std::shared_ptr<const ConfigurationChooser> chooser;
  std::vector<Configuration> configurations; // of the kernels of one dispatch
};

} // namespace

std::unique_ptr<Pass> createTilePrograms(std::shared_ptr<const ConfigurationChooser> chooser) {
  return std::make_unique<TilePrograms>(std::move(chooser));
}

void registerPasses(const std::shared_ptr<const ConfigurationChooser> &chooser) {
  registerPass([chooser] { return createConfigureDispatches(chooser); });
  registerPass([chooser] { return createTilePrograms(chooser); });
}

} // namespace tw::conversion
