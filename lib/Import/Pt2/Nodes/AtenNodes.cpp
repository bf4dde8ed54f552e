// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that compute values or make views, and operators that nobody here knows.
#include "Import/Pt2/Nodes/NodeImporter.h"
#include "Import/Pt2/Symbols.h"
#include "Support/Counted.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

//===----------------------------------------------------------------------===//
// Which kind of node
//===----------------------------------------------------------------------===//

LogicalResult NodeImporter::import() {
  StringRef target = ref(node.target);
  if (target.starts_with("torch.ops.higher_order."))
    return importHigherOrder();
  if (auto result = importSymbolic())
    return *result;
  if (const Schema *schema = lookupTarget(target)) {
    const Schema &overload = overloadForScalars(*schema);
    if (auto result = importSpecial(overload))
      return *result;
    if (auto result = importForEach(overload))
      return *result;
    return importOperator(overload);
  }
  if (target.starts_with("torch.ops."))
    return importCustom();
  return fail(Code::IMPORT_14, fmt::format("the Python function {} is not supported", node.target),
              "export the model without it");
}

void NodeImporter::poisonResults() {
  auto poison = [&](const Argument &output) {
    if (output.isName())
      graph.names.try_emplace(ref(output.text));
  };
  for (const Argument &output : node.outputs) {
    poison(output);
    llvm::for_each(output.elements, poison);
  }
}

LogicalResult NodeImporter::importOperator(const Schema &schema) {
  if (schema.has(Flag::Mutates))
    return importMutation(schema);
  if (schema.has(Flag::View) && !schema.results().empty())
    for (auto [index, argument] : llvm::enumerate(schema.arguments()))
      if (const Argument *given = input(argument.name);
          given && given->kind == Kind::Tensor && !argument.alias.empty())
        return importView(schema, *given, index);
  FailureOr<SmallVector<Value>> operands = operandsFor(schema);
  FailureOr<SmallVector<Type>> types = resultTypes();
  if (failed(operands) || failed(types))
    return failure();
  if (schema.results().size() != types->size() && !schema.has(Flag::AnyResults))
    return fail(Code::IMPORT_13,
                fmt::format("operator {} has {}, but the node names {}", operatorName(),
                            counted(schema.results().size(), "result"), types->size()));
  if (graph.isAutocast)
    applyAutocast(*operands, *types);
  Operation *op = create(schema, *operands, *types);
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (failed(defineOutput(index, result)))
      return failure();
  return success();
}

LogicalResult NodeImporter::importCustom() {
  if (node.outputs.empty())
    return fail(Code::IMPORT_14,
                fmt::format("custom operator {} returns nothing, so it writes to its arguments",
                            operatorName()),
                "write the operator so that it returns a new tensor");
  SmallVector<Value> operands;
  SmallVector<Attribute> names;
  for (const NamedArgument &given : node.inputs) {
    FailureOr<Value> value = materialiseNatural(given.value);
    if (failed(value))
      return failure();
    operands.push_back(*value);
    names.push_back(emit.builder.getStringAttr(ref(given.name)));
  }
  FailureOr<SmallVector<Type>> types = resultTypes();
  if (failed(types))
    return failure();
  auto op = OperatorOp::create(emit.builder, emit.loc, *types,
                               emit.builder.getStringAttr(operatorName()), operands, 0);
  op->setAttr("tw.arguments", emit.builder.getArrayAttr(names));
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (failed(defineOutput(index, result)))
      return failure();
    if (const TensorMeta *meta = graph.metaOf(ref(node.outputs[index].text)))
      bindSizes(result, *meta);
  }
  return success();
}

