// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cpu target's code looks like for CPUs of several kinds, whatever this machine is.
#include "Target/CPU/CpuFeatures.h"
#include "unittests/Target/KernelJit.h"
#include "unittests/Target/Products.h"
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>

namespace tw::target {
namespace {

size_t count(const std::string &text, const std::string &what) {
  size_t times = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++times;
  return times;
}

/// How assembly says things, by CPU.
struct Words {
  const char *cpu, *multiplyAdd, *onStack;
};
constexpr Words v3{"x86-64-v3", "vfmadd", "(%rsp)"}, v4{"x86-64-v4", "vfmadd", "(%rsp)"},
    neon{"aarch64", "fmla", "[sp"};

/// The basic blocks of assembly: loops end with their jump back.
std::vector<std::string> blocksOf(const std::string &assembly) {
  std::vector<std::string> blocks(1);
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".LBB"))
      blocks.emplace_back();
    blocks.back() += line + "\n";
    if (line.starts_with("\tj") || line.starts_with("\tb.") || line.starts_with("\tcb"))
      blocks.emplace_back();
  }
  return blocks;
}

/// Every block of the CPU's own size keeps all sums in registers while it goes along K: two steps
/// at a time where their number is known.
TEST(CPUCode, ProductsDoNotSpill) {
  for (const auto &[name, multiplyAdd, onStack] : {v3, v4, neon}) {
    CpuFeatures cpu = CpuFeatures::of(namedCpu(name)->set);
    RegisterBlock block = cpu.productBlock(4);
    size_t products = block.rows * block.columns * 4 / cpu.vectorBytes;
    size_t loops = 0, unrolled = 0;
    for (const std::string &code :
         blocksOf(assemblyOf(product({.rows = block.rows, .columns = block.columns}), name))) {
      if (count(code, multiplyAdd) < products)
        continue;
      ++loops;
      unrolled += count(code, multiplyAdd) == 2 * products;
      EXPECT_EQ(count(code, multiplyAdd) % products, 0u) << code;
      EXPECT_EQ(count(code, onStack), 0u) << code;
    }
    EXPECT_GE(loops, 1u) << name;
    EXPECT_GE(unrolled, 1u) << name;
  }
}

/// bf16 in pairs: on the tiles of AMX where a program's block is made of whole ones, or is a few
/// rows that are less than one; else on vectors.
TEST(CPUCode, ProductsOfPairs) {
  Product p{.rows = 32, .columns = 32, .layout = Layout::Pairs, .operand = "bf16"};
  std::string tiles = assemblyOf(product(p), "amx");
  EXPECT_GE(count(tiles, "tdpbf16ps"), 4u);
  EXPECT_EQ(count(tiles, "ldtilecfg"), 1u);
  EXPECT_EQ(count(tiles, "tilerelease"), 1u);
  EXPECT_EQ(count(tiles, "vfmadd"), 0u);
  p.rows = 6;
  p.columns = 64;
  std::string few = assemblyOf(product(p), "amx");
  EXPECT_GE(count(few, "tdpbf16ps"), 2u);
  EXPECT_EQ(count(few, "vdpbf16ps"), 0u);
  p.rows = 2;
  for (const std::string &loop : blocksOf(assemblyOf(product(p), "amx"))) {
    size_t products = count(loop, "vdpbf16ps");
    EXPECT_TRUE(products == 0 || products == 8) << loop;
    EXPECT_EQ(count(loop, "tdpbf16ps"), 0u);
    if (products)
      EXPECT_EQ(count(loop, "(%rsp)"), 0u) << loop;
  }
  EXPECT_EQ(count(assemblyOf(product(p), "x86-64-v4"), "vdpbf16ps"), 0u);
}

