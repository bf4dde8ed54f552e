// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/HostTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tw {
namespace {

class HostTarget : public target::Target {
public:
  explicit HostTarget(const target::CpuFeatures &features)
      : cpu(createCPUTarget(features)), reference(target::createReferenceTarget()) {}

  StringRef name() const override { return "cpu"; }

  void registerDialects(DialectRegistry &registry) const override {
    cpu->registerDialects(registry);
    reference->registerDialects(registry);
  }

  FailureOr<target::KernelInfo> lower(Operation *kernel, ModuleOp into) override {
    return (isa<func::FuncOp>(kernel) ? reference : cpu)->lower(kernel, into);
  }

private:
  std::unique_ptr<target::Target> cpu, reference;
};

} // namespace

std::unique_ptr<target::Target> createHostTarget(const target::CpuFeatures &features) {
  return std::make_unique<HostTarget>(features);
}

} // namespace tw
