// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Coded.h"
#include "IR/Graph/Values.h"
#include "IR/ModelLocation.h"
#include "Program/Host/HostEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "runtime/ProgramABI.h"
#include <cstddef>
#include <limits>

using namespace mlir;

namespace tw {

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Cancelling
//===----------------------------------------------------------------------===//

/// The entry returns 1 unless `result` is 0.
void HostEmitter::returnUnlessZero(Value result) {
  Value fine = LLVM::ICmpOp::create(h.b, h.loc, LLVM::ICmpPredicate::eq, result, h.constant32(0));
  Block *stop = h.block(), *go = h.block();
  h.branchIf(fine, go, stop);
  h.b.setInsertionPointToStart(stop);
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{h.constant32(1)});
  h.b.setInsertionPointToStart(go);
}

/// Ends the call here where its caller wants that. On a device, where a call is over as soon as its
/// work is enqueued, the runtime sees to that when the host reads a value, such as a loop's flag.
void HostEmitter::checkCancelled() {
  if (!sizing && !in.isForDevice)
    returnUnlessZero(h.call("tw_cancelled", call));
}

//===----------------------------------------------------------------------===//
// Dispatches
//===----------------------------------------------------------------------===//

/// A scalar as kernels take it: integers sign-extended, i1 as 0 or 1, floats as the bits of an f64.
static Value scalarBits(HostBuilder &h, Value value) {
  Type type = value.getType();
  if (isa<FloatType>(type)) {
    if (!type.isF64())
      value = LLVM::FPExtOp::create(h.b, h.loc, h.b.getF64Type(), value);
    return LLVM::BitcastOp::create(h.b, h.loc, h.i64, value);
  }
  if (type.isInteger(1))
    return LLVM::ZExtOp::create(h.b, h.loc, h.i64, value);
  return type.isInteger(64) ? value : Value(LLVM::SExtOp::create(h.b, h.loc, h.i64, value));
}

/// Stores what the kernel takes into `buffers` and `scalars`. In phase SIZES only scalars, and 0
/// for those that depend on data.
void HostEmitter::fillCallArrays(graph::DispatchOp op) {
  int64_t buffer = 0, scalar = 0;
  auto put = [&](Value value) {
    h.storeElement(value ? scalarBits(h, value) : h.constant(0), scalars, scalar++);
  };
  const target::KernelInfo &info = in.kernels.find(op.getKernel())->second;
  auto putTensor = [&](const HostTensor &tensor) {
    if (!sizing)
      h.storeElement(tensor.data, buffers, buffer);
    for (unsigned d : info.passedSizes[buffer++])
      put(tensor.sizes[d]);
  };
  for (Value input : op.getInputs())
    if (isTensor(input))
      putTensor(tensors[input]);
  for (Value result : op.getResults())
    putTensor(tensors[result]);
  for (Value input : op.getInputs())
    if (!isTensor(input))
      put(values.lookup(input));
  if (info.takesWorkers)
    put(h.load(h.i64, h.offset(call, offsetof(tw_call, workers))));
  if (!sizing && info.mayFail() && !in.isForDevice) {
    h.storeElement(failure, buffers, buffer);
    h.store(h.constant(0), failure);
  }
}

/// Iterations and workspace bytes (aligned) of the kernel whose scalars have been filled in.
std::pair<Value, Value> HostEmitter::kernelNeeds(const target::KernelInfo &info) {
  if (info.iterations && info.workspaceBytes)
    return {h.constant(*info.iterations), h.aligned(h.constant(*info.workspaceBytes))};
  // `failure` is not in use before the kernel has been called.
  h.call(info.name + "_info", {scalars, failure});
  Value iterations = h.element(h.i64, failure, 0), bytes = h.element(h.i64, failure, 1);
  if (info.mayFail())
    h.store(h.constant(0), failure);
  return {iterations, h.aligned(bytes)};
}

static bool runsSerially(const target::KernelInfo &info) {
  return info.iterations && *info.iterations == 1;
}

