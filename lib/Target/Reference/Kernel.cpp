// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of one kernel (Target/Common/KernelShell.h): one operation after the other in one
// serial iteration, each tensor in a buffer of its own; reshapes are the buffer they reshape.
#include "IR/Coded.h"
#include "Target/Common/KernelShell.h"
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

bool isReshape(Operation *op) {
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
}

class KernelLowering {
public:
  KernelLowering(func::FuncOp kernel, ModuleOp into)
      : kernel(kernel), body(kernel.getBody().front()), into(into), b(kernel.getContext()),
        loc(kernel.getLoc()), i64(b.getI64Type()) {
    for (BlockArgument argument : kernel.getArguments())
      if (isa<RankedTensorType>(argument.getType()))
        tensors.push_back(argument);
  }

  FailureOr<KernelInfo> run() {
    KernelInfo result;
    result.name = kernel.getName().str();
    result.passedSizes = dynamicSizes(kernel.getArgumentTypes());
    result.iterations = 1;
    bool mayFail = false;
    kernel.walk([&](graph::CheckIndexOp) { mayFail = true; });
    KernelShell shell(b, loc, into, result.name, tensors.size(), mayFail);
    if (failed(emitBody(shell, result)) || failed(emitInfo(shell, result)))
      return failure();
    shell.entry();
    return result;
  }

private:
  LogicalResult emitBody(KernelShell &shell, KernelInfo &result) {
    KernelShell::Loops loops = shell.loops();
    for (unsigned i = 0, end = loops.function.getNumArguments() - 2; i < end; ++i)
      loops.function.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
    Emitter e(b, loc);
    e.failureRecord = loops.failureRecord;
    e.workspace = loops.workspace;
    e.entry = b.saveInsertionPoint();
    unpackScalars(e, loops.scalars);
    for (auto [argument, data] : llvm::zip(tensors, loops.data))
      e.buffers[argument] = {data, *e.sizes(Emitter::extentsOf(argument)),
                             getElementTypeOrSelf(argument)};
    b.setInsertionPointToStart(loops.iterations.getBody());
    for (Operation &op : body.without_terminator())
      if (failed(emitOperation(e, &op)))
        return failure();
    copyResults(e);
    temporaries = e.temporaries;
    result.failures = e.failures;
    return success();
  }

  LogicalResult emitInfo(KernelShell &shell, KernelInfo &result) {
    ValueRange arguments = shell.info();
    Emitter e(b, loc);
    e.entry = b.saveInsertionPoint();
    unpackScalars(e, arguments[0]);
    e.workspace = arguments[1]; // never read
    for (const auto &[element, extents] : temporaries)
      if (failed(e.temporary(element, extents)))
        return failure();
    result.workspaceBytes = e.workspaceBytes.constant();
    Buffer out{arguments[1], {Ix(2)}, i64};
    e.store(e.constant(i64, 1), out, Ix(0));
    e.store(e.ix().value(e.workspaceBytes), out, Ix(1));
    return success();
  }

  void unpackScalars(Emitter &e, Value scalars) {
    Buffer slots{scalars, {Ix(0)}, i64};
    int64_t next = 0;
    for (BlockArgument argument : tensors)
      for (const Extent &extent : Emitter::extentsOf(argument))
        if (cast<RankedTensorType>(argument.getType()).isDynamicDim(extent.dim))
          e.knownSizes.try_emplace({argument, extent.dim}, e.load(slots, Ix(next++)));
    for (BlockArgument argument : kernel.getArguments())
      if (!isa<RankedTensorType>(argument.getType())) {
        Type type = Emitter::scalarType(argument.getType());
        Value value = e.load(slots, Ix(next++));
        if (isa<FloatType>(type))
          value = arith::BitcastOp::create(b, loc, b.getF64Type(), value);
        e.scalars[argument] = e.convert(value, type);
      }
  }

  ArrayRef<BlockArgument> outs() const {
    return ArrayRef(tensors).take_back(body.getTerminator()->getNumOperands());
  }
  bool isOut(Value value) const { return llvm::is_contained(outs(), value); }

