// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/HostSide.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime/ProgramABI.h"
#include <cstddef>

using namespace mlir;

namespace tw::target::nvidia {

//===--- arguments -------------------------------------------------------===//

Signature::Signature(tile::KernelOp kernel) {
  for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                          kernel.getArguments().getAsRange<tile::ArgumentAttr>()))
    (argument.getAccess() == tile::Access::Scalar ? numbers : buffers).push_back(value);
  kernel.walk([&](tile::CheckOp) { hasChecks = true; });
}

static std::vector<Size> sizesOf(Value buffer) {
  return tile::sizesOf(cast<tile::BufferType>(buffer.getType()));
}

std::vector<std::vector<unsigned>> Signature::passedSizes() const {
  std::vector<std::vector<unsigned>> all;
  for (Value buffer : buffers) {
    auto &passed = all.emplace_back();
    for (auto [d, size] : llvm::enumerate(sizesOf(buffer)))
      if (!size.constant())
        passed.push_back(unsigned(d));
  }
  return all;
}

int64_t Signature::scalars() const {
  auto total = int64_t(numbers.size());
  for (const auto &sizes : passedSizes())
    total += int64_t(sizes.size());
  return total;
}

SmallVector<Type> Signature::types(OpBuilder &b) const {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types(tensors() + mayFail(), pointer);
  types.append(scalars(), b.getI64Type());
  types.push_back(pointer);
  return types;
}

void Signature::bind(Emitter &e, ValueRange arguments) const {
  unsigned first = tensors() + mayFail();
  bindScalars(e, [&](int64_t i) { return arguments[first + i]; });
  for (auto [buffer, data] : llvm::zip(buffers, arguments)) {
    Indices sizes = e.sizes(sizesOf(buffer)), strides = Emitter::rowMajor(e.ix(), sizes);
    Type element = cast<tile::BufferType>(buffer.getType()).getTileElementType();
    e.buffers[buffer] = {data, sizes, strides, element};
  }
  if (mayFail())
    e.failureRecord = arguments[tensors()];
}

void Signature::bindScalars(Emitter &e, llvm::function_ref<Value(int64_t)> word) const {
  int64_t next = 0;
  std::vector<std::pair<Size, Value>> equations;
  for (Value buffer : buffers)
    for (const Size &size : sizesOf(buffer))
      if (!size.constant())
        equations.push_back({size, word(next++)});
  for (Value number : numbers) {
    Value bits = word(next++);
    if (number.getType().isF64())
      bits = arith::BitcastOp::create(e.b, e.loc, e.b.getF64Type(), bits);
    else if (number.getType().isInteger(1))
      bits = arith::TruncIOp::create(e.b, e.loc, e.b.getI1Type(), bits);
    e.scalars[number] = bits;
    auto argument = e.kernel.getArgument(cast<BlockArgument>(number).getArgNumber());
    if (auto symbol = argument.getSymbol())
      e.symbols.try_emplace(symbol.str(), Ix(bits));
  }
  emitSymbols(e.b, e.loc, equations, e.symbols);
}

Indices Signature::grid(Emitter &e) {
  Indices grid;
  for (auto size : e.kernel.getGrid().getAsRange<tile::SizeAttr>())
    grid.push_back(e.size(size.getSize()));
  return grid;
}

int64_t Signature::inputs(tile::KernelOp kernel) {
  return llvm::count_if(kernel.getArguments().getAsRange<tile::ArgumentAttr>(),
                        [](tile::ArgumentAttr one) { return one.getAccess() == tile::Access::In; });
}

SmallVector<Filled> Signature::fills(tile::KernelOp kernel) {
  SmallVector<Filled> all;
  int64_t number = 0;
  for (auto argument : kernel.getArguments().getAsRange<tile::ArgumentAttr>()) {
    if (argument.getAccess() == tile::Access::Scalar)
      continue;
    if (argument.getInit())
      all.push_back({number, argument.getInit(), -1});
    ++number;
  }
  // Buffers that are read and written begin as copies of inputs (Tile/Binding/BindCalls.cpp), or
  // are them.
  auto pairs = kernel->getAttrOfType<DenseI64ArrayAttr>(tile::TileDialect::beginsName);
  for (int64_t i = 0; pairs && i < pairs.size(); i += 2)
    all.push_back({pairs[i + 1], {}, pairs[i]});
  return all;
}

//===--- functions -------------------------------------------------------===//

HostSide::HostSide(tile::KernelOp kernel, const Signature &signature, ModuleOp into,
                   const GpuArchitecture &architecture, const LaunchPlan &plan,
                   const LaunchPlan &plain)
    : kernel(kernel), signature(signature), into(into), architecture(architecture), plan(plan),
      plain(plain), b(kernel.getContext()), loc(kernel.getLoc()), i64(b.getI64Type()),
      i32(b.getI32Type()), pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

LLVM::LLVMFuncOp HostSide::function(const std::string &name, unsigned arguments) {
  b.setInsertionPointToEnd(into.getBody());
  SmallVector<Type> types(arguments, pointer);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  auto made = LLVM::LLVMFuncOp::create(b, loc, name, type);
  b.setInsertionPointToStart(made.addEntryBlock(b));
  b.setInsertionPoint(LLVM::ReturnOp::create(b, loc, ValueRange{}));
  return made;
}

