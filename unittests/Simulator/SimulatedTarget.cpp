// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimulatedTarget.h"
#include "Target/Common/ToLLVM.h"
#include "Target/NVIDIA/Kernel.h"
#include "Target/NVIDIA/NVIDIATarget.h"
#include "TensorMap.h"
#include "ToHost.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/ProgramABI.h"
#include <cstdio>
#include <cstdlib>

using namespace mlir;

namespace tw::simulator {
namespace {

constexpr int64_t all = -1;

Experiment *running = nullptr;
Order chosen = Order::Forwards;

void report(const char *fault) {
  if (running)
    return running->find(fault);
  std::fprintf(stderr, "simulator: %s\n", fault);
  std::abort();
}

/// Runs the blocks [begin, end) of a launch, or all of them.
void runLaunch(Kernel kernel, const tw_launch *launch, int64_t begin, int64_t end) {
  Order order = running ? running->order : chosen;
  Launch simulated{launch->grid[0], launch->block[0], launch->shared_bytes};
  if (end == all)
    end = launch->grid[0];
  if (launch->grid[0] == 0) // as the runtime does
    return;
  std::vector<uint64_t> arguments(launch->arguments, launch->arguments + launch->argument_count);
  uint32_t count = launch->flags & TW_LAUNCH_HAS_MAPS ? launch->map_count : 0;
  std::vector<TensorMap> maps(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (const char *problem = encode(launch->maps[i], maps[i]))
      return report(problem);
    arguments.push_back(reinterpret_cast<uint64_t>(&maps[i]));
  }
  if (const char *fault =
          runBlocks(kernel, arguments.data(), simulated, uint32_t(begin), uint32_t(end), order))
    report(fault);
}

/// Runs all blocks for whoever asks for the first one: they have one workspace.
void runWholeLaunch(Kernel kernel, const tw_launch *launch, int64_t begin, int64_t end) {
  if (begin == 0 && end != 0)
    runLaunch(kernel, launch, 0, all);
}

const target::GpuArchitecture &simulatedArchitecture() {
  return running ? running->architecture : *target::gpuArchitecture("sm_90a");
}

target::GpuArchitecture architectureOf(int64_t multiprocessors) {
  target::GpuArchitecture copy = *target::gpuArchitecture("sm_90a");
  copy.multiprocessors = multiprocessors;
  return copy;
}

class SimulatedTarget : public target::Target {
public:
  SimulatedTarget()
      : architecture(simulatedArchitecture()), dialects(target::createNVIDIATarget(architecture)) {}

  StringRef name() const override { return "simulated"; }
  void registerDialects(DialectRegistry &registry) const override {
    dialects->registerDialects(registry);
  }

