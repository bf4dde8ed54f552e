// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on simulated tensor cores against the interpreter: layouts of operands, odd sizes,
// blocks that are no powers of two, epilogues.
#include "Block.h"
#include "CompiledKernel.h"
#include "ProductCase.h"
#include "SimulatedTarget.h"
#include <gtest/gtest.h>

namespace tw::target {
namespace {

using Case = ProductCase;

/// Expects what the interpreter computes, within so much of the largest result; whether tensor
/// cores did it.
bool runOnTensorCores(const Case &c) {
  double unit = std::string(c.result) == "f16"    ? 1e-3
                : std::string(c.result) == "bf16" ? 8e-3
                : c.isTF32                        ? (c.hasEpilogue ? 0x1p-8 : 0x1p-10)
                                                  : 1e-5;
  int64_t before = simulator::productsSoFar();
  CompiledKernel(textOf(c)).expectSame(inputsOf(c), unit);
  return simulator::productsSoFar() > before;
}

class Products : public testing::TestWithParam<Case> {};
TEST_P(Products, AreTheInterpreters) { EXPECT_TRUE(runOnTensorCores(GetParam())); }

class OtherProducts : public testing::TestWithParam<Case> {};
TEST_P(OtherProducts, HaveThePlainLowering) { EXPECT_FALSE(runOnTensorCores(GetParam())); }

const Case cases[] = {
    {128, 128, 64, 300, 192, 200},                              // programs beyond the end
    {128, 128, 64, 256, 256, 256, false, true},                 // b is [N, K]
    {128, 160, 64, 200, 320, 136, false, true, "bf16", "bf16"}, // no power of two
    {128, 160, 64, 200, 320, 136},                              // and narrower chunks
    {64, 32, 32, 72, 40, 104, false, true, "f16", "f16", true}, // one warp group
    {256, 128, 64, 264, 136, 128, true, true, "bf16", "bf16", true},
    {64, 64, 64, 96, 80, 72, true, false},
    {192, 80, 16, 100, 88, 40, false, true},                     // three, in rows of 32 bytes
    {128, 64, 64, 129, 66, 72, false, true, "f16", "f16", true}, // rows of 132 bytes
    {128, 96, 64, 130, 104, 72, false, false, "f16", "f32", true},
};
INSTANTIATE_TEST_SUITE_P(All, Products, testing::ValuesIn(cases));

// Without a loop: one trip has all of K, or more.
const Case oneTrip[] = {
    {.rows = 128, .columns = 128, .depth = 32, .m = 300, .n = 192, .k = 32, .hasLoop = false},
    {.rows = 64,
     .columns = 64,
     .depth = 16,
     .m = 80,
     .n = 72,
     .k = 8,
     .isTransposedB = true,
     .hasEpilogue = true,
     .hasLoop = false},
    {.rows = 128,
     .columns = 160,
     .depth = 64,
     .m = 9300,
     .n = 320,
     .k = 40,
     .type = "bf16",
     .result = "bf16",
     .hasEpilogue = true,
     .hasLoop = false}, // several programs a block
    {.rows = 256,
     .columns = 64,
     .depth = 32,
     .m = 264,
     .n = 72,
     .k = 24,
     .isTransposedA = true,
     .isTransposedB = true,
     .result = "f32",
     .hasLoop = false},
    // Rows of the result that TMA cannot store.
    {.rows = 128, .columns = 96, .depth = 32, .m = 130, .n = 75, .k = 72, .isTransposedB = true},
    {.rows = 128, .columns = 64, .depth = 32, .m = 300, .n = 204, .k = 72, .isTransposedB = true},
    {.rows = 16, .columns = 64, .depth = 32, .m = 16, .n = 130, .k = 72, .isTransposedB = true},
    {.rows = 64, .columns = 64, .depth = 16, .m = 80, .n = 72, .k = 32}, // a loop of two
    {.rows = 64, .columns = 64, .depth = 32, .m = 80, .n = 72, .k = 16}, // and of one
    {.rows = 64,
     .columns = 64,
     .depth = 32,
     .m = 80,
     .n = 72,
     .k = 16,
     .isTransposedB = true,
     .hasLoop = false,
     .unknown = "MNK"},
};
INSTANTIATE_TEST_SUITE_P(OneTrip, Products, testing::ValuesIn(oneTrip));

/// f32 that may be rounded, by 2^-11 of each operand; the interpreter multiplies it as it is, and
/// sums in f64. What tanh leaves of large sums is small beside their errors.
Case tf32(Case c) {
  c.type = c.result = "f32";
  c.isTF32 = c.isTransposedB = true;
  return c;
}
const Case roundedCases[] = {
    tf32({.rows = 128, .columns = 128, .depth = 32, .m = 300, .n = 192, .k = 200}),
    tf32({.rows = 128,
          .columns = 160,
          .depth = 32,
          .m = 200,
          .n = 321,
          .k = 100,
          .hasEpilogue = true}),
    tf32({.rows = 64, .columns = 40, .depth = 16, .m = 72, .n = 40, .k = 44}), // rows of 64 bytes
    tf32({.rows = 192, .columns = 72, .depth = 8, .m = 200, .n = 72, .k = 20}),
    tf32({.rows = 256, .columns = 64, .depth = 64, .m = 256, .n = 64, .k = 256}),
    tf32({.rows = 64, .columns = 64, .depth = 8, .m = 80, .n = 72, .k = 4, .hasLoop = false}),
    tf32({.rows = 128, .columns = 64, .depth = 32, .m = 130, .n = 72, .k = 72, .unknown = "MNK"}),
};
INSTANTIATE_TEST_SUITE_P(TF32, Products, testing::ValuesIn(roundedCases));

/// wgmma cannot transpose tf32.
const Case transposedTF32[] = {
    {.rows = 64,
     .columns = 64,
     .depth = 32,
     .m = 80,
     .n = 72,
     .k = 64,
     .type = "f32",
     .result = "f32",
     .isTF32 = true},
    {.rows = 64,
     .columns = 64,
     .depth = 32,
     .m = 80,
     .n = 72,
     .k = 64,
     .isTransposedA = true,
     .isTransposedB = true,
     .type = "f32",
     .result = "f32",
     .isTF32 = true},
};
INSTANTIATE_TEST_SUITE_P(TF32, OtherProducts, testing::ValuesIn(transposedTF32));

/// Warp groups in turns: of 132 blocks, some have one program, some two or three.
Case pingPong(Case c, int64_t stages) {
  c.pingPongStages = stages;
  return c;
}
const Case inTurns[] = {
    pingPong({.rows = 128,
              .columns = 192,
              .depth = 32,
              .m = 300,
              .n = 401,
              .k = 72,
              .isTransposedB = true},
             3),
    pingPong({.rows = 128, .columns = 128, .depth = 64, .m = 300, .n = 192, .k = 200}, 4),
    pingPong({.rows = 64,
              .columns = 64,
              .depth = 32,
              .m = 64 * 290,
              .n = 64,
              .k = 96,
              .hasEpilogue = true},
             2),
    pingPong({.rows = 128,
              .columns = 160,
              .depth = 64,
              .m = 128 * 140,
              .n = 160,
              .k = 264,
              .isTransposedB = true,
              .type = "bf16",
              .result = "bf16",
              .hasEpilogue = true},
             5),
    // Results go out in pieces of 32 columns, so that five stages fit.
    pingPong({.rows = 128,
              .columns = 192,
              .depth = 64,
              .m = 300,
              .n = 400,
              .k = 400,
              .isTransposedB = true,
              .hasEpilogue = true},
             5),
    pingPong({.rows = 64,
              .columns = 128,
              .depth = 64,
              .m = 64 * 135,
              .n = 128,
              .k = 64,
              .result = "f32",
              .hasLoop = false},
             3),
    pingPong(
        {.rows = 64, .columns = 64, .depth = 16, .m = 64 * 270, .n = 64, .k = 72, .unknown = "MK"},
        4),
};
INSTANTIATE_TEST_SUITE_P(PingPong, Products, testing::ValuesIn(inTurns));

// Fewer rows than an instruction multiplies: all there are, or blocks of so many.
const Case fewRows[] = {
    {2, 64, 64, 2, 128, 200, false, true},
    {16, 32, 64, 16, 80, 200, false, true, "f16", "f16", true},
    {40, 64, 32, 104, 72, 104, true, false, "bf16", "bf16", true},
    {24, 64, 64, 24, 66, 128, false, true, "f16", "f16", true}, // rows of 132 bytes
    {7, 64, 64, 20, 72, 64, false, true, "f16", "f32"},
};
INSTANTIATE_TEST_SUITE_P(FewRows, Products, testing::ValuesIn(fewRows));

/// Sums in parts, programs of their own: of as many trips, or the last one of fewer, of one each;
/// the epilogue is in the launch that combines them.
Case inParts(Case c, int64_t parts) {
  c.parts = parts;
  return c;
}
const Case ofParts[] = {
    inParts({64, 64, 64, 64, 128, 512, false, true}, 4),
    inParts({64, 64, 64, 70, 72, 648, false, true, "bf16", "bf16", true}, 3), // 4, 4 and 3 trips
    inParts({16, 64, 64, 16, 128, 512, false, true}, 4),
    inParts({128, 96, 32, 130, 104, 96, false, false, "f16", "f32", true}, 3),
    inParts({128, 64, 16, 136, 72, 64, true, true, "f16", "f16", true}, 16), // four trips
};
INSTANTIATE_TEST_SUITE_P(Parts, Products, testing::ValuesIn(ofParts));

// Programs of 1 to 5 trips, several a block: the longest first.
const Case triangular[] = {
    {.rows = 64, .columns = 64, .depth = 16, .m = 64 * 70, .n = 136, .k = 72, .isTriangular = true},
    {.rows = 64, .columns = 64, .depth = 16, .m = 64 * 4, .n = 64, .k = 72, .isTriangular = true},
};
INSTANTIATE_TEST_SUITE_P(Triangular, Products, testing::ValuesIn(triangular));

// Left operands that are computed in registers; statistics of rows in the epilogue.
Case computedFrom(const char *type, Case c) {
  c.computedFrom = type;
  return c;
}
const Case computed[] = {
    computedFrom("f16", {.rows = 128, .columns = 64, .depth = 64, .m = 300, .n = 128, .k = 200}),
    computedFrom("f32", {.rows = 64,
                         .columns = 96,
                         .depth = 32,
                         .m = 70,
                         .n = 104,
                         .k = 72,
                         .isTransposedB = true,
                         .hasEpilogue = true}),
    computedFrom("i8", {.rows = 64,
                        .columns = 64,
                        .depth = 32,
                        .m = 64,
                        .n = 128,
                        .k = 80,
                        .type = "bf16",
                        .result = "bf16"}),
    computedFrom("i8", {.rows = 256, .columns = 64, .depth = 64, .m = 300, .n = 64, .k = 208}),
    computedFrom(
        "f16",
        {.rows = 64, .columns = 64, .depth = 32, .m = 64, .n = 64, .k = 32, .hasLoop = false}),
    computedFrom(
        "f16",
        {.rows = 128, .columns = 128, .depth = 64, .m = 129, .n = 128, .k = 136, .unknown = "MK"}),
    computedFrom("f32", {.rows = 64, .columns = 64, .depth = 32, .m = 64 * 150, .n = 64, .k = 96}),
    computedFrom("f16", {.rows = 24, .columns = 64, .depth = 64, .m = 48, .n = 64, .k = 192}),
};
INSTANTIATE_TEST_SUITE_P(Computed, Products, testing::ValuesIn(computed));

const Case statistics[] = {
    {.rows = 128,
     .columns = 64,
     .depth = 64,
     .m = 300,
     .n = 64,
     .k = 200,
     .result = "f32",
     .hasStatistics = true},
    {.rows = 64,
     .columns = 256,
     .depth = 32,
     .m = 70,
     .n = 248,
     .k = 72,
     .hasEpilogue = true,
     .hasStatistics = true},
    {.rows = 256,
     .columns = 96,
     .depth = 64,
     .m = 256,
     .n = 96,
     .k = 64,
     .isTransposedB = true,
     .hasStatistics = true},
};
INSTANTIATE_TEST_SUITE_P(Statistics, Products, testing::ValuesIn(statistics));

const Case unknown[] = {
    {128, 128, 64, 300, 192, 200, false, false, "f16", "f16", true, true, "M"},
    {128, 128, 64, 1, 192, 200, false, true, "f16", "f16", false, true, "M"},
    // Rows are known, and how often the loop runs is not: once, and several times.
    {64, 64, 64, 96, 80, 40, true, false, "f16", "f16", false, true, "K"},
    {128, 64, 64, 136, 80, 333, true, false, "bf16", "f32", true, true, "MK"},
    // Rows are of a length known only at the call.
    {128, 128, 64, 130, 200, 136, false, true, "f16", "f16", true, true, "MNK"},
    {128, 64, 32, 129, 72, 64, false, false, "f16", "f16", false, true, "NK"},
    {128, 64, 32, 129, 65, 64, false, true, "f16", "f16", true, true,
     "MN"}, // that only stores have
};
INSTANTIATE_TEST_SUITE_P(Unknown, Products, testing::ValuesIn(unknown));

const Case notAligned[] = {
    {128, 128, 64, 130, 200, 137, false, true, "f16", "f16", true, true, "MNK"},
    {128, 64, 32, 129, 65, 64, false, false, "f16", "f16", false, true, "N"},
    {64, 64, 64, 64, 64, 0, true, false, "f16", "f16", false, true, "K"}, // no trip
};
INSTANTIATE_TEST_SUITE_P(NotAligned, OtherProducts, testing::ValuesIn(notAligned));

/// What has the place of a product that ptxas refuses.
TEST(Refused, HasThePlainLowering) {
  simulator::Experiment experiment([](mlir::ModuleOp) {});
  experiment.avoidsTensorCores = true;
  EXPECT_FALSE(
      runOnTensorCores({128, 64, 64, 300, 72, 200, false, true, "f16", "f16", true, true, "M"}));
  EXPECT_FALSE(
      runOnTensorCores({64, 64, 64, 96, 80, 40, true, false, "f16", "f16", false, true, "K"}));
  EXPECT_EQ(experiment.fault(), "");
}

const Case others[] = {
    {64, 64, 64, 70, 72, 132}, // rows of 264 bytes
    {64, 64, 64, 70, 66, 128}, // of 132 bytes
    {1, 64, 64, 70, 72, 128},  // a row
    {96, 64, 64, 70, 72, 128}, // more than 64, and no multiple
    {64, 64, 24, 70, 72, 128}, // nor of 16 terms
    {64, 64, 64, 70, 72, 128, false, false, "f32", "f32"},
    computedFrom("i1", {64, 64, 64, 70, 72, 128}),  // truths and integers of 32 bits, from which
    computedFrom("i32", {64, 64, 64, 70, 72, 128}), // no tensor map is made
};
INSTANTIATE_TEST_SUITE_P(All, OtherProducts, testing::ValuesIn(others));

} // namespace
} // namespace tw::target
