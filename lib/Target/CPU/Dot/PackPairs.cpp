// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Dot/PackPairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

class PairPacker {
public:
  PairPacker(Emitter &e, const Memory &from, const Memory &to, int64_t depth, int64_t columns)
      : e(e), from(from), to(to), pairs(depth / 2), columns(columns),
        lanes(e.cpu.vectorBytes / sizeof(int32_t)),
        words(VectorType::get(lanes, e.b.getI32Type())) {}

  LogicalResult run() {
    llvm::SaveAndRestore wide(e.lanes, unsigned(lanes));
    return from.strides[1].constant() == 1 ? interleaveRows() : transposePairs();
  }

private:
  /// Two rows of a vector's columns become words with an element of each.
  LogicalResult interleaveRows() {
    auto halves = VectorType::get(lanes, e.b.getI16Type());
    Value shift = arith::ConstantOp::create(
        e.b, e.loc, DenseElementsAttr::get(words, e.b.getI32IntegerAttr(16)));
    auto row = [&](const Ix &k, const Ix &column) -> Value {
      Value loaded = LLVM::LoadOp::create(e.b, e.loc, halves, e.addressIn(from, {k, column}), 2);
      return arith::ExtUIOp::create(e.b, e.loc, words, loaded);
    };
    return over(pairs, 1, [&](const Ix &pair) {
      return over(columns, lanes, [&](const Ix &column) {
        Ix k = e.ix().mul(pair, 2);
        Value low = row(k, column), high = row(e.ix().add(k, 1), column);
        high = arith::ShLIOp::create(e.b, e.loc, high, shift);
        store(arith::OrIOp::create(e.b, e.loc, low, high), pair, column);
        return success();
      });
    });
  }

  /// Blocks of as many columns as pairs are transposed as words. The last block of a column begins
  /// where it still has all its pairs.
  LogicalResult transposePairs() {
    auto block = [&](const Ix &pair, const Ix &column) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < lanes; ++i)
        rows.push_back(LLVM::LoadOp::create(
            e.b, e.loc, words, e.addressIn(from, {e.ix().mul(pair, 2), e.ix().add(column, i)}), 2));
      e.transposeSquare(rows);
      for (auto [i, row] : llvm::enumerate(rows))
        store(row, e.ix().add(pair, int64_t(i)), column);
      return success();
    };
    return over(columns, lanes, [&](const Ix &column) {
      int64_t whole = pairs / lanes * lanes;
      if (failed(over(whole, lanes, [&](const Ix &pair) { return block(pair, column); })))
        return failure();
      return success(whole == pairs || succeeded(block(pairs - lanes, column)));
    });
  }

  LogicalResult over(int64_t extent, int64_t step,
                     llvm::function_ref<LogicalResult(const Ix &)> body) {
    SmallVector<Value> none;
    return e.loop(0, extent, step, none, body);
  }

  void store(Value word, const Ix &pair, const Ix &column) {
    LLVM::StoreOp::create(e.b, e.loc, word, e.addressIn(to, {pair, column, Ix(0)}), 4);
  }

  Emitter &e;
  const Memory &from, &to;
  int64_t pairs, columns, lanes; // lanes: pairs in a vector
  VectorType words;
};

} // namespace

FailureOr<Memory> packPairs(Emitter &e, const Memory &from, RankedTensorType type) {
  int64_t depth = type.getDimSize(0), columns = type.getDimSize(1);
  Memory to = e.allocate({Size(depth / 2), Size(columns), Size(2)}, type.getElementType());
  if (failed(PairPacker(e, from, to, depth, columns).run()))
    return failure();
  return to;
}

} // namespace tw::target::cpu
