// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler for the GPUs of the tests' driver (unittests/Runtime/driver): it takes the place of
// Driver/Targets. Tile programs become device code by way of the cpu target, functions that no tile
// program covers stay on the host. So what the host entry and the runtime do for a device is tested
// with whole models, without a GPU.
#include "Driver/Targets.h"
#include "IR/Tile/Tile.h"
#include "Program/Link/Link.h"
#include "Program/ObjectCode/Machine.h"
#include "Target/CPU/CPUTarget.h"
#include "Target/CPU/Configuration/Chooser.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/Reference/ReferenceTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "runtime/ProgramABI.h"
#include <cstddef>

using namespace mlir;
using namespace tw;

namespace {

/// LLVM code for 64-bit words.
struct Words {
  OpBuilder b;
  Location loc;
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type nothing = LLVM::LLVMVoidType::get(b.getContext());

  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  }
  Value at(Value base, int64_t bytes) {
    return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  }
  Value load(Type type, Value address) { return LLVM::LoadOp::create(b, loc, type, address); }
  void store(Value value, Value address) { LLVM::StoreOp::create(b, loc, value, address); }
  /// A function that only returns; the builder stands before that.
  LLVM::LLVMFuncOp function(ModuleOp module, const std::string &name, ArrayRef<Type> arguments) {
    b.setInsertionPointToEnd(module.getBody());
    auto made =
        LLVM::LLVMFuncOp::create(b, loc, name, LLVM::LLVMFunctionType::get(nothing, arguments));
    b.setInsertionPointToStart(made.addEntryBlock(b));
    b.setInsertionPoint(LLVM::ReturnOp::create(b, loc, ValueRange{}));
    return made;
  }
  void call(ModuleOp module, const std::string &name, ValueRange arguments) {
    LLVM::CallOp::create(b, loc, module.lookupSymbol<LLVM::LLVMFuncOp>(name), arguments);
  }
};

/// What a kernel is called with: its buffers, its scalars and the workspace, as arguments of a
/// launch in this order.
struct Arguments {
  int64_t buffers = 0, scalars = 0;
  int64_t count() const { return buffers + scalars + 1; }
};

class FakeDeviceTarget : public target::Target {
public:
  explicit FakeDeviceTarget(const NamedTarget &host) : host(host) {}
  StringRef name() const override { return "nvidia"; }
  void registerDialects(DialectRegistry &registry) const override {
    host.code->registerDialects(registry);
  }

  FailureOr<target::KernelInfo> emit(Operation *kernel, ModuleOp into,
                                     const Cancellation *) override {
    if (isa<func::FuncOp>(kernel))
      return host.code->emit(kernel, into);
    OwningOpRef<ModuleOp> code = ModuleOp::create(kernel->getLoc());
    FailureOr<target::KernelInfo> info = host.code->lower(kernel, *code);
    if (failed(info))
      return failure();
    Arguments arguments = argumentsOf(cast<tile::KernelOp>(kernel), *info);
    auto device = std::make_shared<target::DeviceCode>();
    device->arguments = arguments.count();
    Words words{OpBuilder(kernel->getContext()), kernel->getLoc()};
    for (bool fills : {false, true})
      if (!fills || info->fills) {
        std::string name = info->name + (fills ? "_fill" : "");
        device->launches.insert(device->launches.begin(), name);
        device->entries.push_back({name, 0, 0, 32, 0});
        addLaunch(words, into, name, info->name, arguments, fills);
      }
    // The host asks for the workspace, and how many blocks there are.
    auto needs = code->lookupSymbol<LLVM::LLVMFuncOp>(info->name + "_info");
    into.push_back(needs->clone());
    std::vector<std::string> exports;
    for (const target::DeviceCode::Entry &entry : device->entries)
      addEntry(words, *code, entry.name, arguments, exports);
    auto objects = makeObjects(*code, host.cpu, "");
    if (failed(objects))
      return failure();
    Result<ObjectFile> library = linkLibrary(*objects, exports);
    if (!library)
      return emitError(kernel->getLoc(), library.error().message);
    device->image.assign(library->data(), library->size());
    info->device = device;
    return info;
  }

private:
  static Arguments argumentsOf(tile::KernelOp kernel, const target::KernelInfo &info) {
    Arguments arguments;
    arguments.buffers = int64_t(info.passedSizes.size()) + info.mayFail();
    for (const auto &sizes : info.passedSizes)
      arguments.scalars += int64_t(sizes.size());
    for (auto argument : kernel.getArguments().getAsRange<tile::ArgumentAttr>())
      arguments.scalars += argument.getAccess() == tile::Access::Scalar;
    return arguments;
  }

