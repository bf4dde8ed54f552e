// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Text/Text.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

struct Imported {
  std::string text; // of the module, or the rendered error
  std::optional<TextLevel> level;
};

/// Whether `text` has `part`; prints `text` when a test fails.
testing::AssertionResult has(const std::string &text, std::string_view part) {
  bool found = text.find(part) != std::string::npos;
  return (found ? testing::AssertionSuccess() : testing::AssertionFailure())
         << (found ? "" : "not ") << "found in:\n"
         << text;
}

Imported import(std::string_view text, const std::string &entry = "") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto result = importTextString(&context, text, "model.mlir", {entry});
  Imported imported;
  if (!result) {
    imported.text = result.error().render();
    return imported;
  }
  llvm::raw_string_ostream(imported.text) << *result->module;
  imported.level = result->level;
  return imported;
}

TEST(ImportText, NamesInputsAndOutputs) {
  Imported got = import(R"(
    func.func @forward(%a: !torch.vtensor<[2],f32>, %b: !torch.int {tw.name = "n"})
        -> !torch.vtensor<[2],f32> {
      %0 = torch.aten.relu %a : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
      return %0 : !torch.vtensor<[2],f32>
    })");
  EXPECT_EQ(got.level, TextLevel::Torch);
  EXPECT_TRUE(has(got.text, R"(@main(%arg0: !torch.vtensor<[2],f32> {tw.name = "arg0")"));
  EXPECT_TRUE(has(got.text, R"(%arg1: !torch.int {tw.name = "n", tw.role = "input"})"));
  EXPECT_TRUE(has(got.text, R"({tw.name = "output_0", tw.role = "output"})"));
}

TEST(ImportText, PicksAndInlines) {
  std::string_view text = R"(
    func.func private @inner(%a: !torch.int) -> !torch.int {
      %0 = torch.aten.neg.int %a : !torch.int -> !torch.int
      return %0 : !torch.int
    }
    func.func @one(%a: !torch.int) -> !torch.int {
      %0 = func.call @inner(%a) : (!torch.int) -> !torch.int
      return %0 : !torch.int
    }
    func.func @two(%a: !torch.int) -> !torch.int { return %a : !torch.int })";
  EXPECT_TRUE(has(import(text).text, "TW-IMPORT-0102]: it is not clear which function"));
  EXPECT_TRUE(has(import(text).text, "public functions: one, two"));
  EXPECT_TRUE(has(import(text, "three").text, "there is no function three"));
  Imported got = import(text, "one");
  EXPECT_TRUE(has(got.text, "torch.aten.neg.int"));
  EXPECT_FALSE(has(got.text, "call"));
  EXPECT_FALSE(has(got.text, "@inner"));
}

TEST(ImportText, RefusesRecursion) {
  EXPECT_TRUE(has(import(R"(func.func @main(%a: !torch.int) -> !torch.int {
    %0 = func.call @main(%a) : (!torch.int) -> !torch.int
    return %0 : !torch.int
  })")
                      .text,
                  "recursion is not supported"));
}

TEST(ImportText, BindsDynamicSizes) {
  Imported torch = import(R"(func.func @main(%a: !torch.vtensor<[?,3,?],f32>) {
    %s = torch.symbolic_int "s0" {min_val = 2, max_val = 4} : !torch.int
    return
  })");
  EXPECT_TRUE(has(torch.text, "affine_map<()[s0, s1] -> (s0, 3, s1)>"));
  EXPECT_TRUE(has(torch.text, R"(symbolic_int "s1" {min_val = 0)"));
  Imported graph = import(R"(func.func @main(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
    return %a : tensor<?x3xf32>
  })");
  EXPECT_EQ(graph.level, TextLevel::Graph);
  EXPECT_TRUE(has(graph.text, R"(tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0, 3)>)"));
  EXPECT_TRUE(has(graph.text, R"(tw.symbols = [{max = 9223372036854775807 : i64, min = 0)"));
}

