// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers every row of the schema table as an operation. One OperationName model serves all of
// them (as TableGen ops they would take a quarter of an hour to compile), and one object per
// interface.
#include "IR/Torch/Hooks.h"
#include "IR/Torch/TableText.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
namespace tw::torch {

/// The operation names of a table entry; "aten.add.*" stands for all overloads of two numbers.
static SmallVector<std::string> opNames(StringRef name) {
  std::string opName = "torch." + name.str();
  if (!StringRef(opName).ends_with(".*"))
    return {opName};
  opName.resize(opName.size() - 2);
  SmallVector<std::string> names = {opName};
  for (const char *overload : {".int", ".float", ".int_float", ".float_int"})
    names.push_back(opName + overload);
  return names;
}

Hooks lookupHooks(StringRef opName) {
  static const llvm::StringMap<Hooks> all = [] {
    llvm::StringMap<Hooks> map;
    for (ArrayRef<NamedFold> table : {scalarFolds(), containerFolds()})
      for (auto [name, fold] : table)
        for (StringRef each : opNames(name))
          map[each].fold = fold;
    for (auto [name, canonicalize] : containerPatterns())
      map["torch." + name.str()].canonicalize = canonicalize;
    return map;
  }();
  return all.lookup(opName);
}

namespace {

/// A canonicalization hook as a pattern.
class HookPattern : public RewritePattern {
public:
  HookPattern(StringRef opName, MLIRContext *context, Hooks::Canonicalize hook)
      : RewritePattern(opName, /*benefit=*/1, context), hook(hook) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    return hook(AtenOp(op), rewriter);
  }

private:
  Hooks::Canonicalize hook;
};

/// What MLIR asks about an operation name; the answers come from the schema and the hooks.
/// Table operations have no properties: all their attributes are discardable.
class TableModel final : public OperationName::Impl {
public:
  TableModel(Dialect *dialect, const Schema &schema)
      : Impl(schema.opName, dialect, schema.typeID(), {}), schema(schema),
        hooks(lookupHooks(schema.opName)) {}

  bool hasTrait(TypeID id) override {
    return id == TypeID::get<IsAtenOp>() || id == TypeID::get<OpTrait::ZeroRegions>() ||
           id == TypeID::get<OpTrait::ZeroSuccessors>();
  }
  OperationName::ParseAssemblyFn getParseAssemblyFn() override {
    return [this](OpAsmParser &parser, OperationState &result) {
      return parseTableOp(schema, parser, result);
    };
  }
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) override {
    AtenOp::printOpName(op, printer, defaultDialect);
    printTableOp(schema, op, printer);
  }
  LogicalResult verifyInvariants(Operation *op) override { return verifyTableOp(op); }
  LogicalResult verifyRegionInvariants(Operation *) override { return success(); }

  LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands,
                         SmallVectorImpl<OpFoldResult> &results) override {
    return hooks.fold ? hooks.fold(AtenOp(op), operands, results) : failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) override {
    if (hooks.canonicalize)
      patterns.add(std::make_unique<HookPattern>(schema.opName, context, hooks.canonicalize));
  }

  std::optional<Attribute> getInherentAttr(Operation *, StringRef) override { return std::nullopt; }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) override {
    op->setDiscardableAttr(name, value);
  }
  void populateInherentAttrs(Operation *, NamedAttrList &) override {}
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &,
                                    function_ref<InFlightDiagnostic()>) override {
    return success();
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) override {}
  int getOpPropertyByteSize() override { return 0; }
  void initProperties(OperationName, OpaqueProperties, OpaqueProperties) override {}
  void deleteProperties(OpaqueProperties) override {}
  void populateDefaultProperties(OperationName, OpaqueProperties) override {}
  LogicalResult setPropertiesFromAttr(OperationName name, OpaqueProperties, Attribute,
                                      function_ref<InFlightDiagnostic()> emitError) override {
    emitError() << "'" << name << "' has no properties";
    return failure();
  }
  Attribute getPropertiesAsAttr(Operation *) override { return {}; }
  void copyProperties(OpaqueProperties, OpaqueProperties) override {}
  // Without this CSE would merge nothing.
  bool compareProperties(OpaqueProperties, OpaqueProperties) override { return true; }
  llvm::hash_code hashProperties(OpaqueProperties) override { return {}; }

