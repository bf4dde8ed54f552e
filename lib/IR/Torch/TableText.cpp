// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/TableText.h"
#include "Support/Counted.h"

using namespace mlir;
namespace tw::torch {

//===----------------------------------------------------------------------===//
// Types against patterns
//===----------------------------------------------------------------------===//

bool matches(const TypePattern &pattern, Type type, bool isWritten) {
  if (isa<AnyType>(type))
    return true;
  if (auto options = dyn_cast<UnionType>(type))
    return llvm::all_of(options.getContainedTypes(),
                        [&](Type option) { return matches(pattern, option, isWritten); });
  auto element = [&](Type contained) {
    return matches(*pattern.elements[0], contained, isWritten);
  };
  switch (pattern.kind) {
  case TypeKind::Tensor:
    return isa<NonValueTensorType>(type) || (!isWritten && isa<ValueTensorType>(type));
  case TypeKind::Int:
    return isa<IntType>(type);
  case TypeKind::Float:
    return isa<FloatType>(type);
  case TypeKind::Bool:
    return isa<BoolType>(type);
  case TypeKind::Number:
    return isa<IntType, FloatType, BoolType, NumberType>(type);
  case TypeKind::Complex:
    return isa<NumberType>(type);
  case TypeKind::Str:
    return isa<StringType>(type);
  case TypeKind::Device:
    return isa<DeviceType>(type);
  case TypeKind::Generator:
    return isa<GeneratorType>(type);
  case TypeKind::None:
    return isa<NoneType>(type);
  case TypeKind::Optional:
    if (auto optional = dyn_cast<OptionalType>(type))
      return element(optional.getContainedType());
    return isa<NoneType>(type) || element(type);
  case TypeKind::List: {
    auto list = dyn_cast<ListType>(type);
    return list && element(list.getContainedType());
  }
  case TypeKind::Tuple: {
    auto tuple = dyn_cast<TupleType>(type);
    return tuple && tuple.getContainedTypes().size() == pattern.elements.size();
  }
  case TypeKind::Dict:
    return isa<DictType>(type);
  case TypeKind::Any:
  case TypeKind::Variable:
  case TypeKind::Opaque:
    return true;
  }
  return false;
}

bool acceptsType(OpOperand &use, Type type) {
  auto op = dyn_cast<AtenOp>(use.getOwner());
  if (!op || use.getOperandNumber() >= op.schema().arguments().size())
    return false;
  const Argument &argument = op.schema().arguments()[use.getOperandNumber()];
  // A type variable may tie the operand to a result; leave it.
  return argument.type->kind != TypeKind::Variable &&
         matches(*argument.type, type, argument.isWritten);
}

bool mayWrite(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto op = dyn_cast<AtenOp>(user)) {
    ArrayRef<Argument> arguments = op.schema().arguments();
    unsigned index = use.getOperandNumber();
    return index < arguments.size() ? arguments[index].isWritten
                                    : op.schema().has(Flag::SideEffect);
  }
  // A result or block argument that is the same object could be written to elsewhere.
  return !isMemoryEffectFree(user) || user->hasTrait<OpTrait::IsTerminator>();
}

//===----------------------------------------------------------------------===//
// Errors in the schema's words
//===----------------------------------------------------------------------===//

static LogicalResult withSchema(InFlightDiagnostic diagnostic, const Schema &schema) {
  diagnostic.attachNote() << "schema: " << schema.str();
  return failure();
}

/// Whether `count` operands are what the schema takes.
static bool takes(const Schema &schema, size_t count) {
  size_t wanted = schema.arguments().size();
  return schema.has(Flag::AnyArguments) ? count >= wanted : count == wanted;
}

static void describeCount(InFlightDiagnostic &diagnostic, const Schema &schema, size_t count) {
  ArrayRef<Argument> arguments = schema.arguments();
  diagnostic << "expects " << counted(arguments.size(), "operand") << ", got " << count;
  if (count >= arguments.size())
    return;
  diagnostic << "; missing ";
  llvm::interleaveComma(arguments.drop_front(count), diagnostic,
                        [&](const Argument &missing) { diagnostic << "'" << missing.name << "'"; });
}