  /// Gives the result a buffer that holds what its destination holds: an out that nobody else
  /// reads, or a new one.
  LogicalResult placeResult(Emitter &e, OpResult result) {
    auto dps = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    Value init = dps ? dps.getTiedOpOperand(result)->get() : Value();
    bool isWrittenThere = init && isOut(init) && init.hasOneUse();
    FailureOr<Buffer> made =
        isWrittenThere ? e.buffer(init)
                       : e.temporary(getElementTypeOrSelf(result), Emitter::extentsOf(result));
    if (failed(made))
      return failure();
    e.buffers[result] = *made;
    if (init && !isOut(init) && !init.getDefiningOp<tensor::EmptyOp>())
      e.copy(e.buffer(init), *made);
    return success();
  }

  /// What is not in the out it is returned as is copied there.
  void copyResults(Emitter &e) {
    for (auto [value, out] : llvm::zip(body.getTerminator()->getOperands(), outs())) {
      Buffer from = e.buffer(value), to = e.buffer(out);
      if (from.base != to.base)
        e.copy(from, to);
    }
  }

  LogicalResult emitOperation(Emitter &e, Operation *op) {
    e.loc = op->getLoc();
    if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>))
      return readsComputed(op) ? e.evaluate(op) : success();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return emitConstant(e, constant);
    if (isReshape(op)) {
      FailureOr<Indices> sizes = e.sizes(Emitter::extentsOf(op->getResult(0)));
      if (succeeded(sizes))
        e.buffers[op->getResult(0)] = {e.buffer(op->getOperand(0)).base, *sizes,
                                       getElementTypeOrSelf(op->getResult(0))};
      return sizes;
    }
    auto loops = dyn_cast<PlainLoops>(op);
    if (!loops && !isa<tensor::EmptyOp>(op))
      return emitCoded(op->getLoc(), Code::TARGET_2)
             << "the reference target cannot do " << op->getName().getStringRef();
    for (OpResult result : op->getResults())
      if (failed(placeResult(e, result)))
        return failure();
    return loops ? loops.emitLoops(e) : success();
  }

  /// A scalar that comes from what the kernel computes is emitted in its place; all others on
  /// demand, before the loops.
  static bool readsComputed(Operation *op) {
    return op
        ->walk([](tensor::ExtractOp extract) {
          return WalkResult(failure(extract.getTensor().getDefiningOp() != nullptr));
        })
        .wasInterrupted();
  }

  LogicalResult emitConstant(Emitter &e, arith::ConstantOp op);

  func::FuncOp kernel;
  Block &body;
  ModuleOp into;
  OpBuilder b;
  Location loc;
  Type i64;
  SmallVector<BlockArgument> tensors;
  std::vector<std::pair<Type, SmallVector<Extent>>> temporaries;
  unsigned constants = 0;
};

/// A dense constant is a private global of the module.
LogicalResult KernelLowering::emitConstant(Emitter &e, arith::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return emitCoded(op.getLoc(), Code::TARGET_2)
           << "the reference target cannot do this kind of constant";
  Type element = dense.getElementType(), stored = Emitter::stored(element);
  if (stored != element)
    dense = cast<DenseIntElementsAttr>(dense).mapValues(stored, [&](const APInt &number) {
      return number.zextOrTrunc(stored.getIntOrFloatBitWidth());
    });
  int64_t count = dense.getNumElements();
  std::string name = (kernel.getName() + "_c" + std::to_string(constants++)).str();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(into.getBody());
  LLVM::GlobalOp::create(b, op.getLoc(), LLVM::LLVMArrayType::get(stored, count),
                         /*isConstant=*/true, LLVM::Linkage::Internal, name,
                         dense.reshape(RankedTensorType::get(count, stored)), /*alignment=*/64);
  b.restoreInsertionPoint(e.entry);
  Value base =
      LLVM::AddressOfOp::create(b, op.getLoc(), LLVM::LLVMPointerType::get(b.getContext()), name);
  e.buffers[op] = {base, *e.sizes(Emitter::extentsOf(op)), element};
  return success();
}

} // namespace

FailureOr<KernelInfo> lowerKernel(func::FuncOp kernel, ModuleOp into) {
  return KernelLowering(kernel, into).run();
}

} // namespace tw::target::reference
