// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/CPUTarget.h"
#include "Target/CPU/Plan/Plan.h"
#include "Target/Common/ToLLVM.h"
#include "Target/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

constexpr char text[] = R"(
tile.kernel @k(in %x: !tile.buffer<[8, 64], f32>, out %y: !tile.buffer<[8, 64], f32>) grid [8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[8, 64], f32> -> tensor<1x64xf32>
  %u = arith.addf %t, %t : tensor<1x64xf32>
  tile.store %u, %y[%p, %c0] : tensor<1x64xf32>, !tile.buffer<[8, 64], f32>
})";

/// Lowering ends in each of its parts, and says nothing.
class CancelledLowering : public testing::Test {
protected:
  CancelledLowering() : target(target::createCPUTarget(cpu)) {
    mlir::DialectRegistry registry;
    target->registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    code = mlir::ModuleOp::create(module->getLoc());
    handler.emplace(&context, [this](mlir::Diagnostic &diagnostic) {
      said += diagnostic.str();
      return mlir::success();
    });
  }

  tile::KernelOp kernel() { return module->lookupSymbol<tile::KernelOp>("k"); }

  target::CpuFeatures cpu;
  std::unique_ptr<target::Target> target;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module, code;
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  std::string said;
  Cancellation cancellation;
};

TEST_F(CancelledLowering, Runs) {
  EXPECT_TRUE(succeeded(target::cpu::planKernel(kernel(), cpu, &cancellation)));
  EXPECT_TRUE(succeeded(target->lower(kernel(), *code, &cancellation)));
  EXPECT_EQ(said, "");
}

TEST_F(CancelledLowering, Ends) {
  cancellation.request();
  EXPECT_TRUE(failed(target::cpu::planKernel(kernel(), cpu, &cancellation)));
  EXPECT_TRUE(failed(target->lower(kernel(), *code, &cancellation)));
  EXPECT_EQ(said, "");
}

TEST_F(CancelledLowering, EndsBehindEmission) {
  ASSERT_TRUE(succeeded(target->emit(kernel(), *code, &cancellation)));
  cancellation.request();
  EXPECT_TRUE(failed(target::lowerLoops(*code, &cancellation)));
  EXPECT_TRUE(succeeded(target::lowerLoops(*code)));
  EXPECT_EQ(said, "");
}

} // namespace
} // namespace tw
