// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of operations on elements as the language takes them: it stretches, fills and converts
// by itself, so that is left out. And what it knows of indices.
#include "IR/Tile/Elementwise.h"
#include "Language/Source/Printer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::source {

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Shapes that follow from others
//===----------------------------------------------------------------------===//

Value Printer::filling(Value value, Block *block) {
  auto full = value.getDefiningOp<tile::FullOp>();
  return full && full->getBlock() == block && !variables.contains(value) ? full.getValue()
                                                                         : Value();
}

/// Whether a reshape puts new axes of one element in front, and no more.
static bool addsAxes(tile::ReshapeOp op) {
  auto from = tile::extentsOf(op.getOperand().getType()), to = tile::extentsOf(op.getType());
  if (from.size() >= to.size())
    return false;
  size_t lead = to.size() - from.size();
  return std::all_of(to.begin(), to.begin() + lead, [](auto &e) { return e == Size(1); }) &&
         std::equal(from.begin(), from.end(), to.begin() + lead);
}

/// Whether it keeps the axis that a reduction has dropped.
bool Printer::keepsAxis(tile::ReshapeOp op) {
  auto reduce = op.getOperand().getDefiningOp<tile::ReduceOp>();
  if (!reduce)
    return false;
  auto kept = tile::extentsOf(reduce.getOperand().getType());
  kept[reduce.getAxis()] = Size(1);
  return kept == tile::extentsOf(op.getType());
}

Value Printer::unstretched(Value value, Block *block) {
  auto isHere = [&](Operation *op) {
    return op && op->getBlock() == block && !variables.contains(op->getResult(0));
  };
  Value inner = value;
  if (auto broadcast = inner.getDefiningOp<tile::BroadcastOp>(); broadcast && isHere(broadcast))
    inner = broadcast.getOperand();
  auto reshape = inner.getDefiningOp<tile::ReshapeOp>();
  if (reshape && isHere(reshape) && addsAxes(reshape) && !keepsAxis(reshape))
    inner = reshape.getOperand();
  return inner == value ? Value() : inner;
}

/// NumPy's rule; nothing where the shapes do not fit.
static std::optional<std::vector<Size>> broadcastOf(ArrayRef<Value> operands) {
  std::optional<std::vector<Size>> shape;
  for (Value operand : operands) {
    if (!isTile(operand))
      continue;
    auto extents = tile::extentsOf(cast<RankedTensorType>(operand.getType()));
    if (!shape) {
      shape = extents;
      continue;
    }
    auto &longer = shape->size() < extents.size() ? extents : *shape;
    auto &shorter = shape->size() < extents.size() ? *shape : extents;
    size_t lead = longer.size() - shorter.size();
    for (size_t d = 0; d < shorter.size(); ++d) {
      if (longer[lead + d] == Size(1))
        longer[lead + d] = shorter[d];
      else if (!(longer[lead + d] == shorter[d]) && !(shorter[d] == Size(1)))
        return std::nullopt;
    }
    std::vector<Size> result = longer;
    shape = result;
  }
  return shape;
}

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// Whether the language makes of these operands tiles of the shape that the result has.
bool Printer::givesShape(Operation *op, ArrayRef<Value> operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  // select brings its two values to one shape first, and then to the condition's.
  bool isSelect = isa<arith::SelectOp>(op);
  ArrayRef<Value> meeting = isSelect ? operands.drop_front() : operands;
  bool anyTile = llvm::any_of(meeting, isTile);
  if (!anyTile && isSelect && isTile(operands[0]) && !llvm::all_of(meeting, isConstant))
    return tile::extentsOf(cast<RankedTensorType>(operands[0].getType())) == tile::extentsOf(type);
  return anyTile && broadcastOf(meeting) == tile::extentsOf(type);
}

SmallVector<Value> Printer::operandsOf(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  if (!isTile(op->getResult(0)))
    return operands;
  SmallVector<Value> plain;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    bool mayFill = isTile(operand) && !(isa<arith::SelectOp>(op) && i == 0); // else another select
    Value inner = mayFill ? filling(operand, op->getBlock()) : Value();
    if (!inner)
      inner = unstretched(operand, op->getBlock());
    plain.push_back(inner ? inner : operand);
  }
  for (size_t i = 0; i < plain.size() && !givesShape(op, plain); ++i)
    plain[i] = operands[i];
  return plain;
}

//===----------------------------------------------------------------------===//
// Operands as text
//===----------------------------------------------------------------------===//

