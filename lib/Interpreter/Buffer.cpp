// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/Buffer.h"
#include <bit>
#include <fmt/format.h>

namespace tw::interpreter {

std::vector<int64_t> programAt(uint32_t number, llvm::ArrayRef<int64_t> grid) {
  std::vector<int64_t> program(grid.size());
  int64_t rest = number;
  for (size_t d = grid.size(); d-- > 0;) {
    program[d] = rest % grid[d];
    rest /= grid[d];
  }
  return program;
}

std::vector<int64_t> Buffer::coordinates(int64_t offset) const {
  std::vector<int64_t> result(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d)
    result[d] = offset / strides[d] % sizes[d];
  return result;
}

/// `what` has {0} for the element and {1} for the other program.
void Buffer::report(Code code, int64_t offset, const Actor &actor, llvm::StringRef what,
                    std::string help, uint32_t other) {
  if (!actor.findings.wants(code, actor.place, name))
    return;
  std::string element =
      fmt::format("element {} of \"{}\"", coordinatesText(coordinates(offset)), name);
  std::string partner = other == nobody ? "" : coordinatesText(programAt(other, actor.grid));
  actor.findings.add(
      {{code, fmt::format(fmt::runtime(what.str()), element, partner), {}, {}, std::move(help)},
       programAt(actor.number, actor.grid),
       name,
       coordinates(offset)});
}

void Buffer::beforeRead(int64_t offset, const Actor &actor) {
  Shadow &shadow = shadows[offset];
  if (uint32_t other = shadow.writers.otherThan(actor.number); other != nobody)
    report(Code::INTERPRETER_105, offset, actor, "{0} is read, and program {1} writes it",
           "programs run in any order: what one writes, only it may read", other);
  else if (isUndefined && !shadow.writers.has(actor.number))
    report(Code::INTERPRETER_108, offset, actor, "{0} is read before the program wrote it",
           "an output without init holds nothing at the beginning: say init, or make it inout");
  shadow.readers.insert(actor.number);
}

void Buffer::beforeWrite(int64_t offset, WriteKind kind, const Actor &actor) {
  Shadow &shadow = shadows[offset];
  bool isCombined = kind != Plain && kind != AnyAtomic;
  if (isCombined && isUndefined && !shadow.writers.has(actor.number))
    report(Code::INTERPRETER_108, offset, actor, "{0} is updated before it was written",
           "an output without init holds nothing at the beginning: say init, or make it inout");
  shadow.kinds |= kind;
  if (uint32_t other = shadow.writers.otherThan(actor.number); other != nobody) {
    if (shadow.kinds & Plain)
      report(Code::INTERPRETER_103, offset, actor, "{0} is also written by program {1}",
             "give each element to one program, or write it with atomic", other);
    else if (!std::has_single_bit(shadow.kinds))
      report(Code::INTERPRETER_104, offset, actor, "{0} is updated in another way by program {1}",
             "all programs must update an element with the same kind of atomic", other);
  }
  if (uint32_t other = shadow.readers.otherThan(actor.number); other != nobody)
    report(Code::INTERPRETER_105, offset, actor, "{0} is written, and program {1} reads it",
           "programs run in any order: what one writes, only it may read", other);
  shadow.writers.insert(actor.number);
}

void Buffer::findUnwritten(mlir::Location place, Findings &findings) const {
  int64_t missing = 0, first = -1;
  for (int64_t i = 0; isUndefined && i < int64_t(shadows.size()); ++i)
    if (shadows[i].kinds == 0) {
      first = missing++ ? first : i;
    }
  if (missing == 0 || !findings.wants(Code::INTERPRETER_107, place, name))
    return;
  std::vector<int64_t> element = coordinates(first);
  findings.add(
      {{Code::INTERPRETER_107,
        fmt::format("element {} of \"{}\" is never written", coordinatesText(element), name),
        {},
        {},
        "cover the whole output with stores, or say what it holds before: init, in Python "
        "tk.filled(value)"},
       {},
       name,
       element});
  findings.count(missing - 1);
}

} // namespace tw::interpreter
