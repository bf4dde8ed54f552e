// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the four operations on buffers have in common: masks, pads, and the way to one element.
#pragma once
#include "Interpreter/Compiler.h"
#include <fmt/format.h>

namespace tw::interpreter {

/// An access as its operation describes it.
struct Access {
  int buffer;
  llvm::SmallVector<int> positions; // slots
  int mask;                         // slot, or -1
  bool isMeant;                     // pad or drop says that positions may be outside
  bool isLoad;
  Shape shape; // of the tile
  mlir::Location place;

  template <typename Op>
  Access(Op op, mlir::Type tile, bool isMeant, Compiler &compiler)
      : buffer(Compiler::bufferOf(op.getBuffer())), positions(compiler.slotsOf(op.getPositions())),
        mask(op.getMask() ? compiler.slot(op.getMask()) : -1), isMeant(isMeant),
        isLoad(op->getNumResults() == 1), shape(compiler.shapeOf(tile)), place(op->getLoc()) {}

  /// The mask's cells; null when there is none.
  const Cell *maskOf(const Machine &m) const { return mask < 0 ? nullptr : m.slots[mask].cells(); }

  /// Whether one of the elements that `isMember` names is not masked off.
  template <typename F>
  bool isAnyOn(const Machine &m, F isMember) const {
    const Cell *on = maskOf(m);
    bool found = !on;
    for (int64_t e = 0; e < shape.count && !found; ++e)
      found = on[e].i && isMember(e);
    return found;
  }

  /// Adds the finding that findings.wants has just asked for.
  void reportOutside(Code code, Machine &m, const Buffer &buffer, std::vector<int64_t> position,
                     std::string message) const;
};

/// Reads elements.
class Reader {
public:
  Reader(Machine &m, const Access &access, Cell pad);

  Cell read(int64_t e, int64_t offset) {
    if (offset < 0 || (mask && !mask[e].i))
      return pad;
    if (tracks)
      buffer.beforeRead(offset, actor);
    Cell cell = buffer.cells[offset];
    if (rounds)
      cell.f = roundTo(buffer.dtype, cell.f);
    return cell;
  }

private:
  Buffer &buffer;
  const Cell *mask;
  Cell pad;
  bool tracks, rounds;
  Actor actor;
};

/// How an update writes; without one plainly.
WriteKind writeKind(std::optional<tile::Update> update);

/// Writes elements.
class Writer {
public:
  /// `mayRepeat`: the operation may meet an element twice, which findRepeated then reports.
  Writer(Machine &m, const Access &access, WriteKind kind, bool mayRepeat);

  void write(int64_t e, int64_t offset, Cell cell) {
    if (offset < 0 || (mask && !mask[e].i))
      return;
    if (tracks) {
      buffer.beforeWrite(offset, kind, actor);
      if (collects)
        written.push_back(offset);
    }
    Cell &place = buffer.cells[offset];
    place = kind == Plain || kind == AnyAtomic ? cell : combine(place, cell);
  }
  void findRepeated();

private:
  Cell combine(Cell old, Cell cell) const;

  Buffer &buffer;
  const Cell *mask;
  WriteKind kind;
  bool tracks, collects;
  Actor actor;
  std::vector<int64_t> written;
};

} // namespace tw::interpreter
