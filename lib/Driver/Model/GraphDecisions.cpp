// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/GraphDecisions.h"
#include "Driver/CApi/Session.h"
#include "Driver/NearestNames.h"
#include "IO/Formats/Json.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/Graph/Decisions.h"
#include "IR/ModelLocation.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

using namespace mlir;

namespace tw {

static Result<GivenDecision> readDecision(const Json &object, const std::string &file) {
  TW_ASSIGN(Json what, object.get("decision"));
  TW_ASSIGN(std::string_view name, what.string());
  auto kind = graph::symbolizeDecisionKind(StringRef(name));
  if (!kind)
    return what.error(
        fmt::format(
            "\"{}\" is no decision: there are fuse, recompute, channels_last, merge and cut", name),
        Code::CONFIG_1);
  TW_ASSIGN(Json operators, object.get("operators"));
  GivenDecision decision{*kind, {}, true, file + ": " + object.path()};
  TW_ASSIGN(decision.operators, operators.strings());
  auto [least, most] = graph::operatorCount(*kind);
  if (size_t count = decision.operators.size(); count < least || count > most)
    return operators.error(fmt::format("{} is about {}{} operators, not {}", name, least,
                                       most > least ? " or more" : "", count),
                           Code::CONFIG_1);
  TW_ASSIGN(Json want, object.get("want"));
  TW_ASSIGN(decision.isTaken, want.boolean());
  return decision;
}

Result<std::vector<GivenDecision>> readDecisions(const Json &list, const std::string &file) {
  std::vector<GivenDecision> all;
  std::set<std::pair<graph::DecisionKind, std::vector<std::string>>> known;
  TW_TRY(list.forEach([&](const Json &object) -> Status {
    if (!object.find("want")) // what a report says, unchanged
      return {};
    TW_ASSIGN(GivenDecision decision, readDecision(object, file));
    if (!known.insert({decision.kind, decision.operators}).second)
      return object.error(fmt::format("{} of {} stands here a second time",
                                      graph::stringifyDecisionKind(decision.kind).str(),
                                      fmt::join(decision.operators, " and ")),
                          Code::CONFIG_5);
    all.push_back(std::move(decision));
    return {};
  }));
  return all;
}

void wantDecisions(ModuleOp module, const std::vector<GivenDecision> &given,
                   ArrayRef<Attribute> rules) {
  Builder b(module.getContext());
  SmallVector<Attribute> wanted;
  for (const GivenDecision &decision : given) {
    SmallVector<StringAttr> names;
    for (const std::string &name : decision.operators)
      names.push_back(b.getStringAttr(name));
    wanted.push_back(graph::DecisionAttr::get(b.getContext(), decision.kind, names,
                                              decision.isTaken, StringAttr()));
  }
  module->setAttr(graph::wantedDecisionsName, b.getArrayAttr(wanted));
  module->setAttr(graph::operatorTypesName, graph::operatorTypes(module));
  if (!rules.empty())
    module->setAttr(graph::decisionRulesName, b.getArrayAttr(rules));
}

static SmallVector<graph::DecisionAttr> decisionsOf(ModuleOp module) {
  SmallVector<graph::DecisionAttr> all;
  if (auto list = module->getAttrOfType<ArrayAttr>(graph::decisionsName))
    llvm::append_range(all, list.getAsRange<graph::DecisionAttr>());
  return all;
}

/// The operators that each dispatch computes.
static std::vector<llvm::StringSet<>> operatorsOfDispatches(ModuleOp module) {
  std::vector<llvm::StringSet<>> all;
  module.walk([&](graph::DispatchOp call) {
    llvm::StringSet<> &operators = all.emplace_back();
    call.getLoc()->walk([&](Location part) {
      if (std::string name = nodeName(part); !name.empty())
        operators.insert(name);
      return WalkResult::advance();
    });
  });
  return all;
}

/// Why kernels of `producer` and `consumer` are not one: as it was decided for other operators of
/// these kernels.
static StringAttr whyApart(ArrayRef<graph::DecisionAttr> decisions,
                           ArrayRef<llvm::StringSet<>> dispatches, StringAttr producer,
                           StringAttr consumer) {
  auto areTogether = [&](StringAttr one, StringAttr other) {
    return llvm::any_of(dispatches, [&](const llvm::StringSet<> &operators) {
      return operators.contains(one) && operators.contains(other);
    });
  };
  for (graph::DecisionAttr other : decisions)
    if (other.getKind() == graph::DecisionKind::Fuse && !other.getTaken() && other.getReason() &&
        areTogether(other.getOperators()[0], producer) &&
        areTogether(other.getOperators()[1], consumer))
      return other.getReason();
  return StringAttr::get(producer.getContext(), "their kernels stay apart");
}

void settleDecisions(ModuleOp module) {
  SmallVector<graph::DecisionAttr> made = decisionsOf(module);
  std::vector<llvm::StringSet<>> dispatches = operatorsOfDispatches(module);
  auto isComputed = [&](StringAttr name) {
    return llvm::any_of(dispatches, [&](auto &operators) { return operators.contains(name); });
  };
  SmallVector<Attribute> settled;
  for (graph::DecisionAttr decision : made) {
    ArrayRef<StringAttr> operators = decision.getOperators();
    bool isFusion = decision.getKind() == graph::DecisionKind::Fuse && decision.getTaken();
    bool isInOne = llvm::any_of(dispatches, [&](const llvm::StringSet<> &dispatch) {
      return llvm::all_of(operators, [&](StringAttr name) { return dispatch.contains(name); });
    });
    if (isFusion && !isInOne && llvm::all_of(operators, isComputed))
      decision = graph::DecisionAttr::get(module.getContext(), decision.getKind(), operators,
                                          /*taken=*/false,
                                          whyApart(made, dispatches, operators[0], operators[1]));
    settled.push_back(decision);
  }
  if (!made.empty())
    module->setAttr(graph::decisionsName, ArrayAttr::get(module.getContext(), settled));
}

static bool isAbout(graph::DecisionAttr decision, const GivenDecision &given) {
  return decision.getKind() == given.kind &&
         llvm::equal(decision.getOperators(), given.operators,
                     [](StringAttr a, const std::string &b) { return a.getValue() == b; });
}

/// Which operators a decision is about: "fuse of linear and relu".
static std::string subject(graph::DecisionKind kind, ArrayRef<std::string> operators) {
  return fmt::format("{} of {}", graph::stringifyDecisionKind(kind).str(),
                     fmt::join(operators, " and "));
}

static Diagnostic unknownDecision(const std::string &place, const std::string &what,
                                  ArrayRef<graph::DecisionAttr> made) {
  std::vector<std::string> subjects;
  for (graph::DecisionAttr decision : made)
    subjects.push_back(subject(
        decision.getKind(),
        llvm::map_to_vector(decision.getOperators(), [](StringAttr name) { return name.str(); })));
  return {Code::CONFIG_4,
          fmt::format("no decision of the model is {}", what),
          place,
          {subjects.empty() ? "the model has no decisions" : nearestNames(what, subjects)},
          "`compile --report=json` prints the decisions of the model"};
}

Status checkDecisions(ModuleOp module, const std::vector<GivenDecision> &given, Session &session) {
  SmallVector<graph::DecisionAttr> made = decisionsOf(module);
  for (const GivenDecision &wanted : given) {
    auto found = llvm::find_if(
        made, [&](graph::DecisionAttr decision) { return isAbout(decision, wanted); });
    std::string what = subject(wanted.kind, wanted.operators);
    if (found == made.end())
      session.warning(unknownDecision(wanted.place, what, made));
    else if (found->getTaken() != wanted.isTaken)
      return Diagnostic{
          Code::CONFIG_6,
          fmt::format("{}: {} cannot be {}{}", wanted.place, what,
                      wanted.isTaken ? "taken" : "declined",
                      found->getReason() ? ": " + found->getReason().str() : std::string()),
          {},
          {},
          "leave it out: the compiler then decides"};
  }
  return {};
}

void writeDecisions(JsonWriter &json, ModuleOp module) {
  auto types = module->getAttrOfType<DictionaryAttr>(graph::operatorTypesName);
  json.beginArray();
  for (graph::DecisionAttr decision : decisionsOf(module)) {
    json.beginObject().member("decision", graph::stringifyDecisionKind(decision.getKind()).str());
    json.key("operators").beginArray();
    for (StringAttr name : decision.getOperators())
      json.value(std::string_view(name.getValue()));
    json.endArray().member("taken", decision.getTaken());
    if (decision.getReason())
      json.member("reason", decision.getReason().str());
    // As rules for decisions have them (docs/tuning.md).
    json.key("operations").beginArray();
    for (StringAttr name : decision.getOperators())
      json.value(graph::withoutNumber(name.str()));
    json.endArray().key("types").beginArray();
    for (StringAttr name : decision.getOperators()) {
      auto type = types ? types.getAs<StringAttr>(name) : StringAttr();
      json.value(std::string_view(type ? type.getValue() : ""));
    }
    json.endArray();
    json.endObject();
  }
  json.endArray();
}

} // namespace tw
