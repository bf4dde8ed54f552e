// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that do something their schemas do not say: batch_norm writes running statistics,
// dropout outside of training is its input, assertions have no results, ...
#include "IR/ElementDType.h"
#include "Import/Pt2/MemoryOrder.h"
#include "Import/Pt2/Nodes/NodeImporter.h"
#include "llvm/ADT/StringMap.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;
using Outcome = std::optional<LogicalResult>; // empty: import it like any other
using Handler = Outcome (*)(NodeImporter &, const Schema &);

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

/// The tensor given for the first argument of `schema`; null when there is none.
static Tensor *firstTensor(NodeImporter &importer, const Schema &schema) {
  const Argument *given = importer.input(schema.arguments().front().name);
  if (!given || given->kind != Kind::Tensor)
    return nullptr;
  FailureOr<Tensor *> tensor = importer.graph.tensorOf(*given);
  return failed(tensor) ? nullptr : *tensor;
}

/// The name of the only result; empty when there is not exactly one tensor.
static StringRef onlyResult(NodeImporter &importer) {
  const auto &outputs = importer.node.outputs;
  return outputs.size() == 1 && outputs[0].kind == Kind::Tensor ? ref(outputs[0].text)
                                                                : StringRef();
}

//===----------------------------------------------------------------------===//
// Copies and identities
//===----------------------------------------------------------------------===//

/// A copy that changes neither sizes nor dtype is the same value in memory of its own.
static Outcome importCopy(NodeImporter &importer, const Schema &schema) {
  Tensor *source = firstTensor(importer, schema);
  StringRef name = onlyResult(importer);
  if (!source || name.empty())
    return std::nullopt;
  FailureOr<ValueTensorType> type = importer.graph.typeOf(name);
  if (failed(type))
    return failure();
  if (*type != source->type)
    return std::nullopt;
  Value value = importer.tensors.read(importer.emit, source);
  Tensor *copy = importer.tensors.addRoot(value, importer.graph.metaOf(name));
  return importer.graph.define(name, {copy, {}});
}

/// Outside of training, or with probability 0, dropout gives its very input.
static Outcome importDropout(NodeImporter &importer, const Schema &schema) {
  Tensor *source = firstTensor(importer, schema);
  StringRef name = onlyResult(importer);
  const Argument *p = importer.input("p");
  bool neverDrops =
      p && ((p->kind == Kind::Float && p->real == 0) || (p->kind == Kind::Int && p->integer == 0));
  if (!source || name.empty() ||
      (!neverDrops && importer.boolInput(schema, "train").value_or(true)))
    return std::nullopt;
  return importer.graph.define(name, {source, {}});
}

/// copy_ from a tensor of the same type: the source's value. Else aten.copy converts and expands.
static Outcome importCopyInto(NodeImporter &importer, const Schema &schema) {
  Tensor *target = firstTensor(importer, schema);
  StringRef name = onlyResult(importer);
  const Argument *given = importer.input("src");
  if (!target || name.empty() || !given || given->kind != Kind::Tensor)
    return std::nullopt;
  FailureOr<Tensor *> source = importer.graph.tensorOf(*given);
  if (failed(source))
    return failure();
  if ((*source)->type != target->type)
    return std::nullopt;
  Value value = importer.tensors.read(importer.emit, *source);
  if (auto problem = importer.tensors.write(importer.emit, target, value))
    return importer.fail(Code::IMPORT_15,
                         fmt::format("operator aten.copy_ cannot be imported: {}", *problem));
  return importer.graph.define(name, {target, {}});
}

static Outcome importZeroInto(NodeImporter &importer, const Schema &schema) {
  Tensor *target = firstTensor(importer, schema);
  StringRef name = onlyResult(importer);
  if (!target || name.empty())
    return std::nullopt;
  Value zeros = importer.emit.aten("aten.fill.Scalar", target->type,
                                   {{"self", importer.tensors.read(importer.emit, target)},
                                    {"value", importer.emit.integer(0)}});
  if (auto problem = importer.tensors.write(importer.emit, target, zeros))
    return importer.fail(Code::IMPORT_15,
                         fmt::format("operator aten.zero_ cannot be imported: {}", *problem));
  return importer.graph.define(name, {target, {}});
}

//===----------------------------------------------------------------------===//
// Normalisation with running statistics
//===----------------------------------------------------------------------===//