static LogicalResult verifyOperands(Operation *op, const Schema &schema) {
  if (!takes(schema, op->getNumOperands())) {
    InFlightDiagnostic diagnostic = op->emitOpError();
    describeCount(diagnostic, schema, op->getNumOperands());
    return withSchema(std::move(diagnostic), schema);
  }
  for (auto [index, argument] : llvm::enumerate(schema.arguments())) {
    Type type = op->getOperand(index).getType();
    if (matches(*argument.type, type, argument.isWritten))
      continue;
    return withSchema(op->emitOpError()
                          << "operand #" << index << " '" << argument.name << "' must be "
                          << (argument.isWritten ? "a mutable (!torch.tensor) " : "") << "'"
                          << argument.type->spelled << "', but got " << type,
                      schema);
  }
  return success();
}

static LogicalResult verifyResults(Operation *op, const Schema &schema) {
  ArrayRef<Argument> results = schema.results();
  if (schema.has(Flag::AnyResults))
    return success();
  if (op->getNumResults() != results.size())
    return withSchema(op->emitOpError() << "expects " << counted(results.size(), "result")
                                        << ", got " << op->getNumResults(),
                      schema);
  for (auto [index, wanted, type] : llvm::enumerate(results, op->getResultTypes())) {
    // Gradients that nobody asked for are printed as !torch.none or optional tensors.
    bool absentTensor = wanted.type->kind == TypeKind::Tensor && isa<OptionalType, NoneType>(type);
    if (absentTensor || matches(*wanted.type, type, wanted.isWritten))
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError() << "result #" << index;
    if (!wanted.name.empty())
      diagnostic << " '" << wanted.name << "'";
    diagnostic << " must be '" << wanted.type->spelled << "', but got " << type;
    return withSchema(std::move(diagnostic), schema);
  }
  return success();
}

LogicalResult verifyTableOp(Operation *op) {
  const Schema &schema = AtenOp(op).schema();
  if (op->getNumRegions() || op->getNumSuccessors())
    return withSchema(op->emitOpError() << "takes no regions and no successors", schema);
  if (failed(verifyOperands(op, schema)))
    return failure();
  return verifyResults(op, schema);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult parseTableOp(const Schema &schema, OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  bool isList = schema.has(Flag::AnyArguments);
  bool inParentheses = isList && succeeded(parser.parseOptionalLParen());
  if (parser.parseOperandList(operands) || (inParentheses && parser.parseRParen()))
    return failure();
  if (!takes(schema, operands.size())) {
    InFlightDiagnostic diagnostic = parser.emitError(loc);
    describeCount(diagnostic, schema, operands.size());
    return withSchema(std::move(diagnostic), schema);
  }
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon())
    return failure();
  if (!operands.empty() && (parser.parseTypeList(types) ||
                            parser.resolveOperands(operands, types, loc, result.operands)))
    return failure();

  bool mayHaveNone = schema.has(Flag::AnyResults);
  if (!mayHaveNone && schema.results().empty())
    return success();
  if (!operands.empty()) {
    if (mayHaveNone && failed(parser.parseOptionalArrow()))
      return success();
    if (!mayHaveNone && parser.parseArrow())
      return failure();
  }
  return parser.parseTypeList(result.types);
}

void printTableOp(const Schema &schema, Operation *op, OpAsmPrinter &printer) {
  if (schema.has(Flag::AnyArguments))
    printer << "(" << op->getOperands() << ")";
  else if (op->getNumOperands())
    printer << " " << op->getOperands();
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : " << op->getOperandTypes();
  if (op->getNumOperands() && op->getNumResults())
    printer << " -> ";
  printer << op->getResultTypes();
}

} // namespace tw::torch
