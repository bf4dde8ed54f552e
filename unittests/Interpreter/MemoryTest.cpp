// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes, strides, pads, masks, positions that are data, and all dtypes of buffers.
#include "RunKernel.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// y = what `load` reads of x, a 3x4 buffer with 0 to 11; %i is the given position.
std::string load(const std::string &how, const std::string &shape, const std::string &i = "0") {
  std::string sizes = shape;
  sizes.replace(sizes.find('x'), 1, ", ");
  return runBody("in %x: !tile.buffer<[3, 4], i32>, %i: index, out %y: !tile.buffer<[" + sizes +
                     "], i32>",
                 "%c1 = arith.constant 1 : index %m1 = arith.constant -1 : index "
                 "%m9 = arith.constant -9 : i32\n%t = tile.load %x" +
                     how + " : !tile.buffer<[3, 4], i32> -> tensor<" + shape + "xi32>\n" +
                     "tile.store %t, %y[%c0, %c0] : tensor<" + shape + "xi32>, !tile.buffer<[" +
                     sizes + "], i32>",
                 {"3x4xi32=0,1,2,3,4,5,6,7,8,9,10,11", "i64=" + i});
}

TEST(Memory, Boxes) {
  EXPECT_EQ(load("[%c1, %c1]", "2x2"), "2x2xi32=5,6,9,10");
  EXPECT_EQ(load("[%c1, %c1]", "3x4"), "3x4xi32=5,6,7,0,9,10,11,0,0,0,0,0");
  EXPECT_EQ(load("[%c0, %c1] strides [2, 2]", "2x2"), "2x2xi32=1,3,9,11");
  EXPECT_EQ(load("[%m1, %m1] pad %m9 : i32", "2x2"), "2x2xi32=-9,-9,-9,0");
  EXPECT_EQ(load("[%i, %c0]", "0x4", "7"), "0x4xi32="); // no elements begin nowhere
  EXPECT_EQ(load("[%i, %c0] pad %m9 : i32", "1x2", "9223372036854775807"), "1x2xi32=-9,-9");
}

/// The copy is made once, before any program: each doubles an element of z, whatever is given.
TEST(Memory, BeginsAsACopy) {
  EXPECT_EQ(runKernel("tile.kernel @k(in %x: !tile.buffer<[3], f32>, inout %z: !tile.buffer<[3], "
                      "f32>) grid [2] attributes {tile.begins = array<i64: 0, 1>} {\n"
                      "%m = tile.program_id 0\n"
                      "%t = tile.load %z[%m] : !tile.buffer<[3], f32> -> tensor<1xf32>\n"
                      "%u = arith.addf %t, %t : tensor<1xf32>\n"
                      "tile.store %u, %z[%m] : tensor<1xf32>, !tile.buffer<[3], f32>\n}",
                      {"3xf32=1,2,3", "3xf32=7,8,9"}),
            "3xf32=2,4,3");
}

TEST(Memory, IndexedDimension) {
  std::string arguments = "in %x: !tile.buffer<[3, 2], f32>, in %i: !tile.buffer<[2], i32>, "
                          "out %y: !tile.buffer<[2, 2], f32>, inout %z: !tile.buffer<[3, 2], f32>";
  std::string body = "%r = tile.load %i[%c0] : !tile.buffer<[2], i32> -> tensor<2xi32>\n"
                     "%t = tile.load %x[%r : tensor<2xi32>, %c0] : !tile.buffer<[3, 2], f32> -> "
                     "tensor<2x2xf32>\n"
                     "tile.store %t, %y[%c0, %c0] : tensor<2x2xf32>, !tile.buffer<[2, 2], f32>\n"
                     "tile.store %t, %z[%r : tensor<2xi32>, %c0] : tensor<2x2xf32>, "
                     "!tile.buffer<[3, 2], f32>";
  EXPECT_EQ(runBody(arguments, body, {"3x2xf32=1,2,3,4,5,6", "2xi32=2,0", "3x2xf32=0"}),
            "2x2xf32=5,6,1,2; 3x2xf32=1,2,0,0,5,6");
}

