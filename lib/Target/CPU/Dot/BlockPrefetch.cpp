// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Dot/BlockPrefetch.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {

/// Of a cache line.
static constexpr int64_t lineBytes = 64;
/// Parts of a block that are asked for side by side where memory is what a product waits for: more
/// of it comes in from several places at once.
static constexpr int64_t partsAtOnce = 4;
/// Bytes for the products of a step that take less time than memory takes to give them.
static constexpr int64_t leastOfMemory = 8 * lineBytes;

BlockPrefetch::BlockPrefetch(Emitter &e, tile::DotOp op, const NextBlock &next)
    : e(e), op(op), row(0), depth(op.getA().getType().getShape().back()),
      streams(next.streamAhead != 0) {
  IndexBuilder ix = e.ix();
  auto load = cast<tile::LoadOp>(next.load);
  const Buffer &buffer = e.buffers.find(load.getBuffer())->second;
  ArrayRef<int64_t> shape = load.getType().getShape();
  Ix start = next.streamAhead ? Ix(next.streamAhead / Emitter::bytesOf(buffer.element))
                              : distanceTo(next, buffer);
  for (auto [position, stride] : llvm::zip(load.getPositions(), buffer.strides))
    start = ix.add(start, ix.mul(e.index(position), stride));
  base = LLVM::GEPOp::create(e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext()),
                             Emitter::memoryType(buffer.element), buffer.base,
                             ArrayRef<LLVM::GEPArg>{ix.value(start)});
  element = buffer.element;
  row = buffer.strides[next.rowDim];
  rowBytes = llvm::alignTo(
      llvm::product_of(shape.drop_front(next.rowDim + 1)) * Emitter::bytesOf(element), lineBytes);
  bytes = llvm::divideCeil(shape[next.rowDim] * rowBytes, next.parts);
  first = next.part * bytes;
  // Rows that are counted at the call are taken for some.
  constexpr int64_t someRows = 48;
  Indices extents = e.extents(op.getAcc());
  height = extents[extents.size() - 2].constant().value_or(someRows);
  width = extents.back().constant().value_or(width);
}

Ix BlockPrefetch::distanceTo(const NextBlock &next, const Buffer &buffer) const {
  IndexBuilder ix = e.ix();
  auto distance = [&](ArrayRef<int64_t> growth) {
    Ix sum = 0;
    for (auto [stride, grown] : llvm::zip(buffer.strides, growth))
      sum = ix.add(sum, ix.mul(stride, grown));
    return sum;
  };
  // From the outermost loop in: after its last trip the next one further out begins its next.
  Ix after = distance(next.perProgram);
  SmallVector<tile::ForOp> loops;
  for (Operation *around = tile::DotOp(op)->getParentOp();
       auto loop = dyn_cast<tile::ForOp>(around); around = loop->getParentOp())
    loops.push_back(loop);
  for (auto [loop, growth] : llvm::reverse(llvm::zip_equal(loops, next.perCount))) {
    Ix count = e.index(loop.getInductionVar()), by = e.index(loop.getStep());
    Ix perCount = distance(growth);
    Ix back = ix.mul(ix.sub(count, e.index(loop.getBegin())), perCount);
    Value isLast = ix.less(ix.sub(e.index(loop.getEnd()), by), ix.add(count, 1));
    after = ix.select(isLast, ix.sub(after, back), ix.mul(perCount, by));
  }
  return after;
}

void BlockPrefetch::request(const Part &part, const Ix &k, int64_t steps) const {
  IndexBuilder ix = e.ix();
  int64_t passes = llvm::divideCeil(width, part.columns);
  int64_t perPass = llvm::divideCeil(bytes, passes);
  int64_t own = llvm::divideCeil(perPass * part.rows, height);
  int64_t rate = llvm::divideCeil(own * steps, depth);
  Ix inPass = ix.mul(part.row, llvm::divideCeil(own, part.rows));
  Ix before = ix.mul(ix.div(part.column, part.columns), perPass);
  Ix begin = ix.min(ix.add(before, inPass), bytes - lineBytes);
  Ix due = ix.add(begin, ix.mul(ix.div(k, steps), rate)); // of this product's part
  int64_t each = Emitter::bytesOf(element);
  bool isContiguous = row.constant() == rowBytes / each;
  bool isSideBySide =
      isContiguous && !streams && rate >= leastOfMemory && bytes % (partsAtOnce * lineBytes) == 0;
  for (int64_t ahead = 0; ahead < rate; ahead += lineBytes) {
    Ix byte = ix.add(due, ahead);
    if (isSideBySide) {
      Ix line = ix.div(byte, lineBytes);
      byte = ix.add(ix.mul(ix.rem(line, partsAtOnce), bytes / partsAtOnce),
                    ix.mul(ix.div(line, partsAtOnce), lineBytes));
    }
    byte = ix.add(byte, first);
    Ix index = isContiguous ? ix.div(byte, each)
                            : ix.add(ix.mul(ix.div(byte, rowBytes), row),
                                     ix.div(ix.rem(byte, rowBytes), each));
    // A block lies beyond the first level until its turn comes; what streams is read soon.
    e.prefetch(base, element, index, /*toFirstLevel=*/streams);
  }
}

} // namespace tw::target::cpu
