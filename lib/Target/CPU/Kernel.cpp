// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is in the functions of one kernel (Target/Common/KernelShell.h): programs in the order that
// blocks of them give, how many iterations they are and how much workspace a call needs, and what
// outputs hold before the first one.
#include "Target/CPU/Kernel.h"
#include "Target/CPU/Configuration/Memory.h"
#include "Target/CPU/Emission/Emitter.h"
#include "Target/Common/KernelShell.h"
#include "Tile/Work.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Floating-point operations worth handing to another thread, some 10 us, and those of a program
/// beside which it costs nothing to compute its coordinates.
constexpr int64_t leastHandedOver = 1 << 20, leastApart = 1 << 18;
/// As many operations take as long as memory does for one byte.
constexpr int64_t operationsPerByte = 8;

class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, ModuleOp into, const CpuFeatures &cpu,
                 const Cancellation *cancellation)
      : kernel(kernel), into(into), cpu(cpu), cancellation(cancellation), b(kernel.getContext()),
        loc(kernel.getLoc()), i64(b.getI64Type()) {
    for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                            kernel.getArguments().getAsRange<tile::ArgumentAttr>()))
      (argument.getAccess() == tile::Access::Scalar ? numbers : buffers).push_back(value);
    auto block = kernel->getAttrOfType<DenseI64ArrayAttr>(tile::TileDialect::blockName);
    for (auto [d, size] : llvm::enumerate(kernel.getGrid().getAsRange<tile::SizeAttr>())) {
      int64_t programs = block && d < size_t(block.size()) ? std::max<int64_t>(block[d], 1) : 1;
      blockSizes.push_back(std::min(programs, size.getSize().constant().value_or(programs)));
    }
    chooseIterations();
    kernel.walk([&](tile::CheckOp) { checks = 1; });
  }

  FailureOr<KernelInfo> run() {
    FailureOr<KernelPlan> planned = planKernel(kernel, cpu, cancellation);
    if (failed(planned))
      return failure();
    plan = *std::move(planned);
    result.name = kernel.getSymName().str();
    for (Value buffer : buffers) {
      auto &passed = result.passedSizes.emplace_back();
      for (auto [d, size] : llvm::enumerate(sizesOf(buffer)))
        if (!size.constant())
          passed.push_back(d);
    }
    KernelShell shell(b, loc, into, result.name, buffers.size(), checks != 0);
    if (failed(emitPrograms(shell)))
      return failure();
    emitInfo(shell);
    emitFill(shell);
    shell.entry();
    copyInLoops(into.lookupSymbol<LLVM::LLVMFuncOp>(result.name));
    return std::move(result);
  }

