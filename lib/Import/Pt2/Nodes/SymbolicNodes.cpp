// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python arithmetic on sizes: _operator.add, math.trunc, torch.sym_max, ... become the scalar
// operators that TorchScript has for them (torch.aten.add.int, torch.prim.max.int).
#include "Import/Pt2/Nodes/NodeImporter.h"
#include "llvm/ADT/StringMap.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;

static bool isInt(Value v) { return isa<IntType>(v.getType()); }
static bool isFloat(Value v) { return isa<torch::FloatType>(v.getType()); }
static bool isBool(Value v) { return isa<BoolType>(v.getType()); }

static Value call(Emit &emit, StringRef name, Type type, ValueRange operands) {
  return AtenOp::create(emit.builder, emit.loc, name, type, operands)->getResult(0);
}

static Value toInt(Emit &emit, Value value) {
  if (isInt(value))
    return value;
  return call(emit, isBool(value) ? "aten.Int.bool" : "aten.Int.float", emit.intType(), value);
}

static Value toFloat(Emit &emit, Value value) {
  if (isFloat(value))
    return value;
  return call(emit, "aten.Float.int", emit.floatType(), toInt(emit, value));
}

namespace {
/// How two Python numbers are combined: the operator for ints, the one for floats, and what kind of
/// result each gives. Mixed operands are floats, as in Python.
struct Binary {
  StringRef ints, floats;
  enum class Gives { Same, Bool, Float } gives = Gives::Same;
};
} // namespace

static Value combine(Emit &emit, const Binary &row, Value a, Value b) {
  if (isBool(a))
    a = toInt(emit, a);
  if (isBool(b))
    b = toInt(emit, b);
  bool ints = isInt(a) && isInt(b);
  if (!ints) {
    a = toFloat(emit, a);
    b = toFloat(emit, b);
  }
  StringRef name = ints ? row.ints : row.floats;
  if (name.empty())
    return {};
  Type type = row.gives == Binary::Gives::Bool           ? emit.boolType()
              : ints && row.gives == Binary::Gives::Same ? emit.intType()
                                                         : emit.floatType();
  return call(emit, name, type, {a, b});
}

static const Binary *binary(StringRef target) {
  using Gives = Binary::Gives;
  static const llvm::StringMap<Binary> table = {
      {"_operator.add", {"aten.add.int", "aten.add.float"}},
      {"_operator.sub", {"aten.sub.int", "aten.sub.float"}},
      {"_operator.mul", {"aten.mul.int", "aten.mul.float"}},
      {"_operator.truediv", {"aten.div.int", "aten.div.float", Gives::Float}},
      {"_operator.floordiv", {"aten.floordiv.int", "aten.floordiv.float"}},
      {"_operator.mod", {"aten.remainder.int", "aten.remainder.float"}},
      {"_operator.pow", {"aten.pow.int_to_int", "aten.pow.float"}},
      {"_operator.lshift", {"aten.__lshift__.int", ""}},
      {"_operator.rshift", {"aten.__rshift__.int", ""}},
      {"_operator.eq", {"aten.eq.int", "aten.eq.float", Gives::Bool}},
      {"_operator.ne", {"aten.ne.int", "aten.ne.float", Gives::Bool}},
      {"_operator.lt", {"aten.lt.int", "aten.lt.float", Gives::Bool}},
      {"_operator.le", {"aten.le.int", "aten.le.float", Gives::Bool}},
      {"_operator.gt", {"aten.gt.int", "aten.gt.float", Gives::Bool}},
      {"_operator.ge", {"aten.ge.int", "aten.ge.float", Gives::Bool}},
      {"torch.sym_max", {"prim.max.int", "prim.max.float"}},
      {"torch.sym_min", {"prim.min.int", "prim.min.float"}},
      {"builtins.max", {"prim.max.int", "prim.max.float"}},
      {"builtins.min", {"prim.min.int", "prim.min.float"}},
  };
  auto found = table.find(target);
  return found == table.end() ? nullptr : &found->second;
}

/// and, or: of booleans, or bitwise of ints.
static Value logical(Emit &emit, StringRef name, Value a, Value b) {
  bool bools = isBool(a) && isBool(b);
  return call(emit, (name + (bools ? ".bool" : ".int")).str(),
              bools ? emit.boolType() : emit.intType(),
              {bools ? a : toInt(emit, a), bools ? b : toInt(emit, b)});
}

