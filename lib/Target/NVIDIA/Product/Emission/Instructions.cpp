// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Emission/Instructions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr unsigned globalSpace = 1, sharedSpace = 3, clusterSpace = 7;
/// How long a wait sleeps before it looks again, in ns.
static constexpr int64_t waitTicks = 10'000'000;

Value Instructions::i32(int64_t value) const {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}
Value Instructions::bit(bool value) const {
  return arith::ConstantOp::create(b, loc, b.getBoolAttr(value));
}
Value Instructions::add(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
Value Instructions::add(Value x, int64_t y) const { return y == 0 ? x : add(x, i32(y)); }
Value Instructions::mul(Value x, int64_t y) const {
  return arith::MulIOp::create(b, loc, x, i32(y));
}
Value Instructions::div(Value x, int64_t y) const {
  return arith::DivUIOp::create(b, loc, x, i32(y));
}
Value Instructions::rem(Value x, int64_t y) const {
  return arith::RemUIOp::create(b, loc, x, i32(y));
}
Value Instructions::bitXor(Value x, Value y) const { return arith::XOrIOp::create(b, loc, x, y); }
Value Instructions::equal(Value x, int64_t y) const {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, i32(y));
}
Value Instructions::isBelow(int64_t x, Value y) const {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, i32(x), y);
}
Value Instructions::select(Value condition, Value x, Value y) const {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

void Instructions::when(Value condition, llvm::function_ref<void()> body) const {
  auto branch = scf::IfOp::create(b, loc, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value Instructions::pointer(Value offset) const {
  return LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace),
                             b.getI8Type(), shared, ArrayRef<LLVM::GEPArg>{offset});
}

void Instructions::initBarrier(Value offset, int64_t arrivals) const {
  NVVM::MBarrierInitOp::create(b, loc, pointer(offset), i32(arrivals), Value());
}

void Instructions::arrive(Value barrier, Value count) const {
  NVVM::MBarrierArriveOp::create(b, loc, b.getI64Type(), pointer(barrier), count);
}

void Instructions::arriveExpecting(Value barrier, Value bytes) const {
  NVVM::MBarrierArriveExpectTxOp::create(b, loc, Type(), pointer(barrier), bytes,
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
}

void Instructions::waitFor(Value barrier, Value parity) const {
  NVVM::MBarrierTryWaitParityOp::create(b, loc, pointer(barrier), parity, i32(waitTicks));
}

void Instructions::groupBarrier(Value id) const {
  NVVM::BarrierOp::create(b, loc, Type(), id, i32(128), NVVM::BarrierReductionAttr(), Value());
}

void Instructions::waitForGroup(Value id) const {
  NVVM::BarrierOp::create(b, loc, Type(), id, i32(256), NVVM::BarrierReductionAttr(), Value());
}

void Instructions::comeForGroup(Value id) const {
  NVVM::BarrierArriveOp::create(b, loc, id, i32(256));
}

void Instructions::waitForGroups(int64_t id, int64_t count) const {
  NVVM::BarrierOp::create(b, loc, Type(), i32(id), i32(128 * count), NVVM::BarrierReductionAttr(),
                          Value());
}

void Instructions::comeForGroups(int64_t id, int64_t count) const {
  NVVM::BarrierArriveOp::create(b, loc, i32(id), i32(128 * count));
}

void Instructions::prefetchMap(Value map) const {
  NVVM::PrefetchOp::create(b, loc, NVVM::PrefetchCacheLevelAttr(),
                           NVVM::CacheEvictionPriorityAttr(), map, Value(),
                           /*tensormap=*/b.getUnitAttr(), UnitAttr(), UnitAttr());
}

/// A pointer to another address space, in which both point to the same.
static Value inSpace(OpBuilder &b, Location loc, Value pointer, unsigned space) {
  return LLVM::AddrSpaceCastOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), space),
                                       pointer);
}

void Instructions::loadBytes(Value offset, Value from, int64_t bytes, Value barrier) const {
  Value to = inSpace(b, loc, pointer(offset), clusterSpace);
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(b, loc, to, inSpace(b, loc, from, globalSpace),
                                                   pointer(barrier), i32(bytes), Value(), Value());
}

void Instructions::loadTile(Value offset, Value map, ValueRange coordinates, Value barrier) const {
  Value to = inSpace(b, loc, pointer(offset), clusterSpace);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, loc, to, map, coordinates, pointer(barrier), ValueRange{}, Value(), Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(), Value());
}

void Instructions::storeTile(Value map, Value offset, ValueRange coordinates) const {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, loc, map, pointer(offset), coordinates,
                                                     Value(), NVVM::TMAStoreMode::TILE, Value());
}

