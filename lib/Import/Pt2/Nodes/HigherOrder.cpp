// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that take subgraphs: cond and while_loop become torch.prim.If and torch.prim.Loop;
// those that only change how a part of the program runs (no_grad, autocast, checkpointing) are
// inlined.
#include "IR/Torch/DtypeCode.h"
#include "Import/Pt2/Nodes/NodeImporter.h"
#include "Support/Counted.h"
#include "llvm/ADT/StringMap.h"
#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

static SmallVector<const Argument *> addressesOf(const std::vector<Argument> &arguments) {
  return llvm::map_to_vector(arguments, [](const Argument &argument) { return &argument; });
}

/// The arguments behind number `first`, lists taken apart; constants that are no values are left
/// out.
static SmallVector<const Argument *> flattened(const Node &node, size_t first) {
  SmallVector<const Argument *> result;
  for (size_t i = first; i < node.inputs.size(); ++i) {
    const Argument &argument = node.inputs[i].value;
    if (argument.kind != Kind::List) {
      if (argument.kind != Kind::String && argument.kind != Kind::Dict)
        result.push_back(&argument);
      continue;
    }
    llvm::append_range(result, addressesOf(argument.elements));
  }
  return result;
}

static LogicalResult malformed(NodeImporter &importer) {
  return importer.fail(Code::IMPORT_12, fmt::format("the arguments of operator {} do not have the "
                                                    "expected form",
                                                    importer.operatorName()));
}

//===----------------------------------------------------------------------===//
// Subgraphs
//===----------------------------------------------------------------------===//

/// Binds the names of a subgraph's inputs to values of the block it is imported into.
static LogicalResult bindInputs(GraphImporter &body, ArrayRef<Value> values) {
  if (body.graph.inputs.size() != values.size())
    return body.fail(Code::IMPORT_12,
                     fmt::format("a subgraph takes {}, but gets {}",
                                 counted(body.graph.inputs.size(), "input"), values.size()));
  for (auto [input, value] : llvm::zip(body.graph.inputs, values)) {
    if (!input.isName())
      continue;
    Binding binding{nullptr, value};
    if (isa<ValueTensorType>(value.getType())) {
      binding = {body.state.tensors.addRoot(value, body.metaOf(ref(input.text))), {}};
      binding.tensor->frozen = "from outside of the branch or loop it is in";
    }
    if (failed(body.define(ref(input.text), binding)))
      return failure();
  }
  return success();
}

/// Imports a subgraph at the present place; its results have the given types.
static FailureOr<SmallVector<Value>> importBody(GraphImporter &outer, const Graph &graph,
                                                ArrayRef<Value> inputs, TypeRange types) {
  GraphImporter body(outer, graph);
  if (failed(bindInputs(body, inputs)))
    return failure();
  body.importNodes();
  if (graph.outputs.size() != types.size())
    return outer.fail(Code::IMPORT_13,
                      fmt::format("a subgraph gives {} where {} {} expected",
                                  counted(graph.outputs.size(), "result"), types.size(),
                                  oneOrMany(types.size(), "is", "are")));
  SmallVector<Value> results;
  for (auto [output, type] : llvm::zip(graph.outputs, types)) {
    FailureOr<Value> value = body.valueOf(output);
    if (failed(value))
      return failure();
    auto given = dyn_cast<ValueTensorType>(value->getType()),
         wanted = dyn_cast<ValueTensorType>(type);
    bool compatible = given && wanted && given.getDtype() == wanted.getDtype() &&
                      (!given.getHasSizes() || !wanted.getHasSizes() ||
                       given.getSizes().size() == wanted.getSizes().size());
    if (value->getType() != type && !compatible)
      return outer.fail(
          Code::IMPORT_13,
          fmt::format("result {} of a subgraph has another type than expected", output.text));
    results.push_back(outer.emit.cast(*value, type));
  }
  return results;
}

