// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that write to their arguments: add_, add.out, _native_batch_norm_legit, ...
#include "IR/Torch/DtypeCode.h"
#include "Import/Pt2/Nodes/NodeImporter.h"
#include "Support/Counted.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

/// The dtype in which an elementwise operator computes on these operands: PyTorch's promotion among
/// tensors. A tensor without dimensions counts only when no other is of its category.
static ValueTensorType computeType(Tensor *target, ValueRange operands) {
  auto category = [](Type type) {
    return isa<mlir::FloatType>(type) ? 2 : type.isInteger(1) ? 0 : 1;
  };
  auto order = [](Type type) { // within a category
    unsigned width = type.getIntOrFloatBitWidth();
    return type.isUnsignedInteger() ? 1 : static_cast<int>(width);
  };
  auto rank = [&](ValueTensorType type) {
    bool hasDims = !type.getHasSizes() || !type.getSizes().empty();
    return category(type.getDtype()) * 2 + hasDims;
  };
  ValueTensorType best = target->type;
  for (Value operand : operands) {
    auto type = dyn_cast<ValueTensorType>(operand.getType());
    if (!type || !type.getDtype() || type.getDtype() == best.getDtype())
      continue;
    int mine = category(best.getDtype()), theirs = category(type.getDtype());
    if (theirs > mine || (theirs == mine && rank(type) >= rank(best) &&
                          order(type.getDtype()) > order(best.getDtype())))
      best = type;
  }
  return best;
}

/// Comparisons and logical operators compute booleans, whatever they are written to.
static bool givesBool(StringRef opName) {
  static constexpr StringLiteral names[] = {
      "eq",         "ne",          "lt",         "le",
      "gt",         "ge",          "greater",    "greater_equal",
      "less",       "less_equal",  "not_equal",  "logical_and",
      "logical_or", "logical_xor", "logical_not"};
  return llvm::is_contained(names, operatorBase(opName).drop_front(sizeof("torch.aten.") - 1));
}

/// The type an elementwise operator gives before the result is converted to the target's dtype.
static ValueTensorType naturalType(Emit &emit, const Schema &schema, Tensor *target,
                                   ValueRange operands) {
  Type dtype = target->type.getDtype();
  if (givesBool(schema.opName))
    dtype = torch::torchType(emit.context(), DType::Bool);
  else if (schema.has(Flag::Pointwise))
    dtype = computeType(target, operands).getDtype();
  return withDtype(target->type, dtype);
}

namespace {
/// One argument that is written: a tensor, or a list of them.
struct Written {
  const torch::Argument *argument;
  SmallVector<Tensor *> targets;
  bool isList;
};
} // namespace

static FailureOr<SmallVector<Written>> writtenArguments(NodeImporter &importer,
                                                        const Schema &schema) {
  SmallVector<Written> result;
  for (const torch::Argument &argument : schema.arguments()) {
    if (!argument.isWritten)
      continue;
    const Argument *given = importer.input(argument.name);
    if (!given)
      return importer.fail(Code::IMPORT_12,
                           fmt::format("operator {} lacks its argument {}", importer.operatorName(),
                                       argument.name.str()));
    Written written{&argument, {}, given->kind == Kind::List};
    ArrayRef<Argument> one(given, 1);
    for (const Argument &element : written.isList ? ArrayRef<Argument>(given->elements) : one) {
      FailureOr<Tensor *> tensor = importer.graph.tensorOf(element);
      if (failed(tensor))
        return failure();
      written.targets.push_back(*tensor);
    }
    result.push_back(std::move(written));
  }
  return result;
}

static LogicalResult write(NodeImporter &importer, Tensor *target, Value value) {
  auto type = dyn_cast<ValueTensorType>(value.getType());
  if (!type)
    return importer.fail(Code::IMPORT_15, "it writes something that is not a tensor");
  Value converted = importer.emit.convert(
      importer.emit.cast(value, withDtype(target->type, type.getDtype())), target->type);
  if (auto problem = importer.tensors.write(importer.emit, target, converted))
    return importer.fail(
        Code::IMPORT_15,
        fmt::format("operator {} cannot be imported: {}", importer.operatorName(), *problem),
        "write to the tensor itself, or to a clone of it");
  return success();
}

/// An out= tensor takes the sizes of the result, whatever it had before.
static LogicalResult resizeOut(NodeImporter &importer, const Schema &schema,
                               ArrayRef<Written> written) {
  if (!schema.has(Flag::Out))
    return success();
  for (auto [index, output] : llvm::enumerate(importer.node.outputs)) {
    if (output.kind != Kind::Tensor || index >= written.size() || written[index].isList)
      continue;
    FailureOr<ValueTensorType> type = importer.graph.typeOf(ref(output.text));
    if (failed(type))
      return failure();
    Tensor *target = written[index].targets.front();
    if (target->type == *type || !type->getHasSizes())
      continue;
    if (target->base || target->root().frozen)
      return importer.fail(Code::IMPORT_15, "an out= tensor that is a view changes its sizes");
    target->type = *type;
  }
  return success();
}

