// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of blocks that have more rows than there are.
#include "unittests/Target/CPU/TestedCpus.h"
#include "unittests/Target/CompiledKernel.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tw::target {
namespace {

/// A buffer ends before the rows of a block in memory: any number of them are multiplied, and the
/// others are what the sums begin with, of which sums over all rows are made.
TEST(ProductRows, EndInTheirBuffer) {
  for (auto [operand, sum] : {std::pair{"f32", "f32"}, {"bf16", "f32"}, {"f64", "f64"}})
    for (const std::string &cpu : cpusFor(operand))
      for (auto [begin, size] : {std::pair{"0.0", "M"}, {"1.5", "M"}, {"0.0", "7"}, {"1.5", "7"}}) {
        bool isKnown = size != std::string("M");
        CompiledKernel kernel(fmt::format(R"(
          tile.kernel @case(in %a: !tile.buffer<[{3}, 64], {0}>, in %b: !tile.buffer<[48, 64], {0}>,
                            out %c: !tile.buffer<[{3}, 48], {1}>, out %s: !tile.buffer<[48], {1}>)
              {4} grid [1] {{
            %c0 = arith.constant 0 : index
            %c32 = arith.constant 32 : index
            %c64 = arith.constant 64 : index
            %value = arith.constant {2} : {1}
            %none = tile.full %value : {1} -> tensor<40x48x{1}>
            %all = tile.for %k = %c0 to %c64 step %c32 carry (%sum = %none : tensor<40x48x{1}>) {{
              %x = tile.load %a[%c0, %k] : !tile.buffer<[{3}, 64], {0}> -> tensor<40x32x{0}>
              %w = tile.load %b[%c0, %k] : !tile.buffer<[48, 64], {0}> -> tensor<48x32x{0}>
              %y = tile.transpose %w [1, 0] : tensor<48x32x{0}> -> tensor<32x48x{0}>
              %next = tile.dot %x, %y, %sum : tensor<40x32x{0}>, tensor<32x48x{0}>, tensor<40x48x{1}>
              tile.yield %next : tensor<40x48x{1}>
            }}
            %sums = tile.reduce sum %all axis 0 : tensor<40x48x{1}> -> tensor<48x{1}>
            tile.store %all, %c[%c0, %c0] : tensor<40x48x{1}>, !tile.buffer<[{3}, 48], {1}>
            tile.store %sums, %s[%c0] : tensor<48x{1}>, !tile.buffer<[48], {1}>
          }})",
                                          operand, sum, begin, size, isKnown ? "" : "symbols [M]"),
                              cpu);
        for (int rows : isKnown ? std::vector{7} : std::vector{1, 2, 3, 5, 6, 7, 11, 24, 39, 40})
          kernel.expectSame({fmt::format("{}x64x{}=random:1", rows, operand),
                             fmt::format("48x64x{}=random:2", operand)},
                            1e-5);
      }
}

/// What is loaded once and read as a, as b and as what the sums begin with, ends for all of them.
TEST(ProductRows, EndForAllOperands) {
  for (const char *columns : {"R", "C"})
    for (const std::string &cpu : cpusFor("bf16")) {
      CompiledKernel kernel(fmt::format(R"(
          tile.kernel @case(in %x: !tile.buffer<[R, {0}], f32>, out %y: !tile.buffer<[R, {0}], f32>)
              symbols [R{1}] grid [R ceildiv 32, {0} ceildiv 32] {{
            %p = tile.program_id 0
            %q = tile.program_id 1
            %c32 = arith.constant 32 : index
            %row = arith.muli %p, %c32 : index
            %column = arith.muli %q, %c32 : index
            %t = tile.load %x[%row, %column] : !tile.buffer<[R, {0}], f32> -> tensor<32x32xf32>
            %v = tile.dot %t, %t, %t : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
            tile.store %v, %y[%row, %column] : tensor<32x32xf32>, !tile.buffer<[R, {0}], f32>
          }})",
                                        columns, columns == std::string("R") ? "" : ", C"),
                            cpu);
      for (int rows : {1, 31, 45})
        kernel.expectSame(
            {fmt::format("{}x{}xf32=random:3", rows, columns == std::string("R") ? rows : 70)},
            1e-5);
    }
}

} // namespace
} // namespace tw::target
