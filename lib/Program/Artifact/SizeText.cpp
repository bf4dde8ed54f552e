// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/SizeText.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {

/// Expressions of more operations are no help to anybody.
static constexpr int mostDepth = 12;

static std::string valueText(func::FuncOp main, Value value, int depth);

/// How tightly the outermost operator of an expression binds.
enum class Binding : uint8_t { Sum, Product, Atom };

static std::string exprText(AffineExpr expr, ArrayRef<StringAttr> symbols,
                            Binding least = Binding::Sum);

/// Whether it is a negative number, or a multiple by one.
static bool isNegative(AffineExpr expr) {
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  auto factor = dyn_cast<AffineConstantExpr>(
      product && product.getKind() == AffineExprKind::Mul ? product.getRHS() : expr);
  return factor && factor.getValue() < 0 && factor.getValue() != INT64_MIN;
}

/// "N+1", "M-N".
static std::string sumText(AffineExpr x, AffineExpr y, ArrayRef<StringAttr> symbols) {
  if (isNegative(x))
    std::swap(x, y);
  bool subtracts = isNegative(y);
  return fmt::format("{}{}{}", exprText(x, symbols), subtracts ? '-' : '+',
                     exprText(subtracts ? -y : y, symbols, Binding::Product));
}

static std::string binaryText(AffineBinaryOpExpr expr, ArrayRef<StringAttr> symbols) {
  AffineExpr x = expr.getLHS(), y = expr.getRHS();
  if (expr.getKind() == AffineExprKind::Add)
    return sumText(x, y, symbols);
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return fmt::format("-(-{}//{})", exprText(x, symbols, Binding::Atom),
                       exprText(y, symbols, Binding::Atom));
  const char *sign = expr.getKind() == AffineExprKind::Mul   ? "*"
                     : expr.getKind() == AffineExprKind::Mod ? "%"
                                                             : "//";
  return fmt::format("{}{}{}", exprText(x, symbols, Binding::Product), sign,
                     exprText(y, symbols, Binding::Atom));
}

/// As Python writes it, in parentheses where it binds less than `least`.
static std::string exprText(AffineExpr expr, ArrayRef<StringAttr> symbols, Binding least) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()].str();
  std::string text;
  Binding binding = Binding::Sum; // of a sum, a negative number, and a division with its signs
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    text = std::to_string(constant.getValue());
    binding = constant.getValue() < 0 ? Binding::Sum : Binding::Atom;
  } else {
    text = binaryText(cast<AffineBinaryOpExpr>(expr), symbols);
    if (expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::CeilDiv)
      binding = Binding::Product;
  }
  return binding < least ? fmt::format("({})", text) : text;
}

static std::string declaredText(graph::SizesAttr sizes, int64_t dim, Binding least = Binding::Sum) {
  return sizes ? exprText(sizes.getMap().getResult(unsigned(dim)), sizes.getSymbols(), least) : "";
}

static graph::SizesAttr sizesOf(func::FuncOp main, unsigned argument) {
  return main.getArgAttrOfType<graph::SizesAttr>(argument, "tw.sizes");
}

std::string argumentSizeText(func::FuncOp main, unsigned argument, int64_t dim) {
  return declaredText(sizesOf(main, argument), dim);
}

static std::string dimText(func::FuncOp main, Value tensor, int64_t dim, int depth);

static std::string sizeText(func::FuncOp main, OpFoldResult size, int depth) {
  if (auto value = dyn_cast<Value>(size))
    return valueText(main, value, depth);
  return std::to_string(cast<IntegerAttr>(cast<Attribute>(size)).getInt());
}

