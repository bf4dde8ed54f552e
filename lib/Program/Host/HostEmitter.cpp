// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Host/HostEmitter.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "Target/Common/Operations/SafeDivisor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "runtime/ProgramABI.h"
#include <cstddef>

using namespace mlir;

namespace tw {

static int64_t elementBytes(Type tensor) {
  return (cast<RankedTensorType>(tensor).getElementTypeBitWidth() + 7) / 8;
}

HostEmitter::HostEmitter(HostBuilder &h, const HostInput &in, bool sizing)
    : h(h), in(in), sizing(sizing) {}

LogicalResult HostEmitter::emit(StringRef name) {
  auto function = h.function(name, h.i32, {h.ptr}, /*exported=*/false);
  call = function.getArgument(0);
  if (!sizing)
    arena = callField(offsetof(tw_call, arena));
  int64_t mostBuffers = 1, mostScalars = 1;
  in.main.walk([&](graph::DispatchOp op) {
    // A kernel takes sizes that it knows too little of, even where the dispatch's types say more.
    const target::KernelInfo &info = in.kernels.find(op.getKernel())->second;
    int64_t tensorCount = int64_t(info.passedSizes.size()), scalarCount = info.takesWorkers;
    for (const std::vector<unsigned> &sizes : info.passedSizes)
      scalarCount += int64_t(sizes.size());
    for (Value input : op.getInputs())
      scalarCount += !isa<RankedTensorType>(input.getType());
    mostBuffers = std::max(mostBuffers, tensorCount + info.mayFail());
    mostScalars = std::max(mostScalars, scalarCount);
  });
  buffers = LLVM::AllocaOp::create(h.b, h.loc, h.ptr, h.i64, h.constant(mostBuffers));
  scalars = LLVM::AllocaOp::create(h.b, h.loc, h.ptr, h.i64, h.constant(mostScalars));
  failure = LLVM::AllocaOp::create(h.b, h.loc, h.ptr, h.i64, h.constant(4));
  if (in.isForDevice && !sizing)
    reserveLaunchArea(mostBuffers);
  bindArguments();
  return success(succeeded(emitBlock(in.main.getBody().front())) && !failed);
}

//===----------------------------------------------------------------------===//
// Values and memory
//===----------------------------------------------------------------------===//

Value HostEmitter::callField(size_t offset) { return h.load(h.ptr, h.offset(call, offset)); }

/// The i64 form of a scalar input: as the runtime passes it, narrowed to the type @main wants.
static Value readScalar(HostBuilder &h, Type type, Value address) {
  if (type.isIndex() || type.isInteger(64))
    return h.load(h.i64, address);
  if (type.isInteger(1)) {
    Value byte = h.load(h.i8, address);
    return LLVM::TruncOp::create(h.b, h.loc, type, byte);
  }
  if (isa<FloatType>(type)) {
    Value wide = h.load(h.b.getF64Type(), address);
    return type.isF64() ? wide : Value(LLVM::FPTruncOp::create(h.b, h.loc, type, wide));
  }
  return LLVM::TruncOp::create(h.b, h.loc, type, h.load(h.i64, address));
}

void HostEmitter::bindArguments() {
  const Signature &signature = in.plan.signature;
  Value inputSizes = callField(offsetof(tw_call, input_sizes));
  Value inputs = callField(offsetof(tw_call, inputs));
  for (BlockArgument argument : in.main.getArguments()) {
    unsigned number = argument.getArgNumber();
    int input = signature.inputOf[number];
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      values[argument] = readScalar(h, argument.getType(), h.element(h.ptr, inputs, input));
      continue;
    }
    HostTensor tensor;
    for (int64_t d = 0; d < type.getRank(); ++d)
      tensor.sizes.push_back(type.isDynamicDim(d)
                                 ? h.element(h.i64, h.element(h.ptr, inputSizes, input), d)
                                 : h.constant(type.getDimSize(d)));
    if (!sizing)
      tensor.data = memory(in.plan.assignmentOf(argument));
    tensors[argument] = tensor;
  }
}

Value HostEmitter::temporary(int index) {
  if (in.program.memory.isStatic)
    return h.offset(arena, in.program.memory.offsets[index]);
  return h.offset(arena, h.element(h.i64, callField(offsetof(tw_call, buffer_offsets)), index));
}

