// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/SpecRules.h"
#include "IR/ModelLocation.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::tune {
using transform::NamedSequenceOp;

Diagnostic wrongSpec(Operation *op, std::string message) {
  return {Code::TUNE_4, std::move(message), describePlace(op->getLoc()), {}, specHelp};
}

bool SpecRule::matches(DictionaryAttr features, DictionaryAttr sizes) const {
  return llvm::all_of(conditions, [&](Operation *condition) {
    if (auto size = dyn_cast<MatchSizeOp>(condition))
      return size.matches(features, sizes);
    return cast<MatchKernelOp>(condition).matches(features, sizes);
  });
}

namespace {

/// Reads a matcher and its action.
class RuleReader {
public:
  Result<SpecRule> read(NamedSequenceOp matcher, NamedSequenceOp action) {
    TW_TRY(readMatcher(matcher));
    TW_TRY(readAction(matcher, action));
    return std::move(rule);
  }

private:
  Status readMatcher(NamedSequenceOp matcher) {
    for (Operation &op : matcher.getBody().front()) {
      if (isa<MatchKernelOp, MatchSizeOp>(op)) {
        if (op.getOperand(0) != matcher.getBody().getArgument(0))
          return wrongSpec(&op, "a matcher looks at the kernel, its sequence's first argument");
        rule.conditions.push_back(&op);
      } else if (!isa<transform::ParamConstantOp, transform::YieldOp>(op)) {
        return wrongSpec(&op, "a matcher changes nothing: what it gives, an action sets");
      }
    }
    return {};
  }

  /// What the action takes is what the matcher yields.
  Status readAction(NamedSequenceOp matcher, NamedSequenceOp action) {
    Operation *yield = matcher.getBody().front().getTerminator();
    for (Operation &op : action.getBody().front()) {
      if (isa<MatchKernelOp, MatchSizeOp>(op))
        return wrongSpec(&op, "an action matches nothing: its kernel is matched already");
      auto annotation = dyn_cast<transform::AnnotateOp>(op);
      if (!annotation)
        continue;
      Value value = annotation.getParam();
      if (auto argument = dyn_cast_or_null<BlockArgument>(value))
        value = argument.getArgNumber() < yield->getNumOperands()
                    ? yield->getOperand(argument.getArgNumber())
                    : Value();
      auto constant = value ? value.getDefiningOp<transform::ParamConstantOp>() : nullptr;
      if (!constant)
        return wrongSpec(&op, "what a kernel is given is a transform.param.constant");
      rule.given = dyn_cast<DictionaryAttr>(constant.getValue());
    }
    return {};
  }

  SpecRule rule;
};

} // namespace

Result<std::vector<SpecRule>> readRules(ModuleOp spec) {
  SymbolTable sequences(spec);
  std::vector<SpecRule> rules;
  auto main = sequences.lookup<NamedSequenceOp>(
      transform::TransformDialect::kTransformEntryPointSymbolName);
  transform::ForeachMatchOp list;
  for (Operation &op : main.getBody().front()) {
    if (isa<transform::YieldOp>(op))
      continue;
    if (!isa<transform::ForeachMatchOp>(op))
      return wrongSpec(&op, "the entry only lists matchers and actions, with one "
                            "transform.foreach_match");
    if (list)
      return wrongSpec(&op, "the entry has one transform.foreach_match: its first matcher that "
                            "matches decides");
    list = cast<transform::ForeachMatchOp>(op);
    if (list.getRestrictRoot())
      return wrongSpec(list, "matchers look at kernels, but restrict_root asks for the module that "
                             "they are in, too");
  }
  if (!list)
    return rules;
  for (auto [matcher, action] :
       llvm::zip_equal(list.getMatchers().getAsRange<FlatSymbolRefAttr>(),
                       list.getActions().getAsRange<FlatSymbolRefAttr>())) {
    TW_ASSIGN(SpecRule rule,
              RuleReader().read(sequences.lookup<NamedSequenceOp>(matcher.getAttr()),
                                sequences.lookup<NamedSequenceOp>(action.getAttr())));
    rules.push_back(std::move(rule));
  }
  return rules;
}

} // namespace tw::tune
