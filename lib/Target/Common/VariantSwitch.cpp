// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/VariantSwitch.h"
#include "IR/Tile/Variants.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/ProgramABI.h"
#include "llvm/ADT/STLExtras.h"
#include <cstddef>
#include <set>

using namespace mlir;

namespace tw::target {
namespace {

/// A scalar that a variant has bounds for: a symbol's value, or the number of workers.
struct Bound {
  int64_t slot; // among the scalars
  int64_t least, most;
};

/// Where among the scalars the value of a symbol is: the size of a buffer that it is.
std::optional<int64_t> slotOf(const LoweredKernel &lowered, StringRef symbol) {
  tile::KernelOp kernel = lowered.kernel;
  int64_t slot = 0;
  size_t tensor = 0;
  for (Value argument : kernel.getBody().getArguments())
    if (auto buffer = dyn_cast<tile::BufferType>(argument.getType())) {
      std::vector<Size> sizes = tile::sizesOf(buffer);
      for (unsigned d : lowered.info.passedSizes[tensor++]) {
        if (sizes[d].asSymbol() == symbol)
          return slot;
        ++slot;
      }
    }
  return std::nullopt;
}

/// How many scalars a kernel takes, but for the number of workers.
int64_t scalarCount(const LoweredKernel &lowered) {
  int64_t count = 0;
  for (const std::vector<unsigned> &sizes : lowered.info.passedSizes)
    count += int64_t(sizes.size());
  tile::KernelOp kernel = lowered.kernel;
  return count + llvm::count_if(kernel.getBody().getArgumentTypes(),
                                [](Type type) { return !isa<tile::BufferType>(type); });
}

/// Nothing where a symbol with bounds of its own is not the size of any buffer.
std::optional<SmallVector<Bound>> boundsOf(tile::KernelOp variant, const LoweredKernel &base) {
  SmallVector<Bound> bounds;
  tile::KernelOp kernel = base.kernel;
  for (auto symbol : variant.getSymbols().getAsRange<tile::SymbolAttr>()) {
    if (llvm::is_contained(kernel.getSymbols(), symbol))
      continue;
    auto slot = slotOf(base, symbol.getName());
    if (!slot)
      return std::nullopt;
    bounds.push_back({*slot, symbol.getMin(), symbol.getMax()});
  }
  if (int64_t workers = tile::workersOf(variant); workers > 0)
    bounds.push_back({scalarCount(base), workers, INT64_MAX});
  return bounds;
}

class SwitchBuilder {
public:
  SwitchBuilder(const LoweredKernel &base, ArrayRef<LoweredKernel> variants, ModuleOp into)
      : base(base), variants(variants), into(into), b(into.getContext()),
        loc(tile::KernelOp(base.kernel).getLoc()),
        pointer(LLVM::LLVMPointerType::get(b.getContext())), i64(b.getI64Type()) {}

  /// `name` + `suffix`, which calls that of one of the kernels with its arguments; number `scalars`
  /// of these are the scalars.
  void emit(StringRef name, StringRef suffix, ArrayRef<Type> arguments, unsigned scalars) {
    b.setInsertionPointToEnd(into.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), arguments);
    auto function = LLVM::LLVMFuncOp::create(b, loc, (name + suffix).str(), type);
    Block *block = function.addEntryBlock(b);
    ValueRange given = function.getArguments();
    for (const LoweredKernel &variant : variants) {
      b.setInsertionPointToEnd(block);
      Value holds = condition(variant, given[scalars]);
      Block *here = b.createBlock(&function.getBody()), *next = b.createBlock(&function.getBody());
      b.setInsertionPointToEnd(block);
      LLVM::CondBrOp::create(b, loc, holds, here, next);
      call(here, variant.info.name, suffix, given);
      block = next;
    }
    call(block, base.info.name, suffix, given);
  }

  /// What launches kernel `name` of a variant, or of the kernel itself (null), launches it for its
  /// own sizes only.
  void guardLaunch(const LoweredKernel *own, const std::string &name) {
    auto always = into.lookupSymbol<LLVM::LLVMFuncOp>(name + "_launch");
    always.setSymName(name + "_launch$always");
    always.setLinkage(LLVM::Linkage::Private);
    b.setInsertionPointToEnd(into.getBody());
    auto guarded = LLVM::LLVMFuncOp::create(b, loc, name + "_launch", always.getFunctionType());
    Block *entry = guarded.addEntryBlock(b), *here = b.createBlock(&guarded.getBody()),
          *otherwise = b.createBlock(&guarded.getBody());
    b.setInsertionPointToEnd(entry);
    LLVM::CondBrOp::create(b, loc, isOwn(own, guarded.getArgument(1)), here, otherwise);
    call(here, always.getSymName(), "", guarded.getArguments());
    b.setInsertionPointToEnd(otherwise);
    Value none = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
    static_assert(offsetof(tw_launch, grid) == 0);
    LLVM::StoreOp::create(b, loc, none, guarded.getArgument(3));
    LLVM::ReturnOp::create(b, loc, ValueRange{});
  }

