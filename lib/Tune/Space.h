// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A configuration space as a search sees it: knobs with the values worth trying, and constraints
// over them. docs/tuning.md.
#pragma once
#include "Kernels/Fields.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tw::tune {

using kernels::Constraint;
using kernels::ListElement;
/// The values of all knobs, by their names.
using Point = kernels::Numbers;

/// A field of a configuration, or an element of one that is a list.
struct Knob {
  std::string name;            // in constraints; of an element its symbol
  std::vector<int64_t> values; // ascending
  std::string meaning;
  std::optional<ListElement> element = {};
};

struct Space {
  std::vector<Knob> knobs;
  std::vector<Constraint> constraints;

  const Knob *find(std::string_view knob) const;
  /// Whether each knob has one of its values, and all constraints hold.
  bool contains(const Point &point) const;
};

/// What is worth trying between `least` and `most`, which are, too: each small number, four steps
/// an octave above, and even shares of `most`. Bounded for any `most`: a few dozen.
std::vector<int64_t> valuesBetween(int64_t least, int64_t most);

/// Parts of a space that no constraint connects, so that what is legal in one is legal with
/// whatever is legal in the others. Every knob is in one of them; constraints over a single knob
/// are no longer there: knobs have only the values that they permit.
std::vector<Space> independentParts(const Space &space);

/// Calls `take` with each legal point, values ascending, until it returns false or `mostSteps`
/// values were tried. Whether that was all of them. Beside Solver::enumerate it is for the many
/// points of a space with few knobs: a microsecond or so each.
bool forEachLegalPoint(const Space &space, size_t mostSteps,
                       const std::function<bool(const Point &)> &take);

/// Draws legal points: knobs take random values in random order, as far as the constraints between
/// those that have one let them.
class Sampler {
public:
  explicit Sampler(const Space &space);
  /// Nothing where the values that came first leave none for a later knob.
  std::optional<Point> draw(std::mt19937_64 &random) const;

private:
  const Space &space;
  /// For each constraint its knobs, by their numbers.
  std::vector<std::vector<size_t>> knobs;
};

/// Draws until `most` different points are found or a thousand attempts in a row have brought
/// nothing new: there may be points that are hard to hit. The same for the same state of `random`.
std::vector<Point> drawPoints(const Space &space, size_t most, std::mt19937_64 &random);

/// How many points are legal; at least so many where it is not exact. Parts of the space that no
/// constraint connects are counted by themselves, each up to `most` and for `mostSteps` values.
struct LegalCount {
  double number = 0;
  bool isExact = false;
};
LegalCount countLegalPoints(const Space &space, size_t most, size_t mostSteps);

/// All points of the space that differ from `point` in `knobs` knobs at most (1 or 2), without
/// itself; of pairs only values next to the ones it has, for there would be too many others.
std::vector<Point> neighbors(const Space &space, const Point &point, int knobs);

} // namespace tw::tune