Value HostEmitter::memory(BufferAssignment assignment, Operation *weight) {
  switch (assignment.kind) {
  case BufferKind::Temporary:
    return temporary(assignment.index);
  case BufferKind::Output:
    return h.element(h.ptr, callField(offsetof(tw_call, outputs)), assignment.index);
  case BufferKind::Input:
    return h.element(h.ptr, callField(offsetof(tw_call, inputs)), assignment.index);
  case BufferKind::State:
    return h.element(h.ptr, callField(offsetof(tw_call, state)), assignment.index);
  case BufferKind::Weight:
    return h.offset(callField(offsetof(tw_call, weights)), in.weightOffsets.lookup(weight));
  }
  llvm_unreachable("all kinds are listed");
}

/// Phase SIZES: temporary `index` must hold at least `bytes`.
void HostEmitter::need(int index, Value bytes) {
  if (!bytes)
    return failSize(h.loc);
  Value slot = h.offset(callField(offsetof(tw_call, buffer_sizes)), int64_t(index) * 8);
  h.store(LLVM::SMaxOp::create(h.b, h.loc, bytes, h.load(h.i64, slot)), slot);
}

void HostEmitter::failSize(Location loc) {
  if (!failed)
    (emitCoded(loc, Code::PROGRAM_1)
     << "the size of a tensor depends on values that are computed while the program runs")
            .attachNote()
        << "help: sizes must follow from the inputs' sizes, and from numbers that are inputs";
  failed = true;
}

Value HostEmitter::bytes(const HostTensor &tensor, Type type) {
  Value product = h.constant(elementBytes(type));
  for (Value size : tensor.sizes) {
    if (!size)
      return {};
    product = h.mul(product, size);
  }
  return product;
}

SmallVector<Value> HostEmitter::staticSizes(RankedTensorType type) {
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size) ? Value() : h.constant(size));
  return sizes;
}

SmallVector<Value> HostEmitter::mixedSizes(RankedTensorType type, ValueRange dynamic) {
  SmallVector<Value> sizes = staticSizes(type);
  size_t next = 0;
  for (auto [size, known] : llvm::zip(sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      size = values.lookup(dynamic[next++]);
  return sizes;
}

Value HostEmitter::index(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return h.constant(cast<IntegerAttr>(attribute).getInt());
  return values.lookup(cast<Value>(value));
}

/// Binds `value` to the memory its place says.
HostTensor HostEmitter::newTensor(Value value, ArrayRef<Value> sizes) {
  HostTensor tensor{{}, llvm::to_vector(sizes)};
  BufferAssignment assignment = in.plan.assignmentOf(value);
  if (!sizing)
    tensor.data = memory(assignment, value.getDefiningOp());
  else if (assignment.kind == BufferKind::Temporary)
    need(assignment.index, bytes(tensor, value.getType()));
  return tensors[value] = tensor;
}

void HostEmitter::copyTensor(Value to, const HostTensor &from, Type type) {
  if (in.isForDevice)
    require(offsetof(tw_callbacks, copy), {to, from.data, bytes(from, type)});
  else
    h.copy(to, from.data, bytes(from, type));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult HostEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (mlir::failed(emitOp(&op)) || failed)
      return mlir::failure();
  return success();
}

LogicalResult HostEmitter::emitOp(Operation *op) {
  h.loc = op->getLoc();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](graph::DispatchOp op) { return emitDispatch(op), success(); })
      .Case([&](graph::WeightOp op) {
        newTensor(op.getResult(), staticSizes(cast<RankedTensorType>(op.getType())));
        return success();
      })
      .Case([&](tensor::EmptyOp op) {
        SmallVector<Value> sizes = mixedSizes(op.getType(), op.getDynamicSizes());
        tensors[op.getResult()] = {{}, sizes};
        if (in.plan.hasMemory(op.getResult()))
          newTensor(op.getResult(), sizes);
        return success();
      })
      .Case<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](Operation *op) { return emitReshape(op), success(); })
      .Case([&](tensor::DimOp op) {
        std::optional<int64_t> d = op.getConstantIndex();
        const HostTensor &source = tensors[op.getSource()];
        if (!d || *d < 0 || *d >= int64_t(source.sizes.size()))
          return LogicalResult(emitCoded(op.getLoc(), Code::PROGRAM_2)
                               << "a dimension number is not a constant");
        values[op.getResult()] = source.sizes[*d];
        return success();
      })
      .Case([&](tensor::ExtractOp op) { return emitExtract(op), success(); })
      .Case([&](tensor::ExtractSliceOp op) { return emitExtractSlice(op), success(); })
      .Case([&](tensor::InsertSliceOp op) { return emitInsertSlice(op), success(); })
      .Case([&](graph::AssertOp op) { return emitAssert(op), success(); })
      .Case([&](scf::IfOp op) { return emitIf(op); })
      .Case([&](scf::ForOp op) { return emitFor(op); })
      .Case([&](func::ReturnOp op) { return emitReturn(op), success(); })
      .Case<scf::YieldOp>([&](Operation *) { return success(); })
      .Default([&](Operation *op) { return emitScalar(op); });
}

