// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/Interpreter.h"
#include "IO/Element.h"
#include "IR/ModelLocation.h"
#include "Interpreter/Compiler.h"
#include "Support/Checked.h"
#include <fmt/format.h>
#include <limits>

using namespace mlir;

namespace tw::interpreter {

namespace {

/// What an output without init holds.
Cell rubbish(DType dtype) {
  if (info(dtype).isFloat)
    return {.f = std::numeric_limits<double>::quiet_NaN()};
  return {.i = dtype == DType::Bool ? 1 : -1};
}

/// The element at `p` in the form of cells; ui8 like i8.
Cell readCell(DType dtype, const std::byte *p) {
  if (info(dtype).isFloat)
    return {.f = loadDouble(dtype, p)};
  return {.i = wrap(loadInteger(dtype, p), bitsOf(dtype))};
}

class Interpreter {
public:
  Interpreter(tile::KernelOp kernel, std::span<const HostTensor> given, const Options &options)
      : kernel(kernel), signature(tile::signatureOf(kernel)), given(given), machine(options),
        options(options) {}

  Result<Run> run() {
    TW_TRY(bind());
    Compiler compiler(bound.symbols, options);
    for (auto [i, argument] : llvm::enumerate(signature.arguments))
      TW_TRY(argument.isBuffer() ? addBuffer(i) : addScalar(i, compiler));
    copyBegins();
    markSums();
    Steps steps = compiler.compile(kernel.getBody().front());
    if (compiler.problem)
      return *compiler.problem;
    machine.slots.resize(compiler.slotCount());
    TW_TRY(runPrograms(steps));
    return finish(compiler);
  }

private:
  Status bind() {
    std::vector<GivenArgument> arguments;
    for (const KernelArgument &argument : signature.arguments) {
      GivenArgument &now = arguments.emplace_back();
      tensors.push_back(nullptr);
      if (!argument.isGiven())
        continue;
      if (next == given.size())
        break;
      const HostTensor &tensor = given[next++];
      tensors.back() = &tensor;
      now = {tensor.dtype(), tensor.sizes()};
      if (!argument.isBuffer() && tensor.sizes().empty() && !info(tensor.dtype()).isFloat)
        now.integer = loadInteger(tensor.dtype(), tensor.bytes().data());
    }
    if (arguments.size() != signature.arguments.size() || next != given.size())
      return wrongCount(signature, given.size());
    TW_ASSIGN(bound, bindKernel(signature, arguments));
    return {};
  }

  Status addScalar(size_t i, Compiler &compiler) {
    machine.buffers.emplace_back();
    int slot = compiler.slot(kernel.getBlockArgument(i));
    machine.slots.resize(slot + 1);
    machine.slots[slot] = {nullptr, readCell(tensors[i]->dtype(), tensors[i]->bytes().data())};
    return {};
  }

  Status addBuffer(size_t i) {
    const KernelArgument &argument = signature.arguments[i];
    Buffer &buffer = machine.buffers.emplace_back();
    buffer.name = argument.name;
    buffer.dtype = argument.dtype;
    buffer.sizes = bound.sizes[i];
    auto count = checkedProduct(buffer.sizes);
    if (!machine.reserve(count.value_or(INT64_MAX))) {
      machine.failure->location =
          fmt::format("kernel {}: argument \"{}\"", signature.name, argument.name);
      return *machine.failure;
    }
    buffer.strides.assign(buffer.sizes.size(), 1);
    for (size_t d = buffer.sizes.size(); d-- > 1;)
      buffer.strides[d - 1] = int64_t(uint64_t(buffer.strides[d]) * uint64_t(buffer.sizes[d]));
    fill(buffer, i, *count);
    if (options.check && argument.access != KernelAccess::In)
      buffer.track();
    return {};
  }

  /// Gives a buffer its first contents.
  void fill(Buffer &buffer, size_t i, int64_t count) {
    int bytes = info(buffer.dtype).bytes;
    if (tensors[i]) {
      buffer.cells.reserve(count);
      for (int64_t e = 0; e < count; ++e)
        buffer.cells.push_back(readCell(buffer.dtype, tensors[i]->bytes().data() + e * bytes));
      return;
    }
    TypedAttr init = kernel.getArgument(i).getInit();
    buffer.isUndefined = !init;
    buffer.cells.assign(count, init ? cellOf(init) : rubbish(buffer.dtype));
  }