void HostEmitter::launch(graph::DispatchOp op, const target::KernelInfo &info) {
  if (info.device)
    return launchOnDevice(op, info);
  if (in.isForDevice)
    return runOnHost(op, info);
  auto [iterations, workspace] = kernelNeeds(info);
  if (info.fills)
    h.call(info.name + "_fill", {buffers, scalars});
  if (runsSerially(info)) {
    int scratch = in.plan.staging(op, -1);
    Value memory =
        scratch >= 0 ? temporary(scratch) : Value(LLVM::ZeroOp::create(h.b, h.loc, h.ptr));
    h.call(info.name, {buffers, scalars, memory, h.constant(0), iterations});
    return;
  }
  h.call("tw_launch", {call, h.address(info.name), buffers, scalars, iterations,
                       h.constant(info.grain), workspace});
}

/// Phase SIZES of a dispatch: what scratch it needs.
void HostEmitter::sizeWorkspace(graph::DispatchOp op, const target::KernelInfo &info) {
  if (info.workspaceBytes && *info.workspaceBytes == 0)
    return;
  if (in.isForDevice && !info.device)
    return; // the runtime provides it
  fillCallArrays(op);
  Value bytes = kernelNeeds(info).second;
  if (info.device || runsSerially(info))
    return need(in.plan.staging(op, -1), bytes);
  Value most = callField(offsetof(tw_call, workspace_bytes));
  h.store(LLVM::SMaxOp::create(h.b, h.loc, bytes, h.load(h.i64, most)), most);
}

void HostEmitter::checkFailure(const target::KernelInfo &info) {
  Value code = h.load(h.i64, failure);
  auto compare = [&](LLVM::ICmpPredicate predicate, Value x, Value y) -> Value {
    return LLVM::ICmpOp::create(h.b, h.loc, predicate, x, y);
  };
  Value message = h.text(info.failures.front());
  for (size_t n = 1; n < info.failures.size(); ++n)
    message = LLVM::SelectOp::create(
        h.b, h.loc, compare(LLVM::ICmpPredicate::eq, code, h.constant(int64_t(n) + 1)),
        h.text(info.failures[n]), message);
  emitFailure(compare(LLVM::ICmpPredicate::eq, code, h.constant(0)), message,
              h.element(h.i64, failure, 1), h.element(h.i64, failure, 2));
}

/// The tensors of a dispatch as fillCallArrays puts them.
static std::vector<HostBuffer> buffersOf(graph::DispatchOp op, const target::KernelInfo &info) {
  std::vector<HostBuffer> all;
  int64_t slot = 0;
  auto add = [&](Value tensor, bool isResult) {
    HostBuffer buffer{cast<RankedTensorType>(tensor.getType()), {}, isResult, {}};
    buffer.slots.assign(size_t(buffer.type.getRank()), -1);
    for (unsigned d : info.passedSizes[all.size()])
      buffer.slots[d] = slot++;
    all.push_back(std::move(buffer));
  };
  for (Value input : op.getInputs())
    if (isTensor(input))
      add(input, false);
  size_t inputs = all.size();
  for (Value result : op.getResults())
    add(result, true);
  for (graph::ValueAttr value : graph::valuesOf(op))
    all[inputs + size_t(value.getResult())].values.push_back(value);
  return all;
}

void HostEmitter::emitDispatch(graph::DispatchOp op) {
  for (auto [result, out] : llvm::zip(op.getResults(), op.getOuts())) {
    SmallVector<Value> sizes = tensors[out].sizes;
    newTensor(result, sizes);
  }
  const target::KernelInfo &info = in.kernels.find(op.getKernel())->second;
  if (sizing)
    return sizeWorkspace(op, info);
  int number = dispatches++;
  in.program.dispatches.push_back({op.getKernel().str(), describePlace(op.getLoc()),
                                   buffersOf(op, info), op, in.plan.stepOf(op)});
  if (number > 0) // the first has nothing before it that takes time
    checkCancelled();
  fillCallArrays(op);
  h.call("tw_trace", {call, h.constant32(number), h.constant32(1), buffers, scalars});
  launch(op, info);
  h.call("tw_trace", {call, h.constant32(number), h.constant32(0), buffers, scalars});
  if (info.mayFail() && !in.isForDevice)
    checkFailure(info);
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

/// What of `values` is passed along as SSA values: scalars, and the dynamic sizes of tensors.
SmallVector<Value> HostEmitter::scalarParts(ValueRange all) {
  SmallVector<Value> parts;
  for (Value value : all) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      parts.push_back(values.lookup(value));
      continue;
    }
    const HostTensor &tensor = tensors[value];
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        parts.push_back(tensor.sizes[d]);
  }
  return parts;
}

