// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New tiles, reductions, products, and what changes shapes.
#include "Language/Source/Printer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::source {

static std::string listText(ArrayRef<int64_t> numbers) {
  return fmt::format("{{{}}}", fmt::join(numbers, ", "));
}

Expression Printer::size(Operation *op, const Row &) {
  return sizeExpression(cast<tile::SizeOp>(op).getSize().getSize(), symbols);
}

Expression Printer::programId(Operation *op, const Row &) {
  return {programIds[cast<tile::ProgramIdOp>(op).getDim()], Handle::Index, DType::index};
}

static bool isZero(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValue().isPosZero();
  return cast<IntegerAttr>(constant).getValue().isZero();
}

Expression Printer::full(Operation *op, const Row &) {
  auto full = cast<tile::FullOp>(op);
  Expression value = use(full.getValue());
  DType dtype = dtypeOf(full.getType().getElementType());
  if (value.dtype == DType::u8)
    dtype = DType::u8;
  if (isZero(full.getValue()) && dtype != DType::index)
    return {"zeros(" + shape(full.getType()) + ", " + dtypeText(dtype) + ")", Handle::Tile, dtype};
  return {"full(" + shape(full.getType()) + ", " + value.text + ", " + dtypeText(dtype) + ")",
          Handle::Tile, dtype};
}

Expression Printer::iota(Operation *op, const Row &) {
  auto iota = cast<tile::IotaOp>(op);
  DType dtype = dtypeOf(cast<RankedTensorType>(iota.getType()).getElementType());
  bool isFromZero = isZero(iota.getStart());
  std::string text = "iota(" + shape(iota.getType()) + ", " + std::to_string(iota.getDim());
  if (dtype != DType::i64 || !isFromZero)
    text += ", " + dtypeText(dtype);
  if (!isFromZero)
    text += ", " + position(iota.getStart());
  return {text + ")", Handle::Tile, dtype};
}

Expression Printer::dot(Operation *op, const Row &) {
  auto dot = cast<tile::DotOp>(op);
  Expression a = use(dot.getA()), b = as(use(dot.getB()), a.dtype);
  Type from = dot.getA().getType().getElementType(), to = dot.getType().getElementType();
  bool isNarrow = isa<FloatType>(from) && from.getIntOrFloatBitWidth() < 32;
  Value begin = filling(dot.getAcc(), op->getBlock());
  bool isFromZero = begin && isZero(begin) && (isNarrow ? to.isF32() : from == to);
  std::string acc = isFromZero ? "" : ", " + as(use(dot.getAcc()), a.dtype).text;
  return {"dot(" + a.text + ", " + b.text + acc + ")", Handle::Tile,
          isFromZero ? (isNarrow ? DType::f32 : a.dtype) : as(use(dot.getAcc()), a.dtype).dtype};
}

Expression Printer::reduce(Operation *op, const Row &) {
  auto reduce = cast<tile::ReduceOp>(op);
  using K = tile::ReduceKind;
  K kind = reduce.getKind();
  static constexpr const char *words[] = {"sum", "prod", "max", "min",    "max",
                                          "min", "all",  "any", "argmax", "argmin"};
  Expression value = use(reduce.getOperand());
  Type element = reduce.getOperand().getType().getElementType();
  bool isUnsigned = kind == K::UMax || kind == K::UMin, isOrder = kind == K::Max || kind == K::Min;
  bool isPosition = kind == K::ArgMax || kind == K::ArgMin;
  bool isLogical = kind == K::And || kind == K::Or;
  if ((isUnsigned && !element.isInteger(8)) || isLogical != element.isInteger(1))
    return fail(
        op, fmt::format("a reduction by {} of this dtype", tile::stringifyReduceKind(kind).str()));
  if (isUnsigned)
    value = as(value, DType::u8);
  else if (isOrder || isPosition)
    value = asSigned(value);
  return {fmt::format("{}({}, {}, KeepDim::no)", words[size_t(kind)], value.text,
                      uint64_t(reduce.getAxis())),
          Handle::Tile, isPosition ? DType::i64 : value.dtype};
}