TEST(Memory, Atomics) {
  auto update = [](const std::string &kind, const std::string &dtype, const std::string &spec,
                   const std::string &old) {
    std::string tile = dtype == "ui8" ? "i8" : dtype;
    return runBody("in %x: !tile.buffer<[3], " + dtype + ">, inout %y: !tile.buffer<[1], " + dtype +
                       ">",
                   "%z = tile.full %c0 : index -> tensor<3xindex> "
                   "%t = tile.load %x[%c0] : !tile.buffer<[3], " +
                       dtype + "> -> tensor<3x" + tile +
                       "> tile.scatter %t, %y[%z : tensor<3xindex>] atomic " + kind +
                       " : tensor<3x" + tile + ">, !tile.buffer<[1], " + dtype + ">",
                   {spec, old});
  };
  EXPECT_EQ(update("add", "f32", "3xf32=1,2,3", "1xf32=10"), "1xf32=16");
  EXPECT_EQ(update("add", "bf16", "3xbf16=1,1,1", "1xbf16=256"), "1xbf16=260"); // 259, rounded
  EXPECT_EQ(update("add", "i8", "3xi8=100,100,1", "1xi8=0"), "1xi8=-55");
  EXPECT_EQ(update("max", "f32", "3xf32=1,nan,3", "1xf32=10"), "1xf32=nan");
  EXPECT_EQ(update("min", "i32", "3xi32=1,-2,3", "1xi32=10"), "1xi32=-2");
  EXPECT_EQ(update("max", "ui8", "3xu8=1,200,3", "1xu8=100"), "1xu8=200");
  EXPECT_EQ(update("any", "i32", "3xi32=5,5,5", "1xi32=10"), "1xi32=5");
}

TEST(Memory, DTypes) {
  for (std::string dtype : {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64"}) {
    std::string type = "!tile.buffer<[2], " + dtype + ">";
    EXPECT_EQ(runBody("in %x: " + type + ", out %y: " + type,
                      "%t = tile.load %x[%c0] : " + type + " -> tensor<2x" + dtype +
                          "> tile.store %t, %y[%c0] : tensor<2x" + dtype + ">, " + type,
                      {"2x" + dtype + "=3,-100"}),
              "2x" + dtype + "=3,-100");
  }
  EXPECT_EQ(runBody("in %x: !tile.buffer<[2], i1>, out %y: !tile.buffer<[2], ui8>",
                    "%t = tile.load %x[%c0] : !tile.buffer<[2], i1> -> tensor<2xi1> "
                    "%u = arith.extsi %t : tensor<2xi1> to tensor<2xi8> "
                    "tile.store %u, %y[%c0] : tensor<2xi8>, !tile.buffer<[2], ui8>",
                    {"2xbool=0,1"}),
            "2xu8=0,255");
}

TEST(Memory, RankZeroAndInit) {
  EXPECT_EQ(runBody("in %x: !tile.buffer<[], f32>, out %y: !tile.buffer<[], f32> init 1.5 : f32",
                    "%t = tile.load %x[] : !tile.buffer<[], f32> -> tensor<f32> "
                    "tile.store %t, %y[] atomic add : tensor<f32>, !tile.buffer<[], f32>",
                    {"f32=2"}),
            "f32=3.5");
}

TEST(Memory, SizesAreLimited) {
  EXPECT_EQ(
      runKernel("tile.kernel @k(%n: index as N, out %y: !tile.buffer<[N, N], f32> init 0.0 : f32) "
                "symbols [N] grid [1] {}",
                {"i64=4000000000"}),
      "error 4: 9223372036854775807 more elements are needed, but of 268435456 only "
      "268435456 are left");
}

} // namespace
} // namespace tw