/// Binds the results that are the written tensors themselves.
static LogicalResult defineWritten(NodeImporter &importer, ArrayRef<Written> written,
                                   size_t firstOutput) {
  size_t index = firstOutput;
  for (const Written &w : written) {
    if (index >= importer.node.outputs.size())
      break;
    const Argument &output = importer.node.outputs[index++];
    if (output.kind == Kind::Tensor && !w.isList) {
      if (failed(importer.graph.define(ref(output.text), {w.targets.front(), {}})))
        return failure();
    } else if (output.isName()) {
      return importer.fail(Code::IMPORT_13, fmt::format("result {} is not what operator {} gives",
                                                        output.text, importer.operatorName()));
    }
  }
  return success();
}

/// squeeze_, t_, ...: the tensor's name stands for a view of it from now on.
static LogicalResult importInplaceView(NodeImporter &importer, const Schema &schema) {
  const Argument *self = importer.input(schema.arguments().front().name);
  if (!self || self->kind != Kind::Tensor)
    return importer.fail(Code::IMPORT_12,
                         fmt::format("operator {} lacks its tensor", importer.operatorName()));
  StringRef base = operatorBase(schema.opName), overload = schema.opName.drop_front(base.size());
  base.consume_back("_");
  const Schema *view = lookupSchema((base + overload).str());
  if (!view || !view->has(Flag::View) || importer.node.outputs.size() != 1)
    return importer.fail(Code::IMPORT_15, fmt::format("operator {} cannot be imported: it has no "
                                                      "form that makes a view",
                                                      importer.operatorName()));
  if (failed(importer.importOperator(*view)))
    return failure();
  return importer.graph.rebind(ref(self->text), ref(importer.node.outputs[0].text));
}

/// The operands of an operator's functional form, whose arguments lack those that out= writes.
static FailureOr<SmallVector<Value>>
functionalOperands(NodeImporter &importer, const Schema &schema, const Schema &functional) {
  if (!schema.has(Flag::Out))
    return importer.operandsFor(functional);
  Node copy = importer.node;
  llvm::erase_if(copy.inputs, [&](const NamedArgument &given) {
    auto index = schema.argumentIndex(ref(given.name));
    return index && schema.arguments()[*index].isWritten;
  });
  return NodeImporter(importer.graph, copy).operandsFor(functional);
}

/// The types of a functional form's results: those that the operator gives, too, then a new value
/// for each argument that it writes.
static FailureOr<SmallVector<Type>> functionalTypes(NodeImporter &importer,
                                                    const Schema &functional, unsigned plainResults,
                                                    ArrayRef<Written> written,
                                                    ArrayRef<Value> operands) {
  SmallVector<Type> types;
  if (plainResults > 0) {
    FailureOr<SmallVector<Type>> given = importer.resultTypes();
    if (failed(given))
      return failure();
    if (given->size() < plainResults)
      return importer.fail(Code::IMPORT_13,
                           fmt::format("operator {} has {}, but the node names {}",
                                       importer.operatorName(), counted(plainResults, "result"),
                                       given->size()));
    types.assign(given->begin(), given->begin() + plainResults);
  }
  Emit &emit = importer.emit;
  for (const Written &w : written)
    types.push_back(w.isList
                        ? Type(ListType::get(emit.context(), unknownTensorType(emit.context())))
                        : naturalType(emit, functional, w.targets.front(), operands));
  return types;
}

/// Writes the new value of an argument, or the elements of a list, to its tensors.
static LogicalResult writeAll(NodeImporter &importer, const Written &written, Value value) {
  SmallVector<Value> values = {value};
  if (written.isList) {
    SmallVector<Type> types;
    for (Tensor *target : written.targets)
      types.push_back(target->type);
    Emit &emit = importer.emit;
    values = ListUnpackOp::create(emit.builder, emit.loc, types, value)->getResults();
  }
  for (auto [target, newValue] : llvm::zip(written.targets, values))
    if (failed(write(importer, target, newValue)))
      return failure();
  return success();
}

LogicalResult NodeImporter::importMutation(const Schema &schema) {
  if (schema.has(Flag::InplaceView))
    return importInplaceView(*this, schema);
  FailureOr<SmallVector<Written>> written = writtenArguments(*this, schema);
  if (failed(written))
    return failure();
  unsigned plainResults = 0;
  const Schema *functional = functionalForm(schema, plainResults);
  if (!functional || functional->results().size() != plainResults + written->size())
    return fail(Code::IMPORT_15, fmt::format("operator {} cannot be imported: it writes to its "
                                             "argument and has no form that does not",
                                             operatorName()));
  if (failed(resizeOut(*this, schema, *written)))
    return failure();
  FailureOr<SmallVector<Value>> operands = functionalOperands(*this, schema, *functional);
  if (failed(operands))
    return failure();
  FailureOr<SmallVector<Type>> types =
      functionalTypes(*this, *functional, plainResults, *written, *operands);
  if (failed(types))
    return failure();
  Operation *op = create(*functional, *operands, *types);
  for (unsigned i = 0; i < plainResults; ++i)
    if (failed(defineOutput(i, op->getResult(i))))
      return failure();
  for (auto [index, w] : llvm::enumerate(*written))
    if (failed(writeAll(*this, w, op->getResult(plainResults + index))))
      return failure();
  return defineWritten(*this, *written, plainResults);
}

} // namespace tw::pt2
