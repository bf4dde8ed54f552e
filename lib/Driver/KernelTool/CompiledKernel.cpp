// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/KernelTool/CompiledKernel.h"
#include "Driver/Targets.h"
#include "IO/Element.h"
#include "IR/Coded.h"
#include "Interpreter/Interpreter.h"
#include "Program/Link/LoadedCode.h"
#include "Tile/Passes.h"
#include "Tile/SplitLoops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/AlignedBuffer.h"
#include "runtime/CpuFeatures.h"
#include "runtime/ThreadPool.h"
#include <bit>
#include <chrono>
#include <cstring>
#include <fmt/format.h>

using namespace mlir;

namespace tw {

/// What the kernel's functions are called in the library.
static constexpr const char *entryName = "kernel", *infoName = "kernel_info",
                            *fillName = "kernel_fill";

using Entry = void(void **buffers, int64_t *scalars, uint8_t *workspace, int64_t begin,
                   int64_t end);
using Info = void(int64_t *scalars, int64_t out[2]);
using Fill = void(void **buffers, int64_t *scalars);

//===----------------------------------------------------------------------===//
// From the kernel to code
//===----------------------------------------------------------------------===//

namespace {

/// The first error that is emitted in a context while this lives; of work that may be cancelled.
class FirstError {
public:
  FirstError(MLIRContext &context, const Cancellation *cancellation)
      : cancellation(cancellation), handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && !error)
            error = toDiagnostic(diagnostic);
          return success();
        }) {}
  /// What ended `stage` early: a wish, or the error.
  Diagnostic take(const char *stage) {
    if (isCancelled(cancellation))
      return Cancellation::error();
    return error ? *error
                 : Diagnostic{Code::TARGET_1, fmt::format("the compiler failed in {}", stage)};
  }

private:
  const Cancellation *cancellation;
  std::optional<Diagnostic> error;
  ScopedDiagnosticHandler handler;
};

bool simplify(tile::KernelOp kernel) {
  PassManager passes(kernel.getContext(), tile::KernelOp::getOperationName());
  passes.addPass(tile::createSimplify());
  return succeeded(passes.run(kernel));
}

/// A simplified copy of the kernel, as a program has it.
OwningOpRef<tile::KernelOp> preparedCopy(tile::KernelOp kernel) {
  OwningOpRef<tile::KernelOp> copy(cast<tile::KernelOp>(kernel->clone()));
  copy->setSymName(entryName);
  return simplify(*copy) ? std::move(copy) : nullptr;
}

} // namespace

struct CompiledKernel::State {
  KernelSignature signature;
  target::KernelInfo info;
  LoadedCode code;
  Entry *entry = nullptr;
  Info *needs = nullptr;
  Fill *fill = nullptr; // null: nothing is to be filled
  /// Of a kernel whose loop is run in parts (Tile/SplitLoops.h): what goes before. Its results are
  /// further tensors for this one, from number `statesAt` on.
  std::unique_ptr<State> parts;
  size_t statesAt = 0;

  /// Compiles a kernel that an author calls `name`, or a part of it.
  static Result<std::unique_ptr<State>> build(tile::KernelOp kernel, StringRef name,
                                              const NamedTarget &target, FirstError &errors,
                                              const Cancellation *cancellation);

  /// Loads the objects and takes the kernel's functions from them.
  Status load(const std::vector<ObjectFile> &objects);
};

Result<std::unique_ptr<CompiledKernel::State>>
CompiledKernel::State::build(tile::KernelOp kernel, StringRef name, const NamedTarget &target,
                             FirstError &errors, const Cancellation *cancellation) {
  auto state = std::make_unique<State>();
  state->signature = tile::signatureOf(kernel);
  state->signature.name = name.str();
  OwningOpRef<ModuleOp> code = ModuleOp::create(kernel.getLoc());
  auto info = target.code->lower(kernel, *code, cancellation);
  if (failed(info) || isCancelled(cancellation))
    return errors.take("lowering a kernel");
  state->info = *info;
  auto objects = makeObjects(*code, target.cpu, "", /*favorsCompileTime=*/false, cancellation);
  if (failed(objects) || isCancelled(cancellation))
    return errors.take("LLVM");
  TW_TRY(state->load(*objects));
  return state;
}

