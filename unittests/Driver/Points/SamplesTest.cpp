// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search draws from spaces of millions of points differs where it matters: in the blocks
// that programs compute, and not only in the order of programs.
#include "Tune/Solver.h"
#include "unittests/Driver/Points/Dispatches.h"
#include "unittests/Driver/Points/PointCompiler.h"
#include <gtest/gtest.h>
#include <set>

namespace tw {
namespace {

using tune::Point;
using tune::Space;

/// The same point without the knobs that only order programs or share a loop.
Point blockOf(Point point) {
  std::erase_if(point, [](const auto &knob) {
    return knob.first == "split_parts" || knob.first.find("programs") != std::string::npos;
  });
  return point;
}

std::set<Point> blocksOf(const std::vector<Point> &points) {
  std::set<Point> blocks;
  for (const Point &point : points)
    blocks.insert(blockOf(point));
  return blocks;
}

struct LargeSpace {
  std::string text;
  const char *target;
  std::vector<const char *> knobs; // of which all values are drawn
};

TEST(Samples, DifferInWhatProgramsCompute) {
  const LargeSpace spaces[] = {
      {text(ProductCase{2048, 2048, 64}),
       "cpu:x86-64-v3",
       {"rows", "columns", "k_block", "packed", "row_programs", "accumulators_in_memory"}},
      {text(ConvolutionCase{128, 8, 96}), "cpu:x86-64-v3", {"width", "height", "columns"}},
      {attentionText({2, 2048, 2048, 64}), "cpu:x86-64-v4", {"queries", "keys", "transposed"}}};
  for (const LargeSpace &each : spaces) {
    PointCompiler compiler(each.text, each.target);
    const Space &space = compiler.spaces().front().space;
    constexpr size_t most = 400; // as a search asks for
    std::vector<Point> samples = tune::Solver(space).sample(most, 1);
    EXPECT_EQ(std::set(samples.begin(), samples.end()).size(), most);
    EXPECT_GT(blocksOf(samples).size(), most * 9 / 10);
    for (const char *name : each.knobs) {
      std::set<int64_t> drawn;
      for (const Point &sample : samples)
        drawn.insert(sample.at(name));
      EXPECT_EQ(drawn.size(), space.find(name)->values.size()) << name;
    }
    // What the solver finds when each point only excludes itself.
    std::vector<Point> solved = tune::Solver(space).enumerate(most / 10).points;
    EXPECT_LT(blocksOf(solved).size(), solved.size() / 2);
  }
}

} // namespace
} // namespace tw
