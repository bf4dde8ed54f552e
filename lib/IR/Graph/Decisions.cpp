// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Decisions.h"
#include "IR/ModelLocation.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include <limits>

using namespace mlir;

namespace tw::graph {

OperatorCount operatorCount(DecisionKind kind) {
  switch (kind) {
  case DecisionKind::ChannelsLast:
  case DecisionKind::Cut:
    return {1, 1};
  case DecisionKind::Merge:
    return {2, std::numeric_limits<size_t>::max()};
  case DecisionKind::Fuse:
  case DecisionKind::Recompute:
    break;
  }
  return {2, 2};
}

static bool isTexts(Attribute value, size_t least, size_t most) {
  auto list = dyn_cast_or_null<ArrayAttr>(value);
  return list && list.size() >= least && list.size() <= most &&
         llvm::all_of(list, llvm::IsaPred<StringAttr>);
}

std::string whyNoDecisionRule(Attribute value) {
  auto rule = dyn_cast<DictionaryAttr>(value);
  auto name = rule ? rule.getAs<StringAttr>("decision") : StringAttr();
  auto kind = name ? symbolizeDecisionKind(name.getValue()) : std::nullopt;
  if (!kind)
    return "it is a dictionary with decision = \"fuse\", \"recompute\", \"channels_last\", "
           "\"merge\" or \"cut\"";
  auto [least, most] = operatorCount(*kind);
  constexpr StringRef fields[] = {"decision", "operations", "types", "want"};
  for (NamedAttribute field : rule)
    if (!llvm::is_contained(fields, field.getName()))
      return "it has no field " + field.getName().str() +
             "; there are decision, operations, types and want";
  if (!isTexts(rule.get("operations"), least, most))
    return "its operations are a list of as many names as the decision is about";
  if (Attribute types = rule.get("types");
      types && (!isTexts(types, least, most) ||
                cast<ArrayAttr>(types).size() != cast<ArrayAttr>(rule.get("operations")).size()))
    return "its types are as many texts as there are operations";
  return rule.getAs<BoolAttr>("want") ? "" : "want is true or false";
}

std::string withoutNumber(const std::string &node) {
  StringRef name = StringRef(node).rtrim("0123456789");
  return name.size() < node.size() && name.consume_back("_") && !name.empty() ? name.str() : node;
}

/// "128x768xf32", of tensors of any dialect; "" of others.
static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type; // tensor<128x768xf32>, !torch.vtensor<[128,768],f32>
  size_t begin = text.find("tensor<");
  if (begin == text.npos || !text.ends_with(">"))
    return "";
  text = text.substr(begin + 7, text.size() - begin - 8);
  std::string plain;
  for (char c : text)
    if (c != '[' && c != ' ')
      plain += c == ',' ? 'x' : c == ']' ? ' ' : c;
  llvm::erase(plain, ' ');
  return StringRef(plain).starts_with("x") ? plain.substr(1) : plain; // of rank 0
}

DictionaryAttr operatorTypes(ModuleOp module) {
  llvm::StringMap<std::string> texts; // of an operator's last operation
  module.walk([&](Operation *op) {
    std::string name = op->getNumResults() ? nodeName(op->getLoc()) : "";
    if (std::string text = name.empty() ? "" : typeText(op->getResult(0).getType()); !text.empty())
      texts[name] = text;
  });
  Builder b(module.getContext());
  NamedAttrList types;
  for (const auto &[name, text] : texts)
    types.set(name, b.getStringAttr(text));
  return types.getDictionary(module.getContext());
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
  if (module) {
    rules = module->getAttrOfType<ArrayAttr>(decisionRulesName);
    types = module->getAttrOfType<DictionaryAttr>(operatorTypesName);
  }
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
  if (wishes.empty() && !rules)
    return std::nullopt;
  auto key = keyOf(kind, operators);
  if (!key)
    return std::nullopt;
  auto found = wishes.find(*key);
  return found == wishes.end() ? ruled(*key) : std::optional(found->second);
}

/// Whether a list of texts, if there is one, has what `textOf` says of each operator.
static bool fits(ArrayAttr wanted, ArrayRef<std::string> operators,
                 llvm::function_ref<std::string(const std::string &)> textOf) {
  return !wanted || llvm::equal(wanted.getAsRange<StringAttr>(), operators,
                                [&](StringAttr text, const std::string &name) {
                                  return text.getValue() == textOf(name);
                                });
}

std::optional<bool> Decisions::ruled(const Key &key) const {
  if (!rules)
    return std::nullopt;
  auto typeOf = [&](const std::string &name) {
    auto type = types ? types.getAs<StringAttr>(name) : StringAttr();
    return type ? type.str() : "";
  };
  for (auto rule : rules.getAsRange<DictionaryAttr>())
    if (rule.getAs<StringAttr>("decision").getValue() == stringifyDecisionKind(key.first) &&
        fits(rule.getAs<ArrayAttr>("operations"), key.second, withoutNumber) &&
        fits(rule.getAs<ArrayAttr>("types"), key.second, typeOf))
      return rule.getAs<BoolAttr>("want").getValue();
  return std::nullopt;
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