  Type pointerType() const { return pointer; }
  Type integerType() const { return i64; }

private:
  /// Whether a variant's bounds hold, and those of none before it; of the kernel itself (null), of
  /// no variant.
  Value isOwn(const LoweredKernel *own, Value scalars) {
    Value none = LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(true));
    for (const LoweredKernel &variant : variants) {
      Value holds = condition(variant, scalars);
      if (&variant == own)
        return LLVM::AndOp::create(b, loc, none, holds);
      Value isOther = LLVM::XOrOp::create(
          b, loc, holds, LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(true)));
      none = LLVM::AndOp::create(b, loc, none, isOther);
    }
    return none;
  }

  Value condition(const LoweredKernel &variant, Value scalars) {
    Value all = LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(true));
    auto bounds = boundsOf(variant.kernel, base);
    for (const Bound &bound : *bounds) {
      Value place = LLVM::GEPOp::create(b, loc, pointer, i64, scalars,
                                        ArrayRef<LLVM::GEPArg>{int32_t(bound.slot)});
      Value value = LLVM::LoadOp::create(b, loc, i64, place);
      auto compare = [&](LLVM::ICmpPredicate predicate, int64_t with) {
        Value number = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(with));
        Value holds = LLVM::ICmpOp::create(b, loc, predicate, value, number);
        all = LLVM::AndOp::create(b, loc, all, holds);
      };
      compare(LLVM::ICmpPredicate::sge, bound.least);
      compare(LLVM::ICmpPredicate::sle, bound.most);
    }
    return all;
  }

  void call(Block *block, StringRef name, StringRef suffix, ValueRange arguments) {
    b.setInsertionPointToEnd(block);
    LLVM::CallOp::create(b, loc, TypeRange{}, (name + suffix).str(), arguments);
    LLVM::ReturnOp::create(b, loc, ValueRange{});
  }

  const LoweredKernel &base;
  ArrayRef<LoweredKernel> variants;
  ModuleOp into;
  OpBuilder b;
  Location loc;
  Type pointer, i64;
};

/// What holds of one kernel and of the other.
void merge(KernelInfo &all, const KernelInfo &one) {
  if (all.iterations != one.iterations)
    all.iterations.reset();
  // Room for the one that needs the most is enough for all.
  if (all.workspaceBytes && one.workspaceBytes)
    all.workspaceBytes = std::max(*all.workspaceBytes, *one.workspaceBytes);
  else
    all.workspaceBytes.reset();
  all.grain = std::max(all.grain, one.grain);
  std::set<std::string> imports(all.imports.begin(), all.imports.end());
  imports.insert(one.imports.begin(), one.imports.end());
  all.imports.assign(imports.begin(), imports.end());
  llvm::erase_if(all.inPlace, [&](auto pair) { return !llvm::is_contained(one.inPlace, pair); });
}

/// All kernels of the device, launched one after the other, each for its own sizes.
std::shared_ptr<const DeviceCode> guardLaunches(SwitchBuilder &builder, const LoweredKernel &base,
                                                ArrayRef<LoweredKernel> variants) {
  auto all = std::make_shared<DeviceCode>();
  auto add = [&](const LoweredKernel &one, const LoweredKernel *own) {
    const DeviceCode &code = *one.info.device;
    for (const std::string &name : code.launches) {
      builder.guardLaunch(own, name);
      all->launches.push_back(name);
    }
    all->arguments = std::max(all->arguments, code.arguments);
    all->variants.push_back(one.info.device);
  };
  for (const LoweredKernel &variant : variants)
    add(variant, &variant);
  add(base, nullptr);
  return all;
}

} // namespace

std::string nameOfAny(tile::KernelOp kernel) { return kernel.getSymName().str() + "$any"; }

bool isInterchangeable(const LoweredKernel &variant, const LoweredKernel &base, std::string &why) {
  if (!boundsOf(variant.kernel, base))
    why = "a symbol with bounds is not the size of any buffer";
  else if (variant.info.passedSizes != base.info.passedSizes)
    why = "it is called with other sizes";
  else if (variant.info.failures != base.info.failures)
    why = "it fails in other ways";
  else if (variant.info.fills != base.info.fills)
    why = "what outputs hold before is another thing";
  else if (base.info.device && tile::workersOf(variant.kernel) > 0)
    why = "a device has no workers to be counted";
  return why.empty();
}

KernelInfo emitVariantSwitch(const LoweredKernel &base, ArrayRef<LoweredKernel> variants,
                             ModuleOp into) {
  KernelInfo info = base.info;
  tile::KernelOp kernel = base.kernel;
  info.name = kernel.getSymName().str();
  for (const LoweredKernel &variant : variants) {
    merge(info, variant.info);
    info.takesWorkers |= tile::workersOf(variant.kernel) > 0;
  }
  SwitchBuilder builder(base, variants, into);
  Type pointer = builder.pointerType(), i64 = builder.integerType();
  if (!base.info.device)
    builder.emit(info.name, "", {pointer, pointer, pointer, i64, i64}, 1);
  builder.emit(info.name, "_info", {pointer, pointer}, 0);
  if (base.info.device)
    info.device = guardLaunches(builder, base, variants);
  else if (info.fills)
    builder.emit(info.name, "_fill", {pointer, pointer}, 1);
  return info;
}

} // namespace tw::target
