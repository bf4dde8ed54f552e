// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments, symbols and weights of a program.
#include "IR/Graph/CallWeights.h"
#include "Import/Pt2/ProgramImporter.h"
#include "Import/Pt2/Symbols.h"
#include "Support/Size.h"
#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// The exporter starts ranges at 2 unless told otherwise, since it treats 0 and 1 apart; the
/// program is right for them all the same.
static std::pair<int64_t, int64_t> rangeOf(const Program &program, StringRef symbol) {
  int64_t min = 0, max = std::numeric_limits<int64_t>::max();
  for (const auto &[name, range] : program.ranges)
    if (ref(name) == symbol) {
      min = range.min && *range.min > 2 ? *range.min : range.min && *range.min == 1 ? 1 : 0;
      max = range.max.value_or(max);
    }
  return {min, std::max(min, max)};
}

/// Whether a symbol is known to be no size: symbols are never negative, and this one may be. What
/// is computed from it is then computed while the program runs, and sizes made of it are checked
/// there. As the size of an input a symbol is not negative, whatever the exporter says of it.
bool ProgramImporter::mayBeNegative(StringRef symbol) const {
  auto isIt = [&](const SymInt &size) {
    return !size.isConstant() && loneSymbol(ref(size.expression)) == symbol;
  };
  for (const InputSpec &spec : program.inputs)
    if (const TensorMeta *meta = graph.metaOf(ref(spec.value.text)))
      if (llvm::any_of(meta->sizes, isIt))
        return false;
  return llvm::any_of(program.ranges, [&](const auto &each) {
    const Range &range = each.second;
    return ref(each.first) == symbol && (!range.min || *range.min < 0);
  });
}

StringRef ProgramImporter::anonymousSymbol(StringRef tensor, size_t dim) {
  std::string base = fmt::format("{}_size{}", tensor.str(), dim), name = base;
  if (!Size::isSymbolName(base))
    base = name = "size";
  for (int suffix = 1; state.symbols.contains(name); ++suffix)
    name = fmt::format("{}_{}", base, suffix);
  return emit.builder.getStringAttr(name).getValue();
}

void ProgramImporter::declareSymbols() {
  llvm::SetVector<StringRef> names;
  auto collect = [&](const SymInt &size) {
    if (!size.isConstant())
      (void)parseSize(emit.context(), ref(size.expression), [&](StringRef name) {
        names.insert(name);
        return 0;
      });
  };
  for (const InputSpec &spec : program.inputs) {
    if (spec.kind != InputSpec::Kind::UserInput)
      continue;
    if (const TensorMeta *meta = graph.metaOf(ref(spec.value.text)))
      llvm::for_each(meta->sizes, collect);
    for (const auto &[name, size] : program.graph.symInts)
      if (name == spec.value.text)
        collect(size);
  }
  for (StringRef name : names) {
    if (mayBeNegative(name))
      continue;
    auto [min, max] = rangeOf(program, name);
    declareSymbol(name, min, max);
  }
}

Value ProgramImporter::declareSymbol(StringRef name, int64_t min, int64_t max) {
  return state.symbols[name] = SymbolicIntOp::create(
             emit.builder, emit.loc, emit.intType(), emit.builder.getStringAttr(name),
             emit.builder.getI64IntegerAttr(min), emit.builder.getI64IntegerAttr(max));
}