const Expression &Printer::use(Value value) { return values[value]; }

Expression Printer::as(Expression made, DType dtype) {
  bool isByte = made.dtype == DType::i8 || made.dtype == DType::u8;
  if (made.dtype == dtype || !isByte || made.handle == Handle::Number)
    return made;
  return {"cast(" + made.text + ", " + dtypeText(dtype) + ")", made.handle, dtype};
}

Expression Printer::asSigned(const Expression &made) {
  return made.dtype == DType::u8 ? as(made, DType::i8) : made;
}

Expression Printer::handle(Value value) {
  Expression made = use(value);
  if (made.handle == Handle::Number && made.dtype == DType::index)
    return {"Index(" + made.text + ")", Handle::Index, made.dtype};
  if (made.handle == Handle::Size)
    return {"Index(" + made.text + ")", Handle::Index, made.dtype};
  if (made.handle == Handle::Number)
    return {"constant(" + made.text + ", " + dtypeText(made.dtype) + ")", Handle::Scalar,
            made.dtype};
  return made;
}

Expression Printer::scalarHandle(Value value) {
  Expression made = use(value);
  if (made.handle == Handle::Number)
    return {"constant(" + made.text + ", " + dtypeText(made.dtype) + ")", Handle::Scalar,
            made.dtype};
  if (made.handle == Handle::Size || made.handle == Handle::Index)
    return {"Scalar(" + made.text + ")", Handle::Scalar, made.dtype};
  return made;
}

/// An i8 constant as the meaning of i8 asks for it.
static Expression numberAs(Value value, const Expression &made, DType dtype) {
  TypedAttr attribute;
  if (made.handle == Handle::Number && made.dtype != dtype &&
      matchPattern(value, m_Constant(&attribute)))
    return {numberText(attribute, dtype), Handle::Number, dtype,
            made.text.starts_with("-") && dtype != DType::u8 ? Unary : Primary};
  return made;
}

SmallVector<Expression> Printer::expressionsOf(Operation *op, const Row &row) {
  SmallVector<Value> operands = operandsOf(op);
  size_t first = isa<arith::SelectOp>(op) ? 1 : 0; // the others share a dtype
  SmallVector<Expression> made;
  for (Value operand : operands)
    made.push_back(use(operand));
  // i8 has two meanings: the one that the operation needs, else that of the first handle.
  DType byte = DType::i8;
  for (size_t i = first; i < made.size() && !row.isSigned; ++i)
    if (made[i].handle != Handle::Number) {
      byte = made[i].dtype;
      break;
    }
  for (size_t i = first; i < made.size(); ++i)
    if (made[i].dtype == DType::i8 || made[i].dtype == DType::u8) {
      made[i] = numberAs(operands[i], made[i], byte);
      made[i] = as(made[i], byte);
    }
  bool fixes = llvm::any_of(llvm::drop_begin(made, first), [](const Expression &each) {
    return each.handle != Handle::Number && each.handle != Handle::Size;
  });
  if (!fixes)
    made[first] = scalarHandle(operands[first]);
  return made;
}

//===----------------------------------------------------------------------===//
// Signs of indices
//===----------------------------------------------------------------------===//

/// As the language's Index.cpp has it, for what is no result of arithmetic.
bool Printer::isNonNegative(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    if (auto loop = dyn_cast<tile::ForOp>(argument.getOwner()->getParentOp())) {
      APInt step;
      return argument == loop.getInductionVar() && isNonNegative(loop.getBegin()) &&
             matchPattern(loop.getStep(), m_ConstantInt(&step)) && step.isStrictlyPositive();
    }
    auto owner = dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp());
    return owner && owner.getArgument(argument.getArgNumber()).getSymbol();
  }
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return !number.isNegative();
  if (auto size = index.getDefiningOp<tile::SizeOp>())
    return size.getSize().getSize().isNonNegative();
  return index.getDefiningOp<tile::ProgramIdOp>() || nonNegative.contains(index);
}

/// The same for arithmetic; what is written on Scalars is nothing that the language looks into.
bool Printer::isSumOfNonNegative(Operation *op) {
  if (op->getNumOperands() != 2)
    return false;
  bool a = isNonNegative(op->getOperand(0)), b = isNonNegative(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op))
    return a || b;
  return isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::DivSIOp, arith::RemSIOp>(op) &&
         a && b;
}

} // namespace tw::source