Status CompiledKernel::State::load(const std::vector<ObjectFile> &objects) {
  std::vector<std::string> exported = {entryName, infoName};
  if (info.fills)
    exported.emplace_back(fillName);
  TW_ASSIGN(code, LoadedCode::load(objects, exported));
  entry = code.function<Entry>(entryName);
  needs = code.function<Info>(infoName);
  if (info.fills)
    fill = code.function<Fill>(fillName);
  return {};
}

CompiledKernel::CompiledKernel(std::unique_ptr<State> state) : state(std::move(state)) {}
CompiledKernel::CompiledKernel(CompiledKernel &&) noexcept = default;
CompiledKernel::~CompiledKernel() = default;

/// How many tensors a call gives before the argument of this name.
static size_t givenBefore(tile::KernelOp kernel, StringRef name) {
  size_t count = 0;
  for (auto argument : kernel.getArguments().getAsRange<tile::ArgumentAttr>()) {
    if (argument.getName() == name)
      break;
    count += argument.getAccess() != tile::Access::Out;
  }
  return count;
}

Result<NamedTarget> CompiledKernel::codeTargetNamed(const std::string &name) {
  TW_ASSIGN(NamedTarget target, findTarget(name));
  if (target.isPlain())
    return Diagnostic{
        Code::DRIVER_3,
        fmt::format("kernels are not compiled for {}, which is for a model's operators", name),
        {},
        {},
        "give cpu or cpu:NAME"};
  return target;
}

Result<NamedTarget> CompiledKernel::targetNamed(const std::string &name) {
  TW_ASSIGN(NamedTarget target, codeTargetNamed(name));
  if (!target.architecture.empty())
    return Diagnostic{Code::DRIVER_3,
                      fmt::format("kernels for {} cannot be called by the compiler", name),
                      {},
                      {},
                      "make an artifact of it with tilewright kernel compile, in Python with "
                      "kernel.compile_to_file, and run that"};
  return target;
}

Result<CompiledKernel> CompiledKernel::compile(tile::KernelOp kernel, const std::string &targetName,
                                               const Cancellation *cancellation) {
  TW_ASSIGN(NamedTarget target, targetNamed(targetName));
  TW_TRY(rt::requireInstructionSet(target.cpu));
  FirstError errors(*kernel.getContext(), cancellation);
  OwningOpRef<tile::KernelOp> copy = preparedCopy(kernel);
  if (!copy || isCancelled(cancellation))
    return errors.take("simplify");
  std::string why;
  auto build = [&](tile::KernelOp one) {
    return State::build(one, kernel.getSymName(), target, errors, cancellation);
  };
  conversion::SplitLimits limits = target.chooser->splitLimits();
  int64_t count = tile::chooseParts(*copy, limits, why);
  if (count == 1) {
    TW_ASSIGN(auto state, build(*copy));
    return CompiledKernel(std::move(state));
  }
  tile::SplitKernel split = tile::splitLoop(*copy, count, limits);
  split.parts->setSymName(entryName);
  if (!simplify(*split.parts) || !simplify(*split.rest))
    return errors.take("simplify");
  TW_ASSIGN(auto parts, build(*split.parts));
  TW_ASSIGN(auto state, build(*split.rest));
  state->statesAt = givenBefore(*split.rest, "state0");
  state->parts = std::move(parts);
  return CompiledKernel(std::move(state));
}