static FailureOr<SmallVector<Value>> valuesOf(NodeImporter &importer,
                                              ArrayRef<const Argument *> arguments) {
  SmallVector<Value> values;
  for (const Argument *argument : arguments) {
    FailureOr<Value> value = importer.graph.valueOf(*argument);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return values;
}

static FailureOr<Value> condition(NodeImporter &importer, Value value) {
  Emit &emit = importer.emit;
  if (isa<ValueTensorType>(value.getType()))
    return emit.aten("aten.Bool.Tensor", emit.boolType(), {{"a", value}});
  if (isa<BoolType>(value.getType()))
    return value;
  return malformed(importer);
}

//===----------------------------------------------------------------------===//
// cond, while_loop
//===----------------------------------------------------------------------===//

/// cond(predicate, true graph, false graph, [operands]).
static LogicalResult importCond(NodeImporter &importer) {
  const auto &inputs = importer.node.inputs;
  if (inputs.size() < 4 || inputs[1].value.kind != Kind::GraphRef ||
      inputs[2].value.kind != Kind::GraphRef)
    return malformed(importer);
  Emit &emit = importer.emit;
  FailureOr<Value> predicate = importer.graph.valueOf(inputs[0].value);
  FailureOr<SmallVector<Value>> operands = valuesOf(importer, flattened(importer.node, 3));
  FailureOr<SmallVector<Type>> types = importer.resultTypes();
  if (failed(predicate) || failed(operands) || failed(types))
    return failure();
  FailureOr<Value> truth = condition(importer, *predicate);
  if (failed(truth))
    return failure();
  auto op = IfOp::create(emit.builder, emit.loc, *types, *truth);
  for (const auto &[region, graph] : {std::pair(&op.getThenRegion(), inputs[1].value.graph),
                                      std::pair(&op.getElseRegion(), inputs[2].value.graph)}) {
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.createBlock(region);
    FailureOr<SmallVector<Value>> results = importBody(importer.graph, *graph, *operands, *types);
    IfYieldOp::create(emit.builder, emit.loc,
                      succeeded(results) ? ValueRange(*results) : ValueRange());
    if (failed(results))
      return failure();
  }
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (failed(importer.defineOutput(index, result)))
      return failure();
  return success();
}

/// Starts a loop's body; gives the round's index and the carried values.
static std::pair<Value, SmallVector<Value>> startBody(Emit &emit, LoopOp loop) {
  SmallVector<Type> types = {emit.intType()};
  llvm::append_range(types, loop->getResultTypes());
  Block *block = emit.builder.createBlock(&loop.getRegion(), {}, types,
                                          SmallVector<Location>(types.size(), emit.loc));
  return {block->getArgument(0), SmallVector<Value>(block->getArguments().drop_front())};
}

/// while_loop(condition graph, body graph, [carried], [additional]).
static LogicalResult importWhile(NodeImporter &importer) {
  const auto &inputs = importer.node.inputs;
  if (inputs.size() < 3 || inputs[0].value.kind != Kind::GraphRef ||
      inputs[1].value.kind != Kind::GraphRef || inputs[2].value.kind != Kind::List)
    return malformed(importer);
  Emit &emit = importer.emit;
  const Graph &test = *inputs[0].value.graph, &round = *inputs[1].value.graph;
  FailureOr<SmallVector<Value>> values = valuesOf(importer, flattened(importer.node, 2));
  FailureOr<SmallVector<Type>> types = importer.resultTypes();
  if (failed(values) || failed(types))
    return failure();
  if (types->size() != inputs[2].value.elements.size() || types->size() > values->size() ||
      test.outputs.size() != 1)
    return malformed(importer);
  SmallVector<Value> carried, additional(values->begin() + types->size(), values->end());
  for (auto [value, type] : llvm::zip(*values, *types)) {
    bool tensors = isa<ValueTensorType>(value.getType()) && isa<ValueTensorType>(type);
    if (!tensors && value.getType() != type)
      return malformed(importer);
    carried.push_back(emit.cast(value, type));
  }
  auto holds = [&](ArrayRef<Value> now) -> FailureOr<Value> {
    SmallVector<Value> all(now);
    llvm::append_range(all, additional);
    GraphImporter body(importer.graph, test);
    if (failed(bindInputs(body, all)))
      return failure();
    body.importNodes();
    FailureOr<Value> value = body.valueOf(test.outputs[0]);
    if (failed(value))
      return failure();
    return condition(importer, *value);
  };
  FailureOr<Value> first = holds(carried);
  if (failed(first))
    return failure();
  Value forever = emit.integer(std::numeric_limits<int64_t>::max());
  auto loop = LoopOp::create(emit.builder, emit.loc, *types, forever, *first, carried);
  {
    OpBuilder::InsertionGuard guard(emit.builder);
    auto [index, now] = startBody(emit, loop);
    SmallVector<Value> all(now);
    llvm::append_range(all, additional);
    FailureOr<SmallVector<Value>> next = importBody(importer.graph, round, all, *types);
    FailureOr<Value> again = succeeded(next) ? holds(*next) : FailureOr<Value>(failure());
    if (failed(again))
      return failure();
    LoopConditionOp::create(emit.builder, emit.loc, *again, *next);
  }
  for (auto [index, result] : llvm::enumerate(loop->getResults()))
    if (failed(importer.defineOutput(index, result)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// scan, map
//===----------------------------------------------------------------------===//

namespace {
/// A loop over the first dimension of some tensors: `combine`(states, slices, additional) gives new
/// states and one slice of each stacked result.
struct Rounds {
  const Graph *combine;
  SmallVector<Value> states, sequences, additional;
};
} // namespace

/// The type of one slice of a tensor along its first dimension.
static ValueTensorType sliceType(ValueTensorType type) {
  return ValueTensorType::get(type.getContext(), true, type.getSizes().drop_front(),
                              type.getDtype(), Attribute());
}

/// A tensor to put the slices of a stacked result into.
static FailureOr<Value> stackedInit(NodeImporter &importer, ValueTensorType type, Value rounds) {
  Emit &emit = importer.emit;
  SmallVector<Value> sizes = {rounds};
  for (int64_t size : type.getSizes().drop_front()) {
    if (size == ValueTensorType::kUnknownSize)
      return importer.fail(Code::IMPORT_14, fmt::format("operator {}: results whose slices have "
                                                        "dynamic sizes are not supported",
                                                        importer.operatorName()));
    sizes.push_back(emit.integer(size));
  }
  int64_t dtype = *torch::dtypeCode(type.getDtype());
  return emit.aten("aten.zeros", type,
                   {{"size", emit.list(sizes, emit.intType())}, {"dtype", emit.integer(dtype)}});
}

/// Whether there are sequences, each with a first dimension, and a type for each state and result,
/// of which the latter have one, too.
static LogicalResult checkRounds(NodeImporter &importer, const Rounds &what,
                                 ArrayRef<Type> results) {
  auto isUnknown = [](Type t) {
    auto type = dyn_cast<ValueTensorType>(t);
    return type && !type.getHasSizes();
  };
  ValueRange sequences = what.sequences;
  if (llvm::any_of(results, isUnknown) || llvm::any_of(sequences.getTypes(), isUnknown))
    return importer.fail(Code::IMPORT_14,
                         fmt::format("operator {} on tensors whose sizes the file records wrongly, "
                                     "as torch before 2.13 does for LSTMs, is not supported",
                                     importer.operatorName()),
                         "export the model with torch 2.13 or later");
  auto isStack = [](Type t) {
    auto type = dyn_cast<ValueTensorType>(t);
    return type && !type.getSizes().empty();
  };
  size_t states = what.states.size();
  bool fits = !sequences.empty() && llvm::all_of(sequences.getTypes(), isStack) &&
              results.size() >= states && llvm::all_of(results.drop_front(states), isStack);
  return fits ? success() : malformed(importer);
}

/// What the loop begins with: the states, and for each stacked result a tensor to put slices into.
static FailureOr<SmallVector<Value>> initialValues(NodeImporter &importer, const Rounds &what,
                                                   ArrayRef<Type> results, Value rounds) {
  SmallVector<Value> initial;
  for (auto [index, type] : llvm::enumerate(results)) {
    if (index >= what.states.size()) {
      FailureOr<Value> init = stackedInit(importer, cast<ValueTensorType>(type), rounds);
      if (failed(init))
        return failure();
      initial.push_back(*init);
    } else if (isa<ValueTensorType>(type) && isa<ValueTensorType>(what.states[index].getType())) {
      initial.push_back(importer.emit.cast(what.states[index], type));
    } else {
      return malformed(importer);
    }
  }
  return initial;
}

/// One round: the subgraph on states and slices; its results are put where they belong.
static LogicalResult importRound(NodeImporter &importer, const Rounds &what, LoopOp loop) {
  Emit &emit = importer.emit;
  OpBuilder::InsertionGuard guard(emit.builder);
  auto [round, now] = startBody(emit, loop);
  size_t states = what.states.size();
  SmallVector<Value> inputs(ArrayRef(now).take_front(states));
  for (Value sequence : what.sequences)
    inputs.push_back(emit.aten("aten.select.int",
                               sliceType(cast<ValueTensorType>(sequence.getType())),
                               {{"self", sequence}, {"dim", emit.integer(0)}, {"index", round}}));
  llvm::append_range(inputs, what.additional);
  SmallVector<Type> types(loop->getResultTypes());
  for (Type &type : MutableArrayRef(types).drop_front(states))
    type = sliceType(cast<ValueTensorType>(type));
  FailureOr<SmallVector<Value>> results = importBody(importer.graph, *what.combine, inputs, types);
  if (failed(results))
    return failure();
  SmallVector<Value> next(ArrayRef(*results).take_front(states));
  for (size_t i = states; i < results->size(); ++i)
    next.push_back(emit.aten(
        "aten.select_scatter", loop->getResult(i).getType(),
        {{"self", now[i]}, {"src", (*results)[i]}, {"dim", emit.integer(0)}, {"index", round}}));
  LoopConditionOp::create(emit.builder, emit.loc, emit.boolean(true), next);
  return success();
}

static LogicalResult importRounds(NodeImporter &importer, const Rounds &what) {
  Emit &emit = importer.emit;
  FailureOr<SmallVector<Type>> types = importer.resultTypes();
  if (failed(types) || failed(checkRounds(importer, what, *types)))
    return failure();
  Value rounds = emit.size(what.sequences.front(), 0);
  FailureOr<SmallVector<Value>> initial = initialValues(importer, what, *types, rounds);
  if (failed(initial))
    return failure();
  auto loop = LoopOp::create(emit.builder, emit.loc, *types, rounds, emit.boolean(true), *initial);
  if (failed(importRound(importer, what, loop)))
    return failure();
  for (auto [index, result] : llvm::enumerate(loop->getResults()))
    if (failed(importer.defineOutput(index, result)))
      return failure();
  return success();
}

/// The values of a list argument.
static FailureOr<SmallVector<Value>> listValues(NodeImporter &importer, size_t index) {
  const auto &inputs = importer.node.inputs;
  if (index >= inputs.size())
    return SmallVector<Value>();
  if (inputs[index].value.kind != Kind::List)
    return malformed(importer);
  return valuesOf(importer, addressesOf(inputs[index].value.elements));
}

/// scan(graph, [initial states], [sequences], [additional]) and map_impl(graph, [sequences],
/// [additional]), which is a scan without states.
static LogicalResult importScan(NodeImporter &importer) {
  const auto &inputs = importer.node.inputs;
  if (inputs.empty() || inputs[0].value.kind != Kind::GraphRef)
    return malformed(importer);
  bool isMap = importer.operatorName().find("map") != std::string::npos;
  FailureOr<SmallVector<Value>> states =
      isMap ? FailureOr<SmallVector<Value>>(SmallVector<Value>()) : listValues(importer, 1);
  FailureOr<SmallVector<Value>> sequences = listValues(importer, isMap ? 1 : 2);
  FailureOr<SmallVector<Value>> additional = listValues(importer, isMap ? 2 : 3);
  if (failed(states) || failed(sequences) || failed(additional))
    return failure();
  return importRounds(importer, {inputs[0].value.graph.get(), *states, *sequences, *additional});
}

//===----------------------------------------------------------------------===//
// Inlined
//===----------------------------------------------------------------------===//

/// What an argument of a graph's node stands for.
static FailureOr<Binding> bindingOf(GraphImporter &graph, const Argument &argument) {
  if (argument.kind == Kind::Tensor) {
    FailureOr<Tensor *> tensor = graph.tensorOf(argument);
    return failed(tensor) ? FailureOr<Binding>() : FailureOr<Binding>(Binding{*tensor, {}});
  }
  FailureOr<Value> value = graph.valueOf(argument);
  return failed(value) ? FailureOr<Binding>() : FailureOr<Binding>(Binding{nullptr, *value});
}

/// Gives each of `names` in one graph, but for what is no name, the meaning of one of `arguments`
/// in another.
static LogicalResult defineAll(GraphImporter &graph, ArrayRef<const Argument *> names,
                               GraphImporter &other, ArrayRef<const Argument *> arguments) {
  for (auto [name, argument] : llvm::zip(names, arguments)) {
    if (!name->isName())
      continue;
    FailureOr<Binding> binding = bindingOf(other, *argument);
    if (failed(binding) || failed(graph.define(ref(name->text), *binding)))
      return failure();
  }
  return success();
}

/// wrap(..., graph, operands...): the subgraph's names stand for the operands themselves, so what
/// it writes to them is seen outside.
static LogicalResult importInlined(NodeImporter &importer) {
  const auto &inputs = importer.node.inputs;
  auto graph = llvm::find_if(
      inputs, [](const NamedArgument &given) { return given.value.kind == Kind::GraphRef; });
  if (graph == inputs.end())
    return malformed(importer);
  GraphImporter body(importer.graph, *graph->value.graph);
  if (importer.operatorName().find("autocast") != std::string::npos && inputs.size() > 2)
    body.isAutocast = inputs[2].value.kind == Kind::Bool && inputs[2].value.integer;
  SmallVector<const Argument *> operands = flattened(importer.node, graph - inputs.begin() + 1);
  SmallVector<const Argument *> parameters = addressesOf(body.graph.inputs);
  if (operands.size() < parameters.size())
    return malformed(importer);
  if (failed(defineAll(body, parameters, importer.graph, operands)))
    return failure();
  body.importNodes();
  SmallVector<const Argument *> results = addressesOf(body.graph.outputs), outputs;
  for (const Argument &output : importer.node.outputs)
    if (output.kind == Kind::List)
      llvm::append_range(outputs, addressesOf(output.elements));
    else
      outputs.push_back(&output);
  if (results.size() != outputs.size())
    return malformed(importer);
  return defineAll(importer.graph, outputs, body, results);
}

/// A custom operator whose writes the exporter made explicit: called by its own name.
static LogicalResult refuseFunctionalized(NodeImporter &importer) {
  std::string_view name = "a custom operator";
  for (const NamedArgument &given : importer.node.inputs)
    if (given.value.kind == Kind::Operator)
      name = given.value.text;
  return importer.fail(Code::IMPORT_14,
                       fmt::format("custom operator {} writes to its arguments", name),
                       "write the operator so that it returns a new tensor");
}

LogicalResult NodeImporter::importHigherOrder() {
  using Handler = LogicalResult (*)(NodeImporter &);
  static const llvm::StringMap<Handler> table = {
      {"cond", importCond},
      {"while_loop", importWhile},
      {"scan", importScan},
      {"map_impl", importScan},
      {"wrap", importInlined},
      {"wrap_with_set_grad_enabled", importInlined},
      {"wrap_with_autocast", importInlined},
      {"wrap_activation_checkpoint", importInlined},
      {"tag_activation_checkpoint", importInlined},
      {"invoke_subgraph", importInlined},
      {"hints_wrapper", importInlined},
      {"strict_mode", importInlined},
      {"auto_functionalized", refuseFunctionalized},
      {"auto_functionalized_v2", refuseFunctionalized},
  };
  StringRef name = ref(node.target).rsplit('.').second;
  auto found = table.find(name);
  if (found == table.end())
    return fail(Code::IMPORT_14,
                fmt::format("higher-order operator {} is not supported", name.str()),
                "export the model without it");
  return found->second(*this);
}

} // namespace tw::pt2