/// In training mode batch_norm writes its running statistics, which its schema hides:
/// _native_batch_norm_legit_functional gives them as results.
static Outcome importBatchNorm(NodeImporter &importer, const Schema &schema) {
  const Argument *mean = importer.input("running_mean"), *var = importer.input("running_var");
  if (!importer.boolInput(schema, "training").value_or(false) || !mean || !var ||
      mean->kind != Kind::Tensor || var->kind != Kind::Tensor || importer.node.outputs.empty() ||
      importer.node.outputs[0].kind != Kind::Tensor)
    return std::nullopt;
  Emit &emit = importer.emit;
  FailureOr<Tensor *> meanTensor = importer.graph.tensorOf(*mean);
  FailureOr<Tensor *> varTensor = importer.graph.tensorOf(*var);
  FailureOr<ValueTensorType> type = importer.graph.typeOf(ref(importer.node.outputs[0].text));
  FailureOr<SmallVector<Value>> operands = importer.operandsFor(schema);
  if (failed(meanTensor) || failed(varTensor) || failed(type) || failed(operands))
    return failure();
  // Up to eps, both operators have the same arguments.
  const Schema &functional = *lookupSchema("torch.aten._native_batch_norm_legit_functional");
  operands->truncate(functional.arguments().size());
  Type meanType = (*meanTensor)->type, varType = (*varTensor)->type;
  Operation *op =
      importer.create(functional, *operands, {*type, meanType, varType, meanType, varType});
  for (size_t i = 0; i < importer.node.outputs.size() && i < 3; ++i)
    if (failed(importer.defineOutput(i, op->getResult(i))))
      return failure();
  for (auto [tensor, result] : {std::pair(*meanTensor, 3), std::pair(*varTensor, 4)})
    if (auto problem = importer.tensors.write(emit, tensor, op->getResult(result)))
      return importer.fail(Code::IMPORT_15,
                           fmt::format("the running statistics of {} cannot be kept: {}",
                                       importer.operatorName(), *problem));
  return success();
}

/// instance_norm that updates running statistics is refused: nobody exports it.
static Outcome importInstanceNorm(NodeImporter &importer, const Schema &schema) {
  const Argument *mean = importer.input("running_mean");
  if (!mean || mean->kind != Kind::Tensor ||
      !importer.boolInput(schema, "use_input_stats").value_or(false))
    return std::nullopt;
  return importer.fail(Code::IMPORT_15,
                       "instance_norm in training mode with running statistics is not supported",
                       "call eval() before the export, or use track_running_stats=False");
}

//===----------------------------------------------------------------------===//
// Sizes and layout
//===----------------------------------------------------------------------===//

static Outcome defineScalar(NodeImporter &importer, Value value) {
  if (importer.node.outputs.size() != 1)
    return importer.fail(Code::IMPORT_13,
                         fmt::format("operator {} has one result", importer.operatorName()));
  return importer.defineOutput(0, value);
}

static Outcome importSize(NodeImporter &importer, const Schema &schema) {
  const Schema &plain =
      *lookupSchema(schema.argumentIndex("dim") ? "torch.aten.size.int" : "torch.aten.numel");
  FailureOr<SmallVector<Value>> operands = importer.operandsFor(schema);
  if (failed(operands))
    return failure();
  return defineScalar(importer,
                      importer.create(plain, *operands, importer.emit.intType())->getResult(0));
}

static LogicalResult failUnknownSizes(NodeImporter &importer) {
  return importer.fail(
      Code::IMPORT_15,
      fmt::format("operator {} needs the strides of a tensor that the file records "
                  "wrongly, as torch before 2.13 does for the states of LSTMs",
                  importer.operatorName()),
      "export the model with torch 2.13 or later");
}

/// A stride is the product of the sizes that lie further inside in the tensor's memory.
static Outcome importStride(NodeImporter &importer, const Schema &schema) {
  Tensor *tensor = firstTensor(importer, schema);
  const Argument *dim = importer.input("dim");
  if (!tensor || !dim || dim->kind != Kind::Int)
    return std::nullopt;
  if (!tensor->type.getHasSizes())
    return failUnknownSizes(importer);
  int64_t rank = tensor->type.getSizes().size();
  int64_t at = dim->integer < 0 ? dim->integer + rank : dim->integer;
  if (!tensor->meta || at < 0 || at >= rank)
    return importer.fail(Code::IMPORT_12, fmt::format("a tensor of rank {} has no dimension {}",
                                                      rank, dim->integer));
  Emit &emit = importer.emit;
  if (tensor->meta->strides[at].isConstant())
    return defineScalar(importer, emit.integer(tensor->meta->strides[at].value));
  auto within = dimensionsWithin(emit.context(), *tensor->meta, at);
  if (!within)
    return importer.fail(Code::IMPORT_15,
                         "the model asks for a stride of a tensor whose memory has gaps or "
                         "overlaps, or whose strides no sizes tell",
                         "call .contiguous() before");
  Value value = importer.tensors.read(emit, tensor), stride = emit.integer(1);
  for (int64_t inner : *within)
    stride =
        emit.aten("aten.mul.int", emit.intType(), {{"a", stride}, {"b", emit.size(value, inner)}});
  return defineScalar(importer, stride);
}

