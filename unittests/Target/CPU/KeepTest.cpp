// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that the author asks to keep: computed once, and the same as without.
#include "unittests/Target/CompiledKernel.h"
#include "unittests/Target/KernelJit.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tw::target {
namespace {

/// Three loops of products, whose left operand is the same expression.
std::string threeLoops(bool keeps) {
  std::string loops;
  for (int i = 0; i < 3; ++i)
    loops += fmt::format(R"(
      %sum{0} = tile.for %i{0} = %c0 to %c8 step %c1 carry (%a{0} = %none : tensor<6x64xf32>) {{
        %l{0} = tile.load %k[%i{0}, %c0, %c0] : !tile.buffer<[8, 64, 64], f32> -> tensor<1x64x64xf32>
        %b{0} = tile.reshape %l{0} : tensor<1x64x64xf32> -> tensor<64x64xf32>
        %d{0} = tile.dot %x, %b{0}, %a{0} : tensor<6x64xf32>, tensor<64x64xf32>, tensor<6x64xf32>
        tile.yield %d{0} : tensor<6x64xf32>
      }}
      %at{0} = arith.constant {1} : index
      tile.store %sum{0}, %o[%at{0}, %c0] : tensor<6x64xf32>, !tile.buffer<[18, 64], f32>)",
                         i, 6 * i);
  return fmt::format(R"(
    tile.kernel @k(in %q: !tile.buffer<[6, 64], f32>, in %k: !tile.buffer<[8, 64, 64], f32>,
                   out %o: !tile.buffer<[18, 64], f32>) grid [1] {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %third = arith.constant 0.333 : f32
      %zero = arith.constant 0.0 : f32
      %none = tile.full %zero : f32 -> tensor<6x64xf32>
      %t = tile.load %q[%c0, %c0] : !tile.buffer<[6, 64], f32> -> tensor<6x64xf32>
      %s = tile.full %third : f32 -> tensor<6x64xf32>
      {} = arith.mulf %t, %s : tensor<6x64xf32>
      {}{}
    }})",
                     keeps ? "%y" : "%x", keeps ? "%x = tile.keep %y : tensor<6x64xf32>" : "",
                     loops);
}

int64_t count(const std::string &text, const std::string &what) {
  int64_t times = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++times;
  return times;
}

TEST(Keep, IsComputedOnceForThreeLoops) {
  for (const auto &[cpu, multiply] :
       {std::pair("x86-64-v3", "vmulps"), {"x86-64-v4", "vmulps"}, {"aarch64", "\tfmul\t"}}) {
    int64_t anew = count(assemblyOf(threeLoops(false), cpu), multiply),
            once = count(assemblyOf(threeLoops(true), cpu), multiply);
    EXPECT_GT(once, 0) << cpu;
    EXPECT_EQ(anew, 3 * once) << cpu;
  }
  CompiledKernel(threeLoops(true)).expectSame({"6x64xf32=random:1", "8x64x64xf32=random:2"});
}

/// What is kept is transposed, masked, of another type, of one element, a result, of unknown
/// extents.
TEST(Keep, AllKindsOfTilesAreTheSame) {
  const char *values[] = {
      "%v = tile.transpose %square [1, 0] : tensor<32x32xf32> -> tensor<32x32xf32>",
      "%v = arith.mulf %square, %square : tensor<32x32xf32>",
      "%v = tile.dot %square, %square, %square : tensor<32x32xf32>, tensor<32x32xf32>, "
      "tensor<32x32xf32>",
      "%m = tile.reduce max %square axis 1 : tensor<32x32xf32> -> tensor<32xf32>\n"
      "%n = tile.reshape %m : tensor<32xf32> -> tensor<32x1xf32>\n"
      "%v = tile.broadcast %n : tensor<32x1xf32> -> tensor<32x32xf32>",
  };
  for (const char *value : values)
    CompiledKernel(fmt::format(R"(
      tile.kernel @k(in %x: !tile.buffer<[R, C], f32>, out %y: !tile.buffer<[R, C], f32>)
          symbols [R, C] grid [R ceildiv 32, C ceildiv 32] {{
        %p = tile.program_id 0
        %q = tile.program_id 1
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %c32 = arith.constant 32 : index
        %row = arith.muli %p, %c32 : index
        %column = arith.muli %q, %c32 : index
        %square = tile.load %x[%row, %column] : !tile.buffer<[R, C], f32> -> tensor<32x32xf32>
        {}
        %k = tile.keep %v : tensor<32x32xf32>
        %positive = arith.cmpf ogt, %k, %square : tensor<32x32xf32>
        %kept = tile.keep %positive : tensor<32x32xi1>
        %b = arith.truncf %k : tensor<32x32xf32> to tensor<32x32xbf16>
        %narrow = tile.keep %b : tensor<32x32xbf16>
        %corner = tile.slice %k offsets [0, 0] strides [1, 1] : tensor<32x32xf32> -> tensor<1x1xf32>
        %one = tile.keep %corner : tensor<1x1xf32>
        %ones = tile.broadcast %one : tensor<1x1xf32> -> tensor<32x32xf32>
        %sum = tile.for %i = %c0 to %c3 step %c1 carry (%a = %square : tensor<32x32xf32>) {{
          %w = arith.extf %narrow : tensor<32x32xbf16> to tensor<32x32xf32>
          %chosen = arith.select %kept, %w, %ones : tensor<32x32xi1>, tensor<32x32xf32>
          %next = tile.dot %k, %chosen, %a : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
          tile.yield %next : tensor<32x32xf32>
        }}
        tile.store %sum, %y[%row, %column] : tensor<32x32xf32>, !tile.buffer<[R, C], f32>
      }})",
                               value))
        .expectSame({"45x70xf32=random:1"}, 2e-5);
}

TEST(Keep, RowsOfUnknownLength) {
  CompiledKernel kernel(R"(
    tile.kernel @k(in %x: !tile.buffer<[R, C], f32>, out %y: !tile.buffer<[R, C], f32>)
        symbols [R, C] grid [R] {
      %p = tile.program_id 0
      %c0 = arith.constant 0 : index
      %half = arith.constant 0.5 : f32
      %t = tile.load %x[%p, %c0] : !tile.buffer<[R, C], f32> -> tensor<1x?xf32, #tile.dims<[C]>>
      %h = tile.full %half : f32 -> tensor<1x?xf32, #tile.dims<[C]>>
      %m = arith.mulf %t, %h : tensor<1x?xf32, #tile.dims<[C]>>
      %k = tile.keep %m : tensor<1x?xf32, #tile.dims<[C]>>
      %s = tile.reduce sum %k axis 1 : tensor<1x?xf32, #tile.dims<[C]>> -> tensor<1xf32>
      %u = tile.reshape %s : tensor<1xf32> -> tensor<1x1xf32>
      %v = tile.broadcast %u : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[C]>>
      %d = arith.mulf %k, %v : tensor<1x?xf32, #tile.dims<[C]>>
      tile.store %d, %y[%p, %c0] : tensor<1x?xf32, #tile.dims<[C]>>, !tile.buffer<[R, C], f32>
    })");
  for (int length : {1, 7, 1000})
    kernel.expectSame({fmt::format("3x{}xf32=random:1", length)}, 2e-5);
}

} // namespace
} // namespace tw::target