private:
  /// Keeps LLVM from calling the C library for rows that are too short for that to pay: it takes
  /// half as long again as a loop where they do not begin at multiples of 64 bytes.
  void copyInLoops(LLVM::LLVMFuncOp function) {
    constexpr int64_t leastCalled = 1 << 13; // bytes
    bool isLong = false;
    kernel.walk([&](tile::StoreOp store) {
      auto type = store.getTile().getType();
      isLong |= type.getRank() > 0 && !type.isDynamicDim(type.getRank() - 1) &&
                type.getShape().back() * Emitter::bytesOf(type.getElementType()) >= leastCalled;
    });
    if (!isLong)
      function.setPassthroughAttr(b.getStrArrayAttr({"no-builtin-memcpy", "no-builtin-memmove"}));
  }

  /// An iteration is a block of programs; or one program, in the order of the blocks, where that is
  /// worth an iteration: then the threads of a call cut blocks, too. A program is as much work
  /// whatever the sizes that only calls tell, but at the edges: so it is judged by some.
  void chooseIterations() {
    constexpr int64_t someSize = 256;
    Size::Values sizes;
    for (auto symbol : kernel.getSymbols().getAsRange<tile::SymbolAttr>())
      sizes[symbol.getName().str()] =
          std::max(symbol.getMin(), std::min(someSize, symbol.getMax()));
    Size programs = 1;
    for (auto size : kernel.getGrid().getAsRange<tile::SizeAttr>())
      programs = programs * size.getSize();
    auto count = programs.evaluate(sizes), all = workOf(sizes);
    if (!all || !count || *count == 0 || *all / *count < leastApart)
      return;
    takesPrograms = llvm::any_of(blockSizes, [](int64_t size) { return size > 1; });
    if (takesPrograms)
      result.grain = int64_t(llvm::divideCeil(leastHandedOver, *all / *count));
  }

  /// Floating-point operations of all programs, or as many as would take as long as what they move;
  /// nothing where that depends on data.
  std::optional<int64_t> workOf(const Size::Values &sizes) {
    tile::KernelWork work = tile::workOf(kernel);
    auto flops = work.flops ? work.flops->evaluate(sizes) : std::nullopt;
    int64_t bytes = 0;
    for (const tile::Traffic &one : work.traffic)
      if (one.accessed || !one.dependsOnData)
        bytes += one.accessed.value_or(one.whole).evaluate(sizes).value_or(0);
    if (!flops || bytes < forgottenBytes)
      return flops;
    return std::max(*flops, bytes * operationsPerByte);
  }

  LogicalResult emitPrograms(KernelShell &shell) {
    KernelShell::Loops loops = shell.loops();
    copyInLoops(loops.function);
    for (unsigned i = 0; i < buffers.size() + checks; ++i)
      loops.function.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
    Emitter e(kernel, b, cpu);
    e.failureRecord = loops.failureRecord;
    e.mayRoundDenormalsToZero = plan.multipliesPairs;
    e.workspace = loops.workspace;
    e.cancellation = cancellation;
    scf::ForOp blocks = loops.iterations;
    unpackScalars(e, loops.scalars);
    for (auto [buffer, data] : llvm::zip(buffers, loops.data))
      bind(e, buffer, data);
    Indices grid = gridOf(e), sizes = blockSizesOf(e, grid), counts = blockCounts(e, grid, sizes);
    // Scratch is laid out right before the loop over blocks.
    e.entry = OpBuilder::InsertPoint(blocks->getBlock(), Block::iterator(blocks));
    b.setInsertionPointToStart(blocks.getBody());
    e.programIds.assign(grid.size(), Ix(0));
    Ix iteration = blocks.getInductionVar();
    Indices first = takesPrograms ? programOf(e, iteration, counts, sizes)
                                  : blockOf(e, iteration, counts, sizes);
    if (failed(emitPrograms(e, grid, first, 0)))
      return failure();
    b.setInsertionPointAfter(blocks);
    releaseTiles(e);
    e.finishNonTemporalStores();
    requests = e.requests;
    result.failures = e.failures;
    result.imports.assign(e.imports.begin(), e.imports.end());
    return success();
  }

  /// The programs of one iteration from `first` on: those of the last dimension of the grid follow
  /// each other. A last block is as large as all others, so a program of it may be none.
  LogicalResult emitPrograms(Emitter &e, const Indices &grid, const Indices &first, unsigned dim) {
    SmallVector<Value> none;
    if (dim == grid.size()) {
      Emitter::Scope scope(e);
      return e.block(plan.body, {}, none,
                     [](const HandOver &, SmallVectorImpl<Value> &) { return success(); });
    }
    auto step = [&](const Ix &id) {
      e.programIds[dim] = id;
      if (!id.isConstant())
        e.ranges.setNonNegative(id.dynamic());
      if (auto programs = grid[dim].constant(); programs && !id.isConstant())
        e.ranges.set(id.dynamic(), {0, *programs - 1});
      return emitPrograms(e, grid, first, dim + 1);
    };
    IndexBuilder ix = e.ix();
    int64_t count = takesPrograms ? 1 : blockSizes[dim];
    bool isInside = blockSizes[dim] == 1 || ix.rem(grid[dim], blockSizes[dim]).constant() == 0;
    if (count == 1 && isInside)
      return step(first[dim]);
    Ix end = ix.min(ix.add(first[dim], count), grid[dim]);
    return e.loop(first[dim], end, 1, none, step);
  }

  void emitInfo(KernelShell &shell) {
    ValueRange arguments = shell.info();
    Emitter e(kernel, b, cpu);
    unpackScalars(e, arguments[0]);
    IndexBuilder ix = e.ix();
    Indices grid = gridOf(e), sizes = blockSizesOf(e, grid);
    Ix count = ix.product(blockCounts(e, grid, sizes)), bytes = 0;
    if (takesPrograms)
      count = ix.mul(count, ix.product(sizes));
    for (auto &[extents, each] : requests) {
      Ix one = ix.mul(ix.product(e.sizes(extents)), each);
      bytes = ix.add(bytes, ix.alignUp(one, 64));
    }
    result.iterations = count.constant();
    result.workspaceBytes = bytes.constant();
    e.storeTo(ix.value(count), arguments[1], i64, 0, 1, {});
    e.storeTo(ix.value(bytes), arguments[1], i64, 1, 1, {});
  }

  /// What outputs hold before any program runs.
  void emitFill(KernelShell &shell) {
    result.fills = kernel->hasAttr(tile::TileDialect::beginsName) ||
                   llvm::any_of(kernel.getArguments().getAsRange<tile::ArgumentAttr>(),
                                [](tile::ArgumentAttr one) { return bool(one.getInit()); });
    if (!result.fills)
      return;
    ValueRange arguments = shell.fill();
    Operation *end = &*b.getInsertionPoint();
    Emitter e(kernel, b, cpu);
    Value first = e.ix().value(0);
    e.entry = OpBuilder::InsertPoint(end->getBlock(), first.getDefiningOp()->getIterator());
    unpackScalars(e, arguments[1]);
    for (auto [i, buffer] : llvm::enumerate(buffers)) {
      auto argument = kernel.getArgument(cast<BlockArgument>(buffer).getArgNumber());
      if (argument.getInit())
        fillBuffer(e, buffer, shell.bufferAt(arguments[0], i), argument.getInit());
    }
    copyWhatIsBefore(e, [&](int64_t i) { return shell.bufferAt(arguments[0], i); });
  }

  /// Buffers that are read and written begin as copies of inputs (Tile/Binding/BindCalls.cpp), or
  /// are them.
  void copyWhatIsBefore(Emitter &e, llvm::function_ref<Value(int64_t)> bufferAt) {
    auto pairs = kernel->getAttrOfType<DenseI64ArrayAttr>(tile::TileDialect::beginsName);
    int64_t inputs =
        llvm::count_if(kernel.getArguments().getAsRange<tile::ArgumentAttr>(),
                       [](tile::ArgumentAttr one) { return one.getAccess() == tile::Access::In; });
    for (int64_t i = 0; pairs && i < pairs.size(); i += 2) {
      Value buffer = buffers[pairs[i]];
      Type element = cast<tile::BufferType>(buffer.getType()).getTileElementType();
      Ix count = e.ix().product(e.sizes(sizesOf(buffer)));
      Value bytes = e.ix().value(e.ix().mul(count, Emitter::bytesOf(element)));
      Value bytes64 = arith::IndexCastOp::create(b, loc, i64, bytes);
      Value from = bufferAt(pairs[i]), to = bufferAt(pairs[i + 1]);
      Value isSame = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, from, to);
      Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
      bytes64 = arith::SelectOp::create(b, loc, isSame, zero, bytes64);
      LLVM::MemmoveOp::create(b, loc, to, from, bytes64, /*isVolatile=*/false);
      result.inPlace.push_back({unsigned(pairs[i]), unsigned(pairs[i + 1] - inputs)});
    }
  }

  void fillBuffer(Emitter &e, Value buffer, Value data, TypedAttr init) {
    Value value = arith::ConstantOp::create(b, loc, init);
    Type element = init.getType();
    unsigned width = cpu.vectorBytes / Emitter::bytesOf(element);
    SmallVector<Value> none;
    (void)e.alongDimension({{Ix(0)}, 0, 1}, 0, 0, e.ix().product(e.sizes(sizesOf(buffer))), width,
                           none, [&](const Point &point, SmallVectorImpl<Value> &) {
                             e.storeTo(e.asVector(value), data, element, point.at[0], 1, e.mask);
                             return success();
                           });
  }

  //===--- arguments -------------------------------------------------------===//

  static std::vector<Size> sizesOf(Value buffer) {
    return tile::sizesOf(cast<tile::BufferType>(buffer.getType()));
  }

  /// The slots: sizes of buffers that are not constant, then the scalar arguments.
  void unpackScalars(Emitter &e, Value slots) {
    int64_t next = 0;
    auto slot = [&] { return e.loadFrom(slots, i64, next++, false, 1, {}, {}); };
    std::vector<std::pair<Size, Value>> equations;
    for (Value buffer : buffers)
      for (const Size &size : sizesOf(buffer))
        if (!size.constant())
          equations.push_back({size, slot()});
    for (Value number : numbers) {
      Value bits = slot();
      if (number.getType().isF64())
        bits = arith::BitcastOp::create(b, loc, b.getF64Type(), bits);
      else if (number.getType().isInteger(1))
        bits = arith::TruncIOp::create(b, loc, b.getI1Type(), bits);
      e.scalars[number] = bits;
      if (auto symbol = kernel.getArgument(cast<BlockArgument>(number).getArgNumber()).getSymbol())
        e.symbols.try_emplace(symbol.str(), Ix(bits));
    }
    emitSymbols(b, loc, equations, e.symbols);
  }

  void bind(Emitter &e, Value buffer, Value data) {
    Indices sizes = e.sizes(sizesOf(buffer)), strides(sizes.size(), Ix(1));
    for (int64_t d = int64_t(sizes.size()) - 2; d >= 0; --d)
      strides[d] = e.ix().mul(strides[d + 1], sizes[d + 1]);
    Type element = cast<tile::BufferType>(buffer.getType()).getTileElementType();
    e.buffers[buffer] = {data, sizes, strides, element, plan.nonTemporal.contains(buffer)};
  }

  //===--- the grid --------------------------------------------------------===//

  Indices gridOf(Emitter &e) {
    Indices grid;
    for (auto size : kernel.getGrid().getAsRange<tile::SizeAttr>())
      grid.push_back(e.size(size.getSize()));
    return grid;
  }

  /// How many programs a block has along each dimension. Where each is an iteration, a block that
  /// is larger than the grid would have many that are none.
  Indices blockSizesOf(Emitter &e, const Indices &grid) {
    Indices sizes;
    for (auto [programs, size] : llvm::zip(grid, blockSizes))
      sizes.push_back(takesPrograms && size > 1 ? e.ix().max(1, e.ix().min(programs, size))
                                                : Ix(size));
    return sizes;
  }

  Indices blockCounts(Emitter &e, const Indices &grid, const Indices &sizes) {
    Indices counts;
    for (auto [programs, size] : llvm::zip(grid, sizes))
      counts.push_back(e.ix().ceilDiv(programs, size));
    return counts;
  }

  /// The first program of block `number`, row-major.
  Indices blockOf(Emitter &e, Ix number, const Indices &counts, const Indices &sizes) {
    IndexBuilder ix = e.ix();
    Indices first(counts.size(), Ix(0));
    for (int64_t d = int64_t(counts.size()) - 1; d >= 0; --d) {
      first[d] = ix.mul(d == 0 ? number : ix.rem(number, counts[d]), sizes[d]);
      if (d > 0)
        number = ix.div(number, counts[d]);
    }
    return first;
  }

  /// Program `number`, block by block; row-major in each.
  Indices programOf(Emitter &e, const Ix &number, const Indices &counts, const Indices &sizes) {
    IndexBuilder ix = e.ix();
    Ix each = ix.product(sizes), within = ix.rem(number, each);
    Indices at = blockOf(e, ix.div(number, each), counts, sizes);
    for (int64_t d = int64_t(counts.size()) - 1; d >= 0; --d) {
      at[d] = ix.add(at[d], ix.rem(within, sizes[d]));
      within = ix.div(within, sizes[d]);
    }
    return at;
  }

  tile::KernelOp kernel;
  ModuleOp into;
  const CpuFeatures &cpu;
  const Cancellation *cancellation;
  OpBuilder b;
  Location loc;
  Type i64;
  SmallVector<Value> buffers, numbers;
  SmallVector<int64_t> blockSizes;
  bool takesPrograms = false; // one by one
  std::vector<std::pair<std::vector<Size>, int64_t>> requests;
  unsigned checks = 0; // 1: there is a tile.check, so a failure record is one more buffer
  KernelPlan plan;
  KernelInfo result;
};

} // namespace

FailureOr<KernelInfo> lowerKernel(tile::KernelOp kernel, ModuleOp into, const CpuFeatures &cpu,
                                  const Cancellation *cancellation) {
  return KernelLowering(kernel, into, cpu, cancellation).run();
}

} // namespace tw::target::cpu
