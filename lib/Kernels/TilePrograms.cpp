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
// Each piece of a dispatch (Describe.h) is a kernel; lib/Tile fuses what can be fused again.
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "IR/Tile/Tile.h"
#include "Import/Text/Kernels.h"
#include "Kernels/Describe.h"
#include "Kernels/Passes.h"
#include "Kernels/Rows.h"
#include "Kernels/Turned.h"
#include "Kernels/Views.h"
#include "Language/Trace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tw::kernels {
namespace {

/// Of a sum in registers, where narrower dtypes are widened.
int64_t bytesOf(kernel::DType dtype) {
  return dtype == kernel::f64 || dtype == kernel::i64 ? 8 : 4;
}

const std::vector<BufferSpec> &buffersOf(const Piece &piece) {
  return std::visit([](auto &what) -> const std::vector<BufferSpec> & { return what.buffers; },
                    piece.what);
}

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
    FailureOr<Description> description =
        describe(function, CallSizes(calls), isBesideHandWritten(calls), why);
    SmallVector<tile::KernelOp> kernels;
    if (succeeded(description))
      choose(*description, calls);
    if (failed(description) || failed(write(function, *description, kernels, why))) {
      emitReport(function.getLoc()) << "runs on the reference target: " << why;
      return;
    }
    for (graph::DispatchOp call : calls)
      replace(function, call, *description, kernels);
    function.erase();
    for (tile::KernelOp kernel : kernels)
      kernel.setSymName(kernel->getAttrOfType<StringAttr>("tw.symbol").getValue());
    for (tile::KernelOp kernel : kernels)
      kernel->removeAttr("tw.symbol");
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

  /// Configurations of all contractions; those that want their second operand turned get it so.
  void choose(Description &description, ArrayRef<graph::DispatchOp> calls) {
    configurations.clear();
    std::vector<Piece> pieces;
    for (Piece &piece : description.pieces) {
      ContractionConfiguration chosen;
      if (auto *product = std::get_if<Contraction>(&piece.what)) {
        chosen = chooseContraction(*product, unitFor(*product), isWeight(piece, *product, calls));
        if (!chosen.isPacked && paysToTurn(*product)) {
          pieces.push_back(turnSecondOperand(piece, description.temporaries++));
          configurations.emplace_back();
          chosen = chooseContraction(*product, unitFor(*product));
        }
      }
      pieces.push_back(std::move(piece));
      configurations.push_back(chosen);
    }
    description.pieces = std::move(pieces);
  }

  VectorUnit unitFor(const Contraction &product) const {
    return {std::max<int64_t>(1, machine.vectorBytes / bytesOf(product.sum)), machine.registers,
            machine.pairRows, machine.pairColumns};
  }

  /// Whether the second operand is a weight that can be stored as it is wanted.
  static bool isWeight(const Piece &piece, const Contraction &product,
                       ArrayRef<graph::DispatchOp> calls) {
    const TensorUse &b = piece.tensors[product.b.buffer];
    auto argument = dyn_cast<BlockArgument>(b.tensor);
    return argument && llvm::all_of(calls, [&](graph::DispatchOp call) {
             return canBePacked(call.getInputs()[argument.getArgNumber()], b.view);
           });
  }

