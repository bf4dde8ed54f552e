// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler for the GPUs of the tests' driver (unittests/Runtime/driver), in the place of
// Driver/Targets: what the nvidia target lowers becomes host code, which the driver simulates. So
// whole models run as they would on a GPU.
#include "Driver/Targets.h"
#include "Program/ObjectCode/Machine.h"
#include "Target/CPU/CPUTarget.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Target/NVIDIA/NVIDIATarget.h"
#include "Target/Reference/ReferenceTarget.h"
#include "ToHost.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tw;

namespace {

/// Tile programs by one target, functions, on the host, by Target/Reference.
class WholeTarget : public target::Target {
public:
  explicit WholeTarget(std::unique_ptr<target::Target> tiles)
      : tiles(std::move(tiles)), reference(target::createReferenceTarget()) {}
  StringRef name() const override { return tiles->name(); }
  void registerDialects(DialectRegistry &registry) const override {
    tiles->registerDialects(registry);
    reference->registerDialects(registry);
  }
  FailureOr<target::KernelInfo> emit(Operation *kernel, ModuleOp into,
                                     const Cancellation *) override {
    return (isa<func::FuncOp>(kernel) ? reference : tiles)->emit(kernel, into);
  }
  LogicalResult finish(const Cancellation *cancellation, target::CodeCache *cache) override {
    return tiles->finish(cancellation, cache);
  }

private:
  std::unique_ptr<target::Target> tiles, reference;
};

} // namespace

NamedTarget tw::hostTarget() {
  auto features = target::CpuFeatures::of(hostInstructionSet());
  return {"cpu",
          "cpu",
          hostInstructionSet(),
          "",
          std::make_shared<WholeTarget>(target::createCPUTarget(features)),
          target::createCPUChooser(features)};
}

Result<NamedTarget> tw::findTarget(const std::string &, const std::string &precision) {
  bool isTF32 = precision == "tf32";
  auto features = target::namedCpu("x86-64-v3")->set;
  const target::GpuArchitecture &architecture = *target::gpuArchitecture("sm_90a");
  return NamedTarget{"nvidia:sm_90a",
                     "nvidia",
                     features,
                     architecture.name.str(),
                     std::make_shared<WholeTarget>(
                         target::createNVIDIATarget(architecture, simulator::compileForHost)),
                     target::createNVIDIAChooser(architecture, isTF32 ? target::Precision::TF32
                                                                      : target::Precision::F32),
                     isTF32};
}
