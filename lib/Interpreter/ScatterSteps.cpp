// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.gather, tile.scatter and tile.check, and the way to single elements of buffers.
#include "Interpreter/Access.h"
#include "Interpreter/Interpreter.h"

using namespace mlir;

namespace tw::interpreter {

void Access::reportOutside(Code code, Machine &m, const Buffer &buffer,
                           std::vector<int64_t> position, std::string message) const {
  std::string help = isLoad ? "say pad if it is meant to read what lies outside as the pad value"
                            : "say drop if it is meant not to store what lies outside";
  if (code == Code::INTERPRETER_101)
    help += "; or has the grid too many programs?";
  m.findings.add({{code, std::move(message), {}, {}, std::move(help)},
                  m.program,
                  buffer.name,
                  std::move(position)});
}

Reader::Reader(Machine &m, const Access &access, Cell pad)
    : buffer(m.buffers[access.buffer]), mask(access.maskOf(m)), pad(pad),
      tracks(m.isChecking() && buffer.isTracked()), rounds(buffer.isSummed && !m.exact),
      actor(m.actor(access.place)) {}

WriteKind writeKind(std::optional<tile::Update> update) {
  static constexpr WriteKind kinds[] = {AddAtomic, MinAtomic, MaxAtomic, AnyAtomic};
  return update ? kinds[uint32_t(*update)] : Plain;
}

Writer::Writer(Machine &m, const Access &access, WriteKind kind, bool mayRepeat)
    : buffer(m.buffers[access.buffer]), mask(access.maskOf(m)), kind(kind),
      tracks(m.isChecking() && buffer.isTracked()), collects(mayRepeat && kind == Plain),
      actor(m.actor(access.place)) {}

Cell Writer::combine(Cell old, Cell cell) const {
  if (info(buffer.dtype).isFloat) {
    switch (kind) {
    case AddAtomic:
      return {.f = old.f + cell.f};
    case MinAtomic:
      return {.f = minimum(old.f, cell.f)};
    default:
      return {.f = maximum(old.f, cell.f)};
    }
  }
  int bits = bitsOf(buffer.dtype);
  if (kind == AddAtomic)
    return {.i = wrap(int64_t(uint64_t(old.i) + uint64_t(cell.i)), bits)};
  bool isLess = buffer.dtype == DType::U8 ? asUnsigned(old.i, bits) < asUnsigned(cell.i, bits)
                                          : old.i < cell.i;
  return isLess == (kind == MinAtomic) ? old : cell;
}

void Writer::findRepeated() {
  std::sort(written.begin(), written.end());
  for (size_t i = 1; i < written.size(); ++i) {
    if (written[i] != written[i - 1] ||
        !actor.findings.wants(Code::INTERPRETER_106, actor.place, buffer.name))
      continue;
    std::vector<int64_t> element = buffer.coordinates(written[i]);
    actor.findings.add({{Code::INTERPRETER_106,
                         fmt::format("element {} of \"{}\" is written twice at once",
                                     coordinatesText(element), buffer.name),
                         {},
                         {},
                         "say atomic with what is to become of several values"},
                        programAt(actor.number, actor.grid),
                        buffer.name,
                        element});
  }
}

namespace {

/// Elements at positions that are data.
struct PointAccess : Access {
  using Access::Access;

