// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/AtenOp.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
namespace tw::torch {

//===----------------------------------------------------------------------===//
// Arguments by name
//===----------------------------------------------------------------------===//

Value AtenOp::arg(StringRef argument) const {
  std::optional<unsigned> index = schema().argumentIndex(argument);
  return index ? (*this)->getOperand(*index) : Value();
}

bool AtenOp::isAbsent(StringRef argument) const {
  Value value = arg(argument);
  return !value || isNone(value);
}

std::optional<int64_t> AtenOp::intArg(StringRef argument) const {
  return constantInt(arg(argument));
}

//===----------------------------------------------------------------------===//
// Defaults: Python literals of the schema as constants
//===----------------------------------------------------------------------===//

namespace {
/// Makes constants for the literals that occur as defaults: None, True, 1, 1., "mean", [0, 1].
class DefaultBuilder {
public:
  DefaultBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value build(const TypePattern &type, StringRef literal) {
    literal = literal.trim();
    if (literal == "None")
      return ConstantNoneOp::create(builder, loc);
    if (type.kind == TypeKind::Optional)
      return build(*type.elements[0], literal);
    if (type.kind == TypeKind::List)
      return buildList(type, literal);
    return buildScalar(type.kind, literal);
  }

private:
  Value buildScalar(TypeKind kind, StringRef literal) {
    if (literal == "True" || literal == "False")
      return ConstantBoolOp::create(builder, loc, builder.getBoolAttr(literal == "True"));
    if (literal.starts_with("\"") || literal.starts_with("'"))
      return ConstantStrOp::create(builder, loc, builder.getStringAttr(unquoted(literal)));
    int64_t integer;
    double real;
    if (kind != TypeKind::Float && !literal.getAsInteger(10, integer))
      return ConstantIntOp::create(builder, loc, integer);
    if (!literal.getAsDouble(real))
      return ConstantFloatOp::create(builder, loc, builder.getF64FloatAttr(real));
    return {};
  }

  /// "[0, 1]"; a scalar stands for that many equal elements: int[2] padding=0.
  Value buildList(const TypePattern &type, StringRef literal) {
    const TypePattern &element = *type.elements[0];
    SmallVector<Value> elements;
    if (literal.consume_front("[")) {
      literal.consume_back("]");
      SmallVector<StringRef> pieces;
      literal.split(pieces, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      for (StringRef piece : pieces)
        elements.push_back(build(element, piece));
    } else {
      StringRef count = type.spelled.substr(type.spelled.rfind('[') + 1).drop_back();
      unsigned repetitions = 1;
      (void)count.getAsInteger(10, repetitions);
      elements.assign(repetitions, build(element, literal));
    }
    if (llvm::is_contained(elements, Value()))
      return {};
    Type contained = elements.empty() ? elementType(element.kind) : elements.front().getType();
    return ListConstructOp::create(builder, loc, ListType::get(builder.getContext(), contained),
                                   elements);
  }

  Type elementType(TypeKind kind) {
    MLIRContext *context = builder.getContext();
    switch (kind) {
    case TypeKind::Float:
      return FloatType::get(context);
    case TypeKind::Bool:
      return BoolType::get(context);
    default:
      return IntType::get(context);
    }
  }

  /// The text of a string literal without quotes and escapes.
  static std::string unquoted(StringRef literal) {
    static constexpr std::pair<char, char> escapes[] = {
        {'n', '\n'}, {'t', '\t'}, {'f', '\f'}, {'v', '\v'}, {'r', '\r'}};
    std::string text;
    literal = literal.drop_front().drop_back();
    for (size_t i = 0; i < literal.size(); ++i) {
      char c = literal[i];
      if (c == '\\' && i + 1 < literal.size()) {
        c = literal[++i];
        for (auto [letter, meaning] : escapes)
          if (c == letter) {
            c = meaning;
            break;
          }
      }
      text += c;
    }
    return text;
  }

  OpBuilder &builder;
  Location loc;
};
} // namespace

Value createDefault(OpBuilder &builder, Location loc, const Argument &argument) {
  if (!argument.hasDefault())
    return {};
  return DefaultBuilder(builder, loc).build(*argument.type, argument.defaultText);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

AtenOp AtenOp::tryCreate(OpBuilder &builder, Location loc, const Schema &schema,
                         TypeRange resultTypes, ValueRange positional, ArrayRef<Named> named,
                         std::string &problem) {
  ArrayRef<Argument> arguments = schema.arguments();
  if (positional.size() > arguments.size() && !schema.has(Flag::AnyArguments)) {
    problem = "takes " + std::to_string(arguments.size()) + " arguments, got " +
              std::to_string(positional.size());
    return AtenOp();
  }
  for (const Named &entry : named)
    if (!schema.argumentIndex(entry.first)) {
      problem = ("has no argument '" + entry.first + "'").str();
      return AtenOp();
    }
  SmallVector<Value> operands(positional);
  for (const Argument &argument :
       arguments.drop_front(std::min(positional.size(), arguments.size()))) {
    auto given = llvm::find_if(named, [&](const Named &n) { return n.first == argument.name; });
    Value value = given != named.end() ? given->second : createDefault(builder, loc, argument);
    if (!value) {
      problem = ("argument '" + argument.name + "' is missing").str();
      return AtenOp();
    }
    operands.push_back(value);
  }
  OperationState state(loc, OperationName(schema.opName, builder.getContext()));
  state.addOperands(operands);
  state.addTypes(resultTypes);
  return AtenOp(builder.create(state));
}

AtenOp AtenOp::create(OpBuilder &builder, Location loc, StringRef name, TypeRange resultTypes,
                      ValueRange positional, ArrayRef<Named> named) {
  name.consume_front("torch.");
  const Schema *schema = lookupSchema(("torch." + name).str());
  assert(schema && "no such operator in the schema table");
  std::string problem = "no such operator";
  AtenOp op =
      schema ? tryCreate(builder, loc, *schema, resultTypes, positional, named, problem) : AtenOp();
  if (!op)
    llvm::report_fatal_error("torch." + name + ": " + problem);
  return op;
}

} // namespace tw::torch