Value Instructions::descriptor(Value offset, int64_t fields) const {
  Value base = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), pointer(offset));
  constexpr int64_t addressMask = 0x3ffff;
  Value address = arith::AndIOp::create(b, loc, base, i32(addressMask));
  address = arith::ShRUIOp::create(b, loc, address, i32(4));
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), address);
  return arith::OrIOp::create(b, loc, wide,
                              arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(fields)));
}

Type Instructions::sumsType(int64_t columns) const {
  SmallVector<Type> sums(size_t(columns / 2), b.getF32Type());
  return LLVM::LLVMStructType::getLiteral(b.getContext(), sums);
}

Value Instructions::multiply(const Multiply &what, Value a, Value other, Value sums) const {
  MLIRContext *context = b.getContext();
  auto element = what.element.isF16()    ? NVVM::WGMMATypes::f16
                 : what.element.isBF16() ? NVVM::WGMMATypes::bf16
                                         : NVVM::WGMMATypes::tf32;
  int depth = what.element.isF32() ? 8 : 16;
  auto made = NVVM::WgmmaMmaAsyncOp::create(
      b, loc, sums.getType(), sums, a, other,
      NVVM::MMAShapeAttr::get(context, 64, int(what.columns), depth), element, element,
      NVVM::WGMMATypes::f32, what.addsToSums ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero,
      NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
      what.isSumInnermostInA ? NVVM::MMALayout::row : NVVM::MMALayout::col,
      what.isSumInnermostInB ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::MMAIntOverflowAttr());
  made->setAttr(sumsAttribute, b.getI64IntegerAttr(what.sums));
  return made;
}

// NVVM has no operation for it. PTX ISA, "wgmma.mma_async": the sums, four registers of a, the
// descriptor of b, scale-d, imm-scale-a, imm-scale-b, imm-trans-b.
Value Instructions::multiplyRegisters(const MultiplyRegisters &what, ValueRange a, Value other,
                                      Value sums) const {
  int64_t count = what.columns / 2, next = count;
  std::string type = what.element.isF16() ? "f16" : "bf16", list, constraints;
  SmallVector<Value> operands;
  auto add = [&](Value operand, const char *kind) {
    operands.push_back(operand);
    constraints += std::string(",") + kind;
    return "$" + std::to_string(next++);
  };
  for (int64_t i = 0; i < count; ++i) {
    list += (i ? ", $" : "$") + std::to_string(i);
    constraints += i ? ",=f" : "=f";
  }
  std::string left;
  for (Value one : a)
    left += (left.empty() ? "" : ", ") + add(one, "r");
  std::string right = add(other, "l"), scale = "1", before, after;
  if (what.addsToSums) {
    before = "{ .reg .pred p; setp.ne.b32 p, " + add(what.addsToSums, "r") + ", 0; ";
    after = " }";
    scale = "p";
  }
  for (int64_t i = 0; i < count; ++i) { // in the registers of the results
    operands.push_back(LLVM::ExtractValueOp::create(b, loc, sums, i));
    constraints += "," + std::to_string(i);
  }
  std::string text = before + "wgmma.mma_async.sync.aligned.m64n" + std::to_string(what.columns) +
                     "k16.f32." + type + "." + type + " {" + list + "}, {" + left + "}, " + right +
                     ", " + scale + ", 1, 1, " + (what.isSumInnermostInB ? "0;" : "1;") + after;
  auto made = LLVM::InlineAsmOp::create(
      b, loc, TypeRange{sums.getType()}, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  made->setAttr(sumsAttribute, b.getI64IntegerAttr(what.sums));
  return made.getResult(0);
}

Value Instructions::sum(Value sums, int64_t number, int64_t which) const {
  auto element = LLVM::ExtractValueOp::create(b, loc, sums, number);
  element->setAttr(sumsAttribute, b.getI64IntegerAttr(which));
  return element;
}

Value Instructions::sumsOf(ValueRange elements) const {
  Value all = LLVM::UndefOp::create(b, loc, sumsType(2 * int64_t(elements.size())));
  for (auto [i, element] : llvm::enumerate(elements))
    all = LLVM::InsertValueOp::create(b, loc, all, element, int64_t(i));
  return all;
}

Value Instructions::packed(Value low, Value high) const {
  Value pair = LLVM::UndefOp::create(b, loc, VectorType::get({2}, low.getType()));
  for (int32_t i : {0, 1}) {
    Value place = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
    pair = LLVM::InsertElementOp::create(b, loc, pair, i == 0 ? low : high, place);
  }
  return LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
}

void Instructions::storeMatrices(Value offset, ValueRange registers) const {
  NVVM::StMatrixOp::create(b, loc, pointer(offset), registers, NVVM::MMALayout::row,
                           NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
                           NVVM::LdStMatrixEltType::B16);
}

} // namespace tw::target::nvidia