  /// Calls visit(e, offset) for each element e of the tile; offset is -1 outside of the buffer.
  template <typename F>
  void walk(Machine &m, const Buffer &buffer, F visit) const {
    SmallVector<const Cell *> at;
    for (int slot : positions)
      at.push_back(m.slots[slot].cells());
    const Cell *on = maskOf(m);
    for (int64_t e = 0; e < shape.count; ++e) {
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); ++d) {
        bool isInside = at[d][e].i >= 0 && at[d][e].i < buffer.sizes[d] && buffer.count() > 0;
        offset = offset < 0 || !isInside ? -1 : offset + at[d][e].i * buffer.strides[d];
      }
      if (offset < 0 && !isMeant && m.isChecking() && (!on || on[e].i))
        findOutside(e, at, m, buffer);
      visit(e, offset);
    }
  }

private:
  void findOutside(int64_t e, ArrayRef<const Cell *> at, Machine &m, const Buffer &buffer) const {
    if (!m.findings.wants(Code::INTERPRETER_102, place, buffer.name))
      return;
    std::vector<int64_t> position;
    for (const Cell *cells : at)
      position.push_back(cells[e].i);
    std::string text = coordinatesText(position);
    reportOutside(Code::INTERPRETER_102, m, buffer, std::move(position),
                  fmt::format("position {} is outside of \"{}\", whose size is {}", text,
                              buffer.name, coordinatesText(buffer.sizes)));
  }
};

} // namespace

Step makeGather(tile::GatherOp op, Compiler &compiler) {
  PointAccess access(op, op.getType(), bool(op.getPad()), compiler);
  return [access, result = compiler.slot(op),
          pad = op.getPad() ? compiler.slot(op.getPad()) : -1](Machine &m) {
    Cell *cells = m.allocate(result, access.shape.count);
    if (!cells)
      return false;
    Reader reader(m, access, pad < 0 ? Cell{.i = 0} : m.slots[pad].scalar);
    access.walk(m, m.buffers[access.buffer],
                [&](int64_t e, int64_t offset) { cells[e] = reader.read(e, offset); });
    return true;
  };
}

Step makeScatter(tile::ScatterOp op, Compiler &compiler) {
  PointAccess access(op, op.getTile().getType(), op.getDrop(), compiler);
  return
      [access, kind = writeKind(op.getUpdate()), tile = compiler.slot(op.getTile())](Machine &m) {
        if (!m.spend(access.shape.count))
          return false;
        Writer writer(m, access, kind, /*mayRepeat=*/true);
        const Cell *cells = m.slots[tile].cells();
        access.walk(m, m.buffers[access.buffer],
                    [&](int64_t e, int64_t offset) { writer.write(e, offset, cells[e]); });
        writer.findRepeated();
        return true;
      };
}

//===----------------------------------------------------------------------===//
// tile.check
//===----------------------------------------------------------------------===//

std::string checkMessage(StringRef text, int64_t value, int64_t bound) {
  std::string message = text.str();
  size_t from = 0;
  for (int64_t number : {value, bound}) {
    size_t at = message.find("%lld", from);
    if (at == message.npos)
      break;
    std::string digits = std::to_string(number);
    message.replace(at, 4, digits);
    from = at + digits.size();
  }
  return message;
}

Step makeCheck(tile::CheckOp op, Compiler &compiler) {
  bool isTile = isa<RankedTensorType>(op.getValue().getType());
  return [isTile, value = compiler.slot(op.getValue()), bound = compiler.slot(op.getBound()),
          mask = op.getMask() ? compiler.slot(op.getMask()) : -1, result = compiler.slot(op),
          count = compiler.shapeOf(op.getValue().getType()).count, message = op.getMessage().str(),
          place = op->getLoc()](Machine &m) {
    Cell scalar;
    Cell *cells = isTile ? m.allocate(result, count) : &scalar;
    if (!cells)
      return false;
    const Cell *values = m.slots[value].cells(), *on = mask < 0 ? nullptr : m.slots[mask].cells();
    int64_t limit = m.slots[bound].scalar.i;
    for (int64_t e = 0; e < count; ++e) {
      int64_t given = values[e].i;
      bool isFine = given >= 0 && given < limit, isOn = !on || on[e].i;
      cells[e].i = isFine && isOn ? given : 0;
      if (!isFine && isOn && !m.isTrial && m.findings.wants(Code::INTERPRETER_6, place, ""))
        m.findings.add({{Code::INTERPRETER_6, checkMessage(message, given, limit), {}, {}, {}},
                        m.program,
                        {},
                        {}});
    }
    if (!isTile)
      m.slots[result] = {nullptr, scalar};
    return true;
  };
}

} // namespace tw::interpreter
