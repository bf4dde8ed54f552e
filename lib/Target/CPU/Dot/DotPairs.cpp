// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Dot/DotPairs.h"
#include "Target/CPU/Dot/BlockEpilogue.h"
#include "Target/CPU/Dot/PackPairs.h"
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {

/// Rows of a tile register, and bytes of a row: 16 sums, or 32 steps along K of 16 rows of a, or 16
/// pairs along K of 16 columns of b.
static constexpr int64_t tileRows = 16, tileBytes = 64, tileDepth = 32;

FailureOr<PairOperands> pairOperands(Emitter &e, tile::DotOp op, const DotStep &plan) {
  FailureOr<Memory> a = e.asStridedMemory(op.getA(), plan.pairsA),
                    b = e.asStridedMemory(plan.packed ? plan.packed : pairsOf(op.getB()),
                                          plan.pairsB);
  if (failed(a) || failed(b))
    return failure();
  if (a->strides.back().constant() != 1)
    return e.refuse(op, "rows of the first operand do not lie in memory as they are");
  if (plan.packed) {
    if (plan.packed != op.getB())
      std::swap(b->strides[0], b->strides[1]);
    b = packPairs(e, *b, op.getB().getType());
  }
  return PairOperands{*a, *b, op.getA().getType().getDimSize(1)};
}

static Value callIntrinsic(Emitter &e, TypeRange results, StringRef name, ValueRange operands) {
  auto call = LLVM::CallIntrinsicOp::create(e.b, e.loc, results, e.b.getStringAttr(name), operands,
                                            LLVM::FastmathFlagsAttr());
  return results.empty() ? Value() : call->getResult(0);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

LogicalResult pairBlock(Emitter &e, const PairOperands &operands, const Ix &row, const Ix &column,
                        unsigned rows, unsigned vectors, const BlockPrefetch *prefetch,
                        int64_t streams, SmallVectorImpl<Value> &sums) {
  Type i32 = e.b.getI32Type();
  unsigned lanes = e.cpu.vectorBytes / sizeof(float);
  auto pairs = VectorType::get(2 * lanes, e.b.getBF16Type());
  auto words = VectorType::get(lanes, i32);
  llvm::SaveAndRestore wide(e.lanes, lanes);
  auto asPairs = [&](Value value) -> Value {
    return LLVM::BitcastOp::create(e.b, e.loc, pairs, value);
  };
  auto step = [&](const Ix &pair) -> LogicalResult {
    if (prefetch)
      prefetch->request({row, column, rows, vectors * lanes}, e.ix().mul(pair, 2), 2);
    SmallVector<Value> right;
    for (unsigned j = 0; j < vectors; ++j) {
      Value address =
          e.addressIn(operands.b, {pair, e.ix().add(column, int64_t(j) * lanes), Ix(0)});
      right.push_back(asPairs(LLVM::LoadOp::create(e.b, e.loc, words, address, 2)));
    }
    for (unsigned i = 0; i < rows; ++i) {
      Value address = e.addressIn(operands.a, {e.ix().add(row, int64_t(i)), e.ix().mul(pair, 2)});
      Value left = asPairs(e.splat(LLVM::LoadOp::create(e.b, e.loc, i32, address, 2)));
      for (unsigned j = 0; j < vectors; ++j) {
        Value &sum = sums[i * vectors + j];
        sum = callIntrinsic(e, sum.getType(), e.cpu.bf16Dot, {sum, left, right[j]});
      }
    }
    return success();
  };
  int64_t pairsOfStream = operands.depth / 2 / streams;
  return e.loop(0, pairsOfStream, 1, sums, [&](const Ix &pair) -> LogicalResult {
    for (int64_t stream = 0; stream < streams; ++stream)
      if (failed(step(e.ix().add(pair, stream * pairsOfStream))))
        return failure();
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {

/// What all blocks of a product have in common.
struct TileProduct {
  const PairOperands &operands;
  const Memory &sums;
  int64_t height, streams; // rows of a tile of sums; of b, side by side
  bool passesA;            // rows of a are used once while b stays
  bool beginsWithZero;     // where `isFirstTrip`, or always if that is null
  Value isFirstTrip = {};
  std::optional<BlockPrefetch> prefetch = {};
  std::optional<BlockEpilogue> epilogue = {};
};

/// Up to 2 x 2 tiles of sums (registers 0 to 3), with tiles of a in 4 and 5 and of b in 6 and 7.
class TileBlock {
public:
  /// `rows` and `columns` in tiles.
  TileBlock(Emitter &e, TileProduct &product, int64_t rows, int64_t columns)
      : e(e), product(product), rows(rows), columns(columns) {}

  LogicalResult emit(const Ix &row, const Ix &column) {
    begin(row, column);
    SmallVector<Value> none;
    int64_t depth = product.operands.depth, stream = depth / product.streams;
    auto step = [&](const Ix &k) -> LogicalResult {
      for (int64_t from = 0; from < depth; from += stream) {
        Ix at = e.ix().add(k, from);
        if (product.prefetch)
          product.prefetch->request({row, column, rows * product.height, columns * tileRows}, at,
                                    tileDepth);
        products(row, column, at);
      }
      return product.epilogue ? storeBefore(row, column, k) : success();
    };
    LogicalResult done = e.loop(0, stream, tileDepth, none, step);
    overSums(row, column, "llvm.x86.tilestored64");
    return done;
  }

private:
  void overTiles(llvm::function_ref<void(int64_t, int64_t)> body) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        body(i, j);
  }

  void begin(const Ix &row, const Ix &column) {
    auto zero = [&] {
      overTiles([&](int64_t i, int64_t j) {
        callIntrinsic(e, {}, "llvm.x86.tilezero", number(i * 2 + j));
      });
    };
    auto load = [&] { overSums(row, column, "llvm.x86.tileloadd64"); };
    if (!product.isFirstTrip)
      return product.beginsWithZero ? zero() : load();
    auto choice = scf::IfOp::create(e.b, e.loc, product.isFirstTrip, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    zero();
    e.b.setInsertionPointToStart(choice.elseBlock());
    load();
  }

  void overSums(const Ix &row, const Ix &column, StringRef intrinsic) {
    overTiles([&](int64_t i, int64_t j) {
      move(intrinsic, i * 2 + j, product.sums,
           {e.ix().add(row, i * tileRows), e.ix().add(column, j * tileRows)});
    });
  }

  /// Two loads can be under way while products of the ones before are computed. Rows of a that pass
  /// by b are not to push it out of the first-level cache.
  void products(const Ix &row, const Ix &column, const Ix &k) {
    IndexBuilder ix = e.ix();
    Ix pair = ix.div(k, 2);
    auto loadB = [&](int64_t j) {
      move("llvm.x86.tileloadd64", 6 + j, product.operands.b,
           {pair, ix.add(column, j * tileRows), Ix(0)});
    };
    loadB(0);
    for (int64_t i = 0; i < rows; ++i) {
      move(product.passesA ? "llvm.x86.tileloaddt164" : "llvm.x86.tileloadd64", 4 + i,
           product.operands.a, {ix.add(row, i * tileRows), k});
      for (int64_t j = 0; j < columns; ++j) {
        if (i == 0 && j > 0)
          loadB(j);
        callIntrinsic(e, {}, "llvm.x86.tdpbf16ps",
                      {number(i * 2 + j), number(4 + i), number(6 + j)});
      }
    }
  }

  /// Stores the part of the block before this one, all of which is complete, that is due beside the
  /// products of step k: so many rows that all are, before the last step.
  LogicalResult storeBefore(const Ix &row, const Ix &column, const Ix &k) {
    IndexBuilder ix = e.ix();
    int64_t steps = product.operands.depth / tileDepth, blockRows = 2 * tileRows, each = 1;
    while (each * steps < blockRows)
      each *= 2;
    Ix done = ix.mul(ix.div(k, tileDepth), each);
    Value isDue = ix.less(blockRows - 1, row);
    if (each * steps > blockRows)
      isDue = e.both(isDue, ix.less(done, blockRows));
    return product.epilogue->store(
        {ix.add(ix.sub(row, blockRows), done), column, each, columns * tileRows}, isDue);
  }

  Value number(int64_t of) { return e.constant(e.b.getI8Type(), double(of)); }

  void move(StringRef intrinsic, int64_t tile, const Memory &memory, ArrayRef<Ix> at) {
    Ix stride = e.ix().mul(memory.strides[0], Emitter::bytesOf(memory.element));
    callIntrinsic(e, {}, intrinsic, {number(tile), e.addressIn(memory, at), e.ix().value(stride)});
  }

  Emitter &e;
  TileProduct &product;
  int64_t rows, columns;
};

} // namespace

/// Tile registers of b are whole, 16 rows of 64 bytes; those of a and of sums have `rows`, or one
/// where that is 0, for the registers of no program.
static void configureTiles(Emitter &e, const Size &rows) {
  if (std::exchange(e.usesTiles, true))
    return;
  OpBuilder::InsertionGuard guard(e.b);
  e.b.restoreInsertionPoint(e.entry);
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1; // the palette
  for (int i = 0; i < 8; ++i) {
    bytes[16 + 2 * i] = tileBytes;
    bytes[48 + i] = i < 6 ? rows.constant().value_or(0) : tileRows;
  }
  auto type = VectorType::get(64, e.b.getI8Type());
  Value config =
      arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(bytes)));
  Value room = LLVM::AllocaOp::create(e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext()),
                                      e.b.getI8Type(), e.ix().value(64), 64);
  LLVM::StoreOp::create(e.b, e.loc, config, room, 64);
  if (!rows.constant()) {
    Value count = e.ix().value(e.ix().max(e.size(rows), 1));
    Value each = arith::TruncIOp::create(e.b, e.loc, e.b.getI8Type(), count);
    for (int32_t i = 0; i < 6; ++i) {
      Value at = LLVM::GEPOp::create(e.b, e.loc, room.getType(), e.b.getI8Type(), room,
                                     ArrayRef<LLVM::GEPArg>{48 + i});
      LLVM::StoreOp::create(e.b, e.loc, each, at, 1);
    }
  }
  callIntrinsic(e, {}, "llvm.x86.ldtilecfg", room);
  e.entry = e.b.saveInsertionPoint();
}

void releaseTiles(Emitter &e) {
  if (e.usesTiles)
    callIntrinsic(e, {}, "llvm.x86.tilerelease", {});
}

LogicalResult tileProduct(Emitter &e, const PairOperands &operands, const Memory &sums,
                          tile::DotOp op, const DotStep &plan) {
  ArrayRef<int64_t> extents = op.getType().getShape();
  constexpr int64_t pair = 2 * tileRows;
  int64_t height = std::min(extents[0], tileRows);
  configureTiles(e, plan.tileRows.value_or(Size(height)));
  TileProduct product{.operands = operands,
                      .sums = sums,
                      .height = height,
                      .streams = plan.streams,
                      .passesA = extents[0] > pair,
                      .beginsWithZero = plan.beginsWithZero};
  if (plan.beginsWithZero && plan.updatesAccumulator) {
    auto loop = cast<tile::ForOp>(op->getParentOp());
    product.isFirstTrip = e.ix().equal(e.index(loop.getInductionVar()), e.index(loop.getBegin()));
  }
  if (plan.next)
    product.prefetch.emplace(e, op, *plan.next);
  if (!plan.epilogue.empty())
    product.epilogue.emplace(e, op, plan, sums);
  /// Pairs of tiles, then the last one.
  auto inPairs = [&](int64_t extent, llvm::function_ref<LogicalResult(const Ix &, int64_t)> body) {
    SmallVector<Value> none;
    int64_t whole = extent / pair * pair;
    if (failed(e.loop(0, whole, pair, none, [&](const Ix &at) { return body(at, 2); })))
      return failure();
    return whole < extent ? body(whole, 1) : success();
  };
  return inPairs(extents[1], [&](const Ix &column, int64_t columns) {
    LogicalResult done = inPairs(extents[0], [&](const Ix &row, int64_t rows) {
      return TileBlock(e, product, rows, columns).emit(row, column);
    });
    if (failed(done) || !product.epilogue)
      return done;
    int64_t last = (extents[0] - 1) / pair * pair;
    return product.epilogue->store({last, column, extents[0] - last, columns * tileRows});
  });
}

} // namespace tw::target::cpu
