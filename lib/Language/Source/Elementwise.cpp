// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on elements: operators and functions of the language.
#include "Language/Source/Printer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tw::source {

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static bool isScalarIndex(Value value) { return value.getType().isIndex(); }

/// Of indices alone: the language's own arithmetic on them, which leaves the same operations.
static bool isIndexed(ArrayRef<Expression> operands) {
  return llvm::all_of(operands,
                      [](const Expression &each) {
                        return each.handle != Handle::Scalar && each.handle != Handle::Tile;
                      }) &&
         llvm::any_of(operands,
                      [](const Expression &each) { return each.handle == Handle::Index; });
}

static Handle resultHandle(Operation *op, ArrayRef<Expression> operands) {
  if (isTile(op->getResult(0)))
    return Handle::Tile;
  return isScalarIndex(op->getResult(0)) && isIndexed(operands) ? Handle::Index : Handle::Scalar;
}

/// What only Scalar has, of indices too.
static void makeScalar(SmallVectorImpl<Expression> &operands) {
  if (llvm::any_of(operands, [](const Expression &each) {
        return each.handle == Handle::Scalar || each.handle == Handle::Tile;
      }))
    return;
  operands[0] = {"Scalar(" + operands[0].text + ")", Handle::Scalar, operands[0].dtype};
}

Expression Printer::infix(Operation *op, const Row &row) {
  SmallVector<Expression> operands = expressionsOf(op, row);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  bool isBool = element.isInteger(1);
  if (isBool && !row.onBool[0])
    return fail(op, row.operation.str() + " of i1");
  bool isArithmetic = row.strength == Sum || row.strength == Product;
  if (!isArithmetic)
    makeScalar(operands);
  std::string word = isBool ? row.onBool : row.word;
  int strength = word == "&&" ? And : word == "||" ? Or : row.strength;
  const Expression &a = operands[0], &b = operands[1];
  DType dtype = a.handle == Handle::Number ? b.dtype : a.dtype;
  Handle handle = resultHandle(op, operands);
  if (word == "-" && (a.text == "0") && !isa<FloatType>(element)) // as the language has it
    return {"-" + b.asOperand(Unary), handle, dtype, Unary};
  if (word == "^" && isBool && b.text == "true")
    return {"!" + a.asOperand(Unary), handle, dtype, Unary};
  bool isBits = !isArithmetic; // whose strengths nobody remembers
  return {a.asOperand(isBits && a.strength != strength ? Unary : strength) + " " + word + " " +
              b.asOperand(isBits ? Unary : strength + 1),
          handle, dtype, strength};
}

Expression Printer::negative(Operation *op, const Row &) {
  Expression made = handle(op->getOperand(0));
  return {"-" + made.asOperand(Unary), made.handle, made.dtype, Unary};
}

Expression Printer::quotient(Operation *op, const Row &row) {
  SmallVector<Expression> operands = expressionsOf(op, row);
  bool isSure = isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
  if (isScalarIndex(op->getResult(0)) && isIndexed(operands) && isSure && operands[1].text != "0")
    return {std::string(row.word[0] == '/' ? "floorDiv(" : "mod(") + operands[0].text + ", " +
                operands[1].text + ")",
            Handle::Index, DType::index};
  makeScalar(operands);
  return {operands[0].asOperand(Product) + " " + row.word + " " + operands[1].asOperand(Unary),
          isTile(op->getResult(0)) ? Handle::Tile : Handle::Scalar,
          operands[0].handle == Handle::Number ? operands[1].dtype : operands[0].dtype, Product};
}

static std::string callText(const std::string &name, ArrayRef<Expression> operands) {
  std::vector<std::string> parts;
  for (const Expression &operand : operands)
    parts.push_back(operand.text);
  return name + "(" + joined(parts) + ")";
}