static LogicalResult failUnknownMemory(NodeImporter &importer) {
  std::string name = importer.operatorName();
  return importer.fail(Code::IMPORT_15,
                       name.substr(name.find('.') + 1) +
                           " of a tensor that is not contiguous is not supported",
                       "call .contiguous() before it");
}

/// as_strided looks at the memory of its input: that of a contiguous root is known.
template <bool isView>
static Outcome importAsStrided(NodeImporter &importer, const Schema &schema) {
  Tensor *tensor = firstTensor(importer, schema);
  StringRef name = onlyResult(importer);
  if (!tensor || name.empty())
    return std::nullopt;
  if (!tensor->type.getHasSizes())
    return failUnknownSizes(importer);
  Tensor &root = tensor->root();
  if (!tensor->meta || !root.meta || !isContiguous(importer.emit.context(), *root.meta) ||
      !tensor->meta->storageOffset.isConstant())
    return failUnknownMemory(importer);
  FailureOr<ValueTensorType> type = importer.graph.typeOf(name);
  if (failed(type))
    return failure();
  Emit &emit = importer.emit;
  SmallVector<std::pair<StringRef, Value>> overrides = {
      {"self", importer.tensors.read(emit, &root)}};
  const Argument *offset = importer.input("storage_offset");
  if (!offset || offset->kind == Kind::None)
    overrides.push_back({"storage_offset", emit.integer(tensor->meta->storageOffset.value)});
  FailureOr<SmallVector<Value>> operands = importer.operandsFor(schema, overrides);
  if (failed(operands))
    return failure();
  Value result = importer.create(schema, *operands, *type)->getResult(0);
  const TensorMeta *meta = importer.graph.metaOf(name);
  ViewStep step{&schema, *operands, 0, *type, -1, {}, {}};
  Tensor *made = isView ? importer.tensors.addView(&root, step, result, meta)
                        : importer.tensors.addRoot(result, meta);
  return importer.graph.define(name, {made, {}});
}