Result<std::string> CompiledKernel::print(tile::KernelOp kernel, const std::string &level,
                                          const std::string &targetName,
                                          const Cancellation *cancellation) {
  bool isPlan = level == "plan", isLoops = level == "loops", isAssembly = level == "assembly";
  if (!isPlan && !isLoops && !isAssembly && level != "llvm")
    return Diagnostic{Code::DRIVER_1,
                      fmt::format("there is no level \"{}\" of a kernel", level),
                      {},
                      {},
                      "the levels are source, plan, loops, llvm and assembly"};
  TW_ASSIGN(NamedTarget target, findTarget(targetName));
  FirstError errors(*kernel.getContext(), cancellation);
  OwningOpRef<tile::KernelOp> copy = preparedCopy(kernel);
  if (!copy || isCancelled(cancellation))
    return errors.take("simplify");
  OwningOpRef<ModuleOp> code = ModuleOp::create(kernel.getLoc());
  kernel.getContext()->loadDialect<LLVM::LLVMDialect, scf::SCFDialect, math::MathDialect>();
  std::string text;
  if (isPlan) {
    copy->setSymName(kernel.getSymName());
    llvm::raw_string_ostream out(text);
    return succeeded(target.code->printPlan(*copy, out, cancellation))
               ? Result<std::string>(text)
               : errors.take("planning a kernel");
  }
  auto deviceText = target.code->deviceText(*copy, level, cancellation);
  if (failed(deviceText) || isCancelled(cancellation))
    return errors.take("lowering a kernel");
  if (!deviceText->empty())
    return *deviceText;
  bool ok = succeeded(isLoops ? target.code->emit(*copy, *code, cancellation)
                              : target.code->lower(*copy, *code, cancellation));
  if (!ok || isCancelled(cancellation))
    return errors.take("lowering a kernel");
  PassManager cleanup(kernel.getContext()); // LLVM does the same, later
  cleanup.enableVerifier(false);            // functions of libm are declared when loops are lowered
  cleanup.addPass(createCanonicalizerPass());
  cleanup.addPass(createCSEPass());
  if (isLoops && failed(cleanup.run(*code)))
    return errors.take("lowering a kernel");
  if (isLoops)
    return llvm::raw_string_ostream(text) << *code << "\n", text;
  auto made =
      makeText(*code, target.cpu, isAssembly ? CodeText::Assembly : CodeText::LLVM, cancellation);
  if (failed(made))
    return errors.take("LLVM");
  return *made;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

/// What a kernel's slot for a scalar holds.
int64_t slotOf(const HostTensor &scalar) {
  const std::byte *p = scalar.bytes().data();
  if (info(scalar.dtype()).isFloat)
    return std::bit_cast<int64_t>(loadDouble(scalar.dtype(), p));
  return loadInteger(scalar.dtype(), p);
}

} // namespace

/// The memory of one call. Inputs are the caller's.
class CompiledKernel::Call {
public:
  Call(const State &state, std::vector<const HostTensor *> tensors)
      : state(state), given(std::move(tensors)) {
    if (state.parts)
      parts = std::make_unique<Call>(*state.parts, given);
  }

  Status prepare(int threads) {
    if (parts) {
      TW_TRY(parts->prepare(threads));
      for (size_t i = 0; i < parts->results.size(); ++i)
        given.insert(given.begin() + state.statesAt + i, &parts->results[i]);
    }
    TW_ASSIGN(BoundKernel bound, bind());
    std::vector<int64_t> scalars;
    size_t next = 0;
    for (auto [i, argument] : llvm::enumerate(state.signature.arguments)) {
      const HostTensor *tensor = argument.isGiven() ? given[next++] : nullptr;
      if (!argument.isBuffer()) {
        scalars.push_back(slotOf(*tensor));
        continue;
      }
      TW_TRY(addBuffer(argument, bound.sizes[i], tensor));
      for (auto [size, value] : llvm::zip(argument.sizes, bound.sizes[i]))
        if (!size.constant())
          slots.push_back(value);
    }
    slots.insert(slots.end(), scalars.begin(), scalars.end());
    buffers.push_back(failure);
    int64_t needs[2] = {0, 0};
    state.needs(slots.data(), needs);
    iterations = needs[0];
    workspaceBytes = (needs[1] + TW_ALIGNMENT - 1) / TW_ALIGNMENT * TW_ALIGNMENT;
    if (__builtin_mul_overflow(workspaceBytes, threads, &needs[1]) || !workspace.reserve(needs[1]))
      return Diagnostic{Code::IO_3, "there is not enough memory for the kernel's workspace"};
    return {};
  }

