// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that calls give become arguments: which of them as they are, and what is prepared.
#include "Graph/Preparation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace tw {
namespace {

class PreparationTest : public testing::Test {
protected:
  PreparationTest() {
    context.loadDialect<graph::TWDialect, func::FuncDialect, linalg::LinalgDialect,
                        tensor::TensorDialect, arith::ArithDialect>();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  /// "(x: tensor<4xf32>) -> (prepared.0: tensor<..>)" of @main, which must verify.
  static std::string signature(ModuleOp module) {
    EXPECT_TRUE(succeeded(verify(module)));
    auto main = module.lookupSymbol<func::FuncOp>("main");
    std::string text = "(";
    llvm::raw_string_ostream out(text);
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      out << (i ? ", " : "") << main.getArgAttrOfType<StringAttr>(i, "tw.name").getValue() << ": "
          << main.getArgument(i).getType();
    out << ") -> (";
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      auto name = main.getResultAttrOfType<StringAttr>(i, "tw.name");
      out << (i ? ", " : "") << (name ? name.getValue() : "y") << ": "
          << main.getFunctionType().getResult(i);
    }
    return text + ")";
  }

  static int64_t count(ModuleOp module, StringRef name) {
    int64_t found = 0;
    module.walk([&](Operation *op) { found += op->getName().getStringRef() == name; });
    return found;
  }

  /// What depends on no weight that calls give.
  struct Known : ConstantEvaluator {
    FailureOr<SmallVector<graph::WeightAttr>> evaluate(OwningOpRef<ModuleOp> module) override {
      ++evaluations;
      auto weight =
          graph::WeightAttr::get(module->getContext(), StringAttr::get(module->getContext(), "c"),
                                 StringAttr::get(module->getContext(), "constants"), 0, 16, 0, {1});
      return SmallVector<graph::WeightAttr>{weight};
    }
    std::vector<std::byte> elementsOf(graph::WeightAttr) override {
      return std::vector<std::byte>(16);
    }
    int evaluations = 0;
  };

  MLIRContext context;
  Known known;
};

constexpr StringLiteral imported = R"(
  func.func @main(%x: tensor<4xf32> {tw.name = "x"}) -> tensor<4xf32> {
    %w = tw.weight <"w" in "<given>"[0, 96] start 0 strides [6, 1]> : tensor<4x6xf32>
    %v = tw.weight <"v" in "<given>"[1, 16] start 0 strides [1]> : tensor<4xf32>
    return %x : tensor<4xf32>
  })";

TEST_F(PreparationTest, ReadsInPlaceWhatLiesAsItIsRead) {
  OwningOpRef<ModuleOp> module = parse(imported);
  Preparation preparation(*module, known);
  OwningOpRef<ModuleOp> program = parse(R"(
  func.func @main(%x: tensor<4xf32> {tw.name = "x"}) -> (tensor<2x12xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
    %turned = tw.weight <"w" in "<given>"[0, 96] start 0 strides [1, 6]> : tensor<6x4xf32>
    %again = tw.weight <"w" in "<given>"[0, 96] start 0 strides [1, 6]> : tensor<6x4xf32>
    %cut = tw.weight <"w" in "<given>"[0, 96] start 0 strides [12, 1]> : tensor<2x12xf32>
    return %cut, %turned, %again : tensor<2x12xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  })");
  OwningOpRef<ModuleOp> prepared = preparation.take(*program);
  EXPECT_EQ(signature(*program), "(x: tensor<4xf32>, w: tensor<4x6xf32>, prepared.0: "
                                 "tensor<6x4xf32>) -> (y: tensor<2x12xf32>, y: tensor<6x4xf32>, "
                                 "y: tensor<6x4xf32>)");
  EXPECT_EQ(signature(*prepared), "(w: tensor<4x6xf32>) -> (prepared.0: tensor<6x4xf32>)");
  EXPECT_EQ(count(*program, "tw.weight") + count(*prepared, "tw.weight"), 0);
}

TEST_F(PreparationTest, KeepsWhatIsEvaluated) {
  OwningOpRef<ModuleOp> module = parse(imported);
  Preparation preparation(*module, known);
  constexpr StringLiteral evaluated = R"(
  func.func private @k(%a: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {tw.kernel} {
    %s = linalg.exp ins(%a : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func @constants() -> tensor<4xf32> {
    %v = tw.weight <"v" in "FILE"[NUMBER, 16] start 0 strides [1]> : tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %r = tw.dispatch @k(%v) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  })";
  auto evaluate = [&](std::string file, std::string number) {
    std::string text = evaluated.str();
    text.replace(text.find("FILE"), 4, file);
    text.replace(text.find("NUMBER"), 6, number);
    return (*preparation.evaluate(parse(text)))[0];
  };
  evaluate("<given>", "1");
  graph::WeightAttr second = evaluate("<prepared>", "0"); // of what was evaluated before
  EXPECT_EQ(second.getOffset(), 1);
  EXPECT_EQ(second.getBytes(), 16);
  OwningOpRef<ModuleOp> program = parse(R"(
  func.func @main() -> tensor<2x2xf32> {
    %w = tw.weight <"prepared.1" in "<prepared>"[1, 16] start 0 strides [2, 1]> : tensor<2x2xf32>
    return %w : tensor<2x2xf32>
  })");
  OwningOpRef<ModuleOp> prepared = preparation.take(*program);
  EXPECT_EQ(signature(*program), "(prepared.0: tensor<2x2xf32>) -> (y: tensor<2x2xf32>)");
  EXPECT_EQ(signature(*prepared), "(v: tensor<4xf32>) -> (prepared.0: tensor<2x2xf32>)");
  EXPECT_EQ(count(*prepared, "tw.dispatch"), 2);
  EXPECT_EQ(count(*prepared, "linalg.exp"), 2); // each call has the kernel that came with it
}

TEST_F(PreparationTest, EvaluatesAtOnceWhatNoCallGives) {
  OwningOpRef<ModuleOp> module = parse(imported);
  Preparation preparation(*module, known);
  auto evaluated = preparation.evaluate(parse(R"(
  func.func @constants() -> tensor<4xf32> {
    %w = tw.weight <"t" in "model"[0, 16] start 0 strides [1]> : tensor<4xf32>
    return %w : tensor<4xf32>
  })"));
  ASSERT_TRUE(succeeded(evaluated));
  EXPECT_EQ(known.evaluations, 1);
  EXPECT_FALSE(graph::isGivenByCalls((*evaluated)[0]));
  EXPECT_EQ(preparation.elementsOf((*evaluated)[0]).size(), 16u);
}

} // namespace
} // namespace tw
