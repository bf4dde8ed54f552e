// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Decisions.h"
#include "../Failure.h"
#include "IO/Formats/Json.h"
#include "IO/Formats/JsonWriter.h"
#include "KernelSpaces.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <set>

namespace tw::cli {

/// Operators that take less of a call are left as they are.
static constexpr double leastShare = 0.01;
/// What saves less may be where code happens to lie.
static constexpr double worthAChange = 0.99;

std::string Decision::text() const {
  return fmt::format("{} of {}: {}", kind, fmt::join(operators, " and "),
                     isTaken ? "taken" : "declined");
}

std::string textOf(const std::vector<Decision> &decisions) {
  std::string text;
  for (const Decision &decision : decisions)
    text += (text.empty() ? "" : "; ") + decision.text();
  return text;
}

//===----------------------------------------------------------------------===//
// What the compiler says
//===----------------------------------------------------------------------===//

static Status readTexts(const Json &object, const char *key, std::vector<std::string> &texts) {
  TW_ASSIGN(Json list, object.get(key));
  TW_ASSIGN(texts, list.strings());
  return {};
}

static Result<std::vector<Decision>> readDecisions(const std::string &text) {
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(text, "decisions"));
  TW_ASSIGN(Json list, document.root().get("decisions"));
  std::vector<Decision> all;
  TW_TRY(list.forEach([&](const Json &object) -> Status {
    Decision &made = all.emplace_back();
    TW_ASSIGN(Json kind, object.get("decision"));
    TW_ASSIGN(made.kind, kind.string());
    TW_TRY(readTexts(object, "operators", made.operators));
    TW_TRY(readTexts(object, "operations", made.operations));
    TW_TRY(readTexts(object, "types", made.types));
    TW_ASSIGN(Json taken, object.get("taken"));
    TW_ASSIGN(made.isTaken, taken.boolean());
    return {};
  }));
  return all;
}

int describeDecisions(const ModelOptions &model, const TemporaryFolder &folder,
                      std::vector<Decision> &decisions) {
  std::string text;
  SpaceQuery query;
  query.format = "decisions";
  if (int status = describeSpaces(model, query, folder, text))
    return status;
  auto read = readDecisions(text);
  TW_TRY_CLI(read);
  decisions = *std::move(read);
  return 0;
}

std::vector<Decision> differences(const std::vector<Decision> &made,
                                  const std::vector<Decision> &before) {
  std::vector<Decision> all;
  for (const Decision &decision : made)
    if (std::ranges::find(before, decision) == before.end())
      all.push_back(decision);
  return all;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

void addTime(std::map<std::string, double> &usOf, std::string operators, double us) {
  while (!operators.empty()) {
    size_t end = std::min(operators.find(", "), operators.size());
    usOf[operators.substr(0, end)] += us;
    operators.erase(0, std::min(end + 2, operators.size()));
  }
}

std::vector<Alternative> alternativesOf(const std::vector<Decision> &decisions,
                                        const std::map<std::string, double> &usOf) {
  using Key = std::tuple<std::string, std::vector<std::string>, std::vector<std::string>, bool>;
  std::map<Key, size_t> known;
  std::vector<Alternative> all;
  for (Decision decision : decisions) {
    Key key{decision.kind, decision.operations, decision.types, decision.isTaken};
    size_t number = known.try_emplace(std::move(key), all.size()).first->second;
    all.resize(std::max(all.size(), number + 1));
    decision.isTaken = !decision.isTaken;
    all[number].push_back(std::move(decision));
  }
  auto us = [&](const Alternative &alternative) {
    std::set<std::string> operators;
    for (const Decision &decision : alternative)
      operators.insert(decision.operators.begin(), decision.operators.end());
    double sum = 0;
    for (const std::string &name : operators)
      if (auto found = usOf.find(name); found != usOf.end())
        sum += found->second;
    return sum;
  };
  double total = 0;
  for (const auto &[name, time] : usOf)
    total += time;
  std::erase_if(all, [&](const Alternative &each) { return us(each) < leastShare * total; });
  std::ranges::stable_sort(all, std::greater(), us);
  return all;
}

std::vector<Decision> DecisionReport::decisions() const {
  std::vector<Decision> all;
  for (const KeptAlternative &each : kept)
    all.insert(all.end(), each.decisions.begin(), each.decisions.end());
  return all;
}

bool isWorthAChange(const tune::TimeRatio &ratio) {
  return ratio.isFaster() && ratio.median < worthAChange;
}

Result<DecisionReport> searchDecisions(const std::vector<Alternative> &alternatives,
                                       DecisionTrials &trials,
                                       const std::function<bool()> &goesOn) {
  DecisionReport report;
  for (const Alternative &alternative : alternatives) {
    if (!goesOn())
      break;
    std::vector<Decision> wanted = report.decisions();
    wanted.insert(wanted.end(), alternative.begin(), alternative.end());
    AlternativeTrial trial;
    bool isFaster = true;
    // The fastest of many that were measured once is a lucky one.
    for (bool isFinal : {false, true}) {
      if (!isFaster)
        break;
      TW_ASSIGN(trial, trials.tryOut(wanted, isFinal));
      if (trial.isInterrupted)
        return report;
      isFaster = trial.refusal.empty() && isWorthAChange(trial.ratio);
    }
    ++report.tried;
    report.refused += !trial.refusal.empty();
    if (!isFaster)
      continue;
    trials.keep();
    report.kept.push_back({alternative, trial.ratio});
  }
  return report;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void write(JsonWriter &json, const std::vector<Decision> &decisions) {
  json.beginArray();
  for (const Decision &decision : decisions) {
    json.beginObject().member("decision", std::string_view(decision.kind));
    json.key("operators").beginArray();
    for (const std::string &name : decision.operators)
      json.value(std::string_view(name));
    json.endArray().member("want", decision.isTaken).endObject();
  }
  json.endArray();
}

std::string decisionRules(const std::vector<Decision> &decisions) {
  std::vector<std::string> rules;
  for (const Decision &decision : decisions) {
    std::string rule = fmt::format(
        "{{decision = \"{}\", operations = [\"{}\"],\n     types = [\"{}\"], want = {}}}",
        decision.kind, fmt::join(decision.operations, "\", \""),
        fmt::join(decision.types, "\", \""), decision.isTaken);
    if (std::ranges::find(rules, rule) == rules.end())
      rules.push_back(std::move(rule));
  }
  return fmt::format("[\n    {}]", fmt::join(rules, ",\n    "));
}

} // namespace tw::cli
