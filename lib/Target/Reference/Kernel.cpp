// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is in the functions of one kernel (Target/KernelShell.h): loops over boxes of rows, how many
// of them there are and how much workspace a call needs.
#include "Target/Reference/Kernel.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "Target/KernelShell.h"
#include "Target/Reference/Operations.h"
#include "Target/Reference/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

/// Temporaries up to this size in all are taken from the stack.
constexpr int64_t stackBytes = 64 * 1024;

class KernelLowering {
public:
  KernelLowering(func::FuncOp kernel, ModuleOp into, const CpuFeatures &cpu)
      : kernel(kernel), into(into), cpu(cpu), plan(makePlan(kernel)), b(kernel.getContext()),
        loc(kernel.getLoc()), pointer(LLVM::LLVMPointerType::get(b.getContext())),
        i64(b.getI64Type()) {}

  FailureOr<KernelInfo> run() {
    result.name = kernel.getName().str();
    result.inPlace = plan.inPlace;
    result.passedSizes = dynamicSizes(kernel.getArgumentTypes());
    kernel.walk([&](graph::CheckIndexOp) { checksIndices = true; });
    KernelShell shell(b, loc, into, result.name, tensorArguments().size(), checksIndices);
    if (failed(emitLoops(shell)) || failed(emitInfo(shell)))
      return failure();
    shell.entry();
    return std::move(result);
  }

private:
  //===--- functions -------------------------------------------------------===//

  SmallVector<BlockArgument> tensorArguments() {
    return llvm::to_vector(llvm::make_filter_range(
        kernel.getArguments(), [](BlockArgument a) { return isa<RankedTensorType>(a.getType()); }));
  }

  LogicalResult emitLoops(KernelShell &shell) {
    SmallVector<BlockArgument> tensors = tensorArguments();
    KernelShell::Loops loops = shell.loops();
    setOverlap(loops.function, tensors);
    Emitter e(b, loc, cpu);
    e.failureRecord = loops.failureRecord;
    e.entry = b.saveInsertionPoint();
    unpackScalars(e, loops.scalars);
    for (auto [argument, data] : llvm::zip(tensors, loops.data))
      if (failed(argumentBuffer(e, argument, data)))
        return failure();
    if (failed(placeStorages(e, loops.workspace)))
      return failure();
    FailureOr<Indices> counts = boxCounts(e);
    if (failed(counts))
      return failure();
    b.setInsertionPointToStart(loops.iterations.getBody());
    setRows(e, loops.iterations.getInductionVar(), *counts);
    if (failed(emitBody(e)))
      return failure();
    result.failures = e.failures;
    result.imports.assign(e.imports.begin(), e.imports.end());
    return success();
  }

  /// What is read is not written and no out overlaps anything, but for the pairs `inPlace`.
  void setOverlap(LLVM::LLVMFuncOp loops, ArrayRef<BlockArgument> tensors) {
    unsigned inputs = tensors.size() - kernel.getNumResults();
    llvm::SmallDenseSet<unsigned> shared;
    for (auto [input, out] : plan.inPlace) {
      shared.insert(input);
      shared.insert(inputs + out);
    }
    for (unsigned i = 0, end = loops.getNumArguments() - 2; i < end; ++i)
      if (!shared.contains(i))
        loops.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
    for (unsigned i = 0; i < inputs; ++i)
      loops.setArgAttr(i, "llvm.readonly", b.getUnitAttr());
  }

  LogicalResult emitInfo(KernelShell &shell) {
    ValueRange arguments = shell.info();
    Emitter e(b, loc, cpu);
    e.entry = b.saveInsertionPoint();
    unpackScalars(e, arguments[0]);
    FailureOr<Indices> counts = boxCounts(e);
    FailureOr<Ix> bytes = workspaceBytes(e);
    if (failed(counts) || failed(bytes))
      return failure();
    Ix iterations = e.ix().product(*counts);
    result.iterations = iterations.constant();
    result.workspaceBytes = bytes->constant();
    Buffer out{arguments[1], 0, {Ix(2)}, {Ix(1)}, i64, 0};
    e.store(e.ix().value(iterations), out, 0);
    e.store(e.ix().value(*bytes), out, 1);
    return success();
  }

  //===--- arguments -------------------------------------------------------===//

  void unpackScalars(Emitter &e, Value scalars) {
    Buffer slots{scalars, 0, {Ix(0)}, {Ix(1)}, i64, 0};
    int64_t next = 0;
    for (BlockArgument argument : tensorArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      Indices &sizes = e.knownSizes[argument];
      for (int64_t d = 0; d < type.getRank(); ++d)
        sizes.push_back(type.isDynamicDim(d) ? Ix(e.load(slots, next++)) : Ix(type.getDimSize(d)));
    }
    for (BlockArgument argument : kernel.getArguments())
      if (!isa<RankedTensorType>(argument.getType()))
        e.scalars[argument] = fromSlot(e, e.load(slots, next++), argument.getType());
  }

