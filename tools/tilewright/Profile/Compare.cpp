// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/File.h"
#include "IO/Formats/Json.h"
#include "Text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace tw::cli {

/// What two profiles should have in common.
static std::map<std::string, std::string> factsOf(const Profile &profile) {
  return {{"model", profile.model},
          {"target", profile.target},
          {"device", profile.device},
          {"cpu", profile.cpu},
          {"threads", std::to_string(profile.threads)}};
}

/// The same of a file. What it does not have is not compared.
static std::map<std::string, std::string> factsIn(const Json &root) {
  std::map<std::string, std::string> facts;
  for (const auto &[name, unused] : factsOf({})) {
    std::optional<Json> found = root.find(name);
    if (found && found->isString())
      facts[name] = *found->string();
    else if (found && found->isInteger())
      facts[name] = std::to_string(*found->integer());
  }
  return facts;
}

/// A time in us, which is not negative.
static Result<double> timeIn(const Json &object, std::string_view name) {
  TW_ASSIGN(Json value, object.get(name));
  TW_ASSIGN(double us, value.number());
  if (us < 0)
    return value.error(fmt::format("a time is {} us, but none is negative", us));
  return us;
}

Result<ProfileTimes> readProfileTimes(const std::string &path) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(file.text(), path));
  ProfileTimes times;
  times.path = path;
  TW_ASSIGN(Json call, document.root().get("call"));
  times.of = factsIn(document.root());
  TW_ASSIGN(times.callUs, timeIn(call, "median_us"));
  TW_ASSIGN(Json dispatches, document.root().get("dispatches"));
  TW_TRY(dispatches.forEach([&](const Json &dispatch) -> Status {
    TW_ASSIGN(Json name, dispatch.get("name"));
    TW_ASSIGN(std::string_view key, name.string());
    TW_ASSIGN(double us, timeIn(dispatch, "median_of_call_us"));
    times.dispatchUs[std::string(key)] += us;
    return {};
  }));
  return times;
}

/// What makes two profiles differ beside what is to be compared.
static std::string otherwiseText(const Profile &profile, const ProfileTimes &before) {
  std::string text;
  for (const auto &[name, now] : factsOf(profile))
    if (auto then = before.of.find(name); then != before.of.end() && then->second != now)
      text +=
          fmt::format("{:<11} {} before, {} now\n", name, printable(then->second), printable(now));
  return text;
}

std::string comparisonText(const Profile &profile, const ProfileTimes &before) {
  struct Change {
    std::string name;
    std::optional<double> before, after; // medians, in us of a call
    double difference() const { return after.value_or(0) - before.value_or(0); }
  };
  std::map<std::string, double> now;
  for (const ProfileRow &row : profile.dispatches)
    now[row.name] += row.medianUs.value_or(0);
  std::vector<Change> changes;
  for (auto &[name, us] : now) {
    auto found = before.dispatchUs.find(name);
    changes.push_back(
        {name, found == before.dispatchUs.end() ? std::nullopt : std::optional(found->second), us});
  }
  for (auto &[name, us] : before.dispatchUs)
    if (!now.contains(name))
      changes.push_back({name, us, std::nullopt});
  std::ranges::sort(changes, std::greater(),
                    [](const Change &c) { return std::abs(c.difference()); });
  std::string text = otherwiseText(profile, before);
  text += fmt::format("{:<28} {:>11} {:>11} {:>11} {:>7}\n", "medians, us of a call", "before",
                      "now", "difference", "ratio");
  auto number = [](std::optional<double> us) { return us ? fmt::format("{:.1f}", *us) : "-"; };
  auto add = [&](const Change &c) {
    bool areBoth = c.before && c.after && *c.before > 0;
    text += fmt::format("{:<28} {:>11} {:>11} {:>+11.1f} {:>7}\n", printable(c.name),
                        number(c.before), number(c.after), c.difference(),
                        areBoth ? fmt::format("{:.2f}", *c.after / *c.before) : "-");
  };
  add({"(the call)", before.callUs, profile.call.median});
  for (const Change &change : changes)
    add(change);
  return text;
}

} // namespace tw::cli
