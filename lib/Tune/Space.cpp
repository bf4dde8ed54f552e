// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Space.h"
#include <algorithm>
#include <numeric>
#include <set>

namespace tw::tune {

const Knob *Space::find(std::string_view knob) const {
  auto found = std::ranges::find(knobs, knob, &Knob::name);
  return found == knobs.end() ? nullptr : &*found;
}

bool Space::contains(const Point &point) const {
  bool isInside = std::ranges::all_of(knobs, [&](const Knob &knob) {
    auto value = point.find(knob.name);
    return value != point.end() && std::ranges::binary_search(knob.values, value->second);
  });
  return isInside && kernels::holds(constraints, point);
}

std::vector<int64_t> valuesBetween(int64_t least, int64_t most) {
  constexpr int64_t small = 16, shares = 8;
  std::set<int64_t> values = {least, most};
  for (int64_t value = least; value <= std::min(small, most); ++value)
    values.insert(value);
  for (int64_t octave = small; octave < most; octave *= 2)
    for (int64_t quarter = 0; quarter < 4; ++quarter)
      values.insert(octave + octave / 4 * quarter);
  for (int64_t share = 2; share <= shares; ++share)
    values.insert((most + share - 1) / share);
  std::erase_if(values, [&](int64_t value) { return value < least || value > most; });
  return {values.begin(), values.end()};
}

/// The knobs that a constraint is about, by their numbers.
static std::vector<size_t> knobsOf(const Constraint &constraint, const Space &space) {
  std::set<std::string> names = constraint.less.symbols();
  names.merge(constraint.more.symbols());
  std::vector<size_t> numbers;
  for (size_t number = 0; number < space.knobs.size(); ++number)
    if (names.contains(space.knobs[number].name))
      numbers.push_back(number);
  return numbers;
}

std::vector<Space> independentParts(const Space &space) {
  Space whole{space.knobs, {}};
  std::vector<size_t> part(space.knobs.size()); // of each knob: the first knob of its part
  std::iota(part.begin(), part.end(), 0);
  // By value: replacing overwrites what a reference into `part` would name.
  auto join = [&](size_t a, size_t b) {
    std::ranges::replace(part, size_t(part[b]), size_t(part[a]));
  };
  for (const Constraint &constraint : space.constraints) {
    std::vector<size_t> numbers = knobsOf(constraint, space);
    if (numbers.size() == 1) {
      Knob &knob = whole.knobs[numbers.front()];
      std::erase_if(knob.values, [&](int64_t value) {
        return !kernels::holds({constraint}, {{knob.name, value}});
      });
      continue;
    }
    whole.constraints.push_back(constraint);
    for (size_t number : numbers)
      join(numbers.front(), number);
  }
  std::vector<Space> parts;
  for (size_t first : std::set(part.begin(), part.end())) {
    Space &made = parts.emplace_back();
    for (size_t number = 0; number < part.size(); ++number)
      if (part[number] == first)
        made.knobs.push_back(whole.knobs[number]);
  }
  for (const Constraint &constraint : whole.constraints) {
    std::vector<size_t> numbers = knobsOf(constraint, space);
    // One about no knob at all holds, or nothing does.
    Space &of =
        numbers.empty() ? parts.front() : *std::ranges::find_if(parts, [&](const Space &candidate) {
          return candidate.find(space.knobs[numbers.front()].name);
        });
    of.constraints.push_back(constraint);
  }
  return parts;
}

/// For the knobs that get values in the `order` given: the constraints that can be looked at once
/// the i-th has one. `knobs`: of each constraint, by their numbers.
static std::vector<std::vector<Constraint>>
constraintsByLastKnob(const Space &space, const std::vector<std::vector<size_t>> &knobs,
                      const std::vector<size_t> &order) {
  std::vector<size_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
  std::vector<std::vector<Constraint>> decided(std::max<size_t>(order.size(), 1));
  for (size_t i = 0; i < knobs.size(); ++i) {
    size_t last = 0;
    for (size_t knob : knobs[i])
      last = std::max(last, place[knob]);
    decided[last].push_back(space.constraints[i]);
  }
  return decided;
}

namespace {

/// Depth first through the knobs, leaving each subtree as soon as a constraint is violated.
class Enumeration {
public:
  Enumeration(const Space &space, size_t mostSteps, const std::function<bool(const Point &)> &take)
      : space(space), stepsLeft(mostSteps), take(take) {
    std::vector<std::vector<size_t>> knobs;
    for (const Constraint &constraint : space.constraints)
      knobs.push_back(knobsOf(constraint, space));
    std::vector<size_t> order(space.knobs.size());
    std::iota(order.begin(), order.end(), 0);
    decided = constraintsByLastKnob(space, knobs, order);
    for (const Knob &knob : space.knobs)
      values.push_back(&point[knob.name]);
  }