/// Sums of 32 products of bf16 in 16 columns, stored as bf16. The pairs of b lie beside each other,
/// or b lies as it is and meets too few rows to be packed.
std::string roundedProduct(bool inPairs) {
  std::string b = inPairs ? R"(
      %w = tile.load %b[%c0, %c0, %c0] : !tile.buffer<[16, 16, 2], bf16> -> tensor<16x16x2xbf16>
      %t = tile.transpose %w [0, 2, 1] : tensor<16x16x2xbf16> -> tensor<16x2x16xbf16>
      %y = tile.reshape %t : tensor<16x2x16xbf16> -> tensor<32x16xbf16>)"
                          : R"(
      %y = tile.load %b[%c0, %c0] : !tile.buffer<[32, 16], bf16> -> tensor<32x16xbf16>)";
  return fmt::format(R"(
    tile.kernel @k(in %a: !tile.buffer<[{0}, 32], bf16>, in %b: !tile.buffer<[{1}], bf16>,
                   out %c: !tile.buffer<[{0}, 16], bf16>) grid [1] {{
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %none = tile.full %zero : f32 -> tensor<{0}x16xf32>
      %x = tile.load %a[%c0, %c0] : !tile.buffer<[{0}, 32], bf16> -> tensor<{0}x32xbf16>{2}
      %sum = tile.dot %x, %y, %none : tensor<{0}x32xbf16>, tensor<32x16xbf16>, tensor<{0}x16xf32>
      %z = arith.truncf %sum : tensor<{0}x16xf32> to tensor<{0}x16xbf16>
      tile.store %z, %c[%c0, %c0] : tensor<{0}x16xbf16>, !tile.buffer<[{0}, 16], bf16>
    }})",
                     inPairs ? 16 : 4, inPairs ? "16, 16, 2" : "32, 16", b);
}

/// vcvtneps2bf16 takes denormal numbers for zero, as the products of pairs do: so it rounds in the
/// kernels that have such products, and in no others.
TEST(CPUCode, PairsAreRoundedByOneInstruction) {
  std::string pairs = assemblyOf(roundedProduct(true), "amx");
  EXPECT_GE(count(pairs, "tdpbf16ps"), 1u);
  EXPECT_GE(count(pairs, "vcvtneps2bf16"), 1u) << pairs;
  std::string others = assemblyOf(roundedProduct(false), "amx");
  EXPECT_EQ(count(others, "dpbf16ps"), 0u);
  EXPECT_EQ(count(others, "vcvtneps2bf16"), 0u) << others;
}

/// A block of three vectors of columns in memory: the sums of each part of it are in registers.
TEST(CPUCode, BlocksOfThreeVectorsDoNotSpill) {
  const char *text = R"(
    tile.kernel @k(in %a: !tile.buffer<[48, 512], f32>, in %b: !tile.buffer<[512, 48], f32>,
                   out %c: !tile.buffer<[48, 48], f32>) grid [1] {
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %c512 = arith.constant 512 : index
      %zero = arith.constant 0.0 : f32
      %none = tile.full %zero : f32 -> tensor<48x48xf32>
      %all = tile.for %k = %c0 to %c512 step %c256 carry (%sum = %none : tensor<48x48xf32>) {
        %x = tile.load %a[%c0, %k] : !tile.buffer<[48, 512], f32> -> tensor<48x256xf32>
        %y = tile.load %b[%k, %c0] : !tile.buffer<[512, 48], f32> -> tensor<256x48xf32>
        %next = tile.dot %x, %y, %sum : tensor<48x256xf32>, tensor<256x48xf32>, tensor<48x48xf32>
        tile.yield %next : tensor<48x48xf32>
      }
      tile.store %all, %c[%c0, %c0] : tensor<48x48xf32>, !tile.buffer<[48, 48], f32>
    })";
  size_t loops = 0;
  for (const std::string &code : blocksOf(assemblyOf(text, "x86-64-v4"))) {
    if (count(code, "vfmadd") < 24)
      continue; // at an edge, or no loop
    ++loops;
    EXPECT_EQ(count(code, "vfmadd") % 24, 0u) << code;
    EXPECT_EQ(count(code, "(%rsp)"), 0u) << code;
  }
  EXPECT_GE(loops, 1u);
}

/// The same with bfdot.
TEST(CPUCode, ProductsOfPairsForAArch64) {
  RegisterBlock block = *CpuFeatures::of(namedCpu("aarch64+bf16")->set).pairTile();
  size_t products = block.rows * block.columns / 4, loops = 0;
  Product p{
      .rows = block.rows, .columns = block.columns, .layout = Layout::Pairs, .operand = "bf16"};
  for (const std::string &code : blocksOf(assemblyOf(product(p), "aarch64+bf16"))) {
    if (count(code, "bfdot") == 0)
      continue;
    ++loops;
    EXPECT_EQ(count(code, "bfdot") % products, 0u) << code;
    EXPECT_EQ(count(code, "[sp"), 0u) << code;
  }
  EXPECT_GE(loops, 1u);
  EXPECT_EQ(count(assemblyOf(product(p), "aarch64"), "bfdot"), 0u);
}