  /// Some buffers begin as copies of inputs, whatever is given for them.
  void copyBegins() {
    auto pairs = kernel->getAttrOfType<DenseI64ArrayAttr>(tile::TileDialect::beginsName);
    for (int64_t i = 0; pairs && i < pairs.size(); i += 2)
      machine.buffers[pairs[i + 1]].cells = machine.buffers[pairs[i]].cells;
  }

  /// Floats that are only added to atomically are summed in f64.
  void markSums() {
    auto mark = [&](Value buffer, std::optional<tile::Update> update) {
      Buffer &target = machine.buffers[Compiler::bufferOf(buffer)];
      if (update == tile::Update::Add && info(target.dtype).isFloat)
        target.isSummed = true;
    };
    kernel.getBody().walk([&](Operation *op) {
      if (auto store = dyn_cast<tile::StoreOp>(op))
        mark(store.getBuffer(), store.getUpdate());
      if (auto scatter = dyn_cast<tile::ScatterOp>(op))
        mark(scatter.getBuffer(), scatter.getUpdate());
    });
  }

  Status runPrograms(const Steps &steps) {
    machine.grid = bound.grid;
    machine.program.assign(bound.grid.size(), 0);
    auto count = checkedProduct(bound.grid);
    if (!count || *count >= UINT32_MAX) {
      machine.spend(INT64_MAX);
      return *machine.failure;
    }
    for (int64_t number = 0; number < *count; ++number) {
      machine.programNumber = uint32_t(number);
      machine.program = programAt(uint32_t(number), bound.grid);
      if (!machine.spend(1) || !machine.run(steps))
        return *machine.failure;
    }
    return {};
  }

  Result<Run> finish(const Compiler &compiler) {
    Run run;
    for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
      if (options.check && argument.isBuffer())
        machine.buffers[i].findUnwritten(placeOfStores(i), machine.findings);
      if (argument.isResult()) {
        TW_ASSIGN(HostTensor result, toTensor(machine.buffers[i]));
        run.results.push_back(std::move(result));
      }
    }
    run.findings = machine.findings.take();
    for (const auto &note : compiler.afterwards)
      if (options.check)
        note(run);
    if (!options.check && !run.findings.empty())
      return run.findings.front().problem;
    return run;
  }

  /// Of the first operation that writes to an argument; else of the kernel.
  Location placeOfStores(size_t argument) {
    Location place = kernel.getLoc();
    kernel.getBody().walk([&](Operation *op) {
      bool writes = isa<tile::StoreOp, tile::ScatterOp>(op);
      if (!writes || !llvm::is_contained(op->getOperands(), kernel.getBlockArgument(argument)))
        return WalkResult::advance();
      place = op->getLoc();
      return WalkResult::interrupt();
    });
    return place;
  }

  Result<HostTensor> toTensor(const Buffer &buffer) const {
    bool isFloat = info(buffer.dtype).isFloat;
    DType dtype = options.f64 && isFloat ? DType::F64 : buffer.dtype;
    TW_ASSIGN(HostTensor tensor, HostTensor::create(dtype, buffer.sizes));
    std::byte *p = tensor.bytes().data();
    for (const Cell &cell : buffer.cells) {
      if (isFloat)
        storeFloat(dtype, roundTo(dtype, cell.f), p);
      else
        storeInteger(dtype, cell.i, p);
      p += info(dtype).bytes;
    }
    return tensor;
  }

  tile::KernelOp kernel;
  KernelSignature signature;
  std::span<const HostTensor> given;
  size_t next = 0;                         // of them
  std::vector<const HostTensor *> tensors; // of every argument; null for `out`
  BoundKernel bound;
  Machine machine;
  const Options &options;
};

} // namespace

Result<Run> interpret(tile::KernelOp kernel, std::span<const HostTensor> given,
                      const Options &options) {
  return Interpreter(kernel, given, options).run();
}

} // namespace tw::interpreter
