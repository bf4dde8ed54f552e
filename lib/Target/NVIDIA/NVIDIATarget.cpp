// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/NVIDIATarget.h"
#include "IR/CodedWarning.h"
#include "Support/Parallel.h"
#include "Support/Programs.h"
#include "Target/Common/ToLLVM.h"
#include "Target/NVIDIA/Code/Ptx.h"
#include "Target/NVIDIA/Code/Ptxas.h"
#include "Target/NVIDIA/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <mutex>

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
                    math::MathDialect, cf::ControlFlowDialect, ub::UBDialect, vector::VectorDialect,
                    tile::TileDialect>();
    nvidia::registerTranslations(registry);
  }

  FailureOr<KernelInfo> emit(Operation *kernel, ModuleOp into,
                             const Cancellation *cancellation) override {
    loadDialects(kernel->getContext());
    OwningOpRef<ModuleOp> device = ModuleOp::create(kernel->getLoc());
    FailureOr<nvidia::LoweredForDevice> lowered = nvidia::lowerKernel(
        cast<tile::KernelOp>(kernel), *device, into, architecture, cancellation);
    if (failed(lowered) || failed(lowerLoops(*device, cancellation)))
      return failure();
    auto code = std::make_shared<DeviceCode>();
    code->arguments = lowered->arguments;
    code->launches = lowered->launches();
    code->entries = std::move(lowered->entries);
    FailureOr<DeviceJob> job = compile(*device, architecture, code->entries);
    if (failed(job))
      return failure();
    std::lock_guard lock(mutex);
    tile::KernelOp copy =
        lowered->usesTensorCores ? cast<tile::KernelOp>(kernel->clone()) : nullptr;
    pending.push_back({kernel->getLoc(), code, *std::move(job), copy});
    lowered->info.device = std::move(code);
    return std::move(lowered->info);
  }

  LogicalResult finish(const Cancellation *cancellation, CodeCache *cache) override {
    std::vector<Pending> jobs;
    {
      std::lock_guard lock(mutex);
      jobs.swap(pending);
    }
    // Kernels are lowered at the same time: errors are in the same order each time.
    llvm::sort(jobs, [](const Pending &a, const Pending &b) {
      return a.code->entries.front().name < b.code->entries.front().name;
    });
    std::vector<Status> results(jobs.size());
    tw::onThreads(jobs.size(), mostCompilingThreads, [&](size_t i) {
      if (isCancelled(cancellation))
        return;
      Result<std::string> image = jobs[i].job(jobs[i].code->entries, cache, cancellation);
      if (image)
        jobs[i].code->image = *std::move(image);
      else
        results[i] = image.error();
    });
    if (isCancelled(cancellation))
      return failure();
    for (auto [job, result] : llvm::zip(jobs, results)) {
      if (!result && result.error().code == Code::TARGET_3 && job.kernel)
        result = compileWithoutTensorCores(job, result.error().message, cache, cancellation);
      if (!result)
        return emitError(job.location, result.error());
    }
    return failure(isCancelled(cancellation));
  }

  /// Without ptxas the driver makes code of PTX, at the first call.
  std::string toolchain() const override { return nvidia::ptxasFacts(); }

  FailureOr<std::string> deviceText(Operation *kernel, StringRef level,
                                    const Cancellation *cancellation) override {
    loadDialects(kernel->getContext());
    OwningOpRef<ModuleOp> device = ModuleOp::create(kernel->getLoc());
    OwningOpRef<ModuleOp> host = ModuleOp::create(kernel->getLoc());
    if (failed(nvidia::lowerKernel(cast<tile::KernelOp>(kernel), *device, *host, architecture,
                                   cancellation)) ||
        isCancelled(cancellation))
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
    if (failed(lowerLoops(*device, cancellation)))
      return failure();
    FailureOr<nvidia::DeviceModule> module = nvidia::translateForDevice(*device, architecture);
    if (failed(module))
      return failure();
    return nvidia::makeText(*module, architecture,
                            level == "llvm" ? nvidia::DeviceText::LLVM : nvidia::DeviceText::PTX,
                            cancellation);
  }

