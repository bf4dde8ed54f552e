// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/TuningDialect.h"
#include "GraphToTile/Configuration/KernelFeatures.h"
#include "IR/Graph/Decisions.h"
#include "Support/DType.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

#include "Tune/Spec/Tuning.dialect.cpp.inc"
#define GET_OP_CLASSES
#include "Tune/Spec/Tuning.ops.cpp.inc"

using namespace mlir;

namespace tw::tune {

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

void TuningDialect::initialize() { addOperations<KernelOp>(); }

LogicalResult TuningDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == versionName) {
    auto version = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !version || !version.getType().isInteger(64) || version.getInt() < 1)
      return op->emitError() << versionName << " is an i64 of a module, 1 or more";
    return success();
  }
  if (name == targetName) {
    if (!isa<ModuleOp>(op) || !isa<StringAttr>(attribute.getValue()))
      return op->emitError() << targetName << " is a string of a module";
    return success();
  }
  if (name == decisionsName) {
    auto rules = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !rules)
      return op->emitError() << decisionsName << " is an array of a module";
    for (Attribute rule : rules)
      if (std::string why = graph::whyNoDecisionRule(rule); !why.empty())
        return op->emitError() << "the rule " << rule << " is none for decisions: " << why;
    return success();
  }
  if (name != measuredName)
    return op->emitError() << "there is no attribute " << name;
  if (!isa<DictionaryAttr>(attribute.getValue()))
    return op->emitError() << measuredName << " is a dictionary";
  return success();
}

namespace {

class MatchersExtension : public transform::TransformDialectExtension<MatchersExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MatchersExtension)
  void init() {
    declareGeneratedDialect<TuningDialect>();
    registerTransformOps<MatchKernelOp, MatchSizeOp>();
  }
};

} // namespace

void registerTuningDialect(DialectRegistry &registry) {
  registry.insert<TuningDialect, transform::TransformDialect>();
  registry.addExtensions<MatchersExtension>();
}

//===----------------------------------------------------------------------===//
// Matchers
//===----------------------------------------------------------------------===//

/// The payload of a matcher; a handle of anything else is a mistake in the spec.
static FailureOr<KernelOp> kernelOf(Operation *matcher, Operation *payload) {
  if (auto kernel = dyn_cast<KernelOp>(payload))
    return kernel;
  return matcher->emitError() << "matches kernels, not a " << payload->getName(), failure();
}

namespace {

bool isText(Attribute value) { return isa<StringAttr>(value); }
bool isNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64);
}
bool isFlag(Attribute value) { return isa<BoolAttr>(value); }
bool areTexts(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, isText);
}
bool areDTypes(Attribute value) {
  return areTexts(value) && llvm::all_of(cast<ArrayAttr>(value), [](Attribute each) {
           return parseDType(cast<StringAttr>(each).getValue()).has_value();
         });
}

/// What a matcher may ask for. Anything else would match no kernel, whatever it computes.
struct Feature {
  llvm::StringLiteral name;
  bool (*isValue)(Attribute);
  llvm::StringLiteral values;
};

constexpr Feature features[] = {
    {"dtypes", areDTypes, "a list of element types, as [\"f32\", \"bf16\"]"},
    {"kind", isText, "a kind of configurations, as \"contraction\""},
    {"number", isNumber, "a number, as 0"},
    {"operations", areTexts, "a list of operators, as [\"linear\", \"relu\"]"},
    {"signature", isText, "a text, as \"667cef4f44901dc5\""},
    {"weight", isFlag, "true or false"}};

/// "dtypes, kind, ... and weight".
std::string namesOfFeatures() {
  std::string names;
  for (const Feature &each : features)
    names += (names.empty()                     ? ""
              : &each == std::end(features) - 1 ? " and "
                                                : ", ") +
             each.name.str();
  return names;
}

} // namespace

LogicalResult MatchKernelOp::verify() {
  for (NamedAttribute feature : getFeatures()) {
    StringRef name = feature.getName().getValue();
    const auto *known = llvm::find_if(features, [&](auto &each) { return each.name == name; });
    if (known == std::end(features))
      return emitOpError() << "knows no feature \"" << name << "\" of kernels; there are "
                           << namesOfFeatures();
    if (!known->isValue(feature.getValue()))
      return emitOpError() << "compares " << name << ", which is " << known->values << ", with "
                           << feature.getValue();
  }
  return success();
}

/// What the transform dialect's interpreter asks of a matcher.
template <typename Matcher>
static DiagnosedSilenceableFailure matchedBy(Matcher matcher, Operation *payload) {
  auto kernel = kernelOf(matcher, payload);
  if (failed(kernel))
    return DiagnosedSilenceableFailure::definiteFailure();
  if (!matcher.matches(kernel->getFeatures(), kernel->getSizes()))
    return matcher.emitSilenceableError() << "is another kernel";
  return DiagnosedSilenceableFailure::success();
}

bool MatchKernelOp::matches(DictionaryAttr features, DictionaryAttr) {
  return llvm::all_of(getFeatures(), [&](NamedAttribute wanted) {
    return features.get(wanted.getName()) == wanted.getValue();
  });
}

DiagnosedSilenceableFailure MatchKernelOp::matchOperation(Operation *current,
                                                          transform::TransformResults &,
                                                          transform::TransformState &) {
  return matchedBy(*this, current);
}

void MatchKernelOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getKernelMutable(), effects);
  transform::onlyReadsPayload(effects);
}

LogicalResult MatchSizeOp::verify() {
  if (!getEquals() && !getLeast() && !getMost() && !getMultipleOf())
    return emitOpError("asks for nothing: give `equals`, `least`, `most` or `multiple_of`");
  if (getMultipleOf() && *getMultipleOf() < 1)
    return emitOpError() << "`multiple_of` is 1 or more, not " << *getMultipleOf();
  return success();
}

/// Whether all that a size may be is as wanted.
static bool isAsWanted(MatchSizeOp op, int64_t least, int64_t most) {
  if (op.getEquals() && (least != most || least != int64_t(*op.getEquals())))
    return false;
  if (op.getLeast() && least < int64_t(*op.getLeast()))
    return false;
  if (op.getMost() && most > int64_t(*op.getMost()))
    return false;
  return !op.getMultipleOf() || (least == most && least % int64_t(*op.getMultipleOf()) == 0);
}

bool MatchSizeOp::matches(DictionaryAttr, DictionaryAttr sizes) {
  auto range = sizes.getAs<DenseI64ArrayAttr>(getSize());
  return range && isAsWanted(*this, range[0], range[1]);
}

DiagnosedSilenceableFailure MatchSizeOp::matchOperation(Operation *current,
                                                        transform::TransformResults &,
                                                        transform::TransformState &) {
  return matchedBy(*this, current);
}

void MatchSizeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getKernelMutable(), effects);
  transform::onlyReadsPayload(effects);
}

} // namespace tw::tune
