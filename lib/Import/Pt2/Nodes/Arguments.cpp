// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a node gives to its operator, as values that fit the operator's schema.
#include "IR/Torch/DtypeCode.h"
#include "Import/Pt2/Nodes/NodeImporter.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;
using torch::TypeKind;

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

const Argument *NodeImporter::input(StringRef name) const {
  for (const NamedArgument &given : node.inputs)
    if (ref(given.name) == name)
      return &given.value;
  return nullptr;
}

std::optional<bool> NodeImporter::boolInput(const Schema &schema, StringRef name) const {
  if (const Argument *given = input(name))
    return given->kind == Kind::Bool ? std::optional<bool>(given->integer) : std::nullopt;
  if (auto index = schema.argumentIndex(name); index && schema.arguments()[*index].hasDefault())
    return schema.arguments()[*index].defaultText == "True";
  return std::nullopt;
}

std::string NodeImporter::operatorName() const {
  std::string_view name = node.target;
  if (name.starts_with("torch.ops."))
    name.remove_prefix(sizeof("torch.ops.") - 1);
  if (name.ends_with(".default"))
    name.remove_suffix(sizeof(".default") - 1);
  return std::string(name);
}

LogicalResult NodeImporter::wrongArgument(StringRef name, std::string_view given,
                                          StringRef expected) {
  return fail(Code::IMPORT_12, fmt::format("operator {}: argument {} is {}, but {} is expected",
                                           operatorName(), name.str(), given, expected.str()));
}

//===----------------------------------------------------------------------===//
// Numbers of enums: exported programs have their own
//===----------------------------------------------------------------------===//

static std::optional<int64_t> atenMemoryFormat(int64_t serialized) {
  // Contiguous, channels last, channels last 3d, preserve.
  static constexpr int64_t numbers[] = {0, 2, 3, 1};
  if (serialized < 1 || serialized > 4)
    return std::nullopt;
  return numbers[serialized - 1];
}

static std::optional<int64_t> atenLayout(int64_t serialized) {
  constexpr int64_t strided = 7;
  return serialized == strided ? std::optional<int64_t>(0) : std::nullopt;
}