private:
  static LogicalResult emitError(Location location, const Diagnostic &error) {
    InFlightDiagnostic emitted = emitCoded(location, error.code) << error.message;
    if (!error.help.empty())
      emitted.attachNote() << "help: " << error.help;
    return emitted;
  }

  /// A kernel whose code is not made yet.
  struct Pending {
    Location location;
    std::shared_ptr<DeviceCode> code;
    DeviceJob job;
    /// A copy of one that uses tensor cores.
    OwningOpRef<tile::KernelOp> kernel;
  };

  /// Where ptxas refuses a kernel for tensor cores, which no plan can foresee of every kernel; the
  /// first refusal stays where the plain lowering fails, too.
  Status compileWithoutTensorCores(Pending &refused, const std::string &why, CodeCache *cache,
                                   const Cancellation *cancellation) {
    Diagnostic first{Code::TARGET_3, why};
    OwningOpRef<ModuleOp> device = ModuleOp::create(refused.location),
                          host = ModuleOp::create(refused.location);
    FailureOr<nvidia::LoweredForDevice> lowered =
        nvidia::lowerWithoutTensorCores(*refused.kernel, *device, *host, architecture);
    if (failed(lowered) || failed(lowerLoops(*device, cancellation)))
      return first;
    FailureOr<DeviceJob> job = compile(*device, architecture, lowered->entries);
    if (failed(job))
      return first;
    Result<std::string> image = (*job)(lowered->entries, cache, cancellation);
    if (!image)
      return first;
    emitReport(refused.location) << "multiplies without tensor cores: " << why;
    refused.code->image = *std::move(image);
    refused.code->entries = std::move(lowered->entries);
    return {};
  }

  static void loadDialects(MLIRContext *context) {
    context->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect, arith::ArithDialect,
                         math::MathDialect, cf::ControlFlowDialect, ub::UBDialect,
                         vector::VectorDialect>();
  }

  const GpuArchitecture &architecture;
  DeviceCompiler compile;
  std::mutex mutex;
  std::vector<Pending> pending;
};

} // namespace

/// Loading takes longer then, and nobody has looked for spills and serialized products: a warning,
/// unless it is what TILEWRIGHT_PTXAS asks for.
static void sayThatThereIsNoPtxas(Location location) {
  constexpr char message[] = "there is no ptxas: the artifact has PTX, which the GPU's driver "
                             "compiles when it is loaded";
  emitReport(location) << message;
  if (choosePtxas().isGiven)
    return;
  InFlightDiagnostic warning = emitCodedWarning(location, Code::PROGRAM_9);
  warning << message;
  warning.attachNote()
      << "help: the wheel nvidia-cuda-nvcc has ptxas; put that into the PATH, or its path into "
         "TILEWRIGHT_PTXAS, which may be empty to have PTX without this warning";
}

FailureOr<DeviceJob> compileForDevice(ModuleOp device, const GpuArchitecture &architecture,
                                      const std::vector<DeviceCode::Entry> &) {
  FailureOr<nvidia::DeviceModule> module = nvidia::translateForDevice(device, architecture);
  if (failed(module))
    return failure();
  if (!nvidia::ptxasPath())
    sayThatThereIsNoPtxas(device.getLoc());
  auto shared = std::make_shared<nvidia::DeviceModule>(*std::move(module));
  return DeviceJob(
      [shared, &architecture](std::vector<DeviceCode::Entry> &entries, CodeCache *cache,
                              const Cancellation *cancellation) -> Result<std::string> {
        std::string ptx =
            nvidia::makeText(*shared, architecture, nvidia::DeviceText::PTX, cancellation);
        if (isCancelled(cancellation))
          return Cancellation::error();
        if (ptx.empty())
          return Diagnostic{Code::PROGRAM_6, "LLVM cannot write PTX"};
        if (nvidia::ptxasPath())
          return nvidia::assemble(ptx, architecture, entries, cache, cancellation);
        ptx.push_back('\0'); // the driver wants it so
        return ptx;
      });
}

std::unique_ptr<Target> createNVIDIATarget(const GpuArchitecture &architecture,
                                           DeviceCompiler compile) {
  return std::make_unique<NVIDIATarget>(architecture, std::move(compile));
}

} // namespace tw::target
