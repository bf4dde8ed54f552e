// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention whose mask is known at compile time, by masks that an evaluator makes up.
#include "Graph/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <optional>

using namespace mlir;

namespace tw {
namespace {

constexpr int64_t queries = 3, keys = 5;

/// Masks of 2 x 1 x 3 x 5: of i1, or of f32 with `hidden` where there is nothing to be seen.
struct MadeUp : ConstantEvaluator {
  FailureOr<SmallVector<graph::WeightAttr>> evaluate(OwningOpRef<ModuleOp> module) override {
    auto name = StringAttr::get(module->getContext(), "mask");
    return SmallVector<graph::WeightAttr>{
        graph::WeightAttr::get(module->getContext(), name, name, 0, 30, 0, {15, 15, 5, 1})};
  }
  std::vector<std::byte> elementsOf(graph::WeightAttr) override {
    std::vector<std::byte> elements;
    for (int64_t batch = 0; batch < 2; ++batch)
      for (int64_t query = 0; query < queries; ++query)
        for (int64_t key = 0; key < keys; ++key)
          append(elements, isSeen(batch, query, key));
    return elements;
  }
  void append(std::vector<std::byte> &elements, bool isSeen) const {
    if (!hidden)
      return elements.push_back(std::byte(isSeen));
    float number = isSeen ? -0.0f : *hidden;
    auto *bytes = reinterpret_cast<const std::byte *>(&number);
    elements.insert(elements.end(), bytes, bytes + sizeof(number));
  }
  std::optional<float> hidden;
  std::function<bool(int64_t batch, int64_t query, int64_t key)> isSeen;
};

/// Runs the pass on an attention whose mask is read from a file, or one that calls give.
class FoldMasksTest : public testing::Test {
protected:
  FoldMasksTest() {
    context.loadDialect<graph::TWDialect, func::FuncDialect, tensor::TensorDialect,
                        arith::ArithDialect>();
  }

  std::string folded(StringRef file = "model.pt2") {
    std::string text = R"(
  #q = affine_map<(b, l, s, e, f) -> (b, l, e)>
  #k = affine_map<(b, l, s, e, f) -> (b, s, e)>
  #v = affine_map<(b, l, s, e, f) -> (b, s, f)>
  #m = affine_map<(b, l, s, e, f) -> (b, 0, l, s)>
  #o = affine_map<(b, l, s, e, f) -> (b, l, f)>
  func.func @main(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>) -> tensor<2x3x8xf32> {
    %m = tw.weight <"m" in "FILE"[0, 30] start 0 strides [15, 15, 5, 1]> : tensor<2x1x3x5xi1>
    %scale = arith.constant 0.5 : f64
    %e = tensor.empty() : tensor<2x3x8xf32>
    %r = tw.attention ins(%q, %k, %k : tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>)
        mask(%m : tensor<2x1x3x5xi1>) scale %scale outs(%e : tensor<2x3x8xf32>)
        {indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<2x3x8xf32>
    return %r : tensor<2x3x8xf32>
  })";
    text.replace(text.find("FILE"), 4, file);
    if (evaluator.hidden)
      for (size_t at; (at = text.find("xi1>")) != text.npos;)
        text.replace(at, 4, "xf32>");
    auto module = parseSourceString<ModuleOp>(text, &context);
    PassManager passes(&context);
    passes.addPass(createFoldMasks(&evaluator));
    if (failed(passes.run(*module)))
      return "failed";
    std::string found;
    module->walk([&](graph::AttentionOp op) {
      found = std::string(op.getCausal() ? "causal" : "full") + (op.getMask() ? " mask" : "") +
              " " + std::to_string(op.getIndexingMaps().size());
    });
    return found;
  }

  MLIRContext context;
  MadeUp evaluator;
};

TEST_F(FoldMasksTest, LeavesOutAMaskThatLetsAllBeSeen) {
  evaluator.isSeen = [](int64_t, int64_t, int64_t) { return true; };
  EXPECT_EQ(folded(), "full 4");
}

TEST_F(FoldMasksTest, FindsCausalAttention) {
  evaluator.isSeen = [](int64_t, int64_t query, int64_t key) { return key <= query; };
  EXPECT_EQ(folded(), "causal 4");
}

TEST_F(FoldMasksTest, KeepsAllOtherMasks) {
  evaluator.isSeen = [](int64_t batch, int64_t query, int64_t key) {
    return batch == 0 ? key <= query : true; // of one element of the batch alone
  };
  EXPECT_EQ(folded(), "full mask 5");
  // The last queries see all keys: not the ones up to their own place.
  evaluator.isSeen = [](int64_t, int64_t query, int64_t key) {
    return key <= query + keys - queries;
  };
  EXPECT_EQ(folded(), "full mask 5");
  evaluator.isSeen = [](int64_t batch, int64_t query, int64_t key) {
    return batch != 1 || query != 2 || key != 4;
  };
  EXPECT_EQ(folded(), "full mask 5");
}

TEST_F(FoldMasksTest, LooksAtNumbersThatAreAdded) {
  evaluator.isSeen = [](int64_t, int64_t query, int64_t key) { return key <= query; };
  evaluator.hidden = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(folded(), "causal 4");
  evaluator.hidden = std::numeric_limits<float>::lowest(); // scores could be as low
  EXPECT_EQ(folded(), "full mask 5");
  evaluator.isSeen = [](int64_t, int64_t, int64_t) { return true; };
  EXPECT_EQ(folded(), "full 4");
}

TEST_F(FoldMasksTest, KeepsMasksThatCallsGive) {
  evaluator.isSeen = [](int64_t, int64_t, int64_t) { return true; };
  EXPECT_EQ(folded("<given>"), "full mask 5");
}

} // namespace
} // namespace tw
