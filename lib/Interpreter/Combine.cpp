// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does the combine of a loop give the same wherever the range is cut?
#include "Interpreter/Loop.h"
#include <cmath>
#include <fmt/format.h>

namespace tw::interpreter {

namespace {

/// Loops of at most this many trips are cut everywhere, longer ones into so many pieces.
constexpr uint64_t mostPieces = 6;
/// Executions that are tried, of short loops and of long ones.
constexpr int mostShort = 1000, mostLong = 4;
/// In f64, what differs more than by this part of a tile's largest element is no rounding error.
constexpr double tolerance = 1e-9;

/// The first element in which two states differ.
struct Difference {
  size_t value;
  std::vector<int64_t> element;
  Cell expected, found;
  bool isFloat;
};

double largest(const Cell *cells, int64_t count) {
  double result = 0;
  for (int64_t e = 0; e < count; ++e)
    if (std::isfinite(cells[e].f))
      result = std::fmax(result, std::fabs(cells[e].f));
  return result;
}

bool isSame(Cell a, Cell b, bool isFloat, double slack) {
  if (!isFloat)
    return a.i == b.i;
  return a.f == b.f || (std::isnan(a.f) && std::isnan(b.f)) || std::fabs(a.f - b.f) <= slack;
}

std::vector<int64_t> coordinatesOf(int64_t e, const Shape &shape) {
  std::vector<int64_t> result(shape.extents.size());
  for (size_t d = result.size(); d-- > 0; e /= shape.extents[d])
    result[d] = e % shape.extents[d];
  return result;
}

std::optional<Difference> compare(const Loop &loop, const State &expected, const State &found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    bool isFloat = info(loop.dtypes[i]).isFloat;
    const Cell *a = expected[i].cells(), *b = found[i].cells();
    int64_t count = loop.shapes[i].count;
    double slack = isFloat ? tolerance * std::fmax(largest(a, count), largest(b, count)) : 0;
    for (int64_t e = 0; e < count; ++e)
      if (!isSame(a[e], b[e], isFloat, slack))
        return Difference{i, coordinatesOf(e, loop.shapes[i]), a[e], b[e], isFloat};
  }
  return std::nullopt;
}

class Trial {
public:
  Trial(Machine &m, const Loop &loop) : m(m), loop(loop), trips(loop.trips(m)) {
    pieces = std::min(trips, mostPieces);
    for (uint64_t k = 0; k <= pieces; ++k)
      bounds.push_back(pieces ? uint64_t((unsigned __int128)trips * k / pieces) : 0);
  }

  bool run() {
    if (!runParts())
      return false;
    for (uint64_t i = 0; i <= pieces; ++i)
      for (uint64_t j = i; j <= pieces; ++j) {
        const State &a = parts[0][i], &b = parts[i][j], &c = parts[j][pieces];
        State ab, bc, ba, whole;
        auto isAsWhole = [&] { return !differs(whole, i, j, "parts"); };
        if (!loop.runCombine(m, a, b, ab) || !loop.runCombine(m, ab, c, whole))
          return false;
        if (!isAsWhole())
          return true;
        if (!loop.runCombine(m, b, c, bc) || !loop.runCombine(m, a, bc, whole))
          return false;
        if (!isAsWhole())
          return true;
        if (!loop.isCommutative)
          continue;
        // With associativity all orders follow from these.
        auto isInAnyOrder = [&] { return !differs(whole, i, j, "in another order, parts"); };
        if (!loop.runCombine(m, b, a, ba) || !loop.runCombine(m, ba, c, whole))
          return false;
        if (!isInAnyOrder())
          return true;
        if (!loop.runCombine(m, c, ab, whole))
          return false;
        if (!isInAnyOrder())
          return true;
      }
    return true;
  }

private:
  /// parts[i][j]: the state after the trips between two bounds, begun with the inits.
  bool runParts() {
    parts.assign(pieces + 1, std::vector<State>(pieces + 1));
    for (uint64_t i = 0; i <= pieces; ++i) {
      State state = loop.initial(m);
      parts[i][i] = state;
      for (uint64_t j = i; j < pieces; ++j) {
        if (!loop.run(m, bounds[j], bounds[j + 1], state))
          return false;
        parts[i][j + 1] = state;
      }
    }
    return true;
  }

  bool differs(const State &state, uint64_t i, uint64_t j, const char *which) {
    auto difference = compare(loop, parts[0][pieces], state);
    if (!difference)
      return false;
    if (!m.findings.wants(Code::INTERPRETER_110, loop.place, ""))
      return true;
    auto text = [&](Cell cell) -> std::string {
      if (difference->isFloat)
        return std::isnan(cell.f) ? "nan" : fmt::format("{}", cell.f);
      return fmt::format("{}", cell.i);
    };
    m.findings.add(
        {{Code::INTERPRETER_110,
          fmt::format("the combine depends on where the loop is cut: {} trips give {}, but {} of "
                      "{}, {} and {} trips give {}",
                      trips, text(difference->expected), which, bounds[i], bounds[j] - bounds[i],
                      trips - bounds[j], text(difference->found)),
          {},
          {fmt::format("in element {} of carried value {}", coordinatesText(difference->element),
                       difference->value)},
          loop.isCommutative ? "combine must be associative, the inits neutral on both sides, and "
                               "the order of parts must not matter, for it is called commutative"
                             : "combine must be associative, and the inits neutral on both sides"},
         m.program,
         {},
         {}});
    return true;
  }

  Machine &m;
  const Loop &loop;
  uint64_t trips, pieces;
  std::vector<uint64_t> bounds;
  std::vector<std::vector<State>> parts;
};

} // namespace

bool tryCombine(Machine &m, const Loop &loop, CombineTrial &trial) {
  uint64_t trips = loop.trips(m);
  trial.mostTrips = std::max(trial.mostTrips, trips);
  bool isShort = trips <= mostPieces;
  if ((isShort ? trial.shortLoops++ >= mostShort : trial.longLoops++ >= mostLong))
    return true;
  bool exact = std::exchange(m.exact, true);
  m.isTrial = true;
  Trial attempt(m, loop);
  bool isFine = attempt.run();
  m.isTrial = false;
  m.exact = exact;
  return isFine;
}

} // namespace tw::interpreter
