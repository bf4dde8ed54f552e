// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of the sums, in the registers where they are: `evaluate` gives the elements of the
// tile that is stored, of which the sums at the same point are known. Tiles of 16-bit elements go
// out in pieces of 64 rows, through shared memory, by TMA; others element by element.
#include "Target/NVIDIA/Product/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t groupRows = 64, firstNamedBarrier = 1;

/// What the digits of a number move along `dim`.
static Ix moved(Emitter &e, Ix number, ArrayRef<Digit> digits, int dim) {
  Ix at = 0;
  for (const Digit &digit : digits) {
    if (digit.dim == dim)
      at = e.ix().add(at, e.ix().mul(e.ix().rem(number, digit.size), digit.stride));
    number = e.ix().div(number, digit.size);
  }
  return at;
}

/// Each coordinate is one value, by which the emitter knows a point again.
void ProductEmitter::findCoordinates() {
  Value thread = arith::ExtUIOp::create(b, loc, b.getI64Type(), inGroup);
  Value ofGroup = arith::ExtUIOp::create(b, loc, b.getI64Type(), group);
  Ix row = moved(e, thread, layout.threadDigits(), 0),
     column = moved(e, thread, layout.threadDigits(), 1);
  row = e.ix().add(row, e.ix().mul(ofGroup, groupRows * plan.blocksOfGroup));
  rows.resize(size_t(plan.blocksOfGroup));
  for (int64_t number = 0; number < layout.registers(); ++number) {
    Coordinates offset = layout.offsetOfRegister(number);
    for (int64_t block = 0; block < plan.blocksOfGroup; ++block)
      if (!rows[size_t(block)].contains(offset[0]))
        rows[size_t(block)][offset[0]] = e.ix().add(row, block * groupRows + offset[0]);
    if (!columns.contains(offset[1]))
      columns[offset[1]] = e.ix().add(column, offset[1]);
  }
}

/// What register `number` becomes in the tile that is stored.
FailureOr<Value> ProductEmitter::valueAt(const ProductStore &of, int64_t block, int64_t number) {
  tile::StoreOp store = of.store;
  Coordinates offset = layout.offsetOfRegister(number);
  Point point(store.getPositions().size(), Ix(0));
  point[of.rowDim] = rows[size_t(block)].at(offset[0]);
  point[of.columnDim] = columns.at(offset[1]);
  return e.evaluate(store.getTile(), point);
}

LogicalResult ProductEmitter::storeElements(const ProductStore &of) {
  tile::StoreOp store = of.store;
  for (int64_t block = 0; block < plan.blocksOfGroup; ++block)
    for (int64_t number = 0; number < layout.registers(); ++number) {
      Coordinates offset = layout.offsetOfRegister(number);
      Point point(store.getPositions().size(), Ix(0));
      point[of.rowDim] = rows[size_t(block)].at(offset[0]);
      point[of.columnDim] = columns.at(offset[1]);
      if (failed(e.storeElement(store, point)))
        return failure();
    }
  return success();
}

//===--- by TMA ----------------------------------------------------------===//

/// Before a buffer is filled again, TMA has read what was in it; all threads of the group know.
void ProductEmitter::waitForBuffer(int64_t piece, int64_t allPieces) {
  // Where buffers come round unevenly, the first piece of a program waits for all before it.
  bool isEven = allPieces % plan.storeBuffers == 0;
  if (!isEven && piece > 0 && piece < plan.storeBuffers)
    return;
  {
    auto isOne = scf::IfOp::create(b, loc, isLeader, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isOne.thenBlock());
    int64_t pending = isEven || piece > 0 ? plan.storeBuffers - 1 : 0;
    NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, uint32_t(pending), b.getUnitAttr());
  }
  at.groupBarrier(at.add(group, firstNamedBarrier));
}

/// Values of two columns next to each other, in 32 bits.
static Value packed(OpBuilder &b, Location loc, Value low, Value high) {
  auto type = VectorType::get({2}, low.getType());
  Value pair = LLVM::UndefOp::create(b, loc, type);
  for (int32_t i : {0, 1}) {
    Value place = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
    pair = LLVM::InsertElementOp::create(b, loc, pair, i == 0 ? low : high, place);
  }
  return LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
}