/// The inverse of scalarParts: binds `all` to `parts`, tensors to the memory of their places.
void HostEmitter::bindParts(ValueRange all, ValueRange parts) {
  size_t next = 0;
  for (Value value : all) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      values[value] = parts[next++];
      continue;
    }
    SmallVector<Value> sizes = staticSizes(type);
    for (Value &size : sizes)
      size = size ? size : parts[next++];
    newTensor(value, sizes);
  }
}

/// Copies what a region yields to where the results are, unless it has been made there. Exchanged
/// loop-carried values go through temporaries.
void HostEmitter::placeYields(Operation *yield, ValueRange results) {
  for (bool staged : {true, false})
    for (auto [number, value] : llvm::enumerate(yield->getOperands())) {
      Value result = results[number];
      if (!isTensor(value) || in.plan.same(value, result))
        continue;
      int staging = in.plan.staging(yield, static_cast<int>(number));
      HostTensor from = tensors[value];
      if (sizing) {
        if (staging >= 0)
          need(staging, bytes(from, value.getType()));
        continue;
      }
      if (staged && staging >= 0)
        copyTensor(temporary(staging), from, value.getType());
      if (staged)
        continue;
      if (staging >= 0)
        from.data = temporary(staging);
      copyTensor(memory(in.plan.assignmentOf(result)), from, value.getType());
    }
}

LogicalResult HostEmitter::emitIf(scf::IfOp op) {
  Value condition = values.lookup(op.getCondition());
  Location loc = op.getLoc();
  // In phase SIZES a condition may depend on data: then both branches count.
  Block *blocks[2] = {condition ? h.block() : nullptr, condition ? h.block() : nullptr};
  if (condition)
    h.branchIf(condition, blocks[0], blocks[1]);
  SmallVector<Value> parts[2];
  Block *ends[2] = {};
  for (unsigned branch : {0u, 1u}) {
    if (condition)
      h.b.setInsertionPointToStart(blocks[branch]);
    Region &region = op->getRegion(branch);
    if (!region.empty()) {
      if (mlir::failed(emitBlock(region.front())))
        return mlir::failure();
      h.loc = loc;
      placeYields(region.front().getTerminator(), op.getResults());
      parts[branch] = scalarParts(region.front().getTerminator()->getOperands());
    }
    ends[branch] = h.b.getInsertionBlock();
  }
  if (!condition) {
    bindParts(op.getResults(), parts[0]);
    return success();
  }
  return joinBranches(op.getResults(), parts, ends), success();
}

/// Continues both branches in one block; a part is unknown there when it is in one of them.
void HostEmitter::joinBranches(ValueRange results, SmallVector<Value> (&parts)[2],
                               Block *(&ends)[2]) {
  Block *join = h.block();
  SmallVector<Value> joined(parts[0].size()), passed[2];
  for (size_t i = 0; i < joined.size(); ++i)
    if (parts[0][i] && parts[1][i]) {
      joined[i] = join->addArgument(parts[0][i].getType(), h.loc);
      passed[0].push_back(parts[0][i]);
      passed[1].push_back(parts[1][i]);
    }
  for (unsigned branch : {0u, 1u}) {
    h.b.setInsertionPointToEnd(ends[branch]);
    h.branch(join, passed[branch]);
  }
  h.b.setInsertionPointToStart(join);
  bindParts(results, joined);
}

