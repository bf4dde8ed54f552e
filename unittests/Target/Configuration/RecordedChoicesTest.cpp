// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast what the cpu target chooses is, where all configurations have been measured:
// docs/tuning.md, "How soon the best is found". Times are of a Xeon with AMX, one thread.
#include "Target/CPU/Configuration/AttentionCost.h"
#include "Target/CPU/Configuration/ContractionCost.h"
#include "Target/CPU/Configuration/ConvolutionCost.h"
#include "unittests/Kernels/Specs.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace tw::target::cpu {
namespace {

/// Of one kernel: its sizes, the knobs that were searched, and the time of each point in terms of
/// some point's.
struct Recorded {
  std::map<std::string, int64_t> sizes;
  std::vector<std::string> knobs;
  std::map<std::vector<int64_t>, double> times;
  double best = INFINITY;

  void add(const std::vector<int64_t> &point, double time) {
    times[point] = time;
    best = std::min(best, time);
  }
};

std::vector<Recorded> readRecorded(const std::string &name) {
  std::ifstream file(TW_RECORDED_SPACES "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::vector<Recorded> kernels;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, name;
    words >> first;
    if (first == "kernel") {
      kernels.emplace_back();
    } else if (first == "sizes") {
      for (int64_t least = 0, most = 0; words >> name >> least >> most;)
        kernels.back().sizes[name] = most;
    } else if (first == "knob") {
      words >> kernels.back().knobs.emplace_back();
    } else {
      std::istringstream numbers(first == "start" ? line.substr(line.find(' ')) : line);
      std::vector<int64_t> point(kernels.back().knobs.size());
      for (int64_t &value : point)
        numbers >> value;
      double cost = 0, ratio = 1;
      numbers >> cost;
      if (first != "start")
        numbers >> ratio;
      if (ratio > 0) // right
        kernels.back().add(point, ratio);
    }
  }
  return kernels;
}

kernels::Numbers attentionChoice(const Recorded &recorded, const VectorUnit &unit) {
  int64_t heads = recorded.sizes.at("batch"), queries = recorded.sizes.at("queries");
  int64_t keys = recorded.sizes.at("keys"), depth = recorded.sizes.at("depth");
  Attention spec;
  spec.dims = {{heads}, {queries}, {keys}, {depth}, {depth}};
  spec.queries = 1, spec.keys = 2, spec.depth = 3, spec.width = 4;
  spec.buffers = {{"q", kernel::f32, {{heads}, {queries}, {depth}}},
                  {"k", kernel::f32, {{heads}, {keys}, {depth}}},
                  {"v", kernel::f32, {{heads}, {keys}, {depth}}},
                  {"o", kernel::f32, {{heads}, {queries}, {depth}}, true}};
  spec.query = {0, {{0}, {1}, {3}}}, spec.key = {1, {{0}, {2}, {3}}};
  spec.value = {2, {{0}, {2}, {4}}}, spec.output = {3, {{0}, {1}, {4}}};
  return kernels::numbersOf(chooseAttention(spec, unit));
}

kernels::Numbers convolutionChoice(const Recorded &recorded, const VectorUnit &unit) {
  int64_t stride = recorded.sizes.at("stride_0");
  return kernels::numbersOf(chooseConvolution(
      kernels::image(recorded.sizes.at("channels"), recorded.sizes.at("outputs"),
                     recorded.sizes.at("output_0") * stride, recorded.sizes.at("window_0"), stride),
      unit, true));
}

kernels::Numbers linearChoice(const Recorded &recorded, const VectorUnit &unit) {
  return kernels::numbersOf(
      chooseContraction(kernels::product(recorded.sizes.at("rows"), recorded.sizes.at("columns"),
                                         recorded.sizes.at("sum")),
                        unit, true));
}

/// The geometric mean of what share of the best one's speed the choices have.
double shareOfBest(const std::string &name,
                   kernels::Numbers (*choose)(const Recorded &, const VectorUnit &)) {
  VectorUnit unit{16, 32, 32, 32, true, 128, {2 << 20}}; // of a Xeon with AMX
  double sum = 0;
  std::vector<Recorded> all = readRecorded(name);
  for (const Recorded &recorded : all) {
    kernels::Numbers chosen = choose(recorded, unit);
    std::vector<int64_t> point;
    for (const std::string &knob : recorded.knobs)
      point.push_back(chosen.at(knob));
    auto found = recorded.times.find(point);
    if (found == recorded.times.end()) {
      ADD_FAILURE() << name << ": nobody has measured " << testing::PrintToString(point);
      return 0;
    }
    sum += std::log(recorded.best / found->second);
  }
  return std::exp(sum / double(all.size()));
}

TEST(RecordedChoices, AreNearlyTheBest) {
  EXPECT_GE(shareOfBest("linears.txt", linearChoice), 0.99);
  EXPECT_GE(shareOfBest("attentions.txt", attentionChoice), 0.95);
  EXPECT_GE(shareOfBest("convolutions.txt", convolutionChoice), 0.96);
}

} // namespace
} // namespace tw::target::cpu
