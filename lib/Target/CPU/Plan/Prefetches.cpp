// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a program runs over its row for the last time, in cache, memory would have nothing to do:
// the row of the next program is prefetched. What is read once only streams; most processors see
// that by themselves, and for products on others it is prefetched a little ahead. Beside the
// products of a block in memory, the block of b that comes next is prefetched: it is read across
// its rows, which the processor does not foresee. Nor does it foresee rows that are looked up.
#include "Target/CPU/Plan/Prefetches.h"
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Rows of more bytes than this do not stay in the first-level cache until the next program.
constexpr int64_t mostFetched = 1 << 17;
/// Blocks of b of fewer bytes are loaded soon enough. The smallest of a packed panel, 128 rows of
/// 48 columns, has 24 KB.
constexpr int64_t leastBlock = 1 << 14;
/// Bytes of what streams that are worth a stream of their own: some pages.
constexpr int64_t leastStream = 1 << 14;

/// Of rows that are looked up: bytes that are on their way, trips that they may be ahead, lines of
/// one of them, whose rest the processor foresees. One core of an EPYC reads 65,536 rows of 256
/// bytes from a third-level cache in 953 us, 661 with eight of them ahead and 594 with sixteen.
constexpr int64_t bytesAhead = 1 << 12, mostAhead = 16, lineBytes = 64, mostLines = 8;
/// Tables of fewer bytes stay in the second-level cache.
constexpr int64_t nearTable = 1 << 20;

/// Runs over tiles where it stands.
bool readsTiles(Operation &op) {
  return op.getNumRegions() || isa<tile::ReduceOp, tile::StoreOp>(op);
}

/// The loads behind the operands of `root`, not looking behind tiles that `isKept` holds for.
llvm::SetVector<Operation *> loadsOf(Operation *root, IsPlaced isKept) {
  llvm::SetVector<Operation *> loads;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> rest;
  root->walk([&](Operation *op) { llvm::append_range(rest, op->getOperands()); });
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
      continue;
    if (isa<tile::LoadOp>(op))
      loads.insert(op);
    else if (!readsTiles(*op) && !isKept(value))
      llvm::append_range(rest, op->getOperands());
  }
  return loads;
}

/// By how much a program's number or a loop's counter grows; nothing where that is not known.
using CounterGrowth = llvm::function_ref<std::optional<int64_t>(Value)>;

/// By how much `position` grows; nothing where that is not a constant.
std::optional<int64_t> growthOf(Value position, CounterGrowth counter) {
  APInt number;
  if (matchPattern(position, m_ConstantInt(&number)))
    return 0;
  if (auto own = counter(position))
    return own;
  Operation *op = position.getDefiningOp();
  if (auto cast = dyn_cast_if_present<arith::IndexCastOp>(op))
    return growthOf(cast.getIn(), counter);
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto x = growthOf(op->getOperand(0), counter), y = growthOf(op->getOperand(1), counter);
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *x + *y;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&number)))
    return *x == 0 && *y == 0 ? std::optional<int64_t>(0) : std::nullopt;
  return *x * number.getSExtValue();
}

bool isLoopCounter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<tile::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
  return loop && value == loop.getInductionVar();
}

/// How the number of a program along the last dimension of the grid, which the next one on this
/// worker differs in, grows; loops begin again.
auto nextProgram(tile::KernelOp kernel) {
  unsigned last = kernel.getGrid().size() - 1;
  return [last](Value value) -> std::optional<int64_t> {
    if (isLoopCounter(value))
      return 0;
    auto id = value.getDefiningOp<tile::ProgramIdOp>();
    return id ? std::optional<int64_t>(id.getDim() == last) : std::nullopt;
  };
}

/// Only this counter grows.
auto growthAlong(Value counter) {
  return [counter](Value value) -> std::optional<int64_t> {
    if (value == counter)
      return 1;
    bool stays = isLoopCounter(value) || value.getDefiningOp<tile::ProgramIdOp>();
    return stays ? std::optional<int64_t>(0) : std::nullopt;
  };
}

