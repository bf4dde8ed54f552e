// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which register of which thread holds which element of a tile: docs/nvidia-target.md, "Layouts".
// Plain data and functions, without MLIR.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::target::nvidia {

/// One digit of the number of a register or thread: it has values from 0 to size - 1, each of which
/// moves `stride` elements along dimension `dim`. With stride 0 the same elements are there again.
struct Digit {
  int64_t size;
  int dim;
  int64_t stride;
  bool operator==(const Digit &) const = default;
};

/// A register of a thread.
struct Slot {
  int64_t thread, registerNumber;
  bool operator==(const Slot &) const = default;
};

using Coordinates = std::vector<int64_t>;

/// Register r of thread t holds the element whose coordinate along d is the sum of what the digits
/// of r and t move along d. Numbers are written in mixed radix, so extents need not be powers of
/// two; what is beyond the tile's extents holds nothing.
class Layout {
public:
  /// Digits from the least significant one on; each `dim` is one of `extents`.
  Layout(Coordinates extents, std::vector<Digit> registers, std::vector<Digit> threads);

  const Coordinates &extents() const { return tile; }
  const std::vector<Digit> &registerDigits() const { return registerPart; }
  const std::vector<Digit> &threadDigits() const { return threadPart; }
  int64_t registers() const;
  int64_t threads() const;

  /// Where a register or a thread moves, from the element of register 0 of thread 0.
  Coordinates offsetOfRegister(int64_t number) const;
  Coordinates offsetOfThread(int64_t number) const;
  /// The element in a slot; nothing beyond the tile.
  std::optional<Coordinates> elementAt(Slot slot) const;

  /// Whether each element is in one slot, or, in digits with stride 0, in several of the same
  /// kind: along each dimension, digits in order of their strides do not overlap.
  bool isUnique() const;
  /// Whether every element of the tile is in a slot.
  bool isComplete() const;
  /// The first slot of an element; nothing if none has it. The layout is unique.
  std::optional<Slot> slotOf(const Coordinates &element) const;

  /// "registers 2 x 1@1, 2 x 8@0; threads 4 x 2@1": size x stride@dimension.
  std::string str() const;
  bool operator==(const Layout &) const = default;

private:
  Coordinates tile;
  std::vector<Digit> registerPart, threadPart;
};

/// How far an element travels between two layouts of one tile.
enum class Exchange { Nothing, WithinThread, WithinWarp, WithinBlock };

/// What it takes to bring a tile from one layout into another: `Nothing` where they agree in all
/// slots. Both are unique and complete and have as many threads.
Exchange exchangeBetween(const Layout &from, const Layout &to);

} // namespace tw::target::nvidia
