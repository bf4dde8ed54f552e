// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of every second, third or fourth element, and of elements in reverse: whole vectors are
// loaded and shuffled, which takes a fraction of a gather's time. The pieces begin at the first and
// end at the last element wanted, so nothing beyond them is touched:
//
//   every second of lanes l0 .. l3:  [l0 - l1 -] at 0, [- l2 - l3] at 3
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstdlib>

using namespace mlir;

namespace tw::target::cpu {
namespace {

constexpr int64_t mostPieces = 4;

/// Where the lanes lie in pieces of `lanes` neighbours.
struct Pieces {
  Pieces(int64_t lanes, int64_t step) : lanes(lanes), step(step), count(std::abs(step)) {}

  int64_t lanes, step, count;

  /// The first element of a piece, counted from the first lane's.
  int64_t begin(int64_t piece) const {
    int64_t span = (lanes - 1) * count + 1;
    return (step < 0 ? 1 - span : 0) + (piece + 1 < count ? piece * lanes : span - lanes);
  }
  int64_t pieceOf(int64_t lane) const {
    int64_t fromLowest = (step < 0 ? lanes - 1 - lane : lane) * count;
    return std::min(fromLowest / lanes, count - 1);
  }
  int64_t placeOf(int64_t lane) const { return lane * step - begin(pieceOf(lane)); }
};

} // namespace

Value Emitter::loadStrided(Value base, Type stored, const Ix &index, int64_t step, Value wanted) {
  bool isScalarMask = wanted && !isa<VectorType>(wanted.getType());
  if (step == 0 || std::abs(step) > mostPieces || (wanted && !masksInOne(bytesOf(stored))))
    return {};
  Pieces pieces(lanes, step);
  auto maskOf = [&](int64_t piece) -> Value {
    if (isScalarMask)
      return splat(wanted);
    SmallVector<int32_t> from(lanes, int32_t(lanes)); // off
    for (int64_t lane = 0; lane < lanes; ++lane)
      if (pieces.pieceOf(lane) == piece)
        from[pieces.placeOf(lane)] = int32_t(lane);
    Value off = splat(constant(b.getI1Type(), 0));
    return LLVM::ShuffleVectorOp::create(b, loc, wanted, off, from);
  };
  auto load = [&](int64_t piece) -> Value {
    Value at = ix().value(ix().add(index, pieces.begin(piece)));
    Value address = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), stored,
                                        base, ArrayRef<LLVM::GEPArg>{at});
    Type type = typeOf(stored, true);
    unsigned bytes = bytesOf(stored);
    if (!wanted)
      return LLVM::LoadOp::create(b, loc, type, address, bytes);
    Value nothing = splat(constant(stored, 0));
    return LLVM::MaskedLoadOp::create(b, loc, type, address, maskOf(piece), nothing,
                                      b.getI32IntegerAttr(bytes), UnitAttr());
  };
  Value all = load(0);
  for (int64_t piece = std::min<int64_t>(1, pieces.count - 1); piece < pieces.count; ++piece) {
    // Lanes of earlier pieces are where they belong, once two pieces have been joined.
    SmallVector<int32_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t own = pieces.pieceOf(lane);
      bool isSettled = own < piece && piece > 1;
      from.push_back(own > piece   ? -1
                     : own < piece ? int32_t(isSettled ? lane : pieces.placeOf(lane))
                                   : int32_t((piece > 0 ? lanes : 0) + pieces.placeOf(lane)));
    }
    Value next = piece > 0 ? load(piece) : all;
    all = LLVM::ShuffleVectorOp::create(b, loc, all, next, from);
  }
  return all;
}

} // namespace tw::target::cpu