/// What operations that move no element say about a dimension of their result.
static std::string viewText(func::FuncOp main, Operation *op, int64_t dim, int depth) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return sizeText(main, expand.getMixedOutputShape()[dim], depth);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    std::string product;
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    for (int64_t d : groups[dim]) {
      std::string one = dimText(main, collapse.getSrc(), d, depth + 1);
      if (one.empty())
        return "";
      product = product.empty() ? one : fmt::format("({} * {})", product, one);
    }
    return product;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (unsigned d = 0; d < dropped.size(); ++d)
      if (!dropped[d] && dim-- == 0)
        return sizeText(main, slice.getMixedSizes()[d], depth);
  }
  return "";
}

static std::string dimText(func::FuncOp main, Value tensor, int64_t dim, int depth) {
  if (depth > mostDepth)
    return "";
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return std::to_string(type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    bool isCarried = argument.getOwner() != &main.getBody().front(); // by a loop
    return isCarried ? ""
                     : declaredText(sizesOf(main, argument.getArgNumber()), dim, Binding::Atom);
  }
  if (auto dispatch = tensor.getDefiningOp<graph::DispatchOp>())
    return dimText(main, dispatch.getOuts()[cast<OpResult>(tensor).getResultNumber()], dim, depth);
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return valueText(main, empty.getDynamicSize(unsigned(dim)), depth);
  if (auto same = tensor.getDefiningOp<tensor::CastOp>())
    return dimText(main, same.getSource(), dim, depth);
  if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    return dimText(main, insert.getDest(), dim, depth + 1);
  return tensor.getDefiningOp() ? viewText(main, tensor.getDefiningOp(), dim, depth) : "";
}

/// How an operation of two operands is written.
struct BinaryForm {
  StringRef text;
  bool isFunction = false; // stands before its operands, not between them
};

static std::optional<BinaryForm> binaryForm(Operation *op) {
  using Form = std::optional<BinaryForm>;
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case([](arith::AddIOp) { return Form({"+"}); })
      .Case([](arith::SubIOp) { return Form({"-"}); })
      .Case([](arith::MulIOp) { return Form({"*"}); })
      .Case([](arith::FloorDivSIOp) { return Form({"//"}); })
      .Case([](arith::MaxSIOp) { return Form({"max", true}); })
      .Case([](arith::MinSIOp) { return Form({"min", true}); })
      .Default(Form());
}

static std::string binaryText(func::FuncOp main, Operation *op, BinaryForm form, int depth) {
  std::string left = valueText(main, op->getOperand(0), depth + 1),
              right = valueText(main, op->getOperand(1), depth + 1);
  if (left.empty() || right.empty())
    return "";
  if (form.isFunction)
    return (form.text + "(" + left + ", " + right + ")").str();
  return ("(" + left + " " + form.text + " " + right + ")").str();
}

static std::string valueText(func::FuncOp main, Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto symbol = argument.getOwner() == &main.getBody().front()
                      ? main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tw.symbol")
                      : StringAttr();
    return symbol ? symbol.str() : "";
  }
  if (!op || depth > mostDepth)
    return "";
  if (auto constant = getConstantIntValue(value))
    return std::to_string(*constant);
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return valueText(main, cast.getIn(), depth);
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto index = dim.getConstantIndex();
    return index ? dimText(main, dim.getSource(), *index, depth + 1) : "";
  }
  std::optional<BinaryForm> form = binaryForm(op);
  return form ? binaryText(main, op, *form, depth) : "";
}

std::string sizeText(func::FuncOp main, Value tensor, int64_t dim) {
  std::string text = dimText(main, tensor, dim, 0);
  if (text.size() > 2 && text.front() == '(' && text.back() == ')' &&
      text.find('(', 1) == text.npos) // around all of it
    text = text.substr(1, text.size() - 2);
  return text;
}

std::string resultSizeText(func::FuncOp main, unsigned result, int64_t dim) {
  if (auto sizes = main.getResultAttrOfType<graph::SizesAttr>(result, "tw.sizes"))
    return declaredText(sizes, dim);
  if (main.getBody().empty())
    return "";
  return sizeText(main, main.getBody().front().getTerminator()->getOperand(result), dim);
}

} // namespace tw
