// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records that tile.sort sorts: a key, an unsigned integer, with a position: (key << 32 |
// position) where 32 bits hold the key, else two numbers beside each other. Up to 128 of them are
// sorted by rank (how many are less than each, in vectors), more by a radix sort of bytes, from the
// lowest one: both are stable, and no branch of theirs depends on the data.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

/// A key with its position; of narrow keys the first holds both.
struct SortRecord {
  mlir::Value key, position;
};

class SortRecords {
public:
  /// Room for `half` records twice; they go to and fro between the halves. Keys have `bits`.
  SortRecords(Emitter &e, unsigned bits, const Size &half);

  /// Whether positions stand beside keys.
  bool isWide() const { return bits > 32; }
  /// Records in a vector.
  unsigned width() const { return std::max<unsigned>(e.cpu.vectorBytes / 8, 1); }

  SortRecord at(const Ix &index) {
    return {load(keys, index), isWide() ? load(places, index) : mlir::Value()};
  }
  mlir::Value keyAt(const Ix &index) { return load(keys, index); }
  mlir::Value positionAt(const Ix &index);
  /// One, or a vector of them, where `mask` holds.
  void set(const SortRecord &record, const Ix &index, mlir::Value mask = {});

  /// Sorts the first `size` records; gives where they are then: at 0, or in the second half.
  Ix sorted(const Ix &size);

private:
  IndexBuilder ix() { return {b, loc}; }
  mlir::Value load(mlir::Value base, const Ix &index) {
    return e.loadFrom(base, i64, index, false, 1, {}, {});
  }
  void store(mlir::Value value, mlir::Value base, const Ix &index) {
    e.storeTo(value, base, i64, index, 1, {});
  }
  mlir::Value number(int64_t value) { return ix().value(value); }

  void rankAll(const Ix &size);
  Ix byRank(const Ix &size);
  mlir::Value isBefore(const Ix &other, mlir::Value own, mlir::Value number, bool isVector);
  int64_t digits() const;
  Ix counterOf(mlir::Value key, int64_t digit);
  void clearCounters();
  Ix byDigits(const Ix &size);
  Ix byDigit(const Ix &size, const Ix &from, int64_t digit);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type i64;
  unsigned bits;
  Ix capacity; // of a half
  mlir::Value keys, places, counters, ranks;
};

} // namespace tw::target::cpu