  Value fromSlot(Emitter &e, Value bits, Type type) {
    if (!isa<FloatType>(type))
      return e.convert(bits, Emitter::scalarType(type));
    Value number = arith::BitcastOp::create(b, loc, b.getF64Type(), bits);
    return e.convert(number, type);
  }

  LogicalResult argumentBuffer(Emitter &e, BlockArgument argument, Value data) {
    FailureOr<Indices> sizes = e.sizes(argument);
    if (failed(sizes))
      return failure();
    auto element = cast<RankedTensorType>(argument.getType()).getElementType();
    e.buffers[argument] = {data, 0, *sizes, rowMajor(e.ix(), *sizes), element, 0};
    return success();
  }

  //===--- rows ------------------------------------------------------------===//

  /// The value whose leading sizes the rows are.
  Value rowValue() const { return plan.storages.front().value; }

  FailureOr<Indices> boxCounts(Emitter &e) {
    Indices counts;
    for (int64_t d = 0; d < plan.rows; ++d) {
      FailureOr<Ix> size = e.size(rowValue(), d);
      if (failed(size))
        return failure();
      counts.push_back(plan.box[d] ? e.ix().ceilDiv(*size, *plan.box[d]) : Ix(1));
    }
    return counts;
  }

  void setRows(Emitter &e, Value iteration, const Indices &counts) {
    e.rows.assign(plan.rows, Range{});
    Ix rest = iteration;
    for (int64_t d = plan.rows - 1; d >= 0; --d) {
      Ix size = *e.size(rowValue(), d);
      if (!plan.box[d]) {
        e.rows[d] = {0, size, true};
        continue;
      }
      Ix at = d == 0 ? rest : e.ix().rem(rest, counts[d]);
      rest = e.ix().div(rest, counts[d]);
      Ix lo = e.ix().mul(at, *plan.box[d]), len = *plan.box[d];
      if (!size.isConstant() || *size.constant() % *plan.box[d] != 0)
        len = e.ix().min(len, e.ix().sub(size, lo));
      e.rows[d] = {lo, len, false};
    }
    for (auto [index, storage] : llvm::enumerate(plan.storages))
      if (!storage.out)
        shiftToBox(e, placed[index]);
    for (auto [value, index] : plan.storageOf)
      e.buffers[value] = placed[index];
  }

  /// A temporary holds one box only, but is accessed with positions in the whole tensor.
  void shiftToBox(Emitter &e, Buffer &buffer) {
    for (int64_t d = 0; d < plan.rows; ++d)
      buffer.offset = e.ix().sub(buffer.offset, e.ix().mul(e.rows[d].lo, buffer.strides[d]));
  }

  //===--- storage ---------------------------------------------------------===//

  /// The sizes of what is kept of a temporary at a time.
  FailureOr<Indices> keptSizes(Emitter &e, Value value) {
    FailureOr<Indices> sizes = e.sizes(value);
    if (succeeded(sizes))
      for (int64_t d = 0; d < plan.rows; ++d)
        if (plan.box[d])
          (*sizes)[d] = *plan.box[d];
    return sizes;
  }

  FailureOr<Ix> bytesOf(Emitter &e, Value value) {
    FailureOr<Indices> kept = keptSizes(e, value);
    if (failed(kept))
      return failure();
    int64_t bytes = Emitter::bytesOf(cast<RankedTensorType>(value.getType()).getElementType());
    return e.ix().alignUp(e.ix().mul(e.ix().product(*kept), bytes), 64);
  }

  /// All temporaries; 0 when they are small enough for the stack.
  FailureOr<Ix> workspaceBytes(Emitter &e) {
    Ix total = 0;
    for (const Storage &storage : plan.storages)
      if (!storage.out) {
        FailureOr<Ix> bytes = bytesOf(e, storage.value);
        if (failed(bytes))
          return failure();
        total = e.ix().add(total, *bytes);
      }
    return total.isConstant() && *total.constant() <= stackBytes ? Ix(0) : total;
  }

  LogicalResult placeStorages(Emitter &e, Value workspace) {
    FailureOr<Ix> total = workspaceBytes(e);
    if (failed(total))
      return failure();
    Ix used = 0;
    for (const Storage &storage : plan.storages) {
      FailureOr<Indices> sizes = e.sizes(storage.value), kept = keptSizes(e, storage.value);
      if (failed(sizes) || failed(kept))
        return failure();
      Type element = cast<RankedTensorType>(storage.value.getType()).getElementType();
      Buffer buffer{{}, 0, *sizes, {}, element, 0};
      if (storage.out) {
        buffer.base = e.buffer(kernel.getArgument(plan.inputs + *storage.out)).base;
        buffer.strides = rowMajor(e.ix(), *sizes);
      } else {
        FailureOr<Ix> bytes = bytesOf(e, storage.value);
        buffer.base = total->is(0) ? e.onStack(b.getI8Type(), *bytes->constant()).base
                                   : e.pointer({workspace, 0, {}, {}, b.getI8Type(), 0}, used);
        buffer.strides = rowMajor(e.ix(), *kept);
        buffer.denseFrom = std::max<int64_t>(0, plan.rows - 1);
        used = e.ix().add(used, *bytes);
      }
      placed.push_back(buffer);
    }
    return success();
  }