/// A virtual machine that hides the tiles of a core hides nothing of how memory answers to it.
TEST(CPUFeatures, OfCoresWhoseTilesAreHidden) {
  auto memoryOf = [](const char *name) {
    CpuFeatures cpu = CpuFeatures::of(namedCpu(name)->set);
    return std::tuple(cpu.streamAhead, cpu.streams, cpu.hasSlowThirdLevel, cpu.panelRows);
  };
  EXPECT_EQ(memoryOf("x86-64-v4+avx512fp16"), memoryOf("amx"));
  EXPECT_NE(memoryOf("x86-64-v4"), memoryOf("amx"));
  EXPECT_EQ(memoryOf("x86-64-v3+avx512fp16"), memoryOf("x86-64-v3")); // none of 512 bits
}

/// What is decided for an instruction set is read off its names.
TEST(CPUFeatures, OfNames) {
  EXPECT_FALSE(namedCpu("aarch64+avx2"));
  EXPECT_FALSE(namedCpu("x86-64-v3+"));
  EXPECT_FALSE(namedCpu("arm"));
  for (const char *size :
       {"l2=", "l2=2", "l2=-1M", "l2=2G", "l2=1K", "l2=99999999999999999999M", "l2=2M1", "l1=48K"})
    EXPECT_FALSE(namedCpu(std::string("x86-64-v3+") + size)) << size;
  auto large = namedCpu("x86-64-v3+l2=2M");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->caches, (CpuCaches{2 << 20}));
  EXPECT_EQ(large->set, namedCpu("x86-64-v3")->set);
  auto cpu = namedCpu("aarch64+bf16+i8mm+bf16");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->set.architecture, Architecture::AArch64);
  EXPECT_EQ(cpu->set.features, (std::vector<std::string>{"bf16", "i8mm"}));
  auto wide = namedCpu("x86-64-v4+avx512bf16");
  ASSERT_TRUE(wide);
  EXPECT_TRUE(CpuFeatures::of(wide->set).bf16Dot);
  EXPECT_FALSE(CpuFeatures::of(namedCpu("x86-64-v4")->set).bf16Dot);
  EXPECT_EQ(CpuFeatures::of(namedCpu("aarch64")->set).vectorRegisters, 32u);
}

/// So are those that read b as it lies, if each element of it meets enough rows to pack it.
TEST(CPUCode, ProductsThatPackPairs) {
  for (Layout layout : {Layout::Plain, Layout::Transposed}) {
    Product p{.rows = 64, .columns = 64, .layout = layout, .operand = "bf16"};
    std::string tiles = assemblyOf(product(p), "amx");
    EXPECT_GE(count(tiles, "tdpbf16ps"), 4u);
    EXPECT_EQ(count(tiles, "vfmadd"), 0u);
    p.rows = 6;
    EXPECT_EQ(count(assemblyOf(product(p), "amx"), "dpbf16ps"), 0u);
  }
}

/// Beside the products of a step, vectors of bf16 are taken apart by one instruction for each of
/// f32.
TEST(CPUCode, Bf16IsUnpackedBesideTheProducts) {
  Product p{.rows = 24, .columns = 64, .panels = 4, .operand = "bf16"};
  size_t loops = 0;
  for (const std::string &code : blocksOf(assemblyOf(product(p), "x86-64-v3"))) {
    if (count(code, "vpunpck") < 2 || count(code, "vfmadd") < 12)
      continue; // at an edge, or no loop
    ++loops;
    EXPECT_EQ(count(code, "vfmadd") % 12, 0u) << code;
    EXPECT_EQ(count(code, "(%rsp)"), 0u) << code;
  }
  EXPECT_GE(loops, 1u);
}