/// condition ? a : b.
static Value choose(Emit &emit, Value condition, Value a, Value b) {
  if (a.getType() != b.getType()) {
    a = toFloat(emit, a);
    b = toFloat(emit, b);
  }
  auto choice = IfOp::create(emit.builder, emit.loc, a.getType(), condition);
  OpBuilder::InsertionGuard guard(emit.builder);
  for (auto [region, value] :
       {std::pair(&choice.getThenRegion(), a), std::pair(&choice.getElseRegion(), b)}) {
    emit.builder.createBlock(region);
    IfYieldOp::create(emit.builder, emit.loc, value);
  }
  return choice->getResult(0);
}

using Unary = Value (*)(Emit &, Value);

static Unary unary(StringRef target) {
  static constexpr auto negate = [](Emit &emit, Value v) {
    v = isBool(v) ? toInt(emit, v) : v;
    return call(emit, isInt(v) ? "aten.neg.int" : "aten.neg.float", v.getType(), v);
  };
  static constexpr auto unchanged = [](Emit &, Value v) { return v; };
  static constexpr auto opposite = [](Emit &emit, Value v) {
    return isBool(v) ? call(emit, "aten.__not__", emit.boolType(), v) : Value();
  };
  static constexpr auto root = [](Emit &emit, Value v) {
    return call(emit, "aten.sqrt.float", emit.floatType(), toFloat(emit, v));
  };
  static constexpr auto floor = [](Emit &emit, Value v) {
    return isInt(v) ? v : call(emit, "aten.floor.float", emit.intType(), toFloat(emit, v));
  };
  static constexpr auto ceil = [](Emit &emit, Value v) {
    return isInt(v) ? v : call(emit, "aten.ceil.float", emit.intType(), toFloat(emit, v));
  };
  static const llvm::StringMap<Unary> table = {
      {"_operator.neg", +negate},    {"_operator.pos", +unchanged}, {"torch.sym_not", +opposite},
      {"_operator.not_", +opposite}, {"torch.sym_sqrt", +root},     {"torch._sym_sqrt", +root},
      {"math.sqrt", +root},          {"torch.sym_int", toInt},      {"torch.sym_float", toFloat},
      {"math.trunc", toInt},         {"math.floor", +floor},        {"math.ceil", +ceil},
      {"builtins.int", toInt},       {"builtins.float", toFloat},
  };
  auto found = table.find(target);
  return found == table.end() ? nullptr : found->second;
}

/// torch.sym_sum([a, b, ...]).
static Value sum(Emit &emit, ValueRange values) {
  Value total = values.empty() ? emit.integer(0) : values.front();
  for (Value value : values.drop_front(values.empty() ? 0 : 1))
    total = combine(emit, *binary("_operator.add"), total, value);
  return total;
}

std::optional<LogicalResult> NodeImporter::importSymbolic() {
  StringRef target(node.target.data(), node.target.size());
  const Binary *two = binary(target);
  Unary one = unary(target);
  bool isLogical = target == "_operator.and_" || target == "_operator.or_";
  bool isChoice = target == "torch.sym_ite", isSum = target == "torch.sym_sum";
  if (!two && !one && !isLogical && !isChoice && !isSum)
    return std::nullopt;
  SmallVector<Value> values;
  for (const NamedArgument &given : node.inputs) {
    ArrayRef<Argument> single(given.value);
    for (const Argument &argument :
         given.value.kind == Kind::List ? ArrayRef<Argument>(given.value.elements) : single) {
      FailureOr<Value> value = graph.valueOf(argument);
      if (failed(value))
        return failure();
      if (!isInt(*value) && !isFloat(*value) && !isBool(*value))
        return wrongArgument(StringRef(given.name.data(), given.name.size()), argument.kindText(),
                             "a Python number");
      values.push_back(*value);
    }
  }
  size_t expected = isSum ? values.size() : isChoice ? 3 : one ? 1 : 2;
  if (values.size() != expected || node.outputs.size() != 1 || (isChoice && !isBool(values[0])))
    return fail(Code::IMPORT_12,
                fmt::format("{} takes {} numbers and gives one", operatorName(), expected));
  Value result = two        ? combine(emit, *two, values[0], values[1])
                 : one      ? one(emit, values[0])
                 : isChoice ? choose(emit, values[0], values[1], values[2])
                 : isSum ? sum(emit, values)
                         : logical(emit, target.ends_with("and_") ? "aten.__and__" : "aten.__or__",
                                   values[0], values[1]);
  if (!result)
    return fail(Code::IMPORT_12,
                fmt::format("{} of these kinds of numbers is not supported", operatorName()));
  return defineOutput(0, result);
}

} // namespace tw::pt2