/// as_strided_scatter writes to a copy of its input's memory, which is known where that is its
/// elements in their order.
static Outcome importAsStridedScatter(NodeImporter &importer, const Schema &schema) {
  Tensor *tensor = firstTensor(importer, schema);
  if (!tensor || !tensor->meta || !isContiguous(importer.emit.context(), *tensor->meta) ||
      !tensor->meta->storageOffset.isConstant() || tensor->meta->storageOffset.value != 0)
    return failUnknownMemory(importer);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

/// The functional forms return a token, which orders them; here order is that of the operations.
static Outcome defineTokens(NodeImporter &importer) {
  for (const Argument &output : importer.node.outputs) {
    if (output.kind != Kind::Tensor)
      continue;
    const Argument *token = importer.input("dep_token");
    FailureOr<Tensor *> tensor =
        token ? importer.graph.tensorOf(*token) : FailureOr<Tensor *>(failure());
    if (failed(tensor) || failed(importer.graph.define(ref(output.text), {*tensor, {}})))
      return failure();
  }
  return success();
}

static Value truth(Emit &emit, Value value) {
  Type type = value.getType();
  StringRef name = isa<IntType>(type)            ? "aten.Bool.int"
                   : isa<torch::FloatType>(type) ? "aten.Bool.float"
                   : isa<ValueTensorType>(type)  ? "aten.Bool.Tensor"
                                                 : "";
  return name.empty() ? value : emit.aten(name, emit.boolType(), {{"a", value}});
}

static Outcome importAssert(NodeImporter &importer, const Schema &schema) {
  FailureOr<SmallVector<Value>> operands = importer.operandsFor(schema);
  if (failed(operands))
    return failure();
  const Argument *message = importer.input("assert_msg");
  bool hasMessage = message && message->kind == Kind::String;
  Emit &emit = importer.emit;
  RuntimeAssertOp::create(
      emit.builder, emit.loc, truth(emit, operands->front()),
      emit.builder.getStringAttr(hasMessage ? ref(message->text) : "an assertion of the model"));
  return defineTokens(importer);
}

/// sym_constrain_range(size, min, max) asserts min <= size <= max.
static Outcome importConstrainRange(NodeImporter &importer, const Schema &schema) {
  const Argument *size = importer.input("size");
  FailureOr<Value> value = size ? importer.graph.valueOf(*size) : FailureOr<Value>(failure());
  if (failed(value))
    return failure();
  Emit &emit = importer.emit;
  struct Row {
    StringRef bound, comparison, text;
  };
  for (const Row &row :
       {Row{"min", "aten.ge.int", "at least"}, Row{"max", "aten.le.int", "at most"}})
    if (const Argument *bound = importer.input(row.bound);
        bound && bound->kind == Kind::Int && isa<IntType>(value->getType())) {
      Value holds = emit.aten(row.comparison, emit.boolType(),
                              {{"a", *value}, {"b", emit.integer(bound->integer)}});
      RuntimeAssertOp::create(
          emit.builder, emit.loc, holds,
          fmt::format("a size of the model must be {} {}", row.text.str(), bound->integer));
    }
  return defineTokens(importer);
}

/// _assert_tensor_metadata states what the types already say.
static Outcome importMetadataAssert(NodeImporter &importer, const Schema &schema) {
  Tensor *tensor = firstTensor(importer, schema);
  const Argument *dtype = importer.input("dtype");
  if (!tensor)
    return failure();
  if (dtype && dtype->kind == Kind::ScalarType &&
      dtypeOf(dtype->integer) != tw::dtypeOf(tensor->type.getDtype()))
    return importer.fail(Code::IMPORT_20, fmt::format("the model asserts dtype {}, but the tensor "
                                                      "has another",
                                                      scalarTypeName(dtype->integer)));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

std::optional<LogicalResult> NodeImporter::importSpecial(const Schema &schema) {
  static const llvm::StringMap<Handler> table = {
      {"torch.aten.clone", importCopy},
      {"torch.aten.lift_fresh_copy", importCopy},
      {"torch.aten._to_copy", importCopy},
      {"torch.aten.alias_copy", importCopy},
      {"torch.aten.detach_copy", importCopy},
      {"torch.aten.dropout", importDropout},
      {"torch.aten.dropout_", importDropout},
      {"torch.aten.feature_dropout", importDropout},
      {"torch.aten.feature_dropout_", importDropout},
      {"torch.aten.alpha_dropout", importDropout},
      {"torch.aten.alpha_dropout_", importDropout},
      {"torch.aten.feature_alpha_dropout", importDropout},
      {"torch.aten.feature_alpha_dropout_", importDropout},
      {"torch.aten.copy_", importCopyInto},
      {"torch.aten.zero_", importZeroInto},
      {"torch.aten.batch_norm", importBatchNorm},
      {"torch.aten.native_batch_norm", importBatchNorm},
      {"torch.aten.instance_norm", importInstanceNorm},
      {"torch.aten.sym_size.int", importSize},
      {"torch.aten.sym_numel", importSize},
      {"torch.aten.sym_stride.int", importStride},
      {"torch.aten.as_strided", importAsStrided<true>},
      {"torch.aten.as_strided_copy", importAsStrided<false>},
      {"torch.aten.as_strided_scatter", importAsStridedScatter},
      {"torch.aten._assert_scalar", importAssert},
      {"torch.aten._assert_async", importAssert},
      {"torch.aten._assert_async.msg", importAssert},
      {"torch.aten._functional_assert_scalar", importAssert},
      {"torch.aten._functional_assert_async.msg", importAssert},
      {"torch.aten.sym_constrain_range", importConstrainRange},
      {"torch.aten.sym_constrain_range_for_size", importConstrainRange},
      {"torch.aten._functional_sym_constrain_range", importConstrainRange},
      {"torch.aten._functional_sym_constrain_range_for_size", importConstrainRange},
      {"torch.aten._assert_tensor_metadata", importMetadataAssert},
  };
  auto found = table.find(schema.opName);
  return found == table.end() ? std::nullopt : found->second(*this, schema);
}

} // namespace tw::pt2