/// By how many positions along each dimension a load is further; empty where it reads the same, or
/// that is unknown.
SmallVector<int64_t> growthOf(tile::LoadOp op, CounterGrowth counter) {
  SmallVector<int64_t> growth;
  for (Value position : op.getPositions()) {
    auto own =
        isa<RankedTensorType>(position.getType()) ? std::nullopt : growthOf(position, counter);
    if (!own)
      return {};
    growth.push_back(*own);
  }
  Size distance = 0, stride = 1;
  std::vector<Size> sizes = tile::sizesOf(op.getBuffer().getType());
  for (size_t d = sizes.size(); d-- > 0; stride = stride * sizes[d])
    distance = distance + stride * Size(growth[d]);
  return distance == Size(0) ? SmallVector<int64_t>() : growth;
}

SmallVector<int64_t> growthToNext(const Scene &scene, tile::LoadOp op) {
  auto type = op.getType();
  if (op.getMask() || (type.hasStaticShape() &&
                       type.getNumElements() * bytesOf(type.getElementType()) > mostFetched))
    return {};
  return growthOf(op, nextProgram(scene.kernel));
}

/// The load behind the second operand of a product, which may be read in pairs.
tile::LoadOp loadOfB(tile::DotOp op) {
  Value pairs = pairsOf(op.getB()), b = pairs ? pairs : Value(op.getB());
  return traceToLoad(b, int(cast<RankedTensorType>(b.getType()).getRank()) - 1).first;
}

/// The first dimension with several elements, the last one left out, if the load reads one block:
/// what is behind that dimension lies in one piece, and all is known.
std::optional<unsigned> rowDim(tile::LoadOp load) {
  auto type = load.getType();
  if (load.getMask() || !load.getStrides().empty() || !type.hasStaticShape() ||
      type.getNumElements() * bytesOf(type.getElementType()) < leastBlock)
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  std::vector<Size> sizes = tile::sizesOf(load.getBuffer().getType());
  unsigned last = shape.size() - 1, row = 0;
  while (row < last && shape[row] == 1)
    ++row;
  // Of dimensions with several elements only the first need not be whole.
  unsigned inner = row + 1;
  while (inner < last && shape[inner] == 1)
    ++inner;
  for (unsigned d = inner + 1; d <= last; ++d)
    if (sizes[d].constant() != shape[d])
      return std::nullopt;
  return row < last ? std::optional(row) : std::nullopt;
}

} // namespace

std::optional<NextBlock> planNextBlock(tile::DotOp op) {
  tile::LoadOp load = loadOfB(op);
  if (!load || load->getBlock() != op->getBlock() || op.getType().getRank() != 2 ||
      op.getA().getType().isDynamicDim(1))
    return std::nullopt;
  auto row = rowDim(load);
  if (!row)
    return std::nullopt;
  NextBlock next{load, *row, {}, {}};
  auto kernel = op->getParentOfType<tile::KernelOp>();
  Operation *around = op->getParentOp();
  for (; auto loop = dyn_cast<tile::ForOp>(around); around = loop->getParentOp())
    next.perCount.push_back(growthOf(load, growthAlong(loop.getInductionVar())));
  // Beyond a branch it is not known what comes next.
  if (around == kernel)
    next.perProgram = growthOf(load, nextProgram(kernel));
  if (next.perCount.empty() ? next.perProgram.empty() : next.perCount.front().empty())
    return std::nullopt;
  next.parts = 0;
  for (auto other : op->getBlock()->getOps<tile::DotOp>()) {
    if (other == op)
      next.part = next.parts;
    next.parts += loadOfB(other) == load;
  }
  return next;
}