private:
  const Schema &schema;
  const Hooks hooks;
};

struct RandomState : SideEffects::Resource::Base<RandomState> {
  StringRef getName() override { return "torch.random"; }
};

/// Functions of tensors with value semantics have no effects. A fresh !torch.tensor is an
/// allocation: it may be dropped but not merged with another.
struct TableEffects : MemoryEffectOpInterface::FallbackModel<TableEffects> {
  void getEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    const Schema &schema = AtenOp(op).schema();
    if (schema.has(Flag::SideEffect)) {
      effects.emplace_back(MemoryEffects::Read::get());
      effects.emplace_back(MemoryEffects::Write::get());
      return;
    }
    if (schema.has(Flag::Random)) {
      effects.emplace_back(MemoryEffects::Read::get(), RandomState::get());
      effects.emplace_back(MemoryEffects::Write::get(), RandomState::get());
    }
    ArrayRef<Argument> arguments = schema.arguments();
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      bool isWritten = index < arguments.size() && arguments[index].isWritten;
      if (isWritten || isa<NonValueTensorType>(operand.get().getType()))
        effects.emplace_back(MemoryEffects::Read::get(), &operand);
      if (isWritten)
        effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
    for (OpResult result : op->getOpResults())
      if (isa<NonValueTensorType>(result.getType()))
        effects.emplace_back(MemoryEffects::Allocate::get(), result);
  }
};

struct TableSpeculation : ConditionallySpeculatable::FallbackModel<TableSpeculation> {
  Speculation::Speculatability getSpeculatability(Operation *op) const {
    const Schema &schema = AtenOp(op).schema();
    bool hasEffect =
        schema.has(Flag::SideEffect) || schema.has(Flag::Random) || schema.has(Flag::Mutates);
    return hasEffect ? Speculation::NotSpeculatable : Speculation::Speculatable;
  }
};

/// Several results are named after the schema: %values, %indices.
struct TableResultNames : OpAsmOpInterface::ExternalModel<TableResultNames, AtenOp> {
  void getAsmResultNames(Operation *op, OpAsmSetValueNameFn setName) const {
    ArrayRef<Argument> names = AtenOp(op).schema().results();
    if (op->getNumResults() < 2 || names.size() != op->getNumResults())
      return;
    for (auto [index, result, argument] : llvm::enumerate(op->getResults(), names))
      setName(result,
              argument.name.empty() ? "result" + std::to_string(index) : argument.name.str());
  }
};

} // namespace

void *TorchDialect::getRegisteredInterfaceForOp(TypeID interface, OperationName name) {
  static TableEffects effects;
  static TableSpeculation speculation;
  static TableResultNames names;
  if (!name.hasTrait<IsAtenOp>())
    return nullptr;
  if (interface == MemoryEffectOpInterface::getInterfaceID())
    return static_cast<MemoryEffectOpInterface::Concept *>(&effects);
  if (interface == ConditionallySpeculatable::getInterfaceID())
    return static_cast<ConditionallySpeculatable::Concept *>(&speculation);
  if (interface == OpAsmOpInterface::getInterfaceID())
    return static_cast<OpAsmOpInterface::Concept *>(&names);
  return nullptr;
}

void TorchDialect::registerTableOps() {
  for (const Schema &schema : schemaTable())
    if (!RegisteredOperationName::lookup(schema.opName, getContext())) // .td definitions win
      RegisteredOperationName::insert(std::make_unique<TableModel>(this, schema), {});
}

} // namespace tw::torch
