// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "Target/CPU/Plan/Analysis/Expressions.h"
#include "Target/Common/Index/ScalarValues.h"

using namespace mlir;

namespace tw::target::cpu {

Type sumType(tile::DotOp op) {
  Type element = op.getType().getElementType();
  bool isHalf = element.isF16() || element.isBF16();
  return isHalf ? Type(Float32Type::get(op.getContext())) : element;
}

int64_t sumBytes(tile::DotOp op) {
  return std::max<int64_t>(bytesOf(op.getType().getElementType()), 4);
}

bool isUnpacked(const CpuFeatures &cpu, tile::DotOp op) {
  return sumType(op).isF32() && cpu.productBlock(4).columns / (cpu.vectorBytes / 4) % 2 == 0 &&
         cast<RankedTensorType>(op.getB().getType()).getElementType().isBF16();
}

tile::LoadOp panelsOf(const CpuFeatures &cpu, Value b) {
  auto reshape = b.getDefiningOp<tile::ReshapeOp>();
  auto transpose = reshape ? reshape.getOperand().getDefiningOp<tile::TransposeOp>() : nullptr;
  auto load = transpose ? transpose.getOperand().getDefiningOp<tile::LoadOp>() : nullptr;
  if (!load || load.getMask() || !load.getStrides().empty() || reshape.getType().getRank() != 2 ||
      transpose.getPermutation() != ArrayRef<int64_t>{1, 0, 2} ||
      reshape.getType().getDimSize(0) != load.getType().getDimSize(1))
    return {};
  int64_t width = load.getType().getDimSize(2), vector = cpu.vectorBytes / 2; // of bf16
  return width > 0 && width % vector == 0 ? load : tile::LoadOp();
}

Value pairsOf(Value b) {
  auto flat = b.getDefiningOp<tile::ReshapeOp>();
  auto transpose = flat ? flat.getOperand().getDefiningOp<tile::TransposeOp>() : nullptr;
  if (!transpose || transpose.getPermutation() != ArrayRef<int64_t>{0, 2, 1})
    return {};
  auto pairs = cast<RankedTensorType>(transpose.getOperand().getType());
  auto whole = cast<RankedTensorType>(b.getType());
  bool fits = whole.hasStaticShape() && whole.getRank() == 2 && pairs.getDimSize(2) == 2 &&
              pairs.getDimSize(0) * 2 == whole.getDimSize(0) &&
              pairs.getDimSize(1) == whole.getDimSize(1);
  return fits ? transpose.getOperand() : Value();
}

tile::ReshapeOp stepsOfBox(Value tile) {
  auto steps = tile.getDefiningOp<tile::ReshapeOp>();
  auto load = steps ? steps.getOperand().getDefiningOp<tile::LoadOp>() : tile::LoadOp();
  if (!load || !steps.getType().hasStaticShape() || steps.getType().getRank() != 2 ||
      load.getType().getRank() == 0)
    return {};
  ArrayRef<int64_t> box = load.getType().getShape();
  bool isJoined = llvm::count_if(box.drop_back(), [](int64_t n) { return n != 1; }) > 1;
  return isJoined && box.back() == steps.getType().getShape().back() ? steps : tile::ReshapeOp();
}

tile::TransposeOp computedTranspose(tile::DotOp op) {
  auto transpose = op.getA().getDefiningOp<tile::TransposeOp>();
  bool isLoaded = traceToLoad(op.getA(), int(op.getType().getRank()) - 2).first != nullptr;
  return transpose && (!isLoaded || stepsOfBox(transpose.getOperand())) ? transpose
                                                                        : tile::TransposeOp();
}

bool endsAtBuffer(const Access &access) {
  auto [op, dim] = access;
  auto load = cast<tile::LoadOp>(op);
  return (load.getStrides().empty() || load.getStrides()[dim] == 1) &&
         !isa<RankedTensorType>(load.getPositions()[dim].getType()) &&
         lowerBound(load.getPositions()[dim]).value_or(-1) >= 0;
}

} // namespace tw::target::cpu
