// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.load and tile.store: boxes of buffers.
#include "Interpreter/Access.h"

using namespace mlir;

namespace tw::interpreter {

namespace {

/// A box as its operation describes it.
struct BoxAccess : Access {
  SmallVector<int64_t> strides;
  SmallVector<bool> isIndexed; // the position is a tile

  template <typename Op>
  BoxAccess(Op op, Type tile, bool isMeant, Compiler &compiler)
      : Access(op, tile, isMeant, compiler), strides(op.getStrides()) {
    strides.resize(shape.extents.size(), 1);
    for (Value position : op.getPositions())
      isIndexed.push_back(isa<RankedTensorType>(position.getType()));
  }

  /// The offset in the buffer of index i along dimension d; -1 outside.
  std::vector<int64_t> offsetsAlong(size_t d, const Machine &m, const Buffer &buffer) const {
    std::vector<int64_t> offsets(shape.extents[d]);
    const Cell *position = m.slots[positions[d]].cells();
    for (int64_t i = 0; i < int64_t(offsets.size()); ++i) {
      __int128 at = isIndexed[d] ? position[i].i : position->i + __int128(i) * strides[d];
      bool isInside = at >= 0 && at < buffer.sizes[d] && buffer.count() > 0;
      offsets[i] = isInside ? int64_t(at) * buffer.strides[d] : -1;
    }
    return offsets;
  }

  /// Calls visit(e, offset) for each element e of the tile; offset is -1 outside of the buffer.
  template <typename F>
  void walk(const Machine &m, const Buffer &buffer, F visit) const {
    size_t rank = shape.extents.size();
    if (shape.count == 0)
      return;
    if (rank == 0)
      return visit(0, 0);
    std::vector<std::vector<int64_t>> axes;
    for (size_t d = 0; d < rank; ++d)
      axes.push_back(offsetsAlong(d, m, buffer));
    SmallVector<int64_t> at(rank, 0);
    for (int64_t e = 0; e < shape.count;) {
      int64_t base = 0;
      for (size_t d = 0; d + 1 < rank; ++d)
        base = base < 0 || axes[d][at[d]] < 0 ? -1 : base + axes[d][at[d]];
      for (int64_t offset : axes.back())
        visit(e++, base < 0 || offset < 0 ? -1 : base + offset);
      for (size_t d = rank - 1; d-- > 0;) {
        if (++at[d] < shape.extents[d])
          break;
        at[d] = 0;
      }
    }
  }

  /// Reports a box that begins outside, and indices outside, that the author did not mean.
  void findOutside(Machine &m, const Buffer &buffer) const {
    if (!m.isChecking() || isMeant || shape.count == 0)
      return;
    findBegin(m, buffer);
    for (size_t d = 0; d < positions.size(); ++d)
      if (isIndexed[d])
        findIndices(d, m, buffer);
  }

private:
  void findBegin(Machine &m, const Buffer &buffer) const {
    std::vector<int64_t> begin;
    bool isOutside = false;
    for (size_t d = 0; d < positions.size(); ++d) {
      begin.push_back(m.slots[positions[d]].cells()->i);
      isOutside |= !isIndexed[d] && (begin[d] < 0 || begin[d] >= buffer.sizes[d]);
    }
    if (!isOutside || !isAnyOn(m, [](int64_t) { return true; }) ||
        !m.findings.wants(Code::INTERPRETER_101, place, buffer.name))
      return;
    reportOutside(Code::INTERPRETER_101, m, buffer, begin,
                  fmt::format("the box begins at {}, outside of \"{}\", whose size is {}",
                              coordinatesText(begin), buffer.name, coordinatesText(buffer.sizes)));
  }

  void findIndices(size_t d, Machine &m, const Buffer &buffer) const {
    const Cell *position = m.slots[positions[d]].cells();
    int64_t inner = 1;
    for (size_t k = d + 1; k < shape.extents.size(); ++k)
      inner *= shape.extents[k];
    for (int64_t i = 0; i < shape.extents[d]; ++i) {
      int64_t at = position[i].i;
      auto isOfIndex = [&](int64_t e) { return e / inner % shape.extents[d] == i; };
      if ((at >= 0 && at < buffer.sizes[d]) || !isAnyOn(m, isOfIndex) ||
          !m.findings.wants(Code::INTERPRETER_102, place, buffer.name))
        continue;
      reportOutside(Code::INTERPRETER_102, m, buffer, {at},
                    fmt::format("position {} along dimension {} is outside of \"{}\", whose size "
                                "is {}",
                                at, d, buffer.name, coordinatesText(buffer.sizes)));
    }
  }
};

} // namespace

Step makeLoad(tile::LoadOp op, Compiler &compiler) {
  BoxAccess access(op, op.getType(), bool(op.getPad()), compiler);
  return [access, result = compiler.slot(op),
          pad = op.getPad() ? compiler.slot(op.getPad()) : -1](Machine &m) {
    Buffer &buffer = m.buffers[access.buffer];
    access.findOutside(m, buffer);
    Cell *cells = m.allocate(result, access.shape.count);
    if (!cells)
      return false;
    Reader reader(m, access, pad < 0 ? Cell{.i = 0} : m.slots[pad].scalar);
    access.walk(m, buffer, [&](int64_t e, int64_t offset) { cells[e] = reader.read(e, offset); });
    return true;
  };
}

Step makeStore(tile::StoreOp op, Compiler &compiler) {
  BoxAccess access(op, op.getTile().getType(), op.getDrop(), compiler);
  bool mayRepeat = llvm::is_contained(access.isIndexed, true);
  return [access, mayRepeat, kind = writeKind(op.getUpdate()),
          tile = compiler.slot(op.getTile())](Machine &m) {
    Buffer &buffer = m.buffers[access.buffer];
    access.findOutside(m, buffer);
    if (!m.spend(access.shape.count))
      return false;
    Writer writer(m, access, kind, mayRepeat);
    const Cell *cells = m.slots[tile].cells();
    access.walk(m, buffer, [&](int64_t e, int64_t offset) { writer.write(e, offset, cells[e]); });
    writer.findRepeated();
    return true;
  };
}

} // namespace tw::interpreter