/// Arithmetic on scalars is cloned with `index` as i64; standard passes lower it later.
LogicalResult HostEmitter::emitScalar(Operation *op) {
  bool plain = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
               llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) &&
               llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  if (!plain)
    return emitCoded(op->getLoc(), Code::PROGRAM_2)
           << "the host program cannot hold " << op->getName().getStringRef();
  bool known = llvm::all_of(op->getOperands(), [&](Value v) { return bool(values.lookup(v)); });
  if (!known) {
    for (Value result : op->getResults())
      values[result] = {};
    return success();
  }
  Value operand = op->getNumOperands() ? values.lookup(op->getOperand(0)) : Value();
  auto integer = [&](Type type) { return type.isIndex() ? h.i64 : type; };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type to = integer(op->getResult(0).getType());
    unsigned from = operand.getType().getIntOrFloatBitWidth(), wide = to.getIntOrFloatBitWidth();
    bool isUnsigned = isa<arith::IndexCastUIOp>(op);
    if (from > wide)
      operand = LLVM::TruncOp::create(h.b, h.loc, to, operand);
    else if (from < wide)
      operand = isUnsigned ? Value(LLVM::ZExtOp::create(h.b, h.loc, to, operand))
                           : Value(LLVM::SExtOp::create(h.b, h.loc, to, operand));
    values[op->getResult(0)] = operand;
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && constant.getType().isIndex()) {
    values[constant] = h.constant(cast<IntegerAttr>(constant.getValue()).getInt());
    return success();
  }
  IRMapping mapping;
  for (Value value : op->getOperands())
    mapping.map(value, values.lookup(value));
  // What the model says about divisors it has asserted; a trap would end the whole process.
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  if (isSigned || isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    mapping.map(
        op->getOperand(1),
        target::safeDivisor(h.b, h.loc, operand, mapping.lookup(op->getOperand(1)), isSigned));
  Operation *clone = h.b.clone(*op, mapping);
  for (auto [result, copy] : llvm::zip(op->getResults(), clone->getResults())) {
    copy.setType(integer(copy.getType()));
    values[result] = copy;
  }
  return success();
}

void HostEmitter::emitReshape(Operation *op) {
  HostTensor source = tensors[op->getOperand(0)];
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> sizes = staticSizes(type);
  if (isa<tensor::CastOp>(op)) {
    for (auto [size, old] : llvm::zip(sizes, source.sizes))
      size = size ? size : old;
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    sizes = mixedSizes(type, expand.getOutputShape());
  } else {
    auto groups = cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
    for (auto [size, group] : llvm::zip(sizes, groups)) {
      if (size)
        continue;
      size = h.constant(1);
      for (int64_t d : group)
        size = size && source.sizes[d] ? h.mul(size, source.sizes[d]) : Value();
    }
  }
  tensors[op->getResult(0)] = {source.data, sizes};
}

/// The address of the element at `offsets` of a contiguous tensor.
Value HostEmitter::sliceStart(const HostTensor &whole, RankedTensorType type,
                              ArrayRef<OpFoldResult> offsets) {
  Value linear = h.constant(0);
  for (auto [offset, size] : llvm::zip(offsets, whole.sizes))
    linear = h.add(h.mul(linear, size), index(offset));
  return h.offset(whole.data, h.mul(linear, h.constant(elementBytes(type))));
}

void HostEmitter::emitExtract(tensor::ExtractOp op) {
  Value &result = values[op.getResult()];
  if (sizing) {
    result = {};
    return;
  }
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  SmallVector<OpFoldResult> position(op.getIndices().begin(), op.getIndices().end());
  Value address = sliceStart(tensors[op.getTensor()], type, position);
  Type element = type.getElementType();
  bool isBool = element.isInteger(1);
  Type stored = isBool ? h.i8 : element;
  result = in.isForDevice ? readOnDevice(op.getLoc(), stored, address) : h.load(stored, address);
  if (isBool)
    result = LLVM::TruncOp::create(h.b, h.loc, element, result);
}

void HostEmitter::emitExtractSlice(tensor::ExtractSliceOp op) {
  HostTensor source = tensors[op.getSource()];
  HostTensor &result = tensors[op.getResult()];
  llvm::SmallBitVector dropped = op.getDroppedDims();
  result.sizes.clear();
  for (auto [d, size] : llvm::enumerate(op.getMixedSizes()))
    if (!dropped.test(d))
      result.sizes.push_back(index(size));
  if (!sizing)
    result.data = sliceStart(source, op.getSourceType(), op.getMixedOffsets());
}