void ProgramImporter::bindShape(Value tensor, const TensorMeta &meta, StringRef name) {
  if (llvm::all_of(meta.sizes, [](const SymInt &size) { return size.isConstant(); }))
    return;
  llvm::MapVector<StringRef, Value> used;
  SmallVector<AffineExpr> exprs;
  bool isOfSymbols = true;
  auto index = [&](StringRef symbol) -> unsigned {
    Value declared = state.symbols.lookup(symbol);
    isOfSymbols &= declared != nullptr;
    return declared ? used.insert({symbol, declared}).first - used.begin() : 0;
  };
  for (auto [dim, size] : llvm::enumerate(meta.sizes)) {
    if (size.isConstant()) {
      exprs.push_back(emit.builder.getAffineConstantExpr(size.value));
      continue;
    }
    isOfSymbols = true;
    AffineExpr expr = parseSize(emit.context(), ref(size.expression), index);
    if (!expr || !isOfSymbols) { // a size of its own
      StringRef fresh = anonymousSymbol(name, dim);
      Value symbol = declareSymbol(fresh, 0, std::numeric_limits<int64_t>::max());
      used.insert({fresh, symbol});
      expr = emit.builder.getAffineSymbolExpr(used.size() - 1);
    }
    exprs.push_back(expr);
  }
  SmallVector<Value> values;
  for (auto &[symbol, value] : used)
    values.push_back(value);
  auto map = AffineMap::get(0, values.size(), exprs, emit.context());
  BindSymbolicShapeOp::create(emit.builder, emit.loc, tensor, values, AffineMapAttr::get(map));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value ProgramImporter::addArgument(Type type, StringRef name, StringRef role) {
  arguments.push_back({name.str(), role.str(), {}});
  return entry->addArgument(type, emit.loc);
}

void ProgramImporter::importInput(const InputSpec &spec, const Argument &input) {
  switch (spec.kind) {
  case InputSpec::Kind::UserInput:
    return importUserInput(spec.value);
  case InputSpec::Kind::ConstantInput:
    return importConstantInput(spec);
  case InputSpec::Kind::Parameter:
  case InputSpec::Kind::Buffer:
  case InputSpec::Kind::TensorConstant:
    return importWeight(spec);
  case InputSpec::Kind::Unsupported:
    (void)graph.fail(Code::IMPORT_16,
                     fmt::format("inputs of the kind {} are not supported", spec.tag),
                     "use tensors and numbers only");
  }
}

void ProgramImporter::importUserInput(const Argument &input) {
  StringRef name = ref(input.text);
  if (input.kind == Kind::Tensor) {
    FailureOr<ValueTensorType> type = graph.inputTypeOf(name);
    if (failed(type)) {
      (void)graph.define(name, {});
      return;
    }
    Value value = addArgument(*type, name, "input");
    bindShape(value, *graph.metaOf(name), name);
    Tensor *tensor = state.tensors.addRoot(value, graph.metaOf(name));
    userInputs[name] = tensor;
    (void)graph.define(name, {tensor, {}});
    return;
  }
  Type type = input.kind == Kind::SymInt     ? emit.intType()
              : input.kind == Kind::SymFloat ? emit.floatType()
              : input.kind == Kind::SymBool  ? emit.boolType()
                                             : Type();
  if (type) {
    (void)graph.define(name, {nullptr, addArgument(type, name, "input")});
    for (const auto &[symInt, size] : program.graph.symInts)
      if (ref(symInt) == name)
        if (StringRef symbol = loneSymbol(ref(size.expression)); state.symbols.contains(symbol))
          arguments.back().more.push_back(attr("tw.symbol", symbol.str()));
  } else if (input.kind != Kind::None && input.kind != Kind::String) {
    (void)graph.fail(Code::IMPORT_16,
                     fmt::format("{} is not supported as an input", input.kindText()));
  }
}

/// A Python number that was a constant when the model was exported: the graph holds its value, so
/// the caller must give the same. None and strings are no arguments.
void ProgramImporter::importConstantInput(const InputSpec &spec) {
  StringRef name = ref(spec.name);
  auto check = [&](Type type, StringRef comparison, Value expected, const std::string &text) {
    Value given = addArgument(type, name, "input");
    Value same = emit.aten(comparison, emit.boolType(), {{"a", given}, {"b", expected}});
    RuntimeAssertOp::create(
        emit.builder, emit.loc, same,
        fmt::format("input {} must be {}, as when the model was exported", name.str(), text));
  };
  const Argument &value = spec.value;
  if (value.kind == Kind::Int)
    check(emit.intType(), "aten.eq.int", emit.integer(value.integer),
          fmt::format("{}", value.integer));
  else if (value.kind == Kind::Float)
    check(emit.floatType(), "aten.eq.float", emit.real(value.real), fmt::format("{}", value.real));
  else if (value.kind == Kind::Bool)
    check(emit.boolType(), "aten.eq.bool", emit.boolean(value.integer),
          value.integer ? "true" : "false");
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

void ProgramImporter::importWeight(const InputSpec &spec) {
  StringRef input = ref(spec.value.text), name = ref(spec.name);
  Result<StoredTensor> found = weights.find(spec.name, graph.metaOf(input));
  FailureOr<ValueTensorType> type = graph.inputTypeOf(input);
  if (!found || failed(type)) {
    if (!found)
      (void)graph.fail(found.error().code, found.error().message, found.error().help);
    (void)graph.define(input, {});
    return;
  }
  Result<ValueTensorType> storedType = tensorType(emit.context(), *found->meta);
  if (!storedType || *storedType != *type) {
    (void)graph.fail(
        Code::IMPORT_20,
        fmt::format("weight {} has other sizes or another dtype in the archive than in "
                    "the graph",
                    spec.name));
    (void)graph.define(input, {});
    return;
  }
  auto tied = llvm::find_if(stored, [&](Weight &w) { return w.stored.isSameAs(*found); });
  if (tied == stored.end()) {
    Weight &weight = stored.emplace_back();
    weight.stored = *found;
    weight.name = name;
    auto elements = type->getDtype();
    if (isa<IntegerType>(elements))
      elements = IntegerType::get(emit.context(), elements.getIntOrFloatBitWidth());
    StringRef file = found->isGivenByCalls ? StringRef(graph::givenWeight) : StringRef(path);
    auto source = graph::WeightAttr::get(emit.context(), emit.builder.getStringAttr(name),
                                         emit.builder.getStringAttr(file), found->offset,
                                         found->bytes, found->start, found->strides);
    weight.op = graph::WeightOp::create(emit.builder, emit.loc,
                                        RankedTensorType::get(type->getSizes(), elements), source);
    weight.value = torch_c::FromBuiltinTensorOp::create(emit.builder, emit.loc, *type, weight.op);
    weight.tensor = state.tensors.addRoot(weight.value, graph.metaOf(input));
    tied = std::prev(stored.end());
  }
  weightByName[name] = &*tied;
  (void)graph.define(input, {tied->tensor, {}});
}

} // namespace tw::pt2
