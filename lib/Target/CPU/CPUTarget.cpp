// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/CPUTarget.h"
#include "Target/CPU/Kernel.h"
#include "Target/CPU/Plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tw::target {
namespace {

class CPUTarget : public Target {
public:
  explicit CPUTarget(const CpuFeatures &cpu) : cpu(cpu) {}

  StringRef name() const override { return "cpu"; }

  void registerDialects(DialectRegistry &registry) const override {
    registry
        .insert<LLVM::LLVMDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                cf::ControlFlowDialect, ub::UBDialect, vector::VectorDialect, tile::TileDialect>();
  }

  FailureOr<KernelInfo> emit(Operation *kernel, ModuleOp into,
                             const Cancellation *cancellation) override {
    kernel->getContext()
        ->loadDialect<LLVM::LLVMDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                      cf::ControlFlowDialect, ub::UBDialect, vector::VectorDialect>();
    return cpu::lowerKernel(cast<tile::KernelOp>(kernel), into, cpu, cancellation);
  }

  LogicalResult printPlan(Operation *kernel, raw_ostream &out,
                          const Cancellation *cancellation) override {
    auto op = cast<tile::KernelOp>(kernel);
    FailureOr<cpu::KernelPlan> plan = cpu::planKernel(op, cpu, cancellation);
    if (failed(plan) || isCancelled(cancellation))
      return failure();
    cpu::printPlan(op, *plan, out);
    return success();
  }

private:
  CpuFeatures cpu;
};

} // namespace

std::unique_ptr<Target> createCPUTarget(const CpuFeatures &features) {
  return std::make_unique<CPUTarget>(features);
}

} // namespace tw::target
