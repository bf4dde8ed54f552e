// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches become tile programs:
//
//   %y = tw.dispatch @k0(%x) outs(%e) : (tensor<1x128x768xf32>) ...
//   func.func private @k0(...) attributes {tw.kernel} { ... linalg.generic ... }
// becomes
//   %a = tensor.collapse_shape %x ... into tensor<98304xf32>
//   %b = tw.dispatch @k0(%a) outs(%f) : (tensor<98304xf32>) ...
//   tile.kernel @k0(in %in0: !tile.buffer<[98304], f32>, ...) grid [96] { ... }
//
// Each subkernel of a dispatch (Analysis/Subkernel.h) is a kernel; lib/Tile fuses what can be fused
// again.
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "GraphToTile/Lowering/HostViews.h"
#include "GraphToTile/Lowering/LoopEmitter.h"
#include "GraphToTile/Passes.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "IR/Tile/Tile.h"
#include "Import/Text/Kernels.h"
#include "Language/Trace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tw::conversion {
using namespace kernels;
namespace {

/// Of a sum in registers, where narrower dtypes are widened.
int64_t bytesOf(kernel::DType dtype) {
  return dtype == kernel::f64 || dtype == kernel::i64 ? 8 : 4;
}

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

struct TilePrograms : PassWrapper<TilePrograms, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TilePrograms)
  explicit TilePrograms(const Machine &machine) : machine(machine) {}
  StringRef getArgument() const override { return "tw-tile-programs"; }
  StringRef getDescription() const override { return "Dispatches as tile programs"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  }

  void runOnOperation() override {
    llvm::StringMap<SmallVector<graph::DispatchOp>> calls;
    getOperation().walk([&](graph::DispatchOp op) { calls[op.getKernel()].push_back(op); });
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      handWritten.insert(kernel.getSymName());
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr("tw.kernel"))
        convert(function, calls[function.getName()]);
  }

  void convert(func::FuncOp function, ArrayRef<graph::DispatchOp> calls) {
    std::string why;
    FailureOr<DispatchAnalysis> analysis =
        analyzeDispatch(function, CallSizes(calls), isBesideHandWritten(calls), why);
    SmallVector<tile::KernelOp> kernels;
    if (succeeded(analysis))
      choose(*analysis, calls);
    if (failed(analysis) || failed(write(function, *analysis, kernels, why))) {
      emitReport(function.getLoc()) << "runs on the reference target: " << why;
      return;
    }
    for (graph::DispatchOp call : calls)
      replace(function, call, *analysis, kernels);
    SmallVector<std::string> names;
    for (size_t number = 0; number < kernels.size(); ++number)
      names.push_back(nameOf(function, kernels.size(), number));
    function.erase(); // which still has the name
    for (auto [kernel, name] : llvm::zip(kernels, names))
      kernel.setSymName(name);
  }

  /// What the kernels of a function are called.
  static std::string nameOf(func::FuncOp function, size_t count, size_t number) {
    std::string name = function.getName().str();
    return count == 1 ? name : name + "_" + std::to_string(number);
  }

  /// Whether one of the calls gives to or takes from a kernel written by hand: to be fused with it
  /// they must see the tensor in one shape.
  bool isBesideHandWritten(ArrayRef<graph::DispatchOp> calls) const {
    auto isOne = [&](Operation *op) {
      auto dispatch = dyn_cast_or_null<graph::DispatchOp>(op);
      return dispatch && handWritten.contains(dispatch.getKernel());
    };
    return llvm::any_of(calls, [&](graph::DispatchOp call) {
      return llvm::any_of(call->getUsers(), isOne) ||
             llvm::any_of(call.getInputs(), [&](Value v) { return isOne(v.getDefiningOp()); });
    });
  }

  /// Configurations of all subkernels; some become several.
  void choose(DispatchAnalysis &analysis, ArrayRef<graph::DispatchOp> calls) {
    products.clear();
    loops.clear();
    std::vector<Subkernel> chosen;
    auto add = [&](Subkernel subkernel, const ContractionConfiguration &product = {}) {
      products.push_back(product);
      auto *program = std::get_if<LoopProgram>(&subkernel.what);
      loops.push_back(program ? chooseLoops(*program) : LoopConfiguration());
      chosen.push_back(std::move(subkernel));
    };
    for (Subkernel &subkernel : analysis.subkernels) {
      auto *product = std::get_if<Contraction>(&subkernel.what);
      if (!product) {
        for (Subkernel &part : splitLongReductions(std::move(subkernel), analysis.temporaries))
          add(std::move(part));
        continue;
      }
      ContractionConfiguration configuration =
          chooseContraction(*product, unitFor(*product), isWeight(subkernel, *product, calls));
      if (!configuration.isPacked && isRhsTransposeProfitable(*product)) {
        add(materializeTransposedRhs(subkernel, analysis.temporaries++));
        configuration = chooseContraction(*product, unitFor(*product));
      }
      add(std::move(subkernel), configuration);
    }
    analysis.subkernels = std::move(chosen);
  }

  VectorUnit unitFor(const Contraction &product) const {
    return {std::max<int64_t>(1, machine.vectorBytes / bytesOf(product.sum)), machine.registers,
            machine.pairRows, machine.pairColumns};
  }

  /// Whether the second operand is a weight that can be stored as it is wanted.
  static bool isWeight(const Subkernel &subkernel, const Contraction &product,
                       ArrayRef<graph::DispatchOp> calls) {
    const TensorUse &b = subkernel.tensors[product.b.buffer];
    auto argument = dyn_cast<BlockArgument>(b.tensor);
    return argument && llvm::all_of(calls, [&](graph::DispatchOp call) {
             return canBePacked(call.getInputs()[argument.getArgNumber()], b.view);
           });
  }

  /// Writes a kernel for each subkernel, in front of the function.
  LogicalResult write(func::FuncOp function, const DispatchAnalysis &analysis,
                      SmallVectorImpl<tile::KernelOp> &kernels, std::string &why) {
    OpBuilder b(function);
    for (auto [number, subkernel] : llvm::enumerate(analysis.subkernels)) {
      Location loc = b.getFusedLoc(subkernel.locations);
      auto *program = std::get_if<LoopProgram>(&subkernel.what);
      tile::KernelOp kernel = program ? emit(b, loc, *program, loops[number], why)
                                      : trace(b, loc, subkernel, products[number], why);
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

  tile::KernelOp emit(OpBuilder &b, Location loc, const LoopProgram &program,
                      const LoopConfiguration &configuration, std::string &why) {
    if (isLegal(program, configuration))
      return emitLoops(b, loc, "written", program, configuration);
    why = "a dimension is needed element by element and as a whole";
    return {};
  }

  tile::KernelOp trace(OpBuilder &b, Location loc, const Subkernel &subkernel,
                       const ContractionConfiguration &configuration, std::string &why) {
    auto &product = std::get<Contraction>(subkernel.what);
    kernel::TraceResult traced =
        kernel::trace("written", [&] { writeContraction(product, configuration); });
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
          inputs.push_back(
              views.packedWeight(arguments[cast<BlockArgument>(use.tensor).getArgNumber()],
                                 use.view, packedOrder(std::get<Contraction>(subkernel.what)),
                                 panelOf(products[number]), products[number].inPairs));
        } else {
          inputs.push_back(views.toBuffer(use, spec.shape));
        }
      }
      if (auto *program = std::get_if<LoopProgram>(&subkernel.what))
        for (auto &[scalar, dtype] : program->scalars)
          inputs.push_back(arguments[cast<BlockArgument>(scalar).getArgNumber()]);
      auto dispatch = graph::DispatchOp::create(
          b, kernel.getLoc(), types, nameOf(function, kernels.size(), number), inputs, outs);
      unsigned next = 0;
      for (auto [use, spec] : llvm::zip(subkernel.tensors, buffersOf(subkernel)))
        if (spec.isOutput)
          views.define(use, dispatch.getResult(next++));
    }
    Operation *end = function.getBody().front().getTerminator();
    for (auto [result, value] : llvm::zip(call.getResults(), end->getOperands()))
      result.replaceAllUsesWith(views.tensor(value));
    call.erase();
  }

  /// Whether a buffer of a subkernel comes in panels.
  bool isPacked(const Subkernel &subkernel, size_t number, size_t buffer) const {
    auto *product = std::get_if<Contraction>(&subkernel.what);
    return product && products[number].isPacked && int(buffer) == product->b.buffer;
  }

  Machine machine;
  llvm::StringSet<> handWritten;
  // Of the subkernels of one dispatch.
  SmallVector<ContractionConfiguration> products;
  SmallVector<LoopConfiguration> loops;
};

} // namespace

std::unique_ptr<Pass> createTilePrograms(const Machine &machine) {
  return std::make_unique<TilePrograms>(machine);
}

void registerPasses() {
  registerPass([] { return createTilePrograms({.vectorBytes = 32, .registers = 16}); });
}

} // namespace tw::conversion