  FailureOr<target::KernelInfo> emit(Operation *kernel, ModuleOp into,
                                     const Cancellation *) override {
    DialectRegistry registry;
    dialects->registerDialects(registry);
    kernel->getContext()->appendDialectRegistry(registry);
    kernel->getContext()->loadAllAvailableDialects();
    OwningOpRef<ModuleOp> device = ModuleOp::create(kernel->getLoc());
    bool isPlain = running && running->avoidsTensorCores;
    auto typed = cast<tile::KernelOp>(kernel);
    auto lowered = isPlain
                       ? target::nvidia::lowerWithoutTensorCores(typed, *device, into, architecture)
                       : target::nvidia::lowerKernel(typed, *device, into, architecture);
    if (failed(lowered) || failed(target::lowerLoops(*device)))
      return failure();
    if (running)
      running->change(*device);
    // k is the entry for the caller, so the device's have other names.
    for (target::DeviceCode::Entry &entry : lowered->entries) {
      auto function = device->lookupSymbol<LLVM::LLVMFuncOp>(entry.name);
      entry.name += "_on_device";
      function.setSymName(entry.name);
    }
    rewriteForHost(*device, lowered->entries);
    for (Operation &op : llvm::make_early_inc_range(*device->getBody())) {
      op.remove();
      into.push_back(&op);
    }
    // k_fill of the caller gets no workspace, so k does what is to be done there before.
    std::vector<std::string> launched = lowered->launches();
    if (lowered->claims)
      lowered->info.fills = false;
    if (lowered->info.fills) {
      addCall(into, launched[0], {launched[0]}, lowered->arguments, /*isFill=*/true);
      launched.erase(launched.begin());
    }
    addCall(into, lowered->info.name, launched, lowered->arguments, /*isFill=*/false,
            lowered->claims);
    return std::move(lowered->info);
  }

private:
  /// k(buffers, scalars, workspace, begin, end), or k_fill(buffers, scalars), which launches one
  /// kernel after the other. Where programs are claimed, their counter lies in the workspace.
  static void addCall(ModuleOp into, const std::string &name,
                      const std::vector<std::string> &launched, int64_t arguments, bool isFill,
                      bool claims = false) {
    OpBuilder b = OpBuilder::atBlockEnd(into.getBody());
    Location loc = into.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
    Type nothing = LLVM::LLVMVoidType::get(b.getContext());
    SmallVector<Type> types{pointer, pointer};
    if (!isFill)
      types.append({pointer, i64, i64});
    auto made = LLVM::LLVMFuncOp::create(b, loc, name, LLVM::LLVMFunctionType::get(nothing, types));
    b.setInsertionPointToStart(made.addEntryBlock(b));
    auto number = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
    };
    auto words = [&](int64_t count) -> Value {
      return LLVM::AllocaOp::create(b, loc, pointer, i64, number(count));
    };
    Value launch = words(int64_t(sizeof(tw_launch) / 8)), values = words(arguments);
    Value field =
        LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), launch,
                            ArrayRef<LLVM::GEPArg>{int32_t(offsetof(tw_launch, arguments))});
    LLVM::StoreOp::create(b, loc, values, field);
    Value workspace =
        isFill ? Value(LLVM::ZeroOp::create(b, loc, pointer)) : Value(made.getArgument(2));
    Value begin = isFill ? number(0) : Value(made.getArgument(3));
    Value end = isFill ? number(all) : Value(made.getArgument(4));
    constexpr int64_t unwritten = 0x5A5A5A5A5A5A5A5A; // what a workspace may hold before
    if (claims)
      LLVM::StoreOp::create(b, loc, number(unwritten), workspace);
    auto *how = claims ? runWholeLaunch : runLaunch;
    Value run = LLVM::IntToPtrOp::create(b, loc, pointer,
                                         number(int64_t(reinterpret_cast<uintptr_t>(how))));
    for (const std::string &one : launched) {
      LLVM::CallOp::create(b, loc, into.lookupSymbol<LLVM::LLVMFuncOp>(one + "_launch"),
                           ValueRange{made.getArgument(0), made.getArgument(1), workspace, launch});
      Value kernel = LLVM::AddressOfOp::create(b, loc, pointer, one + "_on_device");
      LLVM::CallOp::create(b, loc,
                           LLVM::LLVMFunctionType::get(nothing, {pointer, pointer, i64, i64}),
                           ValueRange{run, kernel, launch, begin, end});
    }
    LLVM::ReturnOp::create(b, loc, ValueRange{});
  }

  const target::GpuArchitecture &architecture;
  std::unique_ptr<target::Target> dialects;
};

} // namespace

Experiment::Experiment(std::function<void(ModuleOp)> change, int64_t multiprocessors)
    : change(std::move(change)), architecture(architectureOf(multiprocessors)) {
  running = this;
}
Experiment::~Experiment() { running = nullptr; }

void Experiment::find(const char *fault) {
  std::lock_guard lock(mutex);
  if (first.empty())
    first = fault;
}

std::string Experiment::fault() {
  std::lock_guard lock(mutex);
  return first;
}

std::string Experiment::takeFault() {
  std::lock_guard lock(mutex);
  return std::exchange(first, {});
}

void setOrder(Order order) { chosen = order; }

std::vector<Order> ordersToTry() {
  if (running)
    return {running->order};
  return {Order::Forwards, Order::Backwards, Order::GroupsForwards, Order::GroupsBackwards};
}

std::unique_ptr<target::Target> createSimulatedTarget() {
  return std::make_unique<SimulatedTarget>();
}

} // namespace tw::simulator
