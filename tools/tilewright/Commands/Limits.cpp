// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright limits: what this machine sustains. Benchmarks run it between their turns, so that
// what they compare with has been measured beside what is compared.
#include "tools/tilewright/Limits.h"
#include "Commands.h"
#include "IO/Formats/JsonWriter.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Machine.h"
#include "tools/tilewright/Program/Values.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <memory>

namespace tw::cli {

namespace {

/// How fast a level of the memory is read by all threads together.
struct ReadLimit {
  CacheLevel level;
  double bytesPerSecond = 0, ofRows = 0; // one after another; at random places
};

struct MeasuredLimits {
  Limits arithmetic;
  std::vector<ReadLimit> reads;
};

/// Of a cache half is read: the rest is for what else runs. Of the memory more than the caches
/// hold.
MeasuredLimits measureAll(int threads) {
  constexpr int64_t leastOfMemory = int64_t(512) << 20;
  MeasuredLimits limits{measureLimits(threads)};
  std::vector<CacheLevel> levels = cacheLevels(threads);
  int64_t ofMemory = leastOfMemory;
  for (const CacheLevel &level : levels)
    ofMemory = std::max(ofMemory, 2 * level.bytes);
  levels.push_back({"memory", std::numeric_limits<int64_t>::max()});
  for (const CacheLevel &level : levels) {
    int64_t bytes = std::min(level.bytes / 2, ofMemory);
    limits.reads.push_back({level, measureRead(threads, bytes), measureLookups(threads, bytes)});
  }
  return limits;
}

std::string ratesText(const MeasuredLimits &limits, double ReadLimit::*rate) {
  std::string text;
  for (const ReadLimit &read : limits.reads)
    text +=
        fmt::format("{} {} {:.3g}", text.empty() ? "" : ",", read.level.name, 1e-9 * read.*rate);
  return text;
}

std::string textOf(const MeasuredLimits &limits) {
  int threads = limits.arithmetic.threads;
  return fmt::format(
      "{} thread{}: {:.0f} GFLOP/s of f32, {:.0f} of bf16; reads, GB/s:{}; of rows of {} "
      "bytes at random places:{}\n",
      threads, threads == 1 ? "" : "s", 1e-9 * limits.arithmetic.flops32,
      1e-9 * limits.arithmetic.flops16, ratesText(limits, &ReadLimit::bytesPerSecond), lookupBytes,
      ratesText(limits, &ReadLimit::ofRows));
}

void writeJson(JsonWriter &json, const MeasuredLimits &limits) {
  json.beginObject().member("threads", limits.arithmetic.threads);
  json.key("flops_per_second").beginObject();
  json.member("f32", limits.arithmetic.flops32).member("bf16", limits.arithmetic.flops16);
  json.endObject().key("reads").beginArray();
  for (const ReadLimit &read : limits.reads) {
    json.beginObject().member("level", read.level.name);
    if (read.level.name != "memory")
      json.member("capacity_bytes", read.level.bytes);
    json.member("bytes_per_second", read.bytesPerSecond);
    json.member("lookup_bytes_per_second", read.ofRows).endObject();
  }
  json.endArray().member("lookup_row_bytes", lookupBytes).endObject();
}

int printLimits(const std::vector<int> &threads, bool asJson) {
  JsonWriter json;
  json.beginArray();
  std::string text;
  for (int count : threads) {
    MeasuredLimits limits = measureAll(count);
    writeJson(json, limits);
    text += textOf(limits);
  }
  TW_TRY_CLI(writeResults(asJson ? json.endArray().text() + "\n" : text));
  return 0;
}

} // namespace

void addLimits(CLI::App &app, Invocation &invocation) {
  struct Options {
    std::vector<int> threads;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("limits", "measure what this machine computes and reads at most");
  command
      ->add_option("--threads", options->threads, "numbers of threads (default: 1, and all cores)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  command->add_flag("--json", options->json, "print a JSON array, an object for each number");
  command->callback([options, &invocation] {
    invocation.action = [options] {
      std::vector<int> threads = options->threads;
      if (threads.empty())
        threads = usableThreads() == 1 ? std::vector{1} : std::vector{1, usableThreads()};
      return printLimits(threads, options->json);
    };
  });
}

} // namespace tw::cli
