// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults that results do not show, in the assembly of a few kernels: sums that do not stay in
// registers, panels and elements that are read more often than they have to be. One checker counts
// the instructions of the hottest loop; kernels with faults on purpose show that it finds them.
#include "CountedKernels.h"
#include "InstructionCounts.h"
#include "unittests/Target/KernelJit.h"
#include "unittests/Target/Products.h"
#include <gtest/gtest.h>

namespace tw::target {
namespace {

constexpr const char *avx2 = "x86-64-v3", *avx512 = "x86-64-v4", *neon = "aarch64", *amx = "amx",
                     *avx512Pairs = "x86-64-v4+avx512bf16", *neonPairs = "aarch64+bf16";

std::string productOf(int64_t rows, int64_t columns, int64_t depth = 256) {
  return product({.rows = rows, .columns = columns, .depth = depth});
}

std::string pairsOf(int64_t rows, int64_t columns) {
  return product({.rows = rows, .columns = columns, .layout = Layout::Pairs, .operand = "bf16"});
}

InstructionCounts countsOf(const std::string &kernel, const std::string &cpu, Hottest which) {
  return countInstructions(assemblyOf(kernel, cpu), cpu.starts_with("aarch64"), which);
}

/// A kernel, and what its hottest loop may have at most.
struct Row {
  const char *name, *cpu;
  std::string kernel;
  InstructionCounts allowed; // products, loads, broadcasts, stores, accesses to the stack
  Hottest which = Hottest::Product;
};

/// The sums of a block need products = rows x vectors, loads = rows + vectors: every vector of b
/// serves all rows, every element of a all vectors. An exponential reads its constants where there
/// are more than registers. The seven pixels of `depthwise` share 27 vectors and 9 of filters.
const Row rows[] = {
    {"in registers", avx2, productOf(6, 16), {12, 8, 6}},
    {"in registers", avx512, productOf(6, 64), {24, 10, 6}},
    {"in registers", neon, productOf(6, 16), {48, 20, 6}},
    {"in memory", avx2, productOf(192, 64), {12, 8, 6}},
    {"in memory", avx512, productOf(192, 64), {24, 10, 6}},
    {"in memory", neon, productOf(192, 64), {48, 20, 6}},
    {"pairs", avx512Pairs, pairsOf(6, 64), {24, 10, 6}},
    {"pairs", neonPairs, pairsOf(5, 16), {20, 9, 5}},
    {"pairs", amx, pairsOf(32, 32), {32, 32, 0, 4}, Hottest::Block},
    {"convolution", avx2, convolution(6, 16), {12, 8, 6}},
    {"convolution", avx512, convolution(6, 64), {24, 10, 6}},
    {"convolution", neon, convolution(6, 16), {48, 20, 6}},
    {"attention", avx2, attention(), {12, 8, 6}},
    {"attention", avx512, attention(), {24, 10, 6}},
    {"attention", neon, attention(), {48, 20, 6}},
    {"softmax", avx2, softmax(), {32, 38, 34, 4, 9}, Hottest::Block},
    {"softmax", avx512, softmax(), {24, 4, 0, 4}, Hottest::Block},
    {"softmax", neon, softmax(), {32, 4, 14, 4}, Hottest::Block},
    {"depthwise", avx2, depthwise(7, 8), {63, 36, 0, 7, 31}},
    {"depthwise", avx512, depthwise(7, 16), {63, 36, 0, 7}},
    {"depthwise", neon, depthwise(7, 4), {63, 36, 0, 7}},
};

const Row &rowOf(const std::string &name, const std::string &cpu) {
  for (const Row &row : rows)
    if (row.name == name && row.cpu == cpu)
      return row;
  throw std::out_of_range(name + " " + cpu);
}

TEST(PerformanceFaults, KernelsHaveNone) {
  for (const Row &row : rows)
    EXPECT_EQ(faultsOf(countsOf(row.kernel, row.cpu, row.which), row.allowed), "")
        << row.name << ", " << row.cpu;
}

/// A kernel with a fault, beside the row that it would be without.
struct Fault {
  const char *name, *cpu;
  std::string kernel;
  const char *found;
};

const Fault faults[] = {
    // One row more than registers have room for, with the vectors of b and an element of a.
    {"in registers", avx2, productOf(7, 16), "accesses to the stack"},
    {"in registers", avx512, productOf(7, 64), "accesses to the stack"},
    {"in registers", neon, productOf(7, 16), "accesses to the stack"},
    {"softmax", avx2, softmax(5), "accesses to the stack"},
    {"softmax", avx512, softmax(5), "accesses to the stack"},
    {"softmax", neon, softmax(5), "accesses to the stack"},
    {"depthwise", avx2, depthwise(7, 16), "accesses to the stack"},
    // Half of the rows at a time: each half reads the panel.
    {"in registers", avx2, productOf(3, 16), "loads"},
    {"in registers", avx512, productOf(3, 64), "loads"},
    {"in registers", neon, productOf(3, 16), "loads"},
    {"pairs", avx512Pairs, pairsOf(3, 64), "loads"},
    {"pairs", amx, pairsOf(16, 32), "loads"},
    {"convolution", avx2, convolution(3, 16), "loads"},
    {"convolution", avx512, convolution(3, 64), "loads"},
    {"convolution", neon, convolution(3, 16), "loads"},
    // Half of the columns: each half reads the elements of a.
    {"in registers", avx2, productOf(12, 8), "broadcasts"},
    {"in registers", avx512, productOf(6, 32), "broadcasts"},
    // Sums go to memory after every second step.
    {"in memory", avx2, productOf(192, 64, 2), "stores"},
    {"in memory", avx512, productOf(192, 64, 2), "stores"},
    {"in memory", neon, productOf(192, 64, 2), "stores"},
};

TEST(PerformanceFaults, AreFound) {
  for (const Fault &fault : faults) {
    const Row &row = rowOf(fault.name, fault.cpu);
    std::string found = faultsOf(countsOf(fault.kernel, fault.cpu, row.which), row.allowed);
    EXPECT_NE(found.find(fault.found), std::string::npos)
        << fault.name << ", " << fault.cpu << ": " << found;
  }
}

/// Columns that are no multiple of a vector's: the last vector, of which a part counts, is in the
/// registers' block, where an element of a serves all vectors. Alone, it would be six sums that
/// wait for one another.
TEST(PerformanceFaults, LastVectorOfColumnsIsInTheBlock) {
  InstructionCounts counts = countsOf(R"(
    tile.kernel @k(in %a: !tile.buffer<[27, 64], f32>, in %b: !tile.buffer<[64, 27], f32>,
                   out %c: !tile.buffer<[27, 27], f32>) grid [1] {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %none = tile.full %zero : f32 -> tensor<27x27xf32>
      %x = tile.load %a[%c0, %c0] : !tile.buffer<[27, 64], f32> -> tensor<27x64xf32>
      %y = tile.load %b[%c0, %c0] : !tile.buffer<[64, 27], f32> -> tensor<64x27xf32>
      %z = tile.dot %x, %y, %none : tensor<27x64xf32>, tensor<64x27xf32>, tensor<27x27xf32>
      tile.store %z, %c[%c0, %c0] : tensor<27x27xf32>, !tile.buffer<[27, 27], f32>
    })",
                                      avx512, Hottest::Product);
  EXPECT_EQ(faultsOf(counts, {28, 18, 14}), "");
}

} // namespace
} // namespace tw::target
