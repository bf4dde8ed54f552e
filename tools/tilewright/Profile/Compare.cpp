// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/File.h"
#include "IO/Formats/Json.h"
#include "Text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace tw::cli {

Result<ProfileTimes> readProfileTimes(const std::string &path) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(file.text(), path));
  ProfileTimes times;
  times.path = path;
  TW_ASSIGN(Json call, document.root().get("call"));
  TW_ASSIGN(Json median, call.get("median_us"));
  TW_ASSIGN(times.callUs, median.number());
  TW_ASSIGN(Json count, call.get("calls"));
  TW_ASSIGN(double calls, count.number());
  if (calls < 1)
    return count.error(
        fmt::format("the number of calls is {}, but there must be one at least", calls));
  TW_ASSIGN(Json dispatches, document.root().get("dispatches"));
  TW_TRY(dispatches.forEach([&](const Json &dispatch) -> Status {
    TW_ASSIGN(Json name, dispatch.get("name"));
    TW_ASSIGN(std::string_view key, name.string());
    TW_ASSIGN(Json total, dispatch.get("total_us"));
    TW_ASSIGN(double us, total.number());
    times.meanUs[std::string(key)] += us / calls;
    return {};
  }));
  return times;
}

std::string comparisonText(const Profile &profile, const ProfileTimes &before) {
  struct Change {
    std::string name;
    std::optional<double> before, after; // us of a call
    double difference() const { return after.value_or(0) - before.value_or(0); }
  };
  std::map<std::string, double> now;
  for (const ProfileRow &row : profile.dispatches)
    now[row.name] += row.totalUs / double(std::max<int64_t>(profile.call.count, 1));
  std::vector<Change> changes;
  for (auto &[name, us] : now) {
    auto found = before.meanUs.find(name);
    changes.push_back(
        {name, found == before.meanUs.end() ? std::nullopt : std::optional(found->second), us});
  }
  for (auto &[name, us] : before.meanUs)
    if (!now.contains(name))
      changes.push_back({name, us, std::nullopt});
  std::ranges::sort(changes, std::greater(),
                    [](const Change &c) { return std::abs(c.difference()); });
  std::string text = fmt::format("{:<28} {:>11} {:>11} {:>11} {:>7}\n", "us of a call", "before",
                                 "now", "difference", "ratio");
  auto number = [](std::optional<double> us) { return us ? fmt::format("{:.1f}", *us) : "-"; };
  auto add = [&](const Change &c) {
    bool areBoth = c.before && c.after && *c.before > 0;
    text += fmt::format("{:<28} {:>11} {:>11} {:>+11.1f} {:>7}\n", c.name, number(c.before),
                        number(c.after), c.difference(),
                        areBoth ? fmt::format("{:.2f}", *c.after / *c.before) : "-");
  };
  add({"(the call, median)", before.callUs, profile.call.median});
  for (const Change &change : changes)
    add(change);
  return text;
}

} // namespace tw::cli