/// y = 2 x in rows.
std::string doubled(int64_t rows, int64_t columns) {
  return fmt::format(R"(
    tile.kernel @k(in %x: !tile.buffer<[{0}, {1}], f32>, out %y: !tile.buffer<[{0}, {1}], f32>) grid [{0}] {{
      %m = tile.program_id 0
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%m, %c0] : !tile.buffer<[{0}, {1}], f32> -> tensor<1x{1}xf32>
      %w = arith.addf %v, %v : tensor<1x{1}xf32>
      tile.store %w, %y[%m, %c0] : tensor<1x{1}xf32>, !tile.buffer<[{0}, {1}], f32>
    }})",
                     rows, columns);
}

/// Outputs that no cache holds are stored past the caches, where every vector is aligned.
TEST(CPUCode, LargeOutputsAreStreamed) {
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    std::string large = assemblyOf(doubled(4096, 2048), name);
    EXPECT_GE(count(large, "movntps"), 1u) << large;
    EXPECT_EQ(count(large, "sfence"), 1u);
    for (const std::string &other : {doubled(4096, 1024), doubled(4096, 2049)}) {
      std::string code = assemblyOf(other, name);
      EXPECT_EQ(count(code, "movnt"), 0u) << code;
      EXPECT_EQ(count(code, "sfence"), 0u);
    }
  }
}

TEST(CPUCode, StreamsWholeOutputs) {
  constexpr size_t count = size_t(4096) * 2048;
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i)
    x[i] = float(i % 1000);
  std::unique_ptr<float, decltype(&std::free)> y(
      static_cast<float *>(std::aligned_alloc(64, count * sizeof(float))), &std::free);
  KernelJit(doubled(4096, 2048), "host").run({x.data(), y.get()});
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i)
    wrong += y.get()[i] != 2 * x[i];
  EXPECT_EQ(wrong, 0u);
}

/// What is used twice at each of many steps is emitted once: there are 2^60 ways to its beginning.
TEST(CPUCode, SharedExpressionsAreEmittedOnce) {
  std::string text = R"(
    tile.kernel @k(in %x: !tile.buffer<[4, 128], f32>, out %y: !tile.buffer<[4, 128], f32>) grid [4] {
      %m = tile.program_id 0
      %c0 = arith.constant 0 : index
      %v0 = tile.load %x[%m, %c0] : !tile.buffer<[4, 128], f32> -> tensor<1x128xf32>
)";
  constexpr int steps = 60;
  for (int i = 0; i < steps; ++i)
    text += fmt::format("%v{} = arith.mulf %v{}, %v{} : tensor<1x128xf32>\n", i + 1, i, i);
  text += fmt::format(
      "tile.store %v{}, %y[%m, %c0] : tensor<1x128xf32>, !tile.buffer<[4, 128], f32>\n}}", steps);
  std::string code = assemblyOf(text, "x86-64-v3");
  EXPECT_GE(count(code, "vmulps"), size_t(steps));
  EXPECT_LE(count(code, "vmulps"), size_t(steps * 128 / 8));
}

/// Elements of one or two bytes on CPUs that mask only larger ones: no branch for each lane where
/// rows end, and no calls that convert bf16.
TEST(CPUCode, MasksNarrowElementsWithoutBranches) {
  for (const char *dtype : {"i8", "bf16", "f16"}) {
    std::string text = fmt::format(R"(
      tile.kernel @k(in %x: !tile.buffer<[M, N], {0}>, out %y: !tile.buffer<[M, N], {0}>)
          symbols [M, N] grid [M] {{
        %m = tile.program_id 0
        %c0 = arith.constant 0 : index
        %t = tile.load %x[%m, %c0] : !tile.buffer<[M, N], {0}> -> tensor<1x40x{0}>
        %s = tile.transpose %t [1, 0] : tensor<1x40x{0}> -> tensor<40x1x{0}>
        %u = tile.transpose %s [1, 0] : tensor<40x1x{0}> -> tensor<1x40x{0}>
        tile.store %u, %y[%m, %c0] : tensor<1x40x{0}>, !tile.buffer<[M, N], {0}>
      }})",
                                   dtype);
    std::string code = assemblyOf(text, "x86-64-v3");
    EXPECT_LT(count(code, "\tj"), 20u) << code;
    EXPECT_EQ(count(code, "call"), 0u) << code;
    EXPECT_EQ(count(code, "zmm"), 0u) << code;
  }
}

} // namespace
} // namespace tw::target
