// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole kernels, against numbers worked out elsewhere.
#include "Import/Text/Kernels.h"
#include "RunKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

constexpr const char *softmax = R"(
tile.kernel @softmax(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>)
    symbols [M, N] grid [M] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %row = tile.load %x[%m, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %max = tile.reduce max %row axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
  %max1 = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32>
  %maxs = tile.broadcast %max1 : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %d = arith.subf %row, %maxs : tensor<1x?xf32, #tile.dims<[N]>>
  %e = math.exp %d : tensor<1x?xf32, #tile.dims<[N]>>
  %sum = tile.reduce sum %e axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
  %sum1 = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %sums = tile.broadcast %sum1 : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %p = arith.divf %e, %sums : tensor<1x?xf32, #tile.dims<[N]>>
  tile.store %p, %y[%m, %c0] : tensor<1x?xf32, #tile.dims<[N]>>, !tile.buffer<[M, N], f32>
})";

TEST(Programs, Softmax) {
  EXPECT_EQ(runKernel(softmax, {"2x3xf32=0,1,2,-1000,0,0"}),
            "2x3xf32=0.09003057,0.24472848,0.66524094,0,0.5,0.5");
  EXPECT_EQ(runKernel(softmax, {"1x2xf32=nan,1"}), "1x2xf32=nan,nan");
  EXPECT_EQ(runKernel(softmax, {"0x3xf32="}), "0x3xf32=");
  EXPECT_EQ(runKernel(softmax, {"3x0xf32="}), "3x0xf32=");
}

std::string gemm() {
  std::string text = R"(
tile.kernel @gemm(in %a: !tile.buffer<[M, K], DT>, in %b: !tile.buffer<[K, N], DT>,
                  out %c: !tile.buffer<[M, N], f32>) symbols [M, N, K] grid [M ceildiv 6, N ceildiv 16] {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %m, %c6 : index
  %column = arith.muli %n, %c16 : index
  %k = tile.size K
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<6x16xf32>
  %acc = tile.for %i = %c0 to %k step %c64 carry (%x = %init : tensor<6x16xf32>) {
    %at = tile.load %a[%row, %i] : !tile.buffer<[M, K], DT> -> tensor<6x64xDT>
    %bt = tile.load %b[%i, %column] : !tile.buffer<[K, N], DT> -> tensor<64x16xDT>
    %y = tile.dot %at, %bt, %x : tensor<6x64xDT>, tensor<64x16xDT>, tensor<6x16xf32>
    tile.yield %y : tensor<6x16xf32>
  } combine (%l: tensor<6x16xf32>, %r: tensor<6x16xf32>) {
    %s = arith.addf %l, %r : tensor<6x16xf32>
    tile.yield %s : tensor<6x16xf32>
  }
  tile.store %acc, %c[%row, %column] : tensor<6x16xf32>, !tile.buffer<[M, N], f32>
})";
  return text;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(Programs, Gemm) {
  std::string text = replaced(gemm(), "DT", "f32");
  EXPECT_EQ(runKernel(text, {"2x3xf32=1,2,3,4,5,6", "3x2xf32=1,0,0,1,1,1"}, {.check = false}),
            "2x2xf32=4,5,10,11");
  // 1 + 200 * 2^-9 is lost in bf16, and sums are not rounded between the trips.
  EXPECT_EQ(runKernel(replaced(gemm(), "DT", "bf16"), {"1x257xbf16=1", "257x1xbf16=0.00390625"},
                      {.check = false}),
            "1x1xf32=1.0039062");
}

TEST(Programs, GemmOfManyPrograms) {
  std::string text = replaced(gemm(), "DT", "f32");
  std::string result = runKernel(text, {"256x256xf32=1", "256x256xf32=0.5"});
  EXPECT_EQ(result.substr(0, 24), "256x256xf32=128,128,128,");
  EXPECT_EQ(result.find('\n'), result.npos) << result.substr(result.find('\n'));
}

/// Kernels come verified; one that a pass has spoilt is refused, not run.
TEST(Programs, OperationsOfOthersAreRefused) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importKernelString(&context, "tile.kernel @k() grid [1] {}", "k");
  ASSERT_TRUE(module);
  auto kernel = llvm::cast<tile::KernelOp>(**findKernel(**module, "", "k"));
  auto b = mlir::OpBuilder::atBlockBegin(&kernel.getBody().front());
  mlir::Value one = mlir::arith::ConstantIndexOp::create(b, kernel.getLoc(), 1);
  mlir::arith::CeilDivSIOp::create(b, kernel.getLoc(), one, one);
  auto run = interpreter::interpret(kernel, {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::INTERPRETER_7);
  EXPECT_EQ(run.error().message, "arith.ceildivsi has no place in a kernel");
}

TEST(Programs, AsManyTensorsAsArguments) {
  std::string kernel = "tile.kernel @k(in %x: !tile.buffer<[2], f32>) grid [1] {}";
  EXPECT_EQ(runKernel(kernel, {"2xf32=1", "f32=1"}),
            "error 1: 2 arguments are given, which are not as many as the kernel takes");
}

} // namespace
} // namespace tw