/// Whether programs that follow each other on a worker, those of a block of the grid, read the
/// same.
bool isShared(tile::LoadOp load, tile::KernelOp kernel) {
  auto block = kernel->getAttrOfType<DenseI64ArrayAttr>(tile::TileDialect::blockName);
  for (int64_t d = 0; block && d < block.size(); ++d) {
    auto alongDim = [&](Value value) -> std::optional<int64_t> {
      auto id = value.getDefiningOp<tile::ProgramIdOp>();
      return id ? std::optional<int64_t>(int64_t(id.getDim()) == d) : std::nullopt;
    };
    if (block[d] > 1 && growthOf(load, alongDim).empty())
      return true;
  }
  return false;
}

std::optional<NextBlock> planStream(tile::DotOp op, int64_t ahead) {
  auto next = ahead ? planNextBlock(op) : std::nullopt;
  if (!next || !isa<tile::KernelOp>(op->getParentOp()) || next->parts > 1)
    return std::nullopt;
  auto load = cast<tile::LoadOp>(next->load);
  auto row = size_t(next->rowDim);
  std::vector<Size> sizes = tile::sizesOf(load.getBuffer().getType());
  for (size_t d = row + 1; d < sizes.size(); ++d)
    if (sizes[d].constant() != load.getType().getDimSize(unsigned(d)))
      return std::nullopt; // other blocks lie between its rows
  if (isShared(load, op->getParentOfType<tile::KernelOp>()))
    return std::nullopt;
  next->streamAhead = ahead;
  return next;
}

int64_t planStreams(tile::DotOp op, const NextBlock &stream, int64_t together,
                    const CpuFeatures &cpu) {
  auto type = cast<tile::LoadOp>(stream.load).getType();
  int64_t depth = op.getA().getType().getShape().back();
  int64_t bytes = type.getNumElements() * bytesOf(type.getElementType());
  int64_t streams = cpu.streams;
  while (streams > 1 && (depth % (together * streams) != 0 || bytes < streams * leastStream))
    streams /= 2;
  return streams;
}

/// The load that gives the elements of `tile`, in their order.
static tile::LoadOp loadOfElements(Value tile) {
  for (;;) {
    Operation *op = tile.getDefiningOp();
    if (!isa_and_nonnull<tile::ReshapeOp, tile::CheckOp>(op))
      return dyn_cast_if_present<tile::LoadOp>(op);
    tile = op->getOperand(0);
  }
}

/// The load of a row at `position`.
static tile::LoadOp rowAt(Value position) {
  for (Operation *user : position.getUsers()) {
    if (auto cast = dyn_cast<arith::IndexCastOp>(user))
      return rowAt(cast.getResult());
    if (auto load = dyn_cast<tile::LoadOp>(user))
      return load;
  }
  return {};
}

/// Bytes of a row that lies in one piece, of a table that no cache near by holds; else 0.
static int64_t bytesOfRow(tile::LoadOp load, unsigned dim) {
  RankedTensorType type = load.getType();
  unsigned last = unsigned(type.getRank()) - 1;
  if (load.getMask() || !load.getStrides().empty() || !type.hasStaticShape() || dim == last ||
      type.getNumElements() != type.getDimSize(dim) * type.getDimSize(last))
    return 0;
  Size elements = 1;
  for (const Size &size : tile::sizesOf(load.getBuffer().getType()))
    elements = elements * size;
  int64_t bytes = bytesOf(type.getElementType());
  bool isNear = elements.constant().value_or(nearTable) * bytes < nearTable;
  return isNear ? 0 : type.getDimSize(last) * bytes;
}

/// A lookup of `rows` at `position`, a scalar or a tile, where that is all that is known of it.
static std::optional<LookAhead> lookUp(tile::LoadOp rows, Value position, tile::LoadOp indices) {
  auto found = llvm::find(rows.getPositions(), position);
  if (!indices || indices.getMask() || !indices.getStrides().empty() ||
      found == rows.getPositions().end() || !indices.getType().getElementType().isInteger())
    return std::nullopt;
  auto dim = unsigned(found - rows.getPositions().begin());
  int64_t bytes = bytesOfRow(rows, dim);
  LookAhead ahead{indices, rows, dim,
                  {},      {},   std::min((bytes + lineBytes - 1) / lineBytes, mostLines)};
  ArrayRef<int64_t> shape = indices.getType().getShape();
  for (auto [d, extent] : llvm::enumerate(shape)) {
    if (extent == 1)
      continue;
    if (ahead.along)
      return std::nullopt;
    ahead.along = unsigned(d);
  }
  return bytes == 0 ? std::nullopt : std::optional(ahead);
}

