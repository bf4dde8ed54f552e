// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Targets.h"
#include "Program/ObjectCode/Machine.h"
#include "Target/CPU/CPUTarget.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Target/NVIDIA/NVIDIATarget.h"
#include "Target/Reference/ReferenceTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tw {
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
                                     const Cancellation *cancellation) override {
    return of(kernel).emit(kernel, into, cancellation);
  }

  LogicalResult finish(const Cancellation *cancellation, target::CodeCache *cache) override {
    return tiles->finish(cancellation, cache);
  }

  LogicalResult printPlan(Operation *kernel, raw_ostream &out,
                          const Cancellation *cancellation) override {
    return of(kernel).printPlan(kernel, out, cancellation);
  }

  std::string toolchain() const override { return tiles->toolchain(); }

  FailureOr<std::string> deviceText(Operation *kernel, StringRef level,
                                    const Cancellation *cancellation) override {
    return of(kernel).deviceText(kernel, level, cancellation);
  }

private:
  target::Target &of(Operation *kernel) { return isa<func::FuncOp>(kernel) ? *reference : *tiles; }

  std::unique_ptr<target::Target> tiles, reference;
};

NamedTarget forCpu(InstructionSet cpu, const CpuCaches &caches) {
  auto features = target::CpuFeatures::of(cpu, caches);
  return {.name = "cpu",
          .family = "cpu",
          .cpu = std::move(cpu),
          .code = std::make_shared<WholeTarget>(target::createCPUTarget(features)),
          .chooser = target::createCPUChooser(features),
          .caches = caches};
}

NamedTarget forHost() { return forCpu(hostInstructionSet(), hostCaches()); }

/// What code on the host of a GPU may use: machines with GPUs have more.
constexpr char gpuHost[] = "x86-64-v3";

NamedTarget forGpu(const target::GpuArchitecture &architecture, target::Precision precision) {
  InstructionSet features = target::namedCpu(gpuHost)->set;
  return {fmt::format("nvidia:{}", std::string_view(architecture.name)),
          "nvidia",
          std::move(features),
          architecture.name.str(),
          std::make_shared<WholeTarget>(target::createNVIDIATarget(architecture)),
          target::createNVIDIAChooser(architecture, precision),
          precision == target::Precision::TF32};
}

/// What a CPU that is known may have beside, where the name asks for something else.
std::string featuresHelp(const std::string &name) {
  size_t plus = name.find('+');
  if (plus == name.npos || !name.starts_with("cpu:"))
    return "";
  auto cpu = target::namedCpu(std::string_view(name).substr(4, plus - 4));
  if (!cpu)
    return "";
  Architecture architecture = cpu->set.architecture;
  return fmt::format("features of {} CPUs follow the name, each after a +: {}; so does the size of "
                     "the second-level cache of a thread: l2=2M",
                     nameOf(architecture), fmt::join(usefulFeatures(architecture), ", "));
}

Diagnostic noTarget(const std::string &name) {
  std::string help = featuresHelp(name);
  if (help.empty()) {
    help = "the targets are cpu (this machine's)";
    for (std::string_view cpu : target::cpuNames())
      help += fmt::format(", cpu:{}", cpu);
    for (const target::GpuArchitecture &gpu : target::gpuArchitectures())
      help += fmt::format(", nvidia:{}", std::string_view(gpu.name));
    help += ", and reference";
  }
  return {Code::DRIVER_2, fmt::format("there is no target \"{}\"", name), {}, {}, help};
}

Result<NamedTarget> byName(const std::string &name, target::Precision precision) {
  if (name == "cpu" || name == "cpu:host")
    return forHost();
  if (name == "reference") {
    // Kernels written by hand are tile programs there, too.
    NamedTarget target = forHost();
    target.name = name;
    target.chooser = nullptr;
    return target;
  }
  if (name.starts_with("cpu:"))
    if (auto cpu = target::namedCpu(name.substr(4)))
      return forCpu(std::move(cpu->set), cpu->caches);
  constexpr std::string_view gpuPrefix = "nvidia:";
  if (name.starts_with(gpuPrefix))
    if (const auto *architecture = target::gpuArchitecture(name.substr(gpuPrefix.size())))
      return forGpu(*architecture, precision);
  return noTarget(name);
}

} // namespace

NamedTarget hostTarget() { return forHost(); }

Result<NamedTarget> findTarget(const std::string &name, const std::string &precision) {
  auto refuse = [](std::string message, std::string help) {
    return Diagnostic{Code::DRIVER_3, std::move(message), {}, {}, std::move(help)};
  };
  bool isTF32 = precision == "tf32", isBf16 = precision == "bf16";
  if (!isTF32 && !isBf16 && !precision.empty() && precision != "f32")
    return refuse(fmt::format("there is no precision \"{}\"", precision),
                  "the precisions of products of f32 are f32 (default), tf32 and bf16");
  TW_ASSIGN(NamedTarget target,
            byName(name, isTF32 ? target::Precision::TF32 : target::Precision::F32));
  if (isTF32 && !target.allowsTF32)
    return refuse(fmt::format("precision {} is asked for, but target {} multiplies f32 as f32",
                              precision, name),
                  "leave the precision out, or compile for a target that has it: nvidia:sm_90a");
  if (isBf16 && target.isPlain())
    return refuse("precision bf16 is asked for, but target reference multiplies f32 as f32",
                  "leave the precision out, or give another target");
  target.roundsProducts = isBf16;
  return target;
}

} // namespace tw
