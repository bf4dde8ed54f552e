// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of elements that lie near each other in a pattern that is known: every second, third or
// fourth one, elements in reverse, reflected at an edge, or each one twice. Whole vectors are
// loaded and shuffled, which takes a fraction of a gather's time. The pieces begin at the first and
// end at the last element wanted, so nothing beyond them is touched:
//
//   every second of lanes l0 .. l3:  [l0 - l1 -] at 0, [- l2 - l3] at 3
//   reflected, [2 1 0 1]:            [l2 l1=l3 l0] at 0
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <algorithm>
#include <numeric>

using namespace mlir;

namespace tw::target::cpu {
namespace {

constexpr size_t mostPieces = 4;

/// Neighbours in memory that are loaded at once.
struct Piece {
  int64_t begin, count; // the first element, from where the pattern counts
};

/// Which elements the lanes want, in pieces of at most as many as there are lanes.
class Pattern {
public:
  /// `counts`: lanes that are wanted; empty: all.
  Pattern(ArrayRef<int64_t> offsets, ArrayRef<bool> counts) : offsets(offsets) {
    for (size_t lane = 0; lane < offsets.size(); ++lane)
      if (counts.empty() || counts[lane])
        wanted.push_back(lane);
    std::sort(wanted.begin(), wanted.end(),
              [&](size_t a, size_t b) { return offsets[a] < offsets[b]; });
    int64_t lanes = offsets.size();
    pieceOf.assign(lanes, -1);
    for (size_t lane : wanted) {
      if (pieces.empty() || offsets[lane] >= pieces.back().begin + lanes)
        pieces.push_back({offsets[lane], 0});
      pieces.back().count = offsets[lane] - pieces.back().begin + 1;
      pieceOf[lane] = int(pieces.size()) - 1;
    }
    if (pieces.empty())
      return;
    // A whole vector is one load; what lies between the elements wanted is inside the buffer.
    int64_t first = pieces.front().begin, end = pieces.back().begin + pieces.back().count;
    pieces.front().count = std::min(lanes, end - first);
    for (Piece &piece : MutableArrayRef(pieces).drop_front()) {
      int64_t pieceEnd = piece.begin + piece.count;
      piece = {std::max(pieceEnd - lanes, first), 0};
      piece.count = pieceEnd - piece.begin;
    }
  }

  bool hasTwins() const {
    return llvm::any_of(llvm::seq<size_t>(1, wanted.size()),
                        [&](size_t i) { return offsets[wanted[i]] == offsets[wanted[i - 1]]; });
  }
  int64_t placeOf(size_t lane) const { return offsets[lane] - pieces[pieceOf[lane]].begin; }

  ArrayRef<int64_t> offsets;
  SmallVector<size_t> wanted; // in the order of memory
  SmallVector<Piece> pieces;
  SmallVector<int> pieceOf; // by lane; -1: not wanted
};

/// Loads the pieces of a pattern and puts their elements in the lanes.
class PatternLoad {
public:
  /// `wanted`: the lanes that are loaded, a vector; or whether any are; or null. `isKnown`: the
  /// pattern has only these.
  PatternLoad(Emitter &e, Value base, Type stored, const Ix &index, const Pattern &pattern,
              Value wanted, bool isKnown)
      : e(e), b(e.b), loc(e.loc), base(base), stored(stored), index(index), pattern(pattern),
        wanted(wanted), isScalarMask(wanted && !isa<VectorType>(wanted.getType())),
        isMasked(wanted && !isKnown), lanes(int64_t(e.lanes)), bytes(Emitter::bytesOf(stored)) {}

  Value run() {
    Value all = load(0);
    int count = int(pattern.pieces.size());
    for (int piece = std::min(1, count - 1); piece < count; ++piece) {
      // Lanes of earlier pieces are where they belong, once two pieces have been joined.
      SmallVector<int64_t> from;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int own = pattern.pieceOf[lane];
        bool isSettled = own < piece && piece > 1;
        from.push_back(own < 0 || own > piece ? -1
                       : own < piece          ? (isSettled ? lane : pattern.placeOf(lane))
                                              : (piece > 0 ? lanes : 0) + pattern.placeOf(lane));
      }
      all = vector::ShuffleOp::create(b, loc, all, piece > 0 ? load(piece) : all, from);
    }
    return all;
  }

private:
  /// The lanes below `count`.
  Value lanesBelow(int64_t count) {
    SmallVector<bool> on(lanes, false);
    std::fill_n(on.begin(), std::min(count, lanes), true);
    auto type = VectorType::get(lanes, b.getI1Type());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(on)));
  }

  /// Which elements of a piece are loaded.
  Value maskOf(int number) {
    if (isScalarMask)
      return e.splat(wanted);
    if (!isMasked)
      return lanesBelow(pattern.pieces[number].count);
    SmallVector<int64_t> from(lanes, lanes); // off
    for (size_t lane : pattern.wanted)
      if (pattern.pieceOf[lane] == number)
        from[pattern.placeOf(lane)] = int64_t(lane);
    Value off = e.splat(e.constant(b.getI1Type(), 0));
    return vector::ShuffleOp::create(b, loc, wanted, off, from);
  }

  Value load(int number) {
    const Piece &piece = pattern.pieces[number];
    Value at = e.ix().value(e.ix().add(index, piece.begin));
    Value address = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), stored,
                                        base, ArrayRef<LLVM::GEPArg>{at});
    Type type = e.typeOf(stored, true);
    if (!isMasked && piece.count == lanes)
      return LLVM::LoadOp::create(b, loc, type, address, bytes);
    if (hasNativeMasking(e.cpu, bytes))
      return LLVM::MaskedLoadOp::create(b, loc, type, address, maskOf(number),
                                        e.splat(e.constant(stored, 0)), b.getI32IntegerAttr(bytes),
                                        UnitAttr());
    Value few = LLVM::LoadOp::create(b, loc, VectorType::get(piece.count, stored), address, bytes);
    SmallVector<int64_t> from(lanes, -1);
    std::iota(from.begin(), from.begin() + piece.count, 0);
    return vector::ShuffleOp::create(b, loc, few, few, from);
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  Value base;
  Type stored;
  const Ix &index;
  const Pattern &pattern;
  Value wanted;
  bool isScalarMask, isMasked;
  int64_t lanes;
  unsigned bytes;
};

} // namespace

Value Emitter::loadPattern(Value base, Type stored, const Ix &index, ArrayRef<int64_t> offsets,
                           Value wanted) {
  bool isVectorMask = wanted && isa<VectorType>(wanted.getType());
  auto counts = isVectorMask ? constantLanes(wanted) : std::nullopt;
  bool isMasked = wanted && !counts;
  Pattern pattern(offsets, counts ? ArrayRef(*counts) : ArrayRef<bool>());
  if (pattern.pieces.size() > mostPieces ||
      (isMasked && (!hasNativeMasking(cpu, bytesOf(stored)) || pattern.hasTwins())))
    return {};
  if (pattern.pieces.empty())
    return splat(constant(stored, 0));
  return PatternLoad(*this, base, stored, index, pattern, wanted, counts.has_value()).run();
}

Value Emitter::loadStrided(Value base, Type stored, const Ix &index, int64_t step, Value wanted) {
  if (step == 0 || std::abs(step) > int64_t(mostPieces))
    return {};
  SmallVector<int64_t> offsets;
  for (unsigned lane = 0; lane < lanes; ++lane)
    offsets.push_back(lane * step);
  return loadPattern(base, stored, index, offsets, wanted);
}

} // namespace tw::target::cpu