/// Whether all other positions are known when the row that is read is.
static bool areKnown(tile::LoadOp rows, unsigned dim, llvm::function_ref<bool(Value)> isKnown) {
  for (auto [d, position] : llvm::enumerate(rows.getPositions()))
    if (unsigned(d) != dim && !isKnown(position))
      return false;
  return true;
}

std::vector<LookAhead> planLookAheads(tile::ExtractOp op) {
  auto loop = dyn_cast<tile::ForOp>(op->getParentOp());
  tile::LoadOp rows = rowAt(op.getResult()), indices = loadOfElements(op.getOperand());
  if (!loop || !rows || !indices || !matchPattern(loop.getStep(), m_One()))
    return {};
  Value position = op.getResult();
  if (position.hasOneUse() && isa<arith::IndexCastOp>(*position.user_begin()))
    position = position.user_begin()->getResult(0);
  auto ahead = lookUp(rows, position, indices);
  SmallVector<int64_t> growth = growthOf(indices, growthAlong(loop.getInductionVar()));
  if (!ahead || ahead->along || growth.empty() ||
      !areKnown(rows, ahead->dim, [&](Value v) { return loop.isDefinedOutsideOfLoop(v); }))
    return {};
  for (int64_t &along : growth)
    along *= std::clamp<int64_t>(bytesAhead / (ahead->lines * lineBytes), 1, mostAhead);
  ahead->growth = growth;
  return {*ahead};
}

std::vector<LookAhead> planLookAheads(const Scene &scene, Operation *root) {
  std::vector<LookAhead> all;
  if (scene.isBoundary)
    return all;
  for (Operation *op : loadsOf(root, scene.placed())) {
    auto rows = cast<tile::LoadOp>(op);
    auto isTile = [](Value position) { return isa<RankedTensorType>(position.getType()); };
    if (llvm::count_if(rows.getPositions(), isTile) != 1)
      continue;
    Value position = *llvm::find_if(rows.getPositions(), isTile);
    tile::LoadOp indices = loadOfElements(position);
    auto ahead = lookUp(rows, position, indices);
    if (!ahead || !ahead->along)
      continue;
    ahead->growth = growthToNext(scene, indices);
    if (!ahead->growth.empty())
      all.push_back(*ahead);
  }
  return all;
}

std::vector<Prefetch> planPrefetches(const Scene &scene, Operation *root) {
  Block *block = root->getBlock();
  if (scene.isBoundary || block != &scene.kernel.getBody().front())
    return {};
  auto placedThen = [&](Value tile) {
    return scene.isPlaced(tile) || scene.shouldMaterialize(tile);
  };
  llvm::SetVector<Operation *> again, now = loadsOf(root, scene.placed());
  for (Operation &op : *block) {
    if (&op == root || now.empty() || !readsTiles(op))
      continue;
    if (op.isBeforeInBlock(root)) {
      again.insert_range(loadsOf(&op, [](Value) { return false; }));
      continue;
    }
    for (Operation *load : loadsOf(&op, placedThen))
      now.remove(load);
  }
  std::vector<Prefetch> prefetches;
  for (Operation *load : now)
    if (again.contains(load))
      if (auto growth = growthToNext(scene, cast<tile::LoadOp>(load)); !growth.empty())
        prefetches.push_back({load, growth});
  llvm::sort(prefetches, [](const Prefetch &a, const Prefetch &b) {
    return a.load->getBlock() == b.load->getBlock() && a.load->isBeforeInBlock(b.load);
  });
  return prefetches;
}

} // namespace tw::target::cpu