void HostSide::bindWords(Emitter &e, Value words) {
  signature.bindScalars(e, [&](int64_t i) { return e.loadFrom(words, i64, i); });
}

Ix HostSide::bytesOfProgram(Emitter &e, ArrayRef<std::pair<std::vector<Size>, int64_t>> requests) {
  IndexBuilder ix = e.ix();
  Ix bytes = 0;
  for (const auto &[extents, each] : requests)
    bytes = ix.add(bytes, ix.alignUp(ix.mul(ix.product(e.sizes(extents)), each), 64));
  return bytes;
}

/// How many blocks are launched: so many that each program has its place in one, but no more than a
/// grid may have; where each has a workspace, as many as keep the GPU busy.
Ix HostSide::blocks(Emitter &e, const LaunchPlan &of) {
  constexpr int64_t mostOfGrid = (int64_t(1) << 31) - 1, blocksWithWorkspace = 4;
  bool hasWorkspace = !of.requests.empty();
  int64_t most = of.blocksOfMultiprocessor
                     ? architecture.multiprocessors * of.blocksOfMultiprocessor
                 : hasWorkspace ? architecture.multiprocessors * blocksWithWorkspace
                                : mostOfGrid;
  return e.ix().min(e.ix().ceilDiv(e.ix().product(Signature::grid(e)), of.programsBeside), most);
}

Ix HostSide::workspaceBytes(Emitter &e, const LaunchPlan &of) {
  Ix programs = e.ix().mul(blocks(e, of), of.programsBeside);
  return e.ix().add(e.ix().mul(programs, bytesOfProgram(e, of.requests)),
                    of.claims ? counterBytes : 0);
}

/// A scalar of the kernel that is known at the launch, with what it depends on.
Value HostSide::scalarAtLaunch(Emitter &e, Value scalar) {
  if (!e.scalars.contains(scalar)) {
    Operation *op = scalar.getDefiningOp();
    for (Value operand : op->getOperands())
      scalarAtLaunch(e, operand);
    e.emitScalar(op);
  }
  return e.scalar(scalar);
}

/// Whether sizes are such that the kernel can be launched; null where all are.
Value HostSide::conditionsHold(Emitter &e) {
  Value all;
  for (Value buffer : plan.conditions.alignedRows) {
    Type element = cast<tile::BufferType>(buffer.getType()).getTileElementType();
    Ix bytes = e.ix().mul(e.size(sizesOf(buffer).back()), Emitter::bytesOf(element));
    all = e.both(all, e.ix().equal(e.ix().rem(bytes, tmaAlignment), 0));
  }
  for (Value buffer : plan.conditions.filled)
    all = e.both(all, e.ix().less(0, e.ix().product(e.sizes(sizesOf(buffer)))));
  for (const LaunchConditions::Range &loop : plan.conditions.loops)
    all = e.both(all, e.ix().less(Ix::of(scalarAtLaunch(e, loop.begin)),
                                  Ix::of(scalarAtLaunch(e, loop.end))));
  return all;
}

void HostSide::emitInfo(KernelInfo &info) {
  auto made = function(info.name + "_info", 2);
  Emitter e(kernel, b);
  bindWords(e, made.getArgument(0));
  Ix count = blocks(e, plan), bytes = workspaceBytes(e, plan);
  if (Value holds = conditionsHold(e)) {
    bytes = e.ix().select(holds, bytes, workspaceBytes(e, plain));
    count = e.ix().select(holds, count, blocks(e, plain));
  }
  info.iterations = count.constant();
  info.workspaceBytes = bytes.constant();
  e.storeTo(e.ix().value(count), made.getArgument(1), i64, 0);
  e.storeTo(e.ix().value(bytes), made.getArgument(1), i64, 1);
}

/// One for each element of the largest output that is filled; one at least sets the counter to 0.
Ix HostSide::threadsToFill(Emitter &e) {
  Ix most = plan.claims ? 1 : 0;
  for (const Filled &fill : Signature::fills(kernel))
    most = e.ix().max(most, e.ix().product(e.sizes(sizesOf(signature.buffers[fill.buffer]))));
  return most;
}

static int64_t elementOf(const MapPlan &map) {
  Type element = cast<tile::BufferType>(map.buffer.getType()).getTileElementType();
  if (element.isF32())
    return map.roundsToTF32 ? TW_MAP_TF32 : TW_MAP_F32;
  return element.isF16() ? TW_MAP_F16 : element.isBF16() ? TW_MAP_BF16 : TW_MAP_BYTE;
}