/// States the sizes that the operator's fake implementation gave, where they are expressions of the
/// program's symbols: what its kernel gives is compared with them.
void NodeImporter::bindSizes(Value tensor, const TensorMeta &meta) {
  auto type = dyn_cast<ValueTensorType>(tensor.getType());
  if (!type || !type.getHasSizes() ||
      llvm::all_of(meta.sizes, [](const SymInt &size) { return size.isConstant(); }))
    return;
  SmallVector<Value> symbols;
  bool isKnown = true;
  auto index = [&](StringRef name) -> unsigned {
    Value symbol = graph.state.symbols.lookup(name);
    isKnown &= bool(symbol);
    auto *found = llvm::find(symbols, symbol);
    if (found == symbols.end())
      symbols.push_back(symbol);
    return llvm::find(symbols, symbol) - symbols.begin();
  };
  SmallVector<AffineExpr> sizes;
  for (const SymInt &size : meta.sizes) {
    sizes.push_back(size.isConstant() ? emit.builder.getAffineConstantExpr(size.value)
                                      : parseSize(emit.context(), ref(size.expression), index));
    isKnown &= bool(sizes.back());
  }
  if (!isKnown)
    return;
  auto map = AffineMap::get(0, symbols.size(), sizes, emit.context());
  BindSymbolicShapeOp::create(emit.builder, emit.loc, tensor, symbols, AffineMapAttr::get(map));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Type>> NodeImporter::resultTypes() {
  SmallVector<Type> types;
  for (const Argument &output : node.outputs) {
    switch (output.kind) {
    case Kind::Tensor: {
      FailureOr<ValueTensorType> type = graph.typeOf(ref(output.text));
      if (failed(type))
        return failure();
      types.push_back(*type);
      break;
    }
    case Kind::List:
      types.push_back(ListType::get(emit.context(), unknownTensorType(emit.context())));
      break;
    case Kind::SymInt:
      types.push_back(emit.intType());
      break;
    case Kind::SymFloat:
      types.push_back(emit.floatType());
      break;
    case Kind::SymBool:
      types.push_back(emit.boolType());
      break;
    case Kind::None:
      types.push_back(torch::NoneType::get(emit.context()));
      break;
    default:
      return fail(Code::IMPORT_18,
                  fmt::format("operator {} has {} as a result", operatorName(), output.kindText()));
    }
  }
  return types;
}

LogicalResult NodeImporter::defineOutput(size_t index, Value value) {
  const Argument &output = node.outputs[index];
  if (output.kind == Kind::None)
    return success();
  if (output.isName()) {
    StringRef name = ref(output.text);
    if (isa<ValueTensorType>(value.getType()))
      return graph.define(name, {tensors.addRoot(value, graph.metaOf(name)), {}});
    return graph.define(name, {nullptr, value});
  }
  SmallVector<Type> types;
  for (const Argument &element : output.elements) {
    FailureOr<ValueTensorType> type = graph.typeOf(ref(element.text));
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  auto unpacked = ListUnpackOp::create(emit.builder, emit.loc, types, value);
  for (auto [element, result] : llvm::zip(output.elements, unpacked->getResults()))
    if (failed(graph.define(ref(element.text),
                            {tensors.addRoot(result, graph.metaOf(ref(element.text))), {}})))
      return failure();
  return success();
}

Operation *NodeImporter::create(const Schema &schema, ValueRange operands, TypeRange types) {
  OperationState state(emit.loc, OperationName(schema.opName, emit.context()));
  state.addOperands(operands);
  state.addTypes(types);
  return emit.builder.create(state);
}

//===----------------------------------------------------------------------===//
// Autocast
//===----------------------------------------------------------------------===//

/// Inside torch.autocast the exporter records an operator's result as eager PyTorch computes it,
/// but not the casts of its inputs: they are those to the result's dtype.
void NodeImporter::applyAutocast(MutableArrayRef<Value> operands, TypeRange types) {
  auto target = types.empty() ? ValueTensorType() : dyn_cast<ValueTensorType>(types.front());
  bool isCast = node.target.find(".to.") != node.target.npos ||
                node.target.find("_to_copy") != node.target.npos;
  if (!target || !isa<mlir::FloatType>(target.getDtype()) || isCast)
    return;
  for (Value &operand : operands)
    if (auto type = dyn_cast<ValueTensorType>(operand.getType());
        type && isa<mlir::FloatType>(type.getDtype()))
      operand = emit.convert(operand, target);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static std::optional<int64_t> hinted(const SymInt &size) {
  return size.isConstant() ? std::optional(size.value) : size.hint;
}

static std::optional<SmallVector<int64_t>> hinted(const std::vector<SymInt> &sizes) {
  SmallVector<int64_t> result;
  for (const SymInt &size : sizes)
    if (auto value = hinted(size))
      result.push_back(*value);
    else
      return std::nullopt;
  return result;
}

/// Whether memory laid out by `strides` can be seen with `newSizes` without moving anything. From
/// the last dimension on, old dimensions form runs that are contiguous in themselves; each run must
/// be a whole number of new dimensions.
static bool canBeViewed(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                        ArrayRef<int64_t> newSizes) {
  if (llvm::is_contained(sizes, 0))
    return true;
  size_t next = newSizes.size();
  int64_t run = 1, runStride = sizes.empty() ? 1 : strides.back(), covered = 1, step;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (__builtin_mul_overflow(run, sizes[i], &run) ||
        __builtin_mul_overflow(run, runStride, &step))
      return false;
    if (i > 0 && (sizes[i - 1] == 1 || strides[i - 1] == step))
      continue; // the run goes on
    while (next > 0 && (covered < run || newSizes[next - 1] == 1))
      if (__builtin_mul_overflow(covered, newSizes[--next], &covered))
        return false;
    if (covered != run)
      return false;
    run = covered = 1;
    runStride = i > 0 ? strides[i - 1] : 1;
  }
  return true;
}

static bool sameSizes(const TensorMeta &a, const TensorMeta &b) {
  return llvm::equal(a.sizes, b.sizes, [](const SymInt &x, const SymInt &y) {
    return x.value == y.value && x.expression == y.expression;
  });
}

static bool sameStrides(const TensorMeta &a, const TensorMeta &b) {
  return llvm::equal(a.strides, b.strides,
                     [](const SymInt &x, const SymInt &y) { return hinted(x) == hinted(y); });
}

Sharing sharing(const Schema &schema, const TensorMeta &from, const TensorMeta &to) {
  // What returns its input when nothing has to change, and what always does.
  static constexpr StringLiteral mayCopy[] = {"contiguous", "to", "type_as", "_autocast_to"};
  static constexpr StringLiteral returnsInput[] = {
      "alias",        "detach",      "lift_fresh", "lift",         "positive", "expand",
      "expand_as",    "data",        "real",       "broadcast_to", "conj",     "_conj",
      "resolve_conj", "resolve_neg", "view_as",    "squeeze"};
  static constexpr StringLiteral mayMove[] = {"reshape", "reshape_as", "flatten", "ravel"};
  StringRef name = operatorBase(schema.opName).rsplit('.').second;
  bool copies = llvm::is_contained(mayCopy, name), moves = llvm::is_contained(mayMove, name);
  if (from.sizesUnknown || to.sizesUnknown)
    return copies && from.dtype != to.dtype ? Sharing::Copy
           : copies || moves                ? Sharing::Unknown
                                            : Sharing::View;
  bool unchanged = from.dtype == to.dtype && sameSizes(from, to);
  if (copies)
    return unchanged && sameStrides(from, to) ? Sharing::Identity : Sharing::Copy;
  if (moves && !unchanged) {
    auto sizes = hinted(from.sizes), strides = hinted(from.strides), newSizes = hinted(to.sizes);
    bool fits = !sizes || !strides || !newSizes || canBeViewed(*sizes, *strides, *newSizes);
    return fits ? Sharing::View : Sharing::Copy;
  }
  if (name == "squeeze" &&
      !llvm::all_of(from.sizes, [](const SymInt &s) { return s.isConstant(); }))
    return Sharing::View; // its lowering refuses the sizes that it would squeeze
  return unchanged && (moves || llvm::is_contained(returnsInput, name)) ? Sharing::Identity
                                                                        : Sharing::View;
}

/// An operator with a result that may share the memory of its input: neither may be written from
/// now on.
LogicalResult NodeImporter::importPossibleView(const Schema &schema, Tensor *base, Type type) {
  FailureOr<SmallVector<Value>> operands = operandsFor(schema);
  if (failed(operands))
    return failure();
  StringRef name = ref(node.outputs[0].text);
  Value result = create(schema, *operands, type)->getResult(0);
  Tensor *copy = tensors.addRoot(result, graph.metaOf(name));
  copy->frozen = base->root().frozen = "that may share its memory with another: the file records "
                                       "wrong sizes of them, as torch before 2.13 does for LSTMs";
  return graph.define(name, {copy, {}});
}

LogicalResult NodeImporter::importView(const Schema &schema, const Argument &baseArgument,
                                       unsigned baseOperand) {
  FailureOr<Tensor *> base = graph.tensorOf(baseArgument);
  FailureOr<SmallVector<Type>> types = resultTypes();
  if (failed(base) || failed(types))
    return failure();
  if (types->size() != 1 ||
      !(node.outputs[0].kind == Kind::Tensor || node.outputs[0].kind == Kind::List))
    return fail(Code::IMPORT_13, fmt::format("operator {} has one result, but the node names {}",
                                             operatorName(), types->size()));
  const Argument &output = node.outputs[0];
  if (output.kind == Kind::Tensor) {
    StringRef name = ref(output.text);
    const TensorMeta *to = graph.metaOf(name);
    Sharing kind = (*base)->meta && to ? sharing(schema, *(*base)->meta, *to) : Sharing::View;
    if (boolInput(schema, "copy").value_or(false))
      kind = Sharing::Copy;
    if (kind == Sharing::Identity && (*base)->type == types->front())
      return graph.define(name, {*base, {}});
    if (kind == Sharing::Unknown)
      return importPossibleView(schema, *base, types->front());
    if (kind == Sharing::Copy) {
      FailureOr<SmallVector<Value>> operands = operandsFor(schema);
      if (failed(operands))
        return failure();
      return defineOutput(0, create(schema, *operands, *types)->getResult(0));
    }
  }
  FailureOr<SmallVector<Value>> operands = operandsFor(schema);
  if (failed(operands))
    return failure();
  ViewStep step{&schema, *operands, baseOperand, types->front(), -1, {}, {}};
  Value result = create(schema, *operands, *types)->getResult(0);
  if (output.kind == Kind::Tensor) {
    StringRef name = ref(output.text);
    return graph.define(name, {tensors.addView(*base, step, result, graph.metaOf(name)), {}});
  }
  for (const Argument &element : output.elements) {
    FailureOr<ValueTensorType> type = graph.typeOf(ref(element.text));
    if (failed(type))
      return failure();
    step.elementTypes.push_back(*type);
  }
  auto unpacked = ListUnpackOp::create(emit.builder, emit.loc, step.elementTypes, result);
  llvm::append_range(step.elements, unpacked->getResults());
  for (auto [index, element] : llvm::enumerate(output.elements)) {
    step.element = index;
    StringRef name = ref(element.text);
    Tensor *view = tensors.addView(*base, step, step.elements[index], graph.metaOf(name));
    if (failed(graph.define(name, {view, {}})))
      return failure();
  }
  return success();
}

} // namespace tw::pt2