/// Writes a chunk of 64 rows at `offset`: by each instruction, 16 columns, in matrices of 8 x 8, of
/// which lane l gives the address of row l mod 8 of matrix l / 8.
LogicalResult ProductEmitter::fillPiece(const ProductStore &of, const Chunk &chunk, int64_t block,
                                        Value offset) {
  Value lane = at.rem(inGroup, 32), warp = at.div(inGroup, 32);
  Value row =
      at.add(at.add(at.mul(warp, 16), at.rem(lane, 8)), at.mul(at.rem(at.div(lane, 8), 2), 8));
  Value half = at.div(lane, 16); // of the 16 columns
  int64_t bytes = chunk.swizzle.rowBytes, units = bytes / 16;
  Value turned = at.rem(at.div(row, 128 / bytes), units);
  Value start = at.add(offset, at.mul(row, bytes));
  for (int64_t column = 0; column < chunk.columns; column += 16) {
    SmallVector<Value> registers;
    // Four registers are 8 columns of rows r and r + 8.
    int64_t first = (chunk.firstColumn + column) / 2;
    for (int64_t number = first; number < first + 8; number += 2) {
      FailureOr<Value> low = valueAt(of, block, number), high = valueAt(of, block, number + 1);
      if (failed(low) || failed(high))
        return failure();
      registers.push_back(packed(b, loc, *low, *high));
    }
    Value unit = at.bitXor(at.add(half, column / 8), turned);
    at.storeMatrices(at.add(start, at.mul(unit, 16)), registers);
  }
  return success();
}

LogicalResult ProductEmitter::storePieces(const ProductStore &of, const StoredPieces &pieces,
                                          int64_t firstPiece, int64_t allPieces) {
  tile::StoreOp store = of.store;
  Value ofGroup = at.add(at.mul(group, plan.storeBytes), plan.storeOffset);
  int64_t piece = firstPiece;
  for (int64_t block = 0; block < plan.blocksOfGroup; ++block)
    for (auto [chunk, map] : llvm::zip(pieces.chunks, pieces.maps)) {
      Value offset = at.add(ofGroup, piece % plan.storeBuffers * pieceBytes);
      waitForBuffer(piece++, allPieces);
      if (failed(fillPiece(of, chunk, block, offset)))
        return failure();
      NVVM::FenceProxyOp::create(
          b, loc, NVVM::ProxyKind::async_shared,
          NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
      at.groupBarrier(at.add(group, firstNamedBarrier));
      auto isOne = scf::IfOp::create(b, loc, isLeader, false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(isOne.thenBlock());
      SmallVector<Value> coordinates;
      for (auto [d, position] : llvm::enumerate(store.getPositions())) {
        Ix to = e.index(position);
        if (d == of.rowDim) {
          Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), group);
          to = e.ix().add(to, e.ix().mul(wide, groupRows * plan.blocksOfGroup));
          to = e.ix().add(to, block * groupRows);
        } else if (d == of.columnDim) {
          to = e.ix().add(to, chunk.firstColumn);
        }
        coordinates.push_back(tmaCoordinate(e, to));
      }
      std::reverse(coordinates.begin(), coordinates.end());
      at.storeTile(maps[map], offset, coordinates);
      NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
    }
  return success();
}

LogicalResult ProductEmitter::epilogue(ValueRange sums) {
  for (auto [block, all] : llvm::enumerate(sums))
    for (int64_t number = 0; number < layout.registers(); ++number) {
      Coordinates offset = layout.offsetOfRegister(number);
      Value sum = LLVM::ExtractValueOp::create(b, loc, all, number);
      e.setElement(product.loop->getResult(0), {rows[block].at(offset[0]), columns.at(offset[1])},
                   sum);
    }
  int64_t allPieces = 0, firstPiece = 0;
  for (const StoredPieces &pieces : plannedMaps.stores)
    allPieces += plan.blocksOfGroup * int64_t(pieces.chunks.size());
  for (auto [store, pieces] : llvm::zip(product.stores, plannedMaps.stores)) {
    if (failed(pieces.chunks.empty() ? storeElements(store)
                                     : storePieces(store, pieces, firstPiece, allPieces)))
      return failure();
    firstPiece += plan.blocksOfGroup * int64_t(pieces.chunks.size());
  }
  return success();
}

} // namespace tw::target::nvidia
