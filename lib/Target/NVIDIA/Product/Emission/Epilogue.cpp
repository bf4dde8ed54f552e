// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Emission/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t groupRows = 64, threadsOfGroup = 128, firstNamedBarrier = 1;

/// Where register `number` is in the tile that is stored.
Point Epilogue::pointOf(const SumsStore &of, int64_t block, int64_t number) {
  tile::StoreOp store = of.store;
  Point point(store.getPositions().size(), Ix(0));
  point[of.rowDim] = fragment.row(block, number);
  if (of.columnDim)
    point[*of.columnDim] = fragment.column(number);
  return point;
}

/// Emits what stores elements in the row of register `number`, if the tile has it.
LogicalResult Epilogue::inRow(int64_t block, int64_t number,
                              llvm::function_ref<LogicalResult()> body) {
  Value has = fragment.hasRow(block, number);
  if (!has)
    return body();
  LogicalResult done = success();
  at.when(has, [&] {
    Emitter::Scope scope(e);
    done = body();
  });
  return done;
}

LogicalResult Epilogue::storeElements(const SumsStore &of) {
  for (int64_t block = 0; block < fragment.blocksOfGroup(); ++block)
    for (int64_t row : {0, 1})
      if (failed(inRow(block, 2 * row, [&] { return storeElementsOfRow(of, block, row == 1); })))
        return failure();
  return success();
}

LogicalResult Epilogue::storeElementsOfRow(const SumsStore &of, int64_t block, bool isSecond) {
  for (int64_t number = 0; number < columns / 2; ++number)
    if (SumsFragment::isOfSecondRow(number) == isSecond &&
        failed(e.storeElement(of.store, pointOf(of, block, number))))
      return failure();
  return success();
}

/// One number for each row, by the first of the four threads that have the row.
LogicalResult Epilogue::storeRows(const SumsStore &of) {
  LogicalResult done = success();
  at.when(at.equal(at.rem(group.thread, 4), 0), [&] {
    Emitter::Scope scope(e);
    for (int64_t block = 0; block < fragment.blocksOfGroup(); ++block)
      for (int64_t number : {0, 2})
        if (failed(inRow(block, number,
                         [&] { return e.storeElement(of.store, pointOf(of, block, number)); })))
          done = failure();
  });
  return done;
}

//===--- by TMA ----------------------------------------------------------===//

/// Before a buffer is filled again, TMA, or all threads, have read what was in it.
void Epilogue::waitForBuffer(int64_t piece, int64_t allPieces) {
  // Where buffers come round unevenly, the first piece of a program waits for all before it.
  bool isEven = allPieces % plan.count == 0;
  if (!isEven && piece > 0 && piece < plan.count)
    return;
  if (isAnyByTma)
    at.when(group.isLeader, [&] {
      int64_t pending = !isAnyCopied && (isEven || piece > 0) ? plan.count - 1 : 0;
      NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, uint32_t(pending), b.getUnitAttr());
    });
  at.groupBarrier(at.add(group.number, firstNamedBarrier));
}

/// By what swizzling changes the number of a row's pieces of 16 bytes (Layout/SharedTile.h).
static Value turnOf(const Instructions &at, Value row, Swizzle swizzle) {
  return at.rem(at.div(row, 128 / swizzle.rowBytes), swizzle.rowBytes / 16);
}

/// Writes a chunk of 64 rows at `offset`: by each instruction, 16 columns, or 8 that are alone, in
/// matrices of 8 x 8, of which lane l gives the address of row l mod 8 of matrix l / 8.
LogicalResult Epilogue::fillPiece(const SumsStore &of, const Chunk &chunk, int64_t block,
                                  Value offset) {
  tile::StoreOp store = of.store;
  Value lane = at.rem(group.thread, 32), warp = at.div(group.thread, 32);
  Value row =
      at.add(at.add(at.mul(warp, 16), at.rem(lane, 8)), at.mul(at.rem(at.div(lane, 8), 2), 8));
  Value half = at.div(lane, 16); // of the 16 columns
  int64_t bytes = chunk.swizzle.rowBytes;
  Value turned = turnOf(at, row, chunk.swizzle);
  Value start = at.add(offset, at.mul(row, bytes));
  for (int64_t column = 0; column < chunk.columns; column += 16) {
    SmallVector<Value> registers;
    // Four registers are 8 columns of rows r and r + 8.
    int64_t first = (chunk.firstColumn + column) / 2;
    int64_t end = first + std::min<int64_t>(8, (chunk.columns - column) / 2);
    for (int64_t number = first; number < end; number += 2) {
      FailureOr<Value> low = e.evaluate(store.getTile(), pointOf(of, block, number)),
                       high = e.evaluate(store.getTile(), pointOf(of, block, number + 1));
      if (failed(low) || failed(high))
        return failure();
      registers.push_back(at.packed(*low, *high));
    }
    Value unit = at.bitXor(at.add(half, column / 8), turned);
    at.storeMatrices(at.add(start, at.mul(unit, 16)), registers);
  }
  return success();
}

/// Where a row of the group's 64 is in the tile.
Ix Epilogue::rowInTile(Value row, int64_t block) {
  Value first = at.mul(group.rowGroup, groupRows * fragment.blocksOfGroup());
  Value all = at.add(at.add(first, block * groupRows), row);
  return Value(arith::ExtUIOp::create(b, loc, b.getI64Type(), all));
}