TEST(ImportText, MutableTensorsBecomeValues) {
  Imported got = import(R"(
    func.func @main(%x: !torch.tensor<[2],f32>, %y: !torch.tensor<[2],f32>)
        -> !torch.tuple<tensor<[2],f32>, int> {
      %int1 = torch.constant.int 1
      %0 = torch.copy.to_vtensor %x : !torch.vtensor<[2],f32>
      %1 = torch.aten.add.Tensor %0, %y, %int1 : !torch.vtensor<[2],f32>, !torch.tensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f32>
      torch.overwrite.tensor.contents %1 overwrites %x : !torch.vtensor<[2],f32>, !torch.tensor<[2],f32>
      %2 = torch.copy.to_vtensor %x : !torch.vtensor<[2],f32>
      %3 = torch.copy.to_tensor %2 : !torch.tensor<[2],f32>
      %4 = torch.prim.TupleConstruct %3, %int1 : !torch.tensor<[2],f32>, !torch.int -> !torch.tuple<tensor<[2],f32>, int>
      return %4 : !torch.tuple<tensor<[2],f32>, int>
    })");
  EXPECT_FALSE(has(got.text, "torch.tensor"));
  EXPECT_TRUE(has(got.text, "return %0, %int1, %0 :"));
  EXPECT_TRUE(
      has(got.text, R"({tw.input = "arg0", tw.name = "output_2", tw.role = "input_mutation"})"));
}

TEST(ImportText, RefusesOtherWrites) {
  Imported got = import(R"(func.func @main(%x: !torch.tensor<[2],f32>) {
    %int1 = torch.constant.int 1
    %0 = torch.aten.add_.Scalar %x, %int1, %int1 : !torch.tensor<[2],f32>, !torch.int, !torch.int -> !torch.tensor<[2],f32>
    return
  })");
  EXPECT_TRUE(has(got.text, "TW-IMPORT-0105]: 'torch.aten.add_.Scalar' writes to a tensor"));
  EXPECT_TRUE(has(got.text, "--> model.mlir:3:10"));
}

TEST(ImportText, RefusesByName) {
  EXPECT_TRUE(has(import("func.func @main(%x: !torch.list<int>) { return }").text,
                  "argument 0 is a !torch.list<int>; programs take"));
  EXPECT_TRUE(has(import("func.func @main(%x: !torch.vtensor<[2],complex<f32>>) { return }").text,
                  "dtype complex<f32> is not supported"));
  EXPECT_TRUE(has(import("func.func @main(%x: !torch.vtensor<*,f32>) { return }").text,
                  "does not state how many dimensions"));
  EXPECT_TRUE(
      has(import("func.func @main() { cf.br ^a\n ^a: return }").text, "branches between blocks"));
  EXPECT_TRUE(
      has(import("func.func @main() -> tensor<1xf32> { %0 = tw.weight <\"w\" in \"/etc/passwd\" "
                 "[0, 4] start 0 strides [1]> : tensor<1xf32> return %0 : tensor<1xf32> }")
              .text,
          "operation 'tw.weight' is not supported"));
}

TEST(ImportText, RefusesWhatIsNoProgram) {
  EXPECT_TRUE(has(import("hello").text, "TW-IMPORT-0101]"));
  EXPECT_TRUE(has(import("").text, "there is no public function"));
  EXPECT_TRUE(has(import(std::string_view("a\0b", 3)).text, "is not text"));
  std::string deep = "func.func private @f(" + std::string(100000, '(') + ")";
  EXPECT_TRUE(has(import(deep).text, "brackets nest more than"));
  std::string sum = "func.func private @f() attributes {m = affine_map<(d0) -> (d0";
  for (int i = 0; i < 100000; ++i)
    sum += "+d0";
  EXPECT_TRUE(has(import(sum + ")>}").text, "an affine map takes more than"));
}

TEST(ImportText, ChecksOnlyPositionsThatMayLieOutside) {
  auto text = [](const char *index) {
    return std::string(R"(
    func.func @main(%x: tensor<8xf32>, %table: tensor<8x4xf32>) -> tensor<8xf32> {
      %c2 = arith.constant 2 : index
      %e = tensor.empty() : tensor<8xf32>
      %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%e : tensor<8xf32>) {
      ^bb0(%old: f32):
        %i = linalg.index 0 : index
        %at = )") +
           index + R"(
        %v = tensor.extract %table[%i, %at] : tensor<8x4xf32>
        linalg.yield %v : f32
      } -> tensor<8xf32>
      return %y : tensor<8xf32>
    })";
  };
  EXPECT_FALSE(has(import(text("arith.divui %i, %c2 : index")).text, "tw.check_index"));
  EXPECT_FALSE(has(import(text("arith.minui %i, %c2 : index")).text, "tw.check_index"));
  EXPECT_TRUE(has(import(text("arith.muli %i, %c2 : index")).text,
                  "position 1 is %lld, where the size is %lld"));
}

} // namespace
} // namespace tw