  /// On the host: NAME_launch(buffers, scalars, workspace, launch).
  static void addLaunch(Words &w, ModuleOp into, const std::string &name, const std::string &kernel,
                        Arguments arguments, bool fills) {
    auto function = w.function(into, name + "_launch", {w.ptr, w.ptr, w.ptr, w.ptr});
    Value buffers = function.getArgument(0), scalars = function.getArgument(1);
    Value launch = function.getArgument(3);
    Value room = w.load(w.ptr, w.at(launch, offsetof(tw_launch, arguments)));
    int64_t next = 0;
    for (auto [from, count] : {std::pair(buffers, arguments.buffers), {scalars, arguments.scalars}})
      for (int64_t i = 0; i < count; ++i)
        w.store(w.load(w.i64, w.at(from, i * 8)), w.at(room, 8 * next++));
    w.store(function.getArgument(2), w.at(room, 8 * next));
    auto put = [&](size_t field, Value value) { w.store(value, w.at(launch, int64_t(field))); };
    auto constant = [&](int32_t value) -> Value {
      return LLVM::ConstantOp::create(w.b, w.loc, w.i32, w.b.getI32IntegerAttr(value));
    };
    Value blocks = constant(1);
    if (!fills) {
      Value out = LLVM::AllocaOp::create(w.b, w.loc, w.ptr, w.i64, w.constant(2));
      LLVM::CallOp::create(w.b, w.loc, TypeRange{}, kernel + "_info", ValueRange{scalars, out});
      blocks = LLVM::TruncOp::create(w.b, w.loc, w.i32, w.load(w.i64, out));
    }
    for (int64_t d = 0; d < 3; ++d) {
      put(offsetof(tw_launch, grid) + 4 * d, d ? constant(1) : blocks);
      put(offsetof(tw_launch, block) + 4 * d, constant(d ? 1 : 128));
      put(offsetof(tw_launch, cluster) + 4 * d, constant(0));
    }
    put(offsetof(tw_launch, shared_bytes), constant(0));
    put(offsetof(tw_launch, flags), constant(0));
    put(offsetof(tw_launch, argument_count), constant(int32_t(arguments.count())));
  }

  /// On the device, as its driver wants it: NAME(arguments, block) calls what the cpu target has
  /// made, under another name.
  static void addEntry(Words &w, ModuleOp code, const std::string &name, Arguments arguments,
                       std::vector<std::string> &exports) {
    auto inner = code.lookupSymbol<LLVM::LLVMFuncOp>(name);
    std::string innerName = name + "_on_cpu";
    if (failed(SymbolTable::replaceAllSymbolUses(inner, w.b.getStringAttr(innerName), code)))
      return;
    inner.setSymName(innerName);
    auto function = w.function(code, name, {w.ptr, w.i32});
    Value all = function.getArgument(0), scalars = w.at(all, 8 * arguments.buffers);
    SmallVector<Value> passed{all, scalars};
    if (inner.getNumArguments() > 2) {
      Value block = LLVM::ZExtOp::create(w.b, w.loc, w.i64, function.getArgument(1));
      Value workspace = w.load(w.ptr, w.at(scalars, 8 * arguments.scalars));
      Value next = LLVM::AddOp::create(w.b, w.loc, block, w.constant(1));
      passed.append({workspace, block, next});
    }
    w.call(code, innerName, passed);
    w.b.setInsertionPointToStart(code.getBody());
    LLVM::GlobalOp::create(w.b, w.loc, w.i32, /*isConstant=*/true, LLVM::Linkage::External,
                           name + "_arguments", w.b.getI32IntegerAttr(int32_t(arguments.count())));
    exports.insert(exports.end(), {name, name + "_arguments"});
  }

  NamedTarget host;
};

/// As Driver/Targets has it.
class ProcessorTarget : public target::Target {
public:
  explicit ProcessorTarget(const target::CpuFeatures &features)
      : cpu(target::createCPUTarget(features)), reference(target::createReferenceTarget()) {}
  StringRef name() const override { return "cpu"; }
  void registerDialects(DialectRegistry &registry) const override {
    cpu->registerDialects(registry);
    reference->registerDialects(registry);
  }
  FailureOr<target::KernelInfo> emit(Operation *kernel, ModuleOp into,
                                     const Cancellation *) override {
    return (isa<func::FuncOp>(kernel) ? reference : cpu)->emit(kernel, into);
  }

private:
  std::unique_ptr<target::Target> cpu, reference;
};

} // namespace

NamedTarget tw::hostTarget() {
  auto features = target::CpuFeatures::of(hostInstructionSet());
  return {"cpu",
          "cpu",
          hostInstructionSet(),
          "",
          std::make_shared<ProcessorTarget>(features),
          target::createCPUChooser(features)};
}

Result<NamedTarget> tw::findTarget(const std::string &, const std::string &) {
  NamedTarget host = hostTarget();
  return NamedTarget{
      "nvidia:sm_90a", "nvidia", host.cpu, "sm_90a", std::make_shared<FakeDeviceTarget>(host),
      host.chooser};
}
