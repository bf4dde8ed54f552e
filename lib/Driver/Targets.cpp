// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Targets.h"
#include "Program/Machine.h"
#include "Target/CPU/CPUTarget.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/Reference/ReferenceTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {
namespace {

/// Tile programs by Target/CPU, functions by Target/Reference.
class ProcessorTarget : public target::Target {
public:
  explicit ProcessorTarget(const target::CpuFeatures &features)
      : cpu(target::createCPUTarget(features)), reference(target::createReferenceTarget()) {}

  StringRef name() const override { return "cpu"; }

  void registerDialects(DialectRegistry &registry) const override {
    cpu->registerDialects(registry);
    reference->registerDialects(registry);
  }

  FailureOr<target::KernelInfo> emit(Operation *kernel, ModuleOp into) override {
    return of(kernel).emit(kernel, into);
  }

  LogicalResult printPlan(Operation *kernel, raw_ostream &out) override {
    return of(kernel).printPlan(kernel, out);
  }

private:
  target::Target &of(Operation *kernel) { return isa<func::FuncOp>(kernel) ? *reference : *cpu; }

  std::unique_ptr<target::Target> cpu, reference;
};

NamedTarget forFeatures(std::vector<std::string> names) {
  auto features = target::CpuFeatures::fromNames(names);
  return {"cpu", std::move(names), "", std::make_shared<ProcessorTarget>(features),
          target::createCPUChooser(features)};
}

} // namespace

NamedTarget hostTarget() { return forFeatures(hostFeatures()); }

Result<NamedTarget> findTarget(const std::string &name) {
  if (name == "cpu" || name == "cpu:host")
    return hostTarget();
  if (name == "reference") {
    // Kernels written by hand are tile programs there, too.
    NamedTarget target = hostTarget();
    target.name = name;
    target.chooser = nullptr;
    return target;
  }
  if (name.starts_with("cpu:"))
    if (auto features = target::featuresOfCpu(name.substr(4)))
      return forFeatures(*std::move(features));
  std::string names;
  for (std::string_view cpu : target::cpuNames())
    names += fmt::format(", cpu:{}", cpu);
  return Diagnostic{Code::DRIVER_2,
                    fmt::format("there is no target \"{}\"", name),
                    {},
                    {},
                    "the targets are cpu (this machine's)" + names + ", and reference"};
}

} // namespace tw