  /// Traces a kernel for each piece.
  LogicalResult write(func::FuncOp function, const Description &description,
                      SmallVectorImpl<tile::KernelOp> &kernels, std::string &why) {
    SmallVector<OwningOpRef<ModuleOp>> modules;
    for (auto [i, piece] : llvm::enumerate(description.pieces)) {
      auto *rows = std::get_if<LoopProgram>(&piece.what);
      RowsConfiguration walks = rows ? chooseRows(*rows) : RowsConfiguration();
      if (rows && !isLegal(*rows, walks))
        return why = "a dimension is needed element by element and as a whole", failure();
      std::string name = function.getName().str();
      if (description.pieces.size() > 1)
        name += "_" + std::to_string(i);
      kernel::TraceResult traced = kernel::trace(name, [&] {
        if (rows)
          writeRows(*rows, walks);
        else
          writeContraction(std::get<Contraction>(piece.what), configurations[i]);
      });
      if (traced.error)
        return why = traced.error->message, failure();
      auto module = importKernelString(&getContext(), traced.text, name);
      if (!module)
        return why = module.error().message, failure();
      modules.push_back(std::move(*module));
    }
    OpBuilder b(function);
    for (auto [module, piece] : llvm::zip(modules, description.pieces)) {
      auto kernel = *module->getOps<tile::KernelOp>().begin();
      kernel->remove();
      b.insert(kernel);
      kernel->setLoc(b.getFusedLoc(piece.locations));
      // The function still has the name.
      kernel->setAttr("tw.symbol", kernel.getSymNameAttr());
      kernels.push_back(kernel);
    }
    return success();
  }

  void replace(func::FuncOp function, graph::DispatchOp call, const Description &description,
               MutableArrayRef<tile::KernelOp> kernels) {
    OpBuilder b(call);
    SmallVector<Value> arguments(call.getInputs());
    llvm::append_range(arguments, call.getOuts());
    HostViews views(b, call.getLoc(), arguments);
    for (const Piece &piece : description.pieces)
      for (auto [use, spec] : llvm::zip(piece.tensors, buffersOf(piece)))
        views.learn(use, spec.shape);
    for (auto [number, kernel] : llvm::enumerate(kernels)) {
      const Piece &piece = description.pieces[number];
      SmallVector<Value> inputs, outs;
      SmallVector<Type> types;
      for (auto [i, use] : llvm::enumerate(piece.tensors)) {
        const BufferSpec &spec = buffersOf(piece)[i];
        if (spec.isOutput) {
          Type element = cast<tile::BufferType>(kernel.getBody().getArgument(i).getType())
                             .getTileElementType();
          outs.push_back(views.empty(spec.shape, element));
          types.push_back(outs.back().getType());
        } else if (isPacked(piece, number, i)) {
          inputs.push_back(
              views.packedWeight(arguments[cast<BlockArgument>(use.tensor).getArgNumber()],
                                 use.view, packedOrder(std::get<Contraction>(piece.what)),
                                 panelOf(configurations[number]), configurations[number].inPairs));
        } else {
          inputs.push_back(views.toBuffer(use, spec.shape));
        }
      }
      for (int scalar : piece.scalars)
        inputs.push_back(arguments[scalar]);
      auto dispatch = graph::DispatchOp::create(
          b, kernel.getLoc(), types, kernel->getAttrOfType<StringAttr>("tw.symbol").getValue(),
          inputs, outs);
      unsigned next = 0;
      for (auto [use, spec] : llvm::zip(piece.tensors, buffersOf(piece)))
        if (spec.isOutput)
          views.define(use, dispatch.getResult(next++));
    }
    Operation *end = function.getBody().front().getTerminator();
    for (auto [result, value] : llvm::zip(call.getResults(), end->getOperands()))
      result.replaceAllUsesWith(views.tensor(value));
    call.erase();
  }

  /// Whether a buffer of a piece comes in panels.
  bool isPacked(const Piece &piece, size_t number, size_t buffer) const {
    auto *product = std::get_if<Contraction>(&piece.what);
    return product && configurations[number].isPacked && int(buffer) == product->b.buffer;
  }

  Machine machine;
  llvm::StringSet<> handWritten;
  SmallVector<ContractionConfiguration> configurations; // of the pieces of one dispatch
};

} // namespace

std::unique_ptr<Pass> createTilePrograms(const Machine &machine) {
  return std::make_unique<TilePrograms>(machine);
}

void registerPasses() {
  registerPass([] { return createTilePrograms({.vectorBytes = 32, .registers = 16}); });
}

} // namespace tw::kernels