  //===--- body ------------------------------------------------------------===//

  LogicalResult emitBody(Emitter &e) {
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (failed(emitOperation(e, &op)))
        return failure();
    for (auto [value, out] : plan.copies) {
      const Buffer &from = e.buffer(value);
      Buffer to = e.buffer(kernel.getArgument(plan.inputs + out));
      e.copy(from, to, e.ranges(from.sizes));
    }
    return success();
  }

  /// An empty tensor that is read (a window that only says how large it is) is one zero everywhere.
  LogicalResult emitEmpty(Emitter &e, Value tensor) {
    bool isRead = llvm::any_of(tensor.getUses(), [](OpOperand &use) {
      auto dps = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      return !dps || !dps.isDpsInit(&use);
    });
    if (!isRead || e.buffers.contains(tensor))
      return success();
    FailureOr<Indices> sizes = e.sizes(tensor);
    if (failed(sizes))
      return failure();
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    Buffer zero = e.onStack(element, 1);
    e.store(e.constant(Emitter::scalarType(element), 0), zero, 0);
    zero.sizes = *sizes;
    zero.strides.assign(sizes->size(), Ix(0));
    zero.denseFrom = sizes->size();
    e.buffers[tensor] = zero;
    return success();
  }

  LogicalResult emitOperation(Emitter &e, Operation *op) {
    e.loc = op->getLoc();
    if (isa<tensor::EmptyOp>(op))
      return emitEmpty(e, op->getResult(0));
    if (isViewOperation(op))
      return emitView(op, e);
    if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>))
      return needsOrder(op) ? LogicalResult(e.evaluate(op)) : success();
    if (isa<arith::ConstantOp>(op))
      return emitConstant(e, cast<arith::ConstantOp>(op));
    EmitLoops emit = emitLoopsOf(op);
    if (!emit)
      return emitCoded(op->getLoc(), Code::TARGET_2)
             << "the reference target cannot do " << op->getName().getStringRef();
    for (OpOperand &operand : op->getOpOperands())
      if (plan.copiedInits.contains(&operand)) {
        const Buffer &to = e.buffer(tiedResult(operand));
        e.copy(e.buffer(operand.get()), to, e.ranges(to.sizes));
      }
    return emit(op, e);
  }

  static Value tiedResult(OpOperand &init) {
    return cast<DestinationStyleOpInterface>(init.getOwner()).getTiedOpResult(&init);
  }

  /// A scalar that comes from what the kernel computes is emitted in its place; all others on
  /// demand, before the loops.
  bool needsOrder(Operation *op) {
    bool computed = false;
    op->walk([&](tensor::ExtractOp extract) { computed |= plan.isComputed(extract.getTensor()); });
    return computed;
  }

  LogicalResult emitConstant(Emitter &e, arith::ConstantOp op);

  func::FuncOp kernel;
  ModuleOp into;
  const CpuFeatures &cpu;
  Plan plan;
  OpBuilder b;
  Location loc;
  Type pointer, i64;
  bool checksIndices = false;
  std::vector<Buffer> placed;
  unsigned constants = 0;
  KernelInfo result;
};

/// A dense constant is a private global of the module.
LogicalResult KernelLowering::emitConstant(Emitter &e, arith::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return emitCoded(op.getLoc(), Code::TARGET_2)
           << "the reference target cannot do this kind of constant";
  auto type = cast<RankedTensorType>(op.getType());
  Type element = Emitter::stored(type.getElementType());
  SmallVector<char> bytes;
  DenseElementsAttr whole = dense.isSplat() ? dense.resizeSplat(type) : dense;
  int64_t width = Emitter::bytesOf(type.getElementType());
  auto append = [&](const APInt &bits) {
    for (int64_t i = 0; i < width; ++i)
      bytes.push_back(char(bits.zextOrTrunc(64).extractBitsAsZExtValue(8, i * 8)));
  };
  if (isa<FloatType>(element))
    for (const APFloat &number : whole.getValues<APFloat>())
      append(number.bitcastToAPInt());
  else
    for (const APInt &number : whole.getValues<APInt>())
      append(number);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(into.getBody());
  auto flat = RankedTensorType::get({int64_t(bytes.size())}, b.getI8Type());
  std::string name = result.name + "_c" + std::to_string(constants++);
  auto array = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  auto value = DenseElementsAttr::getFromRawBuffer(flat, bytes);
  LLVM::GlobalOp::create(b, op.getLoc(), array, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                         value, /*alignment=*/64);
  b.restoreInsertionPoint(e.entry);
  Value base = LLVM::AddressOfOp::create(b, op.getLoc(), pointer, name);
  FailureOr<Indices> sizes = e.sizes(op.getResult());
  e.buffers[op.getResult()] = {base, 0, *sizes, rowMajor(e.ix(), *sizes), type.getElementType(), 0};
  return success();
}

} // namespace

FailureOr<KernelInfo> lowerKernel(func::FuncOp kernel, ModuleOp into, const CpuFeatures &cpu) {
  return KernelLowering(kernel, into, cpu).run();
}

} // namespace tw::target::reference