void HostEmitter::emitInsertSlice(tensor::InsertSliceOp op) {
  HostTensor dest = tensors[op.getDest()], source = tensors[op.getSource()];
  newTensor(op.getResult(), dest.sizes);
  if (sizing)
    return;
  const HostTensor &result = tensors[op.getResult()];
  if (!in.plan.same(op.getDest(), op.getResult()))
    copyTensor(result.data, dest, op.getType());
  copyTensor(sliceStart(result, op.getType(), op.getMixedOffsets()), source, op.getSourceType());
}

void HostEmitter::emitFailure(Value fine, Value message, Value x, Value y) {
  Block *fail = h.block(), *go = h.block();
  h.branchIf(fine, go, fail);
  h.b.setInsertionPointToStart(fail);
  h.call("tw_fail", {call, message, x, y});
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{h.constant32(1)});
  h.b.setInsertionPointToStart(go);
}

void HostEmitter::emitAssert(graph::AssertOp op) {
  Value condition = values.lookup(op.getCondition());
  SmallVector<Value> shown{h.constant(0), h.constant(0)};
  for (auto [slot, value] : llvm::zip(shown, op.getValues()))
    slot = values.lookup(value);
  std::string message = op.getMessage().str(), place = describePlace(op.getLoc());
  if (!place.empty())
    message += TW_FAILURE_PLACE + place;
  if (condition && shown[0] && shown[1])
    emitFailure(condition, h.text(message), shown[0], shown[1]);
}

//===----------------------------------------------------------------------===//
// The end: outputs, then state
//===----------------------------------------------------------------------===//

/// Stores a scalar as the runtime takes it: int64_t, double or uint8_t.
static void writeScalar(HostBuilder &h, Value value, Value address) {
  Type type = value.getType();
  if (type.isInteger(1))
    value = LLVM::ZExtOp::create(h.b, h.loc, h.i8, value);
  else if (isa<FloatType>(type) && !type.isF64())
    value = LLVM::FPExtOp::create(h.b, h.loc, h.b.getF64Type(), value);
  else if (type.isInteger() && !type.isInteger(64))
    value = LLVM::SExtOp::create(h.b, h.loc, h.i64, value);
  h.store(value, address);
}

void HostEmitter::writeOutput(unsigned number, Value value) {
  int output = in.plan.signature.outputOf[number];
  bool isTensor = isa<RankedTensorType>(value.getType());
  if (sizing) {
    Value sizes = h.element(h.ptr, callField(offsetof(tw_call, output_sizes)), output);
    if (isTensor)
      for (auto [d, size] : llvm::enumerate(tensors[value].sizes))
        size ? h.storeElement(size, sizes, d) : failSize(value.getLoc());
    return;
  }
  Value address = memory({BufferKind::Output, output});
  if (!isTensor)
    return writeScalar(h, values.lookup(value), address);
  BufferAssignment assignment = in.plan.assignmentOf(value);
  bool there = assignment.kind == BufferKind::Output && assignment.index == output &&
               in.plan.same(value, value);
  if (!there && !in.plan.isWrittenInPlace(number))
    copyTensor(address, tensors[value], value.getType());
}

/// State that takes over other state goes through temporaries, so that swaps come out right.
void HostEmitter::writeStates(Operation *op) {
  for (bool staged : {true, false})
    for (auto [number, value] : llvm::enumerate(op->getOperands())) {
      int state = in.plan.signature.nextOf[number];
      if (state < 0)
        continue;
      int staging = in.plan.staging(op, static_cast<int>(number));
      HostTensor from = tensors[value];
      if (staging >= 0 && sizing)
        need(staging, bytes(from, value.getType()));
      if (sizing || (staged && staging < 0))
        continue;
      if (staged) {
        copyTensor(temporary(staging), from, value.getType());
        continue;
      }
      if (staging >= 0)
        from.data = temporary(staging);
      BufferAssignment assignment = in.plan.assignmentOf(value);
      bool there = assignment.kind == BufferKind::State && assignment.index == state;
      if (!there)
        copyTensor(memory({BufferKind::State, state}), from, value.getType());
    }
}

void HostEmitter::emitReturn(Operation *op) {
  for (auto [number, value] : llvm::enumerate(op->getOperands()))
    if (in.plan.signature.outputOf[number] >= 0)
      writeOutput(unsigned(number), value);
  writeStates(op);
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{h.constant32(0)});
}

} // namespace tw