/// Writes a tw_tensor_map to the words from `first` on.
void HostSide::emitMap(Emitter &e, const MapPlan &map, Value buffers, Value words, int64_t first) {
  auto put = [&](size_t offset, const Ix &value) {
    e.storeTo(e.ix().value(value), words, i64, first + int64_t(offset / sizeof(uint64_t)));
  };
  constexpr size_t mostDims = std::extent_v<decltype(tw_tensor_map::sizes)>;
  auto buffer = llvm::find(signature.buffers, map.buffer) - signature.buffers.begin();
  Type element = cast<tile::BufferType>(map.buffer.getType()).getTileElementType();
  Indices sizes = e.sizes(sizesOf(map.buffer)), strides = Emitter::rowMajor(e.ix(), sizes);
  put(offsetof(tw_tensor_map, address), Ix(e.loadFrom(buffers, i64, buffer)));
  put(offsetof(tw_tensor_map, rank), int64_t(sizes.size()));
  put(offsetof(tw_tensor_map, element), elementOf(map));
  put(offsetof(tw_tensor_map, swizzle), map.swizzle.changesPlaces() ? map.swizzle.rowBytes : 0);
  for (size_t d = 0; d < mostDims; ++d) { // innermost first there; the runtime compares all words
    bool isThere = d < sizes.size();
    size_t from = isThere ? sizes.size() - 1 - d : 0, word = d * sizeof(uint64_t);
    Ix stride = e.ix().mul(strides[from], Emitter::bytesOf(element));
    put(offsetof(tw_tensor_map, sizes) + word, isThere ? sizes[from] : Ix(0));
    put(offsetof(tw_tensor_map, strides) + word, isThere ? stride : Ix(0));
    put(offsetof(tw_tensor_map, box) + word, isThere ? map.box[from] : 0);
  }
}

Ix HostSide::blocksOfLaunch(Emitter &e, Kind kind) {
  constexpr int64_t mostOfFill = 1 << 16;
  if (kind == Kind::Fill)
    return e.ix().min(e.ix().ceilDiv(threadsToFill(e), plan.fillThreads), mostOfFill);
  Ix count = blocks(e, kind == Kind::Plain ? plain : plan);
  Value holds = conditionsHold(e);
  if (!holds)
    return count;
  return kind == Kind::Plain ? e.ix().select(holds, 0, count) : e.ix().select(holds, count, 0);
}

void HostSide::emitLaunch(const std::string &name, Kind kind) {
  const LaunchPlan &own = kind == Kind::Plain ? plain : plan;
  bool fills = kind == Kind::Fill;
  auto made = function(name + "_launch", 4);
  Value buffers = made.getArgument(0), words = made.getArgument(1), launch = made.getArgument(3);
  Emitter e(kernel, b);
  bindWords(e, words);
  auto field = [&](size_t offset) { return e.address(launch, b.getI8Type(), int64_t(offset)); };
  auto put32 = [&](size_t offset, Value value) {
    LLVM::StoreOp::create(b, loc, value, field(offset));
  };
  auto constant32 = [&](int64_t value) { return e.constant(i32, double(value)); };
  Value passed = LLVM::LoadOp::create(b, loc, pointer, field(offsetof(tw_launch, arguments)));
  int64_t next = 0;
  auto pass = [&](Value from, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      e.storeTo(e.loadFrom(from, i64, i), passed, i64, next++);
  };
  pass(buffers, int64_t(signature.tensors()) + signature.mayFail());
  pass(words, signature.scalars());
  Value workspace = LLVM::PtrToIntOp::create(b, loc, i64, made.getArgument(2));
  e.storeTo(workspace, passed, i64, next);

  Value grid = arith::TruncIOp::create(b, loc, i32, e.ix().value(blocksOfLaunch(e, kind)));
  int64_t threads = fills ? plan.fillThreads : own.threads;
  for (size_t d = 0; d < 3; ++d) {
    put32(offsetof(tw_launch, grid) + 4 * d, d ? constant32(1) : grid);
    put32(offsetof(tw_launch, block) + 4 * d, constant32(d ? 1 : threads));
    put32(offsetof(tw_launch, cluster) + 4 * d, constant32(0));
  }
  put32(offsetof(tw_launch, shared_bytes), constant32(fills ? 0 : own.sharedBytes));
  bool hasMaps = !fills && !own.maps.empty();
  int64_t flags = hasMaps ? TW_LAUNCH_HAS_MAPS : 0;
  if (!fills && architecture.has(Capability::DependentLaunches)) // for which the kernel waits
    flags |= TW_LAUNCH_OVERLAPS;
  put32(offsetof(tw_launch, flags), constant32(flags));
  if (hasMaps) {
    for (auto [i, map] : llvm::enumerate(own.maps))
      emitMap(e, map, buffers, passed, signature.count() + int64_t(i) * mapWords);
    LLVM::StoreOp::create(b, loc, e.address(passed, i64, signature.count()),
                          field(offsetof(tw_launch, maps)));
    put32(offsetof(tw_launch, map_count), constant32(int64_t(own.maps.size())));
  }
  put32(offsetof(tw_launch, argument_count), constant32(signature.count()));
}

void HostSide::emit(KernelInfo &info) {
  emitInfo(info);
  emitLaunch(info.name, Kind::Kernel);
  if (!plan.conditions.empty())
    emitLaunch(info.name + plainSuffix, Kind::Plain);
  if (info.fills)
    emitLaunch(info.name + "_fill", Kind::Fill);
}

} // namespace tw::target::nvidia