  bool from(size_t knob) {
    if (knob == values.size())
      return take(point);
    for (int64_t value : space.knobs[knob].values) {
      if (stepsLeft == 0)
        return false;
      --stepsLeft;
      *values[knob] = value;
      if (kernels::holds(decided[knob], point) && !from(knob + 1))
        return false;
    }
    return true;
  }

private:
  const Space &space;
  size_t stepsLeft;
  const std::function<bool(const Point &)> &take;
  std::vector<std::vector<Constraint>> decided;
  Point point;
  std::vector<int64_t *> values; // of the knobs in `point`
};

} // namespace

bool forEachLegalPoint(const Space &space, size_t mostSteps,
                       const std::function<bool(const Point &)> &take) {
  return Enumeration(space, mostSteps, take).from(0);
}

Sampler::Sampler(const Space &space) : space(space) {
  for (const Constraint &constraint : space.constraints)
    knobs.push_back(knobsOf(constraint, space));
}

std::optional<Point> Sampler::draw(std::mt19937_64 &random) const {
  std::vector<size_t> order(space.knobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  std::vector<std::vector<Constraint>> decided = constraintsByLastKnob(space, knobs, order);
  Point point;
  for (size_t i = 0; i < order.size(); ++i) {
    const Knob &knob = space.knobs[order[i]];
    std::vector<int64_t> values = knob.values;
    std::ranges::shuffle(values, random);
    auto fits = std::ranges::find_if(values, [&](int64_t value) {
      point[knob.name] = value;
      return kernels::holds(decided[i], point);
    });
    if (fits == values.end())
      return std::nullopt;
  }
  return point;
}

std::vector<Point> drawPoints(const Space &space, size_t most, std::mt19937_64 &random) {
  constexpr int attempts = 1000;
  Sampler sampler(space);
  std::vector<Point> found;
  std::set<Point> known;
  for (int attempt = 0; attempt < attempts && found.size() < most;)
    if (auto drawn = sampler.draw(random); drawn && known.insert(*drawn).second)
      found.push_back(*std::move(drawn)), attempt = 0;
    else
      ++attempt;
  return found;
}

LegalCount countLegalPoints(const Space &space, size_t most, size_t mostSteps) {
  LegalCount all{1, true};
  bool isNone = false;
  for (const Space &part : independentParts(space)) {
    size_t count = 0;
    bool areAll =
        forEachLegalPoint(part, mostSteps, [&](const Point &) { return ++count <= most; });
    all.number *= double(std::min(count, most));
    all.isExact &= areAll;
    isNone |= areAll && count == 0;
  }
  // None at all is exact, however many the other parts have.
  all.isExact |= isNone;
  return all;
}

namespace {

/// Collects what is in a space, each point once. Of a legal center only the constraints on what has
/// changed are looked at: kernels with many loops have a hundred knobs and a thousand constraints.
class Neighborhood {
public:
  Neighborhood(const Space &space, const Point &center)
      : known({center}), isLegal(space.contains(center)), all(space.constraints),
        about(space.knobs.size()) {
    for (const Constraint &constraint : space.constraints)
      for (size_t knob : knobsOf(constraint, space))
        about[knob].push_back(constraint);
  }

  /// A point that differs from the center in these knobs, which have some of their values.
  void offer(Point point, std::initializer_list<size_t> changed) {
    bool fits = isLegal
                    ? std::ranges::all_of(
                          changed, [&](size_t knob) { return kernels::holds(about[knob], point); })
                    : kernels::holds(all, point);
    if (fits && known.insert(point).second)
      points.push_back(std::move(point));
  }
  std::vector<Point> points;

private:
  std::set<Point> known;
  bool isLegal;
  const std::vector<Constraint> &all;
  std::vector<std::vector<Constraint>> about; // of each knob
};

/// The values of a knob next to one that it has or could have.
std::vector<int64_t> nextTo(const Knob &knob, int64_t value) {
  std::vector<int64_t> next;
  auto above = std::ranges::upper_bound(knob.values, value);
  if (above != knob.values.end())
    next.push_back(*above);
  auto from = std::ranges::lower_bound(knob.values, value);
  if (from != knob.values.begin())
    next.push_back(*std::prev(from));
  return next;
}

} // namespace

std::vector<Point> neighbors(const Space &space, const Point &point, int knobs) {
  Neighborhood found(space, point);
  for (size_t first = 0; first < space.knobs.size(); ++first)
    for (int64_t value : space.knobs[first].values) {
      Point moved = point;
      moved[space.knobs[first].name] = value;
      found.offer(moved, {first});
      if (knobs < 2)
        continue;
      // The first may be far away and illegal alone: the second makes up for it.
      for (size_t second = 0; second < space.knobs.size(); ++second)
        if (const Knob &other = space.knobs[second]; second != first)
          for (int64_t next : nextTo(other, point.at(other.name))) {
            Point both = moved;
            both[other.name] = next;
            found.offer(std::move(both), {first, second});
          }
    }
  return std::move(found.points);
}

} // namespace tw::tune
