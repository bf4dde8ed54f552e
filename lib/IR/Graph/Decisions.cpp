// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Decisions.h"
#include "IR/ModelLocation.h"
#include <limits>

using namespace mlir;

namespace tw::graph {

OperatorCount operatorCount(DecisionKind kind) {
  switch (kind) {
  case DecisionKind::ChannelsLast:
    return {1, 1};
  case DecisionKind::Merge:
    return {2, std::numeric_limits<size_t>::max()};
  case DecisionKind::Fuse:
  case DecisionKind::Recompute:
    break;
  }
  return {2, 2};
}

static std::vector<std::string> namesOf(DecisionAttr decision) {
  std::vector<std::string> names;
  for (StringAttr name : decision.getOperators())
    names.push_back(name.str());
  return names;
}

Decisions::Decisions(Operation *root) {
  module = dyn_cast<ModuleOp>(root);
  if (!module)
    module = root->getParentOfType<ModuleOp>();
  auto wanted = module ? module->getAttrOfType<ArrayAttr>(wantedDecisionsName) : ArrayAttr();
  isNoted = bool(wanted);
  if (!isNoted)
    return;
  for (auto decision : wanted.getAsRange<DecisionAttr>())
    wishes[{decision.getKind(), namesOf(decision)}] = decision.getTaken();
  if (auto before = module->getAttrOfType<ArrayAttr>(decisionsName))
    for (auto decision : before.getAsRange<DecisionAttr>())
      made[{decision.getKind(), namesOf(decision)}] = decision;
}

std::optional<Decisions::Key> Decisions::keyOf(DecisionKind kind, ArrayRef<Location> operators) {
  Key key{kind, {}};
  for (Location loc : operators)
    key.second.push_back(nodeName(loc));
  bool isKnown = llvm::none_of(key.second, [](const std::string &name) { return name.empty(); });
  if (!isKnown || (operators.size() > 1 && llvm::all_equal(key.second)))
    return std::nullopt;
  return key;
}

std::optional<bool> Decisions::wanted(DecisionKind kind, ArrayRef<Location> operators) const {
  if (wishes.empty())
    return std::nullopt;
  auto key = keyOf(kind, operators);
  auto found = key ? wishes.find(*key) : wishes.end();
  return found == wishes.end() ? std::nullopt : std::optional(found->second);
}

void Decisions::note(DecisionKind kind, ArrayRef<Location> operators, bool isTaken,
                     StringRef reason) {
  auto key = isNoted ? keyOf(kind, operators) : std::nullopt;
  if (!key)
    return;
  DecisionAttr &known = made[*key];
  if (known && known.getTaken())
    return;
  MLIRContext *context = module.getContext();
  SmallVector<StringAttr> names;
  for (const std::string &name : key->second)
    names.push_back(StringAttr::get(context, name));
  known = DecisionAttr::get(context, kind, names, isTaken,
                            isTaken || reason.empty() ? StringAttr()
                                                      : StringAttr::get(context, reason));
}

void Decisions::store() {
  if (!isNoted)
    return;
  SmallVector<Attribute> all;
  for (auto &[key, decision] : made)
    all.push_back(decision);
  module->setAttr(decisionsName, ArrayAttr::get(module.getContext(), all));
}

} // namespace tw::graph
