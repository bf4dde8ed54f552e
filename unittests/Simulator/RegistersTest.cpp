// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxas takes what the plans of products and of attention call legal, without spilling registers or
// making products wait for each other: for the largest legal blocks of each head size. Needs ptxas.
// TW_REGISTERS=all tries all head sizes instead of some, TW_REGISTERS=KIND those of one kind of
// attention.
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "IR/Tile/Tile.h"
#include "Import/Text/Kernels.h"
#include "ProductCase.h"
#include "Target/NVIDIA/Attention/AttentionPlan.h"
#include "Target/NVIDIA/Code/Ptxas.h"
#include "Target/NVIDIA/Configuration/AttentionCost.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/ProductCost.h"
#include "Target/NVIDIA/NVIDIATarget.h"
#include "Target/NVIDIA/Product/ProductPlan.h"
#include "Tile/Passes.h"
#include "Tile/SplitLoops.h"
#include "mlir/Pass/PassManager.h"
#include "unittests/Target/Templates/AttentionTruth.h"
#include <fmt/format.h>

using namespace tw;
using namespace tw::target;

namespace {

const GpuArchitecture &hopper() { return *gpuArchitecture("sm_90a"); }
bool triesAll() { return std::getenv("TW_REGISTERS") != nullptr; }
bool triesKind(std::string_view name) {
  const char *wanted = std::getenv("TW_REGISTERS");
  return !wanted || std::string_view(wanted) == "all" || name == wanted;
}

/// Kernels on their way through ptxas, with names for messages.
class Batch {
public:
  void add(const std::string &name, const std::string &text) {
    auto module = importKernelString(&context, text, "test");
    ASSERT_TRUE(bool(module)) << name;
    auto found = findKernel(**module, "", "test");
    ASSERT_TRUE(bool(found)) << name;
    auto kernel = mlir::cast<tile::KernelOp>(*found);
    mlir::PassManager passes(&context, tile::KernelOp::getOperationName());
    passes.addPass(tile::createSimplify());
    ASSERT_TRUE(mlir::succeeded(passes.run(kernel))) << name;
    std::string whyNot;
    conversion::SplitLimits limits = nvidia::splitLimits(hopper());
    int64_t parts = tile::chooseParts(kernel, limits, whyNot);
    if (parts > 1) { // what multiplies
      tile::KernelOp split = tile::splitLoop(kernel, parts, limits).parts.release();
      (*module)->getBody()->push_back(split);
      kernel = split;
      ASSERT_TRUE(mlir::succeeded(passes.run(kernel))) << name;
    }
    mlir::OwningOpRef<mlir::ModuleOp> host = mlir::ModuleOp::create((*module)->getLoc());
    auto info = target->emit(kernel, *host);
    ASSERT_TRUE(mlir::succeeded(info)) << name;
    made.push_back({name, info->device});
    modules.push_back(*std::move(module));
  }

  /// Expects that ptxas takes all, that none spills, nor what is launched instead for other sizes,
  /// and that all multiply on tensor cores.
  void expectNoSpills() {
    std::ignore = target->finish(nullptr);
    EXPECT_FALSE(made.empty());
    for (const auto &[name, code] : made) {
      EXPECT_FALSE(code->image.empty()) << name << " is refused";
      for (const DeviceCode::Entry &entry : code->entries) {
        EXPECT_EQ(entry.spillBytes, 0) << name << ", " << entry.name;
        if (std::getenv("TW_REGISTERS_PRINT"))
          fmt::print("{}, {}: {} registers, {} bytes spilled, {}\n", name, entry.name,
                     entry.registers, entry.spillBytes, code->image.empty() ? "REFUSED" : "");
      }
    }
    EXPECT_EQ(said, "");
  }

private:
  static mlir::DialectRegistry configurations() {
    mlir::DialectRegistry registry;
    conversion::registerConfigurations(registry);
    registerNVIDIAConfigurations(registry);
    return registry;
  }