Expression Printer::unsignedOp(Operation *op, const Row &row) {
  SmallVector<Expression> operands = expressionsOf(op, row);
  if (getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
    return fail(op, row.operation.str() + " of i1");
  makeScalar(operands);
  DType dtype = operands[0].handle == Handle::Number ? operands[1].dtype : operands[0].dtype;
  return {callText(row.word, operands), isTile(op->getResult(0)) ? Handle::Tile : Handle::Scalar,
          dtype};
}

Expression Printer::call(Operation *op, const Row &row) {
  SmallVector<Expression> operands = expressionsOf(op, row);
  if (getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
    return fail(op, row.operation.str() + " of i1");
  DType dtype = operands[0].dtype;
  for (const Expression &each : operands)
    if (each.handle != Handle::Number) {
      dtype = each.dtype;
      break;
    }
  Handle made = resultHandle(op, operands);
  bool hasIndexForm = StringRef(row.word) == "maximum" || StringRef(row.word) == "minimum";
  if (!hasIndexForm && made == Handle::Index) {
    makeScalar(operands);
    made = Handle::Scalar;
  }
  return {callText(row.word, operands), made, dtype};
}

namespace {
struct Predicate {
  const char *word; // an operator, or a Comparison
  bool isOperator, isSigned;
};
} // namespace

static Predicate predicateOf(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return {"==", true, false};
  case P::ne:
    return {"!=", true, false};
  case P::slt:
    return {"<", true, true};
  case P::sle:
    return {"<=", true, true};
  case P::sgt:
    return {">", true, true};
  case P::sge:
    return {">=", true, true};
  case P::ult:
    return {"ult", false, false};
  case P::ule:
    return {"ule", false, false};
  case P::ugt:
    return {"ugt", false, false};
  case P::uge:
    return {"uge", false, false};
  }
  return {};
}

static Predicate predicateOf(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OEQ:
    return {"==", true, false};
  case P::UNE:
    return {"!=", true, false};
  case P::OLT:
    return {"<", true, false};
  case P::OLE:
    return {"<=", true, false};
  case P::OGT:
    return {">", true, false};
  case P::OGE:
    return {">=", true, false};
  case P::UEQ:
    return {"ueq", false, false};
  case P::ONE:
    return {"one", false, false};
  case P::ORD:
    return {"ord", false, false};
  case P::UNO:
    return {"uno", false, false};
  case P::ULT:
    return {"ult", false, false};
  case P::ULE:
    return {"ule", false, false};
  case P::UGT:
    return {"ugt", false, false};
  case P::UGE:
    return {"uge", false, false};
  case P::AlwaysFalse:
  case P::AlwaysTrue:
    break;
  }
  return {};
}

Expression Printer::compare(Operation *op, const Row &row) {
  auto floats = dyn_cast<arith::CmpFOp>(op);
  auto [word, isOperator, isSigned] = floats ? predicateOf(floats.getPredicate())
                                             : predicateOf(cast<arith::CmpIOp>(op).getPredicate());
  bool isEquality = word && (StringRef(word) == "==" || StringRef(word) == "!=");
  bool isBool = getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1);
  if (!word || (isBool && !isEquality))
    return fail(op, "this predicate of " + row.operation.str());
  Row meaning = row;
  meaning.isSigned = isSigned;
  SmallVector<Expression> operands = expressionsOf(op, meaning);
  Handle made = isTile(op->getResult(0)) ? Handle::Tile : Handle::Scalar;
  if (isOperator) {
    int strength = isEquality ? Equal : Order;
    return {operands[0].asOperand(Shift) + " " + word + " " + operands[1].asOperand(Shift), made,
            DType::i1, strength};
  }
  makeScalar(operands);
  if (StringRef(word) == "uno" && op->getOperand(0) == op->getOperand(1))
    return {"isNaN(" + handle(op->getOperand(0)).text + ")", made, DType::i1};
  return {callText(std::string("compare"),
                   [&] {
                     SmallVector<Expression> all = {{std::string("Comparison::") + word}};
                     llvm::append_range(all, operands);
                     return all;
                   }()),
          made, DType::i1};
}

Expression Printer::select(Operation *op, const Row &row) {
  SmallVector<Expression> operands = expressionsOf(op, row);
  DType dtype = operands[1].handle == Handle::Number ? operands[2].dtype : operands[1].dtype;
  if (operands[0].handle == Handle::Number)
    operands[0] = handle(op->getOperand(0));
  return {callText("select", operands), isTile(op->getResult(0)) ? Handle::Tile : Handle::Scalar,
          dtype};
}

Expression Printer::convert(Operation *op, const Row &row) {
  Type type = op->getResult(0).getType();
  DType from = dtypeOf(getElementTypeOrSelf(op->getOperand(0).getType())),
        to = dtypeOf(getElementTypeOrSelf(type));
  Expression made = use(op->getOperand(0));
  if (made.handle == Handle::Number)
    made = handle(op->getOperand(0));
  if (row.isSigned)
    made = asSigned(made);
  bool isUnsigned = StringRef(row.word) == "castUnsigned";
  // cast reads i1 and u8 as numbers without a sign and all others with one; to i1 it compares.
  bool readsUnsigned = from == DType::i1 || made.dtype == DType::u8;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  if (isFloat && isUnsigned && to == DType::i8)
    to = DType::u8;
  bool isUsual = to != DType::i1 && (!row.word[0] || row.operation == "arith.trunci" ||
                                     (isFloat                ? isUnsigned == (to == DType::u8)
                                      : from == DType::index ? !isUnsigned
                                                             : isUnsigned == readsUnsigned));
  if (isUsual && row.operation == "arith.index_cast" && to == DType::index &&
      !isTile(op->getResult(0)))
    return {"Index(" + made.text + ")", Handle::Index, to};
  return {std::string(isUsual ? "cast" : row.word) + "(" + made.text + ", " + dtypeText(to) + ")",
          isTile(op->getResult(0)) ? Handle::Tile : Handle::Scalar, to};
}

Expression Printer::constant(Operation *op, const Row &) {
  auto value = cast<TypedAttr>(cast<arith::ConstantOp>(op).getValue());
  DType dtype = dtypeOf(value.getType());
  std::string number = numberText(value, dtype);
  return {number, Handle::Number, dtype, number.starts_with("-") ? Unary : Primary};
}

} // namespace tw::source
