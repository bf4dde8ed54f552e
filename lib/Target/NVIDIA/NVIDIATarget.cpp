// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/NVIDIATarget.h"
#include "Target/Common/ToLLVM.h"
#include "Target/NVIDIA/Code/Ptx.h"
#include "Target/NVIDIA/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tw::target {
namespace {

class NVIDIATarget : public Target {
public:
  NVIDIATarget(const GpuArchitecture &architecture, DeviceCompiler compile)
      : architecture(architecture), compile(std::move(compile)) {}

  StringRef name() const override { return "nvidia"; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect, arith::ArithDialect,
                    math::MathDialect, cf::ControlFlowDialect, ub::UBDialect, tile::TileDialect>();
  }

  FailureOr<KernelInfo> emit(Operation *kernel, ModuleOp into) override {
    loadDialects(kernel->getContext());
    OwningOpRef<ModuleOp> device = ModuleOp::create(kernel->getLoc());
    FailureOr<nvidia::LoweredForDevice> lowered =
        nvidia::lowerKernel(cast<tile::KernelOp>(kernel), *device, into, architecture);
    if (failed(lowered) || failed(lowerLoops(*device)))
      return failure();
    auto code = std::make_shared<DeviceCode>();
    code->arguments = lowered->arguments;
    code->entries = std::move(lowered->entries);
    FailureOr<std::string> image =
        compile(*device, architecture, code->arguments, code->entries);
    if (failed(image))
      return failure();
    code->image = *std::move(image);
    lowered->info.device = std::move(code);
    return std::move(lowered->info);
  }

  FailureOr<std::string> deviceText(Operation *kernel, StringRef level) override {
    loadDialects(kernel->getContext());
    OwningOpRef<ModuleOp> device = ModuleOp::create(kernel->getLoc());
    OwningOpRef<ModuleOp> host = ModuleOp::create(kernel->getLoc());
    if (failed(nvidia::lowerKernel(cast<tile::KernelOp>(kernel), *device, *host, architecture)))
      return failure();
    std::string text;
    if (level == "loops") {
      PassManager cleanup(kernel->getContext()); // LLVM does the same, later
      cleanup.addPass(createCanonicalizerPass());
      cleanup.addPass(createCSEPass());
      if (failed(cleanup.run(*device)))
        return failure();
      llvm::raw_string_ostream(text) << *device << "\n";
      return text;
    }
    if (failed(lowerLoops(*device)))
      return failure();
    return nvidia::makeText(*device, architecture,
                            level == "llvm" ? nvidia::DeviceText::LLVM : nvidia::DeviceText::PTX);
  }

private:
  static void loadDialects(MLIRContext *context) {
    context->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect, arith::ArithDialect,
                         math::MathDialect, cf::ControlFlowDialect, ub::UBDialect>();
  }

  const GpuArchitecture &architecture;
  DeviceCompiler compile;
};

} // namespace

FailureOr<std::string> compileForDevice(ModuleOp device, const GpuArchitecture &architecture,
                                        int64_t, std::vector<DeviceCode::Entry> &) {
  return nvidia::makeText(device, architecture, nvidia::DeviceText::PTX);
}

std::unique_ptr<Target> createNVIDIATarget(const GpuArchitecture &architecture,
                                           DeviceCompiler compile) {
  return std::make_unique<NVIDIATarget>(architecture, std::move(compile));
}

} // namespace tw::target