Expression Printer::scan(Operation *op, const Row &) {
  auto scan = cast<tile::ScanOp>(op);
  static constexpr const char *words[] = {"cumsum", "cumprod", "cummax", "cummin"};
  bool isOrder = scan.getKind() == tile::ScanKind::Max || scan.getKind() == tile::ScanKind::Min;
  Expression value = isOrder ? asSigned(use(scan.getOperand())) : use(scan.getOperand());
  return {fmt::format("{}({}, {}{})", words[size_t(scan.getKind())], value.text,
                      uint64_t(scan.getAxis()), scan.getReverse() ? ", Direction::backward" : ""),
          Handle::Tile, value.dtype};
}

Expression Printer::sort(Operation *op, const Row &) {
  auto sort = cast<tile::SortOp>(op);
  uint64_t axis = sort.getAxis();
  Type element = sort.getOperand().getType().getElementType();
  if (sort.getIsUnsigned() && !element.isInteger(8))
    return fail(op, "an unsigned sort of this dtype");
  Expression value = use(sort.getOperand());
  value = sort.getIsUnsigned() ? as(value, DType::u8) : asSigned(value);
  auto all = tile::extentsOf(sort.getOperand().getType()),
       kept = tile::extentsOf(sort.getValues().getType());
  std::string first =
      kept[axis] == all[axis] ? "" : ", " + sizeExpression(kept[axis], symbols).text;
  printComment(op->getLoc());
  std::string target = declare(op, {value.dtype, DType::i64});
  line(fmt::format("{}sort({}, {}, Order::{}{});", target, value.text, axis,
                   sort.getDescending() ? "descending" : "ascending", first));
  return {};
}

Expression Printer::broadcast(Operation *op, const Row &) {
  Value operand = unstretched(op->getResult(0), op->getBlock());
  Expression value = use(operand ? operand : op->getOperand(0));
  return {"broadcast(" + value.text + ", " + shape(op->getResult(0).getType()) + ")", Handle::Tile,
          value.dtype};
}

Expression Printer::reshape(Operation *op, const Row &) {
  auto reshape = cast<tile::ReshapeOp>(op);
  Expression value = use(reshape.getOperand());
  constexpr StringRef drop = ", KeepDim::no)";
  if (keepsAxis(reshape) && !variables.contains(reshape.getOperand()))
    return {value.text.substr(0, value.text.size() - drop.size()) + ")", Handle::Tile, value.dtype};
  return {"reshape(" + value.text + ", " + shape(reshape.getType()) + ")", Handle::Tile,
          value.dtype};
}

Expression Printer::transpose(Operation *op, const Row &) {
  auto transpose = cast<tile::TransposeOp>(op);
  Expression value = use(transpose.getOperand());
  SmallVector<int64_t> swapped =
      llvm::to_vector(llvm::seq<int64_t>(0, transpose.getType().getRank()));
  if (swapped.size() >= 2)
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  bool isUsual = swapped.size() >= 2 && ArrayRef(swapped) == transpose.getPermutation();
  return {"transpose(" + value.text + (isUsual ? "" : ", " + listText(transpose.getPermutation())) +
              ")",
          Handle::Tile, value.dtype};
}

Expression Printer::slice(Operation *op, const Row &) {
  auto slice = cast<tile::SliceOp>(op);
  Expression value = use(slice.getOperand());
  bool isDense = llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; });
  return {"slice(" + value.text + ", " + listText(slice.getOffsets()) + ", " +
              shape(slice.getType()) + (isDense ? "" : ", " + listText(slice.getStrides())) + ")",
          Handle::Tile, value.dtype};
}

Expression Printer::extract(Operation *op, const Row &) {
  Expression value = use(op->getOperand(0));
  return {"extract(" + value.text + ")", Handle::Scalar, value.dtype};
}

} // namespace tw::source
