// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"

using namespace tw::test;

TEST_F(Program, CallsKernelsInOrder) {
  build(twice + R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %a = tw.dispatch @twice(%x) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      %b = tw.dispatch @twice(%a) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      return %b : tensor<4xf32>
    })");
  EXPECT_EQ(run({{1, 2, 3, 4}})[0], (Floats{4, 8, 12, 16}));
}

TEST_F(Program, CopiesWhatIsNotMadeForTheOutput) {
  build(twice + R"(
    func.func @main(%x: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %a = tw.dispatch @twice(%x) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      %r = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
      return %x, %a, %a, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
    })");
  auto out = run({{1, 2, 3, 4}});
  EXPECT_EQ(out[0], (Floats{1, 2, 3, 4}));
  for (int i : {1, 2, 3})
    EXPECT_EQ(out[i], (Floats{2, 4, 6, 8})) << i;
}

TEST_F(Program, StatesSwap) {
  build(twice + R"(
    func.func @main(%x: tensor<4xf32>,
        %s: tensor<4xf32> {tw.name = "s", tw.role = "state",
                           tw.weight = #tw.weight<"s" in "" [0, 0] start 0 strides [1]>},
        %t: tensor<4xf32> {tw.name = "t", tw.role = "state",
                           tw.weight = #tw.weight<"t" in "" [0, 0] start 0 strides [1]>})
        -> (tensor<4xf32>, tensor<4xf32> {tw.role = "state", tw.state = "s"},
            tensor<4xf32> {tw.role = "state", tw.state = "t"}) {
      return %s, %t, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    })");
  Floats s{1, 2, 3, 4}, t{5, 6, 7, 8};
  check(tw_instance_state_set(instance, "s", s.data(), 16));
  check(tw_instance_state_set(instance, "t", t.data(), 16));
  EXPECT_EQ(run({{0, 0, 0, 0}})[0], s);
  EXPECT_EQ(run({{0, 0, 0, 0}})[0], t);
  EXPECT_EQ(run({{0, 0, 0, 0}})[0], s);
}

static const char *branches = R"(
    func.func @main(%p: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %i = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %v = tensor.extract %p[%i] : tensor<4xf32>
      %c = arith.cmpf ogt, %v, %zero : f32
      %r = scf.if %c -> tensor<4xf32> {
        %a = tw.dispatch @twice(%x) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
        scf.yield %a : tensor<4xf32>
      } else {
        scf.yield %x : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    })";

TEST_F(Program, BranchesOnData) {
  build(twice + branches);
  EXPECT_EQ(run({{1, 0, 0, 0}, {1, 2, 3, 4}})[0], (Floats{2, 4, 6, 8}));
  EXPECT_EQ(run({{-1, 0, 0, 0}, {1, 2, 3, 4}})[0], (Floats{1, 2, 3, 4}));
}

TEST_F(Program, LoopsCarryTensors) {
  build(twice + R"(
    func.func @main(%x: tensor<4xf32>, %n: i64) -> (tensor<4xf32>, tensor<4xf32>, i64) {
      %e = tensor.empty() : tensor<4xf32>
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %count = arith.index_cast %n : i64 to index
      %r:3 = scf.for %i = %0 to %count step %1
          iter_args(%a = %x, %b = %x, %k = %n) -> (tensor<4xf32>, tensor<4xf32>, i64) {
        %d = tw.dispatch @twice(%a) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
        %more = arith.addi %k, %n : i64
        scf.yield %b, %d, %more : tensor<4xf32>, tensor<4xf32>, i64
      }
      return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, i64
    })");
  Floats x{1, 2, 3, 4};
  std::vector<int64_t> sizes{4};
  int64_t n = 3;
  tw_tensor in[] = {tensor(x, sizes), {&n, 8, TW_I64, 0, nullptr}}, out[3] = {};
  check(tw_instance_run(instance, in, 2, out, 3));
  // (a, b): (1, 1) -> (1, 2) -> (2, 2) -> (2, 4)
  EXPECT_EQ(static_cast<float *>(output(0).data)[0], 2);
  EXPECT_EQ(static_cast<float *>(output(1).data)[3], 16);
  EXPECT_EQ(*static_cast<int64_t *>(output(2).data), 12);
}

TEST_F(Program, DynamicSizes) {
  TextTarget target;
  target.fixed = false;
  build(R"(
    func.func private @twice(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32>
        attributes {tw.kernel} { return %o : tensor<?xf32> }
    func.func @main(%x: tensor<?xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0)>}) -> (tensor<?xf32>, tensor<?x2xf32>, i64)
        attributes {tw.symbols = [{name = "s0", min = 2, max = 100}]} {
      %0 = arith.constant 0 : index
      %2 = arith.constant 2 : index
      %n = tensor.dim %x, %0 : tensor<?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %a = tw.dispatch @twice(%x) outs(%e) : (tensor<?xf32>) outs (tensor<?xf32>) -> tensor<?xf32>
      %b = tw.dispatch @twice(%a) outs(%e) : (tensor<?xf32>) outs (tensor<?xf32>) -> tensor<?xf32>
      %half = arith.floordivsi %n, %2 : index
      %r = tensor.expand_shape %a [[0, 1]] output_shape [%half, 2] : tensor<?xf32> into tensor<?x2xf32>
      %k = arith.index_cast %half : index to i64
      return %b, %r, %k : tensor<?xf32>, tensor<?x2xf32>, i64
    })",
        target);
  std::vector<int64_t> sizes{6};
  Floats x{1, 2, 3, 4, 5, 6};
  tw_tensor in[] = {tensor(x, sizes)}, out[3] = {};
  check(tw_instance_run(instance, in, 1, out, 3));
  EXPECT_EQ(output(0).sizes[0], 6);
  EXPECT_EQ(static_cast<float *>(output(0).data)[5], 24);
  EXPECT_EQ(output(1).sizes[0], 3);
  EXPECT_EQ(static_cast<float *>(output(1).data)[5], 12);
  EXPECT_EQ(*static_cast<int64_t *>(output(2).data), 3);
}

TEST_F(Program, AssertionsEndTheCall) {
  build(R"(
    func.func @main(%n: i64) -> i64 {
      %limit = arith.constant 5 : i64
      %c = arith.cmpi slt, %n, %limit : i64
      tw.assert %c, "n is %lld, but less than %lld is needed"(%n, %limit : i64, i64)
      return %n : i64
    })");
  int64_t n = 7;
  tw_tensor in{&n, 8, TW_I64, 0, nullptr}, out{};
  tw_status *status = tw_instance_run(instance, &in, 1, &out, 1);
  ASSERT_TRUE(status);
  EXPECT_STREQ(tw_status_code(status), "TW-RUNTIME-0013");
  EXPECT_NE(std::string(tw_status_message(status)).find("n is 7, but less than 5 is needed"),
            std::string::npos);
  tw_status_free(status);
}