/// A loop with `tw.while` may end when the flag it carries last is false: the rounds that are left
/// do nothing. Refuses one that has lost its mark, which would run for centuries.
static LogicalResult checkWhile(scf::ForOp op) {
  ValueRange carried = op.getRegionIterArgs();
  auto rounds = getConstantIntValue(op.getUpperBound());
  bool hasFlag = !carried.empty() && carried.back().getType().isInteger(1);
  if (op->hasAttr("tw.while") ? hasFlag : rounds != std::numeric_limits<int64_t>::max())
    return success();
  return emitCoded(op.getLoc(), Code::PROGRAM_2) << "a loop has lost the condition that ends it";
}

/// Tensors that a loop carries keep their sizes and their place: what they begin with is put there.
void HostEmitter::carryTensors(scf::ForOp op) {
  for (auto [result, carried, init] :
       llvm::zip(op.getResults(), op.getRegionIterArgs(), op.getInitArgs())) {
    if (!isTensor(result))
      continue;
    HostTensor first = tensors[init];
    tensors[carried] = newTensor(result, first.sizes);
    if (!sizing && !in.plan.same(init, result))
      copyTensor(tensors[result].data, first, init.getType());
  }
}

/// The numbers of what a loop carries beside tensors, which is passed along.
static SmallVector<unsigned> carriedScalars(scf::ForOp op) {
  SmallVector<unsigned> numbers;
  for (OpResult result : op->getResults())
    if (!isTensor(result))
      numbers.push_back(result.getResultNumber());
  return numbers;
}

LogicalResult HostEmitter::emitFor(scf::ForOp op) {
  if (mlir::failed(checkWhile(op)))
    return mlir::failure();
  Location loc = op.getLoc();
  bool isWhile = op->hasAttr("tw.while");
  carryTensors(op);
  Value low = values.lookup(op.getLowerBound()), high = values.lookup(op.getUpperBound()),
        step = values.lookup(op.getStep());
  bool counted = low && high && step && !(isWhile && sizing);
  Block *head = h.block(), *body = h.block(), *done = h.block();
  SmallVector<Value> start{low ? low : h.constant(0)}, heads{head->addArgument(h.i64, loc)};
  SmallVector<unsigned> scalars = carriedScalars(op);
  // In phase SIZES what a loop carries is not followed: it counts as depending on data.
  if (!sizing)
    for (unsigned number : scalars) {
      start.push_back(values.lookup(op.getInitArgs()[number]));
      heads.push_back(head->addArgument(start.back().getType(), loc));
    }
  auto bindScalars = [&](ValueRange carried) {
    for (auto [i, number] : llvm::enumerate(scalars))
      values[carried[number]] = sizing ? Value() : heads[i + 1];
  };
  h.branch(head, start);
  h.b.setInsertionPointToStart(head);
  Value more =
      counted ? Value(LLVM::ICmpOp::create(h.b, loc, LLVM::ICmpPredicate::slt, heads[0], high))
              : Value(LLVM::ICmpOp::create(h.b, loc, LLVM::ICmpPredicate::eq, heads[0], start[0]));
  if (isWhile && !sizing)
    more = LLVM::AndOp::create(h.b, loc, more, heads.back());
  h.branchIf(more, body, done);

  h.b.setInsertionPointToStart(body);
  checkCancelled();
  values[op.getInductionVar()] = counted ? heads[0] : isWhile ? Value() : low;
  bindScalars(op.getRegionIterArgs());
  if (mlir::failed(emitBlock(*op.getBody())))
    return mlir::failure();
  h.loc = loc;
  Operation *yield = op.getBody()->getTerminator();
  placeYields(yield, op.getResults());
  SmallVector<Value> next{h.add(heads[0], counted ? step : h.constant(1))};
  if (!sizing)
    for (unsigned number : scalars)
      next.push_back(values.lookup(yield->getOperand(number)));
  h.branch(head, next);

  h.b.setInsertionPointToStart(done);
  bindScalars(op.getResults());
  return success();
}

} // namespace tw