  void run(rt::ThreadPool &pool) {
    if (parts)
      parts->run(pool);
    if (state.fill)
      state.fill(buffers.data(), slots.data());
    auto body = [](void *self, int64_t begin, int64_t end, int64_t worker) {
      auto &call = *static_cast<Call *>(self);
      uint8_t *scratch = call.workspace.data() + worker * call.workspaceBytes;
      call.state.entry(call.buffers.data(), call.slots.data(), scratch, begin, end);
    };
    pool.parallelFor(body, this, iterations, state.info.grain);
  }

  Result<std::vector<HostTensor>> finish() {
    if (failure[0])
      return Diagnostic{
          Code::INTERPRETER_6,
          interpreter::checkMessage(state.info.failures[failure[0] - 1], failure[1], failure[2]),
          fmt::format("kernel {}", state.signature.name)};
    return std::move(results);
  }

private:
  Result<BoundKernel> bind() const {
    std::vector<GivenArgument> arguments;
    size_t next = 0;
    for (const KernelArgument &argument : state.signature.arguments) {
      GivenArgument &one = arguments.emplace_back();
      if (!argument.isGiven())
        continue;
      if (next == given.size())
        break;
      const HostTensor &tensor = *given[next++];
      one.dtype = tensor.dtype();
      one.sizes = tensor.sizes();
      if (!argument.isBuffer() && tensor.count() == 1 && !info(tensor.dtype()).isFloat)
        one.integer = loadInteger(tensor.dtype(), tensor.bytes().data());
    }
    if (arguments.size() != state.signature.arguments.size() || next != given.size())
      return wrongCount(state.signature, given.size());
    return bindKernel(state.signature, arguments);
  }

  Status addBuffer(const KernelArgument &argument, const std::vector<int64_t> &sizes,
                   const HostTensor *given) {
    if (!argument.isResult()) { // nobody writes it
      buffers.push_back(const_cast<std::byte *>(given->bytes().data()));
      return {};
    }
    TW_ASSIGN(HostTensor tensor, HostTensor::create(argument.dtype, sizes));
    if (given && given->byteSize())
      std::memcpy(tensor.bytes().data(), given->bytes().data(), given->byteSize());
    buffers.push_back(tensor.bytes().data());
    results.push_back(std::move(tensor));
    return {};
  }

  const State &state;
  std::vector<const HostTensor *> given;
  std::unique_ptr<Call> parts;
  std::vector<HostTensor> results;
  std::vector<void *> buffers;
  std::vector<int64_t> slots;
  int64_t failure[3] = {0, 0, 0}, iterations = 0, workspaceBytes = 0;
  rt::AlignedBuffer workspace;
};

static std::vector<const HostTensor *> pointersTo(std::span<const HostTensor> tensors) {
  std::vector<const HostTensor *> pointers;
  for (const HostTensor &tensor : tensors)
    pointers.push_back(&tensor);
  return pointers;
}

static int threadCount(int threads) { return threads ? threads : rt::availableCores(); }

Result<std::vector<HostTensor>> CompiledKernel::run(std::span<const HostTensor> given,
                                                    int threads) const {
  Resting resting; // nothing compiles while it runs
  rt::ThreadPool pool(threadCount(threads));
  Call call(*state, pointersTo(given));
  TW_TRY(call.prepare(pool.threads()));
  call.run(pool);
  return call.finish();
}

Result<std::vector<double>> CompiledKernel::time(std::span<const HostTensor> given, int64_t calls,
                                                 int threads) const {
  using Clock = std::chrono::steady_clock;
  Resting resting; // nothing compiles while it runs
  rt::ThreadPool pool(threadCount(threads));
  Call call(*state, pointersTo(given));
  TW_TRY(call.prepare(pool.threads()));
  call.run(pool);
  std::vector<double> times;
  for (int64_t i = 0; i < calls; ++i) {
    auto start = Clock::now();
    call.run(pool);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return times;
}

} // namespace tw
