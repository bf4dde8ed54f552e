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

} // namespace

Value Emitter::loadPattern(Value base, Type stored, const Ix &index, ArrayRef<int64_t> offsets,
                           Value wanted) {
  bool isScalarMask = wanted && !isa<VectorType>(wanted.getType());
  auto counts = wanted && !isScalarMask ? constantLanes(wanted) : std::nullopt;
  bool isMasked = wanted && !counts;
  Pattern pattern(offsets, counts ? ArrayRef(*counts) : ArrayRef<bool>());
  unsigned bytes = bytesOf(stored);
  if (pattern.pieces.size() > mostPieces ||
      (isMasked && (!hasNativeMasking(cpu, bytes) || pattern.hasTwins())))
    return {};
  Value nothing = splat(constant(stored, 0));
  if (pattern.pieces.empty())
    return nothing;
  Type type = typeOf(stored, true);
  auto lanesOf = [&](llvm::function_ref<bool(unsigned)> isOn) {
    SmallVector<bool> on;
    for (unsigned lane = 0; lane < lanes; ++lane)
      on.push_back(isOn(lane));
    auto maskType = VectorType::get(int64_t(lanes), b.getI1Type());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(maskType, ArrayRef(on)));
  };
  auto maskOf = [&](int number) -> Value {
    if (isScalarMask)
      return splat(wanted);
    if (!isMasked)
      return lanesOf([&](unsigned lane) { return int64_t(lane) < pattern.pieces[number].count; });
    SmallVector<int64_t> from(lanes, int64_t(lanes)); // off
    for (size_t lane : pattern.wanted)
      if (pattern.pieceOf[lane] == number)
        from[pattern.placeOf(lane)] = int64_t(lane);
    return vector::ShuffleOp::create(b, loc, wanted, splat(constant(b.getI1Type(), 0)), from);
  };
  auto load = [&](int number) -> Value {
    const Piece &piece = pattern.pieces[number];
    Value at = ix().value(ix().add(index, piece.begin));
    Value address = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), stored,
                                        base, ArrayRef<LLVM::GEPArg>{at});
    if (!isMasked && piece.count == int64_t(lanes))
      return LLVM::LoadOp::create(b, loc, type, address, bytes);
    if (hasNativeMasking(cpu, bytes))
      return LLVM::MaskedLoadOp::create(b, loc, type, address, maskOf(number), nothing,
                                        b.getI32IntegerAttr(bytes), UnitAttr());
    Value few = LLVM::LoadOp::create(b, loc, VectorType::get(piece.count, stored), address, bytes);
    SmallVector<int64_t> from(lanes, -1);
    std::iota(from.begin(), from.begin() + piece.count, 0);
    return vector::ShuffleOp::create(b, loc, few, few, from);
  };
  Value all = load(0);
  int count = int(pattern.pieces.size());
  for (int piece = std::min(1, count - 1); piece < count; ++piece) {
    // Lanes of earlier pieces are where they belong, once two pieces have been joined.
    SmallVector<int64_t> from;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      int own = pattern.pieceOf[lane];
      bool isSettled = own < piece && piece > 1;
      from.push_back(own < 0 || own > piece ? -1
                     : own < piece ? int64_t(isSettled ? lane : pattern.placeOf(lane))
                                   : int64_t((piece > 0 ? lanes : 0) + pattern.placeOf(lane)));
    }
    all = vector::ShuffleOp::create(b, loc, all, piece > 0 ? load(piece) : all, from);
  }
  return all;
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