static std::optional<int64_t> enumNumber(const Argument &argument) {
  switch (argument.kind) {
  case Kind::ScalarType:
    return atenScalarType(argument.integer);
  case Kind::MemoryFormat:
    return atenMemoryFormat(argument.integer);
  case Kind::Layout:
    return atenLayout(argument.integer);
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Single arguments
//===----------------------------------------------------------------------===//

FailureOr<Value> NodeImporter::materialiseNatural(const Argument &argument) {
  if (argument.kind == Kind::Device)
    return Value(ConstantDeviceOp::create(emit.builder, emit.loc,
                                          emit.builder.getStringAttr(ref(argument.text))));
  if (auto number = enumNumber(argument))
    return emit.integer(*number);
  if (argument.kind != Kind::List)
    return graph.valueOf(argument);
  SmallVector<Value> elements;
  for (const Argument &element : argument.elements) {
    FailureOr<Value> value = materialiseNatural(element);
    if (failed(value))
      return failure();
    elements.push_back(*value);
  }
  Type type = emit.intType();
  for (Value element : elements)
    if (isa<ValueTensorType>(element.getType()))
      type = unknownTensorType(emit.context());
    else if (!isa<torch::NoneType>(element.getType()))
      type = element.getType();
  if (llvm::any_of(elements, [](Value v) { return isa<torch::NoneType>(v.getType()); }))
    type = OptionalType::get(emit.context(), type);
  return emit.list(elements, type);
}

static constexpr int64_t atenFloat = 6, atenDouble = 7; // numbers of at::ScalarType

/// Whether one of the node's tensors is of f64: a Python float beside it keeps all of its bits.
static bool hasDoubles(const GraphImporter &graph, const Node &node) {
  return llvm::any_of(node.inputs, [&](const NamedArgument &given) {
    const TensorMeta *meta =
        given.value.kind == Kind::Tensor ? graph.metaOf(ref(given.value.text)) : nullptr;
    return meta && atenScalarType(meta->dtype) == atenDouble;
  });
}

/// A tensor without dimensions with the value of a Python number.
FailureOr<Value> NodeImporter::scalarTensor(Value scalar) {
  bool isDouble = hasDoubles(graph, node);
  struct Row {
    bool matches;
    DType dtype;
    int64_t number;
  } rows[] = {{isa<IntType>(scalar.getType()), DType::I64, 4},
              {isa<torch::FloatType>(scalar.getType()), isDouble ? DType::F64 : DType::F32,
               isDouble ? atenDouble : atenFloat},
              {isa<BoolType>(scalar.getType()), DType::Bool, 11}};
  for (const Row &row : rows)
    if (row.matches)
      return emit.aten("aten.scalar_tensor",
                       ValueTensorType::get(emit.context(), true, {},
                                            torch::torchType(emit.context(), row.dtype),
                                            Attribute()),
                       {{"s", scalar}, {"dtype", emit.integer(row.number)}});
  return failure();
}

FailureOr<Value> NodeImporter::materialise(const Argument &argument, const TypePattern &pattern,
                                           StringRef name) {
  if (pattern.kind == TypeKind::Optional)
    return argument.kind == Kind::None ? FailureOr<Value>(emit.none())
                                       : materialise(argument, *pattern.elements[0], name);
  if (pattern.kind == TypeKind::List)
    return materialiseList(argument, pattern, name);
  if (argument.kind == Kind::List && pattern.kind != TypeKind::Any)
    return wrongArgument(name, argument.kindText(), pattern.spelled);
  FailureOr<Value> value = materialiseNatural(argument);
  if (failed(value))
    return failure();
  Type type = value->getType();
  bool isInt = isa<IntType>(type), isFloat = isa<torch::FloatType>(type),
       isBool = isa<BoolType>(type);
  switch (pattern.kind) {
  case TypeKind::Tensor:
    if (isInt || isFloat || isBool)
      return scalarTensor(*value);
    if (isa<ValueTensorType, torch::NoneType>(type))
      return value;
    break;
  case TypeKind::Int:
    if (isBool)
      return emit.aten("aten.Int.bool", emit.intType(), {{"a", *value}});
    if (isInt)
      return value;
    break;
  case TypeKind::Float:
    if (argument.kind == Kind::Int)
      return emit.real(static_cast<double>(argument.integer));
    if (isInt)
      return emit.aten("aten.Float.int", emit.floatType(), {{"a", *value}});
    if (isFloat)
      return value;
    break;
  case TypeKind::Bool:
    if (argument.kind == Kind::Int)
      return emit.boolean(argument.integer != 0);
    if (isBool)
      return value;
    break;
  case TypeKind::Number:
    if (argument.kind == Kind::Bool)
      return emit.integer(argument.integer);
    if (isBool)
      return emit.aten("aten.Int.bool", emit.intType(), {{"a", *value}});
    if (isInt || isFloat)
      return value;
    break;
  default:
    if (matches(pattern, type, /*isWritten=*/false))
      return value;
  }
  return wrongArgument(name, argument.kindText(), pattern.spelled);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The N of "int[N]"; 1 without one.
static size_t fixedLength(const TypePattern &pattern) {
  StringRef count = pattern.spelled.substr(pattern.spelled.rfind('[') + 1).drop_back();
  size_t length = 1;
  (void)count.getAsInteger(10, length);
  return length;
}

static Type listElementType(Emit &emit, const TypePattern &element, ValueRange values) {
  switch (element.kind) {
  case TypeKind::Tensor:
    return unknownTensorType(emit.context());
  case TypeKind::Optional:
    return OptionalType::get(emit.context(), listElementType(emit, *element.elements[0], values));
  case TypeKind::Float:
    return emit.floatType();
  case TypeKind::Bool:
    return emit.boolType();
  case TypeKind::Str:
    return StringType::get(emit.context());
  case TypeKind::Int:
    return emit.intType();
  default:
    return values.empty() ? emit.intType() : values.front().getType();
  }
}

FailureOr<Value> NodeImporter::materialiseList(const Argument &argument, const TypePattern &pattern,
                                               StringRef name) {
  const TypePattern &elementPattern = *pattern.elements[0];
  SmallVector<Value> values;
  if (argument.kind == Kind::List) {
    for (const Argument &element : argument.elements) {
      FailureOr<Value> value = materialise(element, elementPattern, name);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
  } else { // int[2] padding=1 means [1, 1]
    if (argument.kind == Kind::None)
      return wrongArgument(name, argument.kindText(), pattern.spelled);
    FailureOr<Value> value = materialise(argument, elementPattern, name);
    if (failed(value))
      return failure();
    values.assign(fixedLength(pattern), *value);
  }
  return emit.list(values, listElementType(emit, elementPattern, values));
}

//===----------------------------------------------------------------------===//
// All arguments of an operator
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
NodeImporter::operandsFor(const Schema &schema, ArrayRef<std::pair<StringRef, Value>> overrides) {
  llvm::StringSet<> seen;
  for (const NamedArgument &given : node.inputs) {
    if (!given.name.empty() && !seen.insert(ref(given.name)).second)
      return fail(Code::IMPORT_12, fmt::format("operator {} is given its argument {} twice",
                                               operatorName(), given.name));
    if (!schema.argumentIndex(ref(given.name)) && !schema.has(Flag::AnyArguments) &&
        !llvm::is_contained(llvm::make_first_range(overrides), ref(given.name)))
      return fail(Code::IMPORT_12,
                  fmt::format("operator {} has no argument {}", operatorName(), given.name));
  }
  SmallVector<Value> operands;
  for (const torch::Argument &argument : schema.arguments()) {
    auto replaced = llvm::find_if(overrides, [&](auto &o) { return o.first == argument.name; });
    FailureOr<Value> value = failure();
    if (replaced != overrides.end())
      value = replaced->second;
    else if (const Argument *given = input(argument.name))
      value = materialise(*given, *argument.type, argument.name);
    else if (Value byDefault = createDefault(emit.builder, emit.loc, argument))
      value = byDefault;
    else
      (void)fail(Code::IMPORT_12, fmt::format("operator {} lacks its argument {}", operatorName(),
                                              argument.name.str()));
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  return operands;
}

static bool isScalar(const Argument &argument) {
  return argument.kind == Kind::Int || argument.kind == Kind::Float ||
         argument.kind == Kind::Bool || argument.kind == Kind::SymInt ||
         argument.kind == Kind::SymFloat || argument.kind == Kind::SymBool;
}

StringRef operatorBase(StringRef opName) {
  size_t afterSpace = opName.find('.', sizeof("torch.") - 1);
  size_t dot = afterSpace == StringRef::npos ? afterSpace : opName.find('.', afterSpace + 1);
  return opName.take_front(dot);
}

/// All overloads of `base`: the table is sorted by name.
static ArrayRef<Schema> overloads(StringRef base) {
  ArrayRef<Schema> table = schemaTable();
  const Schema *first =
      llvm::partition_point(table, [&](const Schema &row) { return row.opName < base; });
  const Schema *last = first;
  while (last != table.end() && last->opName.starts_with(base))
    ++last;
  return ArrayRef(first, last);
}

const Schema &NodeImporter::overloadForScalars(const Schema &schema) const {
  auto arguments = schema.arguments();
  auto isScalarForTensor = [&](const torch::Argument &argument) {
    const Argument *given = input(argument.name);
    return given && argument.type->isOrOptional(TypeKind::Tensor) && isScalar(*given);
  };
  if (llvm::none_of(arguments, isScalarForTensor))
    return schema;
  StringRef base = operatorBase(schema.opName);
  for (const Schema &other : overloads(base)) {
    if (operatorBase(other.opName) != base || other.arguments().size() != arguments.size() ||
        other.has(Flag::Mutates) != schema.has(Flag::Mutates))
      continue;
    bool fits = llvm::all_of(llvm::zip(arguments, other.arguments()), [&](auto pair) {
      auto &[mine, theirs] = pair;
      return mine.name == theirs.name &&
             (isScalarForTensor(mine) ? theirs.type->isOrOptional(TypeKind::Number)
                                      : theirs.type == mine.type);
    });
    if (fits)
      return other;
  }
  return schema;
}

//===----------------------------------------------------------------------===//
// Functional forms
//===----------------------------------------------------------------------===//

static SmallVector<const torch::Argument *> readOnlyArguments(const Schema &schema) {
  SmallVector<const torch::Argument *> result;
  for (const torch::Argument &argument : schema.arguments())
    if (!argument.isWritten || !schema.has(Flag::Out))
      result.push_back(&argument);
  return result;
}

/// Whether `candidate` takes what `schema` takes, the tensors that only receive results aside.
static bool takesTheSame(const Schema &candidate, const Schema &schema) {
  auto mine = readOnlyArguments(schema);
  return candidate.arguments().size() == mine.size() &&
         llvm::all_of(llvm::zip(candidate.arguments(), mine), [](auto pair) {
           auto &[theirs, own] = pair;
           return theirs.name == own->name && theirs.type->kind == own->type->kind;
         });
}

const Schema *functionalForm(const Schema &schema, unsigned &plainResults) {
  unsigned written = llvm::count_if(schema.arguments(), [](auto &a) { return a.isWritten; });
  plainResults = 0;
  StringRef base = operatorBase(schema.opName), overload = schema.opName.drop_front(base.size());
  bool isInPlace = base.ends_with("_") && !schema.has(Flag::Out);
  if (!isInPlace && !schema.has(Flag::Out)) { // writes beside its results
    plainResults = schema.results().size();
    return lookupSchema((base + "_functional" + overload).str());
  }
  StringRef functional = isInPlace ? base.drop_back() : base;
  auto isRight = [&](const Schema *candidate) {
    return candidate && !candidate->has(Flag::Mutates) && takesTheSame(*candidate, schema) &&
           (candidate->results().size() == written ||
            (candidate->results().size() == 1 && written == 1));
  };
  if (isInPlace)
    if (const Schema *same = lookupSchema((functional + overload).str()); isRight(same))
      return same;
  for (const Schema &candidate : overloads(functional))
    if (operatorBase(candidate.opName) == functional && isRight(&candidate))
      return &candidate;
  const Schema *named = lookupSchema((functional + "_functional" + overload).str());
  return isRight(named) ? named : nullptr;
}

} // namespace tw::pt2
