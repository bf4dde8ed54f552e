// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults that results do not show, in the assembly of products: a block whose sums do not stay in
// registers, and a panel that is read more often than once for all rows of a program.
#include "unittests/Target/KernelJit.h"
#include "unittests/Target/Products.h"
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

namespace tw::target {
namespace {

/// Of a loop: instructions that multiply and add vectors, vectors read from memory that no product
/// reads, and what is written to or read from the stack.
struct LoopCounts {
  int64_t products = 0, vectorLoads = 0, stackAccesses = 0;
};

/// The innermost loops with products. A loop is what lies between a label and a jump back to it.
std::vector<LoopCounts> productLoops(const std::string &assembly) {
  static const std::regex product("\tvfmadd\\w*ps\t.*[yz]mm"),
      load("\tvmov[au]ps\t[^%]*\\(.*\\), %[yz]mm"), stack("\tv.*\\(%rsp\\)");
  std::vector<LoopCounts> loops;
  std::istringstream lines(assembly);
  std::string label;
  LoopCounts counts;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".LBB")) {
      label = line.substr(0, line.find(':'));
      counts = {};
    } else if (line.starts_with("\tj")) {
      if (line.ends_with("\t" + label) && counts.products > 0)
        loops.push_back(counts);
      counts = {};
    }
    counts.products += std::regex_search(line, product);
    counts.stackAccesses += std::regex_search(line, stack);
    counts.vectorLoads += std::regex_search(line, load) && !std::regex_search(line, stack);
  }
  return loops;
}

/// What is wrong with the loops of a kernel whose programs have `rows` rows; empty if nothing is.
std::string faultsOf(const std::string &assembly, int64_t rows) {
  std::vector<LoopCounts> loops = productLoops(assembly);
  if (loops.empty())
    return "no loop multiplies vectors";
  std::string faults;
  for (const LoopCounts &loop : loops) {
    if (loop.stackAccesses > 0)
      faults += fmt::format("{} accesses to the stack; ", loop.stackAccesses);
    if (loop.products != rows * loop.vectorLoads)
      faults += fmt::format("{} products by {} vectors of b; ", loop.products, loop.vectorLoads);
  }
  return faults;
}

TEST(PerformanceFaults, ProductsHaveNone) {
  EXPECT_EQ(faultsOf(assemblyOf(product({.rows = 6, .columns = 16}), "x86-64-v3"), 6), "");
  EXPECT_EQ(faultsOf(assemblyOf(product({.rows = 6, .columns = 64}), "x86-64-v4"), 6), "");
}

/// Of one row more than registers have room for, with the vectors of b and an element of a.
TEST(PerformanceFaults, SpilledBlock) {
  for (auto [cpu, rows, columns] :
       {std::tuple("x86-64-v3", 7, 16), {"x86-64-v4", 7, 64}, {"x86-64-v4", 14, 32}}) {
    std::string code = assemblyOf(product({.rows = rows, .columns = columns}), cpu);
    EXPECT_NE(faultsOf(code, rows).find("accesses to the stack"), std::string::npos)
        << cpu << " " << rows << " x " << columns;
  }
}

/// Columns that are no multiple of a vector's: the last vector, of which a part counts, is in the
/// registers' block, where an element of a serves all vectors. Alone, it would be six sums that
/// wait for one another.
TEST(PerformanceFaults, LastVectorOfColumnsIsInTheBlock) {
  std::string code = assemblyOf(R"(
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
                                "x86-64-v4");
  std::vector<LoopCounts> loops = productLoops(code);
  EXPECT_FALSE(loops.empty());
  for (const LoopCounts &loop : loops)
    EXPECT_GE(loop.products, 6 * loop.vectorLoads) << loop.vectorLoads;
  for (const LoopCounts &loop : loops)
    EXPECT_EQ(loop.vectorLoads % 2, 0);
}

/// The rows of a program in two halves, each of which goes along the whole panel.
std::string productInHalves(int64_t rows, int64_t columns) {
  std::string loops;
  for (int half = 0; half < 2; ++half)
    loops += fmt::format(R"(
      %offset{half} = arith.constant {offset} : index
      %row{half} = arith.addi %row, %offset{half} : index
      %all{half} = tile.for %k = %c0 to %end step %depth carry (%sum = %none : {result}) {{
        %x = tile.load %a[%row{half}, %k] : !tile.buffer<[M, K], f32> -> tensor<{rows}x256xf32>
        %q = tile.load %b[%n, %k, %c0] : !tile.buffer<[N ceildiv {columns}, K, {columns}], f32>
          -> tensor<1x256x{columns}xf32>
        %y = tile.reshape %q : tensor<1x256x{columns}xf32> -> tensor<256x{columns}xf32>
        %part = tile.dot %x, %y, %none : tensor<{rows}x256xf32>, tensor<256x{columns}xf32>, {result}
        %next = arith.addf %sum, %part : {result}
        tile.yield %next : {result}
      }}
      tile.store %all{half}, %c[%row{half}, %column] : {result}, !tile.buffer<[M, N], f32>)",
                         fmt::arg("half", half), fmt::arg("offset", half * rows / 2),
                         fmt::arg("rows", rows / 2), fmt::arg("columns", columns),
                         fmt::arg("result", fmt::format("tensor<{}x{}xf32>", rows / 2, columns)));
  return fmt::format(R"(
    tile.kernel @k(in %a: !tile.buffer<[M, K], f32>,
                   in %b: !tile.buffer<[N ceildiv {columns}, K, {columns}], f32>,
                   inout %c: !tile.buffer<[M, N], f32>)
        symbols [M, N, K] grid [M ceildiv {rows}, N ceildiv {columns}] {{
      %m = tile.program_id 0
      %n = tile.program_id 1
      %c0 = arith.constant 0 : index
      %rows = arith.constant {rows} : index
      %columns = arith.constant {columns} : index
      %depth = arith.constant 256 : index
      %row = arith.muli %m, %rows : index
      %column = arith.muli %n, %columns : index
      %end = tile.size K
      %zero = arith.constant 0.0 : f32
      %none = tile.full %zero : f32 -> tensor<{half}x{columns}xf32>
      {loops}
    }})",
                     fmt::arg("rows", rows), fmt::arg("columns", columns),
                     fmt::arg("half", rows / 2), fmt::arg("loops", loops));
}

TEST(PerformanceFaults, PanelReadTwice) {
  EXPECT_NE(faultsOf(assemblyOf(productInHalves(6, 64), "x86-64-v4"), 6)
                .find("12 products by 4 vectors of b"),
            std::string::npos);
}

} // namespace
} // namespace tw::target