/// By one thread, what all have filled.
void Epilogue::storePiece(const SumsStore &of, const Chunk &chunk, int64_t block, Value map,
                          Value offset) {
  tile::StoreOp store = of.store;
  SmallVector<Value> coordinates;
  for (auto [d, position] : llvm::enumerate(store.getPositions())) {
    Ix to = e.index(position);
    if (d == of.rowDim) {
      to = e.ix().add(to, rowInTile(at.i32(0), block));
    } else if (d == *of.columnDim) {
      to = e.ix().add(to, chunk.firstColumn);
    }
    coordinates.push_back(tmaCoordinate(e, to));
  }
  std::reverse(coordinates.begin(), coordinates.end());
  at.storeTile(map, offset, coordinates);
  NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
}

//===--- by threads ------------------------------------------------------===//

/// How many elements of a chunk threads copy at once: rows of the buffer are multiples of as many.
static int64_t elementsAtOnce(tile::StoreOp store) {
  constexpr int64_t most = 8; // 16 bytes, which swizzling keeps together
  auto length = tile::sizesOf(cast<tile::BufferType>(store.getBuffer().getType())).back();
  return length.constant() ? std::gcd(*length.constant(), most) : 1;
}

/// So that threads next to each other write elements next to each other.
LogicalResult Epilogue::copyPiece(const SumsStore &of, const Chunk &chunk, int64_t block,
                                  Value offset) {
  int64_t each = elementsAtOnce(of.store), groups = groupRows * chunk.columns / each;
  SmallVector<Value> none;
  Value first = arith::ExtUIOp::create(b, loc, b.getI64Type(), group.thread);
  return e.loop(first, groups, threadsOfGroup, none, [&](const Ix &number) {
    Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), e.ix().value(number));
    return copyGroup(of, chunk, block, offset, narrow, each);
  });
}

/// Group `number` of the chunk's elements, row by row.
LogicalResult Epilogue::copyGroup(const SumsStore &of, const Chunk &chunk, int64_t block,
                                  Value offset, Value number, int64_t each) {
  tile::StoreOp store = of.store;
  auto type = cast<RankedTensorType>(store.getTile().getType());
  int64_t groups = chunk.columns / each, bytes = chunk.swizzle.rowBytes;
  Value row = at.div(number, groups), ofRow = at.rem(number, groups),
        byte = at.mul(ofRow, each * 2);
  Value unit = at.bitXor(at.div(byte, 16), turnOf(at, row, chunk.swizzle));
  Value from =
      at.add(at.add(offset, at.mul(row, bytes)), at.add(at.mul(unit, 16), at.rem(byte, 16)));
  Type element = type.getElementType(),
       whole = each > 1 ? Type(VectorType::get({each}, element)) : element;
  Value read = LLVM::LoadOp::create(b, loc, whole, at.pointer(from), unsigned(each * 2));
  Group stored;
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), ofRow);
  Point point(store.getPositions().size(), Ix(0));
  point[of.rowDim] = rowInTile(row, block);
  if (type.getDimSize(of.rowDim) % groupRows != 0)
    stored.isInside = e.ix().less(point[of.rowDim], Ix(type.getDimSize(of.rowDim)));
  Ix first = e.ix().add(e.ix().mul(wide, each), chunk.firstColumn);
  for (auto [i, to] : llvm::enumerate(e.neighboursFrom(first, each))) {
    point[*of.columnDim] = to;
    Value value = each == 1 ? read : Value(LLVM::ExtractElementOp::create(b, loc, read, at.i32(i)));
    e.setElement(store.getTile(), point, value);
    stored.points.push_back(point);
  }
  return e.storeGroup(store, stored);
}

LogicalResult Epilogue::storePieces(const SumsStore &of, const StoredPieces &pieces,
                                    int64_t firstPiece, int64_t allPieces) {
  Value ofGroup = at.add(at.mul(group.number, plan.bytesOfGroup()), plan.offset);
  int64_t piece = firstPiece;
  for (int64_t block = 0; block < fragment.blocksOfGroup(); ++block)
    for (auto [number, chunk] : llvm::enumerate(pieces.chunks)) {
      waitForBuffer(piece, allPieces);
      Value offset = at.add(ofGroup, piece++ % plan.count * plan.pieceBytes());
      if (failed(fillPiece(of, chunk, block, offset)))
        return failure();
      if (!pieces.areCopied())
        NVVM::FenceProxyOp::create(
            b, loc, NVVM::ProxyKind::async_shared,
            NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
      at.groupBarrier(at.add(group.number, firstNamedBarrier));
      if (pieces.areCopied() && failed(copyPiece(of, chunk, block, offset)))
        return failure();
      if (!pieces.areCopied())
        at.when(group.isLeader, [&, chunk = chunk, number = number] {
          storePiece(of, chunk, block, maps[pieces.maps[number]], offset);
        });
    }
  return success();
}

LogicalResult Epilogue::emit(ArrayRef<SumsStore> stores, ArrayRef<StoredPieces> all) {
  int64_t allPieces = 0, firstPiece = 0, blocks = fragment.blocksOfGroup();
  isAnyCopied = llvm::any_of(all, [](const StoredPieces &pieces) { return pieces.areCopied(); });
  isAnyByTma = llvm::any_of(all, [](const StoredPieces &pieces) { return !pieces.maps.empty(); });
  for (const StoredPieces &pieces : all)
    allPieces += blocks * int64_t(pieces.chunks.size());
  for (auto [store, pieces] : llvm::zip(stores, all)) {
    LogicalResult done = !pieces.chunks.empty() ? storePieces(store, pieces, firstPiece, allPieces)
                         : store.columnDim      ? storeElements(store)
                                                : storeRows(store);
    if (failed(done))
      return failure();
    firstPiece += blocks * int64_t(pieces.chunks.size());
  }
  return success();
}

} // namespace tw::target::nvidia
