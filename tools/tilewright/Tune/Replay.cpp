// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Replay.h"
#include "IO/Formats/JsonWriter.h"
#include "Tune/Replay.h"
#include "tools/tilewright/Failure.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>

namespace tw::cli {
using tune::Point;
using tune::RecordedSpace;

namespace {

/// A candidate is found that reaches so much of the best one's speed, with so few of the points.
constexpr double shareOfBest = 0.98, shareOfPoints = 0.05;
constexpr uint64_t searches = 25; // of each order, from different seeds

/// How many candidates each search took, ascending; a search that ended before counts as all
/// points.
struct Counts {
  std::vector<size_t> taken;

  size_t median() const { return taken[taken.size() / 2]; }
  double shareWithin(size_t most) const {
    return double(std::ranges::count_if(taken, [&](size_t each) { return each <= most; })) /
           double(taken.size());
  }
};

Counts countsOf(const RecordedSpace &space, uint64_t seed,
                const std::function<std::vector<Point>(uint64_t seed)> &order) {
  Counts counts;
  for (uint64_t each = 0; each < searches; ++each)
    counts.taken.push_back(tune::candidatesUntil(space, order(seed + each), shareOfBest)
                               .value_or(space.points.size()));
  std::ranges::sort(counts.taken);
  return counts;
}

struct ReplayedSpace {
  const RecordedSpace *space;
  std::vector<std::pair<const char *, Counts>> orders;

  size_t fewPoints() const {
    return std::max<size_t>(size_t(shareOfPoints * double(space->points.size())), 1);
  }
};

/// Some point that can be measured, for a search that begins anywhere.
Point anyPoint(const RecordedSpace &space, uint64_t seed) {
  for (const Point &point : tune::randomOrder(space, seed))
    if (space.ratioOf(point) <= 1e9)
      return point;
  return space.start.point;
}

ReplayedSpace replay(const RecordedSpace &space, const tune::CorrectionPrior &known,
                     uint64_t seed) {
  auto prior = std::make_shared<tune::CorrectionPrior>(known);
  size_t all = space.points.size();
  ReplayedSpace made{&space, {}};
  made.orders.emplace_back("random", countsOf(space, seed, [&](uint64_t each) {
                             return tune::randomOrder(space, each);
                           }));
  made.orders.emplace_back(
      "model", countsOf(space, seed, [&](uint64_t) { return tune::modelOrder(space); }));
  made.orders.emplace_back("corrected", countsOf(space, seed, [&](uint64_t) {
                             return tune::correctedOrder(space, *prior);
                           }));
  made.orders.emplace_back("search", countsOf(space, seed, [&](uint64_t each) {
                             return tune::searchOrder(space, anyPoint(space, each), all, each);
                           }));
  made.orders.emplace_back("with prior", countsOf(space, seed, [&](uint64_t each) {
                             return tune::searchOrder(space, anyPoint(space, each), all, each,
                                                      prior);
                           }));
  made.orders.emplace_back("from start", countsOf(space, seed, [&](uint64_t each) {
                             return tune::searchOrder(space, space.start.point, all, each, prior);
                           }));
  return made;
}

/// "contraction f32, f32, f32; rows 5, columns 16".
std::string nameOf(const RecordedSpace &space) {
  const std::string &target = space.kernel.target;
  std::string text =
      fmt::format("{} {}", target.substr(target.rfind(' ') + 1), space.description.dtypes);
  const char *separator = "; ";
  for (const auto &[name, range] : space.description.sizes) {
    text += fmt::format("{}{} {}", separator, name, range.first);
    if (range.second != range.first)
      text += fmt::format(" to {}", range.second);
    separator = ", ";
  }
  return text;
}

std::string replayText(const std::vector<ReplayedSpace> &replayed) {
  std::string text = fmt::format("{:>7} {:>9} {:>5}", "points", "% of best", "5 %");
  for (const auto &[name, counts] : replayed.front().orders)
    text += fmt::format(" {:>12}", name);
  text += "  kernel\n";
  std::vector<double> within(replayed.front().orders.size());
  for (const ReplayedSpace &each : replayed) {
    text += fmt::format("{:>7} {:>9.1f} {:>5}", each.space->points.size(), 100 * each.space->best,
                        each.fewPoints());
    for (size_t i = 0; i < each.orders.size(); ++i) {
      within[i] += each.orders[i].second.shareWithin(each.fewPoints()) / double(replayed.size());
      text += fmt::format(" {:>12}", each.orders[i].second.median());
    }
    text += fmt::format("  {}\n", nameOf(*each.space));
  }
  text += fmt::format("{:>23}", "within 5 %:");
  for (double share : within)
    text += fmt::format(" {:>10.0f} %", 100 * share);
  return text + fmt::format("  of {} searches of {} spaces each\n", searches, replayed.size());
}

std::string replayJson(const std::vector<ReplayedSpace> &replayed) {
  JsonWriter json;
  json.beginObject().key("spaces").beginArray();
  for (const ReplayedSpace &each : replayed) {
    const RecordedSpace &space = *each.space;
    json.beginObject().member("signature", std::string_view(space.kernel.signature));
    json.member("number", space.kernel.number);
    json.member("target", std::string_view(space.kernel.target));
    json.member("machine", std::string_view(space.kernel.machine));
    json.member("dtypes", std::string_view(space.description.dtypes)).key("sizes").beginObject();
    for (const auto &[name, range] : space.description.sizes)
      json.key(name).beginArray().value(range.first).value(range.second).endArray();
    json.endObject().member("points", int64_t(space.points.size()));
    json.member("share_of_best", space.best).key("candidates").beginObject();
    for (const auto &[name, counts] : each.orders)
      json.member(name, int64_t(counts.median()));
    json.endObject().key("within").beginObject();
    for (const auto &[name, counts] : each.orders)
      json.member(name, counts.shareWithin(each.fewPoints()));
    json.endObject().endObject();
  }
  return json.endArray().endObject().text() + "\n";
}

} // namespace

int replayDatabase(const std::string &path, uint64_t seed, bool json) {
  TW_TRY_CLI(
      std::filesystem::exists(path)
          ? Status()
          : Status(Diagnostic{Code::IO_1, fmt::format("cannot read {}: No such file", path)}));
  auto database = tune::Database::open(path);
  TW_TRY_CLI(database);
  auto recorded = database->all();
  TW_TRY_CLI(recorded);
  std::vector<RecordedSpace> spaces;
  std::vector<tune::CorrectionPrior> priors;
  for (const tune::RecordedKernel &kernel : *recorded)
    if (auto space = RecordedSpace::from(kernel)) {
      spaces.push_back(*std::move(space));
      priors.push_back(tune::priorFor(kernel, *recorded));
    }
  if (spaces.empty())
    return fail({Code::CLI_1,
                 fmt::format("{} has no kernel of which all configurations were measured", path),
                 {},
                 {},
                 "make one with tilewright tune MODEL --exhaustive --database"});
  std::vector<ReplayedSpace> replayed;
  for (size_t i = 0; i < spaces.size(); ++i)
    replayed.push_back(replay(spaces[i], priors[i], seed));
  TW_TRY_CLI(writeResults(json ? replayJson(replayed) : replayText(replayed)));
  return 0;
}

} // namespace tw::cli