  mlir::MLIRContext context{configurations(), mlir::MLIRContext::Threading::DISABLED};
  std::string said; // refusals, and remarks on what has the plain lowering
  mlir::ScopedDiagnosticHandler handler{&context, [this](mlir::Diagnostic &diagnostic) {
                                          std::string text = diagnostic.str();
                                          if (text.find("on tensor cores if") == text.npos &&
                                              text.find("not run in parts") == text.npos &&
                                              text.find("rounded to tf32") == text.npos)
                                            said += text + "\n";
                                          return mlir::success();
                                        }};
  std::unique_ptr<Target> target = createNVIDIATarget(hopper());
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<std::pair<std::string, std::shared_ptr<const DeviceCode>>> made;
};

//===--- products --------------------------------------------------------===//

TEST(Registers, OfProducts) {
  if (!nvidia::ptxasPath())
    GTEST_SKIP() << "there is no ptxas";
  Batch batch;
  for (bool hasEpilogue : {false, true})
    for (bool isTransposedB : {false, true})
      for (int64_t rows : {64, 128, 192, 256})
        for (int64_t columns = triesAll() ? 16 : 64; columns <= 256;
             columns += triesAll() ? 16 : 96) {
          nvidia::ProductShape shape{rows, columns, 64, true, isTransposedB};
          bool isOdd = !isTransposedB && columns > 64 && columns % 32 != 0; // boxes of 64 and less
          if (nvidia::choosePipeline(shape, hopper()).stages == 0 || isOdd)
            continue;
          batch.add(fmt::format("product of {} x {}{}{}", rows, columns,
                                isTransposedB ? ", b transposed" : "",
                                hasEpilogue ? ", with an epilogue" : ""),
                    textOf(ProductCase{.rows = rows,
                                       .columns = columns,
                                       .depth = 64,
                                       .m = 4 * rows,
                                       .n = 4 * columns,
                                       .k = 512,
                                       .isTransposedB = isTransposedB,
                                       .hasEpilogue = hasEpilogue}));
        }
  for (int64_t columns : {64, 160, 192})
    for (bool hasLoop : {false, true}) {
      if (!hasLoop && columns == 192)
        continue; // spills 48 bytes: turns are for longer sums
      batch.add(fmt::format("product of {} columns by warp groups in turns", columns),
                textOf(ProductCase{.rows = 128,
                                   .columns = columns,
                                   .depth = 64,
                                   .m = 512,
                                   .n = 2 * columns,
                                   .k = hasLoop ? 512 : 64,
                                   .isTransposedB = true,
                                   .hasEpilogue = true,
                                   .hasLoop = hasLoop,
                                   .pingPongStages = 5}));
    }
  for (int64_t columns : {64, 160, 256})
    batch.add(fmt::format("product of tf32, {} columns", columns),
              textOf(ProductCase{.rows = 128,
                                 .columns = columns,
                                 .depth = 32,
                                 .m = 512,
                                 .n = 2 * columns,
                                 .k = 512,
                                 .isTransposedB = true,
                                 .type = "f32",
                                 .result = "f32",
                                 .hasEpilogue = true,
                                 .isTF32 = true}));
  for (int64_t depth : {16, 32, 64})
    batch.add(fmt::format("product of one trip of {}", depth),
              textOf(ProductCase{.rows = 128,
                                 .columns = 256,
                                 .depth = depth,
                                 .m = 512,
                                 .n = 512,
                                 .k = depth,
                                 .hasEpilogue = true,
                                 .hasLoop = false}));
  for (int64_t rows : {64, 128, 256})
    for (bool isTransposed : {false, true})
      batch.add(fmt::format("product of {} rows, of unknown sizes", rows),
                textOf(ProductCase{.rows = rows,
                                   .columns = rows == 256 ? 128 : 256,
                                   .depth = 64,
                                   .m = 512,
                                   .n = 512,
                                   .k = 512,
                                   .isTransposedB = isTransposed,
                                   .hasEpilogue = true,
                                   .unknown = "MNK"}));
  batch.expectNoSpills();
}

//===--- attention -------------------------------------------------------===//

struct Kind {
  const char *name;
  bool isCausal, hasTail, hasLoop;
  Mask mask;
  const char *unknown = ""; // which lengths are known only at the call
  bool isOneLoop = false;
};
constexpr Kind kinds[] = {
    {"one loop", false, false, true, Mask::None},
    {"one trip", false, false, false, Mask::None},
    {"a tail", false, true, true, Mask::None},
    {"causal", true, false, true, Mask::None},
    {"masked", false, false, true, Mask::Added},
    {"masked by truth", false, false, true, Mask::Seen},
    {"masked with a tail", false, true, true, Mask::Added},
    {"masked by truth with a tail", false, true, true, Mask::Seen},
    {"masked causal", true, false, true, Mask::Added},
    {"masked trip", false, false, false, Mask::Added},
    {"unknown keys", false, false, true, Mask::None, "S"},
    {"all unknown, causal", true, false, true, Mask::None, "LS"},
    {"all unknown, masked", false, false, true, Mask::Added, "LS"},
    {"one loop with the last keys", false, true, true, Mask::None, "", true},
    {"one causal loop", true, false, true, Mask::None, "", true},
    {"one loop of unknown keys", false, false, true, Mask::None, "S", true},
    {"one causal loop, all unknown", true, false, true, Mask::None, "LS", true},
    {"one masked loop", false, true, true, Mask::Added, "", true},
    {"one masked loop, all unknown", false, false, true, Mask::Added, "LS", true},
    {"one masked causal loop", true, false, true, Mask::Added, "", true},
};

std::vector<int64_t> headSizes() {
  if (!triesAll())
    return {64, 72, 128, 256};
  std::vector<int64_t> all;
  for (int64_t size = 8; size <= 256; size += 8)
    all.push_back(size);
  return all;
}

/// With keys so that trips are of this kind.
kernels::Case caseOf(const Kind &kind, int64_t rows, int64_t keys, int64_t size) {
  int64_t all = !kind.hasLoop ? keys : kind.isCausal ? 4 * keys : 3 * keys + (kind.hasTail ? 8 : 0);
  return {{.b = 2,
           .g = 2,
           .l = kind.isCausal ? all : 2 * rows,
           .s = all,
           .e = size,
           .f = size,
           .isCausal = kind.isCausal,
           .mask = kind.mask,
           .dtype = kernel::f16,
           .unknown = kind.unknown}};
}

bool isLegal(const Kind &kind, int64_t rows, int64_t keys, int64_t size) {
  nvidia::AttentionChoice choice;
  choice.block.queries = rows, choice.block.keys = keys;
  choice.block.isOneLoop = kind.isOneLoop;
  choice.warpGroups = rows / 64;
  for (choice.stages = 4; choice.stages > 0; --choice.stages)
    if (nvidia::isLegal(caseOf(kind, rows, keys, size).spec(), choice, hopper()))
      return true;
  return false;
}

TEST(Registers, OfAttention) {
  if (!nvidia::ptxasPath())
    GTEST_SKIP() << "there is no ptxas";
  for (const Kind &kind : kinds) {
    if (!triesKind(kind.name))
      continue;
    Batch batch;
    for (int64_t size : headSizes())
      for (int64_t rows : {64, 128, 192})
        for (int64_t keys = 256; keys > 0; keys -= 16) {
          if (!isLegal(kind, rows, keys, size))
            continue;
          kernels::AttentionConfiguration block;
          block.queries = rows, block.keys = keys, block.isOneLoop = kind.isOneLoop;
          batch.add(fmt::format("{}, head size {}, {} x {}", kind.name, size, rows, keys),
                    kernels::textOf(caseOf(kind, rows, keys, size), block));
          if (!triesAll())
            break; // the largest one
        }
    batch.expectNoSpills();
  }
}

/// Fewer queries than a warp group has rows: one of each of several heads, and of one; parts of
/// keys that may be any number.
TEST(Registers, OfAttentionOfFewQueries) {
  if (!nvidia::ptxasPath())
    GTEST_SKIP() << "there is no ptxas";
  Batch batch;
  for (const Kind &kind : kinds)
    for (int64_t size : triesAll() ? headSizes() : std::vector<int64_t>{64, 128})
      for (auto [groups, queries] : {std::pair<int64_t, int64_t>{4, 1}, {1, 1}})
        for (int64_t warpGroups : {1, 2, 3}) {
          bool isDealt = warpGroups > 1;
          for (int64_t keys = 256; keys > 0; keys -= 16) {
            kernels::Case few = caseOf(kind, 64, keys, size);
            few.g = groups, few.l = queries;
            bool hasParts = kind.isOneLoop && few.unknown == "S";
            if (size == 64 && !hasParts && !triesAll())
              continue;
            if (isDealt || hasParts)
              few.s = 4 * keys, few.dealtTo = warpGroups;
            few.parts = hasParts ? 4 : 1;
            nvidia::AttentionChoice choice;
            choice.block.queries = queries, choice.block.keys = keys;
            choice.block.groups = queries == 1 ? groups : 1;
            choice.block.splitsKeys = isDealt || hasParts, choice.warpGroups = warpGroups;
            choice.parts = few.parts;
            choice.block.isOneLoop = kind.isOneLoop && (hasParts || !isDealt);
            for (choice.stages = 4; choice.stages > 0; --choice.stages)
              if (nvidia::isLegal(few.spec(), choice, hopper()))
                break;
            if (choice.stages == 0)
              continue;
            few.stages = choice.stages;
            batch.add(fmt::format("{}, {} groups of {}, head size {}, {} keys for {}", kind.name,
                                  groups, queries, size, keys, warpGroups),
                      kernels::textOf(few, choice.block));
            break; // the largest one
          }
        }
  batch.expectNoSpills();
}

/// Programs side by side, or dealt, of the largest blocks.
TEST(Registers, OfAttentionWhoseKeysAreDealt) {
  if (!nvidia::ptxasPath())
    GTEST_SKIP() << "there is no ptxas";
  Batch batch;
  for (int64_t size : headSizes())
    for (int64_t warpGroups : {2, 3})
      for (int64_t keys = 256; keys > 0; keys -= 16) {
        kernels::Case dealt{
            {.b = 2, .g = 2, .l = 256, .s = 4 * keys, .e = size, .f = size, .dtype = kernel::f16},
            warpGroups};
        nvidia::AttentionChoice choice;
        choice.block.queries = 64, choice.block.keys = keys, choice.block.splitsKeys = true;
        choice.warpGroups = warpGroups;
        for (choice.stages = 4; choice.stages >= warpGroups; --choice.stages)
          if (nvidia::isLegal(dealt.spec(), choice, hopper()))
            break;
        if (choice.stages < warpGroups)
          continue;
        dealt.stages = choice.stages;
        batch.add(fmt::format("dealt, head size {}, {} x {}", size, warpGroups, keys),
                  kernels::textOf(dealt, choice.block));
        if (!triesAll())
          break; // the largest one
      }
  batch.expectNoSpills();
}

} // namespace
