// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and loops.
#include "Target/Reference/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::target::reference {

Indices rowMajor(IndexBuilder ix, ArrayRef<Ix> sizes) {
  Indices strides(sizes.size(), Ix(1));
  for (int64_t d = int64_t(sizes.size()) - 2; d >= 0; --d)
    strides[d] = ix.mul(strides[d + 1], sizes[d + 1]);
  return strides;
}

Type Emitter::stored(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return scalarType(element);
}

int64_t Emitter::bytesOf(Type element) { return (stored(element).getIntOrFloatBitWidth() + 7) / 8; }

Value Emitter::pointer(const Buffer &buffer, const Ix &element) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (element.is(0))
    return buffer.base;
  SmallVector<LLVM::GEPArg> index;
  if (auto constant = element.constant(); constant && *constant < (1 << 28) && *constant >= 0)
    index.push_back(int32_t(*constant));
  else
    index.push_back(ix().value(element));
  return LLVM::GEPOp::create(b, loc, pointer, stored(buffer.element), buffer.base, index,
                             LLVM::GEPNoWrapFlags::inbounds);
}

/// Tags an access with the parallel loops it is in.
template <typename AccessOp>
static AccessOp tagged(AccessOp op, ArrayRef<Attribute> groups) {
  if (!groups.empty())
    op.setAccessGroupsAttr(ArrayAttr::get(op->getContext(), groups));
  return op;
}

Value Emitter::load(const Buffer &buffer, const Ix &element) {
  Value value =
      tagged(LLVM::LoadOp::create(b, loc, stored(buffer.element), pointer(buffer, element),
                                  unsigned(bytesOf(buffer.element))),
             accessGroups);
  if (buffer.element.isInteger(1))
    return arith::TruncIOp::create(b, loc, buffer.element, value);
  return value;
}

void Emitter::store(Value value, const Buffer &buffer, const Ix &element) {
  if (buffer.element.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  tagged(LLVM::StoreOp::create(b, loc, value, pointer(buffer, element),
                               unsigned(bytesOf(buffer.element))),
         accessGroups);
}

Value Emitter::loadVector(const Buffer &buffer, const Ix &element, unsigned lanes) {
  return tagged(LLVM::LoadOp::create(b, loc, VectorType::get(lanes, stored(buffer.element)),
                                     pointer(buffer, element), unsigned(bytesOf(buffer.element))),
                accessGroups);
}

void Emitter::storeVector(Value value, const Buffer &buffer, const Ix &element) {
  tagged(LLVM::StoreOp::create(b, loc, value, pointer(buffer, element),
                               unsigned(bytesOf(buffer.element))),
         accessGroups);
}

Ix Emitter::linear(const Buffer &buffer, ArrayRef<Ix> indices) {
  Ix element = buffer.offset;
  for (auto [i, stride] : llvm::zip(indices, buffer.strides))
    element = ix().add(element, ix().mul(i, stride));
  return element;
}

Buffer Emitter::onStack(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  Value number = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(count));
  Value base = LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                      stored(element), number, 64);
  entry = b.saveInsertionPoint();
  return {base, 0, {Ix(count)}, {Ix(1)}, element, 0};
}

void Emitter::copy(const Buffer &from, const Buffer &to, ArrayRef<Range> ranges) {
  nest(
      ranges, [&](ArrayRef<Ix> at) { store(load(from, linear(from, at)), to, linear(to, at)); },
      true);
}

/// Marks the loop: its accesses of `group` are independent.
static void annotateParallel(scf::ForOp loop, Attribute group) {
  MLIRContext *context = loop.getContext();
  auto annotation =
      LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                    {cast<LLVM::AccessGroupAttr>(group)});
  loop->setAttr("llvm.loop_annotation", annotation);
}

/// One step at most, and surely one?
static bool runsOnce(const Ix &lo, const Ix &hi, const Ix &step) {
  auto l = lo.constant(), h = hi.constant(), s = step.constant();
  return l && h && s && *l < *h && *l + *s >= *h;
}

void Emitter::loop(const Ix &lo, const Ix &hi, const Ix &step, LoopBody body, bool parallel) {
  if (lo.isConstant() && hi.isConstant() && *hi.constant() <= *lo.constant())
    return;
  if (runsOnce(lo, hi, step))
    return body(lo);
  Value lower = ix().value(lo), upper = ix().value(hi), by = ix().value(step);
  auto loop = scf::ForOp::create(b, loc, lower, upper, by);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Attribute group;
  if (parallel) {
    group = LLVM::AccessGroupAttr::get(b.getContext(), DistinctAttr::create(b.getUnitAttr()));
    accessGroups.push_back(group);
    annotateParallel(loop, group);
  }
  body(loop.getInductionVar());
  if (parallel)
    accessGroups.pop_back();
}

SmallVector<Value> Emitter::loop(const Ix &lo, const Ix &hi, const Ix &step,
                                 ArrayRef<Value> initial, CarriedBody body) {
  if (lo.isConstant() && hi.isConstant() && *hi.constant() <= *lo.constant())
    return llvm::to_vector(initial);
  if (runsOnce(lo, hi, step))
    return body(lo, initial);
  Value lower = ix().value(lo), upper = ix().value(hi), by = ix().value(step);
  auto loop = scf::ForOp::create(b, loc, lower, upper, by, initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  SmallVector<Value> next = body(loop.getInductionVar(), carried);
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector(llvm::map_range(loop.getResults(), [](Value v) { return v; }));
}

static void nestFrom(Emitter &e, ArrayRef<Range> ranges, Indices &at,
                     llvm::function_ref<void(ArrayRef<Ix>)> body, bool parallel) {
  if (at.size() == ranges.size())
    return body(at);
  const Range &range = ranges[at.size()];
  Ix hi = e.ix().add(range.lo, range.len);
  bool innermost = at.size() + 1 == ranges.size();
  e.loop(
      range.lo, hi, 1,
      [&](Ix i) {
        at.push_back(i);
        nestFrom(e, ranges, at, body, parallel);
        at.pop_back();
      },
      parallel && innermost);
}

void Emitter::nest(ArrayRef<Range> ranges, llvm::function_ref<void(ArrayRef<Ix>)> body,
                   bool parallel) {
  Indices at;
  nestFrom(*this, ranges, at, body, parallel);
}

void Emitter::ifThen(Value condition, llvm::function_ref<void()> then,
                     llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

SmallVector<Range> Emitter::ranges(ArrayRef<Ix> sizes) const {
  SmallVector<Range> result;
  for (auto [d, size] : llvm::enumerate(sizes))
    result.push_back(range(d, size));
  return result;
}

} // namespace tw::target::reference
