// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Solver.h"
#include "Tune/SmtLib.h"
#include <algorithm>
#include <fmt/format.h>
#include <random>
#include <z3++.h>

namespace tw::tune {

struct Solver::State {
  Space space;
  z3::context context;
  z3::solver solver;
  std::vector<z3::expr> knobs; // as the space has them

  explicit State(Space given) : space(std::move(given)), solver(context) {
    solver.from_string(smtLib(space).c_str());
    for (const Knob &knob : space.knobs)
      knobs.push_back(context.int_const(knob.name.c_str()));
  }

  z3::expr isValue(size_t knob, int64_t value) { return knobs[knob] == context.int_val(value); }

  /// The point that the last check found.
  Point found() {
    z3::model model = solver.get_model();
    Point point;
    for (size_t knob = 0; knob < knobs.size(); ++knob)
      point[space.knobs[knob].name] =
          model.eval(knobs[knob], /*model_completion=*/true).get_numeral_int64();
    return point;
  }

  /// No later check finds this one again.
  void exclude(const Point &point) {
    z3::expr_vector differences(context);
    for (size_t knob = 0; knob < knobs.size(); ++knob)
      differences.push_back(!isValue(knob, point.at(space.knobs[knob].name)));
    solver.add(z3::mk_or(differences));
  }
};

Solver::Solver(Space space) : state(std::make_unique<State>(std::move(space))) {}
Solver::Solver(Solver &&) noexcept = default;
Solver::~Solver() = default;

Solver::Points Solver::enumerate(size_t most) {
  Points found;
  state->solver.push();
  while (found.points.size() < most && state->solver.check() == z3::sat) {
    found.points.push_back(state->found());
    state->exclude(found.points.back());
  }
  found.areAll = state->solver.check() == z3::unsat;
  state->solver.pop();
  return found;
}

LegalCount Solver::count(const Space &space, size_t most) {
  LegalCount all{1, true};
  for (Space &part : independentParts(space)) {
    if (part.constraints.empty() && part.knobs.size() == 1) {
      all.number *= double(part.knobs.front().values.size());
      continue;
    }
    Points points = Solver(std::move(part)).enumerate(most);
    all.number *= double(points.points.size());
    all.isExact &= points.areAll;
  }
  // None at all is exact, however many the other parts have.
  all.isExact |= all.number == 0;
  return all;
}

std::vector<Point> Solver::sample(size_t most, uint64_t seed) {
  std::mt19937_64 random(seed);
  // The solver is for what is hard to hit: a second for a hundred points is too much for a model.
  // With 20 attempts instead of a thousand, preparing a search of one small product took 14 s in
  // the solver instead of 1.3 in all.
  std::vector<Point> found = drawPoints(state->space, most, random);
  z3::solver &solver = state->solver;
  std::vector<size_t> order(state->knobs.size());
  for (size_t knob = 0; knob < order.size(); ++knob)
    order[knob] = knob;
  solver.push();
  for (const Point &point : found)
    state->exclude(point);
  while (found.size() < most && solver.check() == z3::sat) {
    std::ranges::shuffle(order, random);
    z3::expr_vector wishes(state->context);
    for (size_t knob : order) {
      const std::vector<int64_t> &values = state->space.knobs[knob].values;
      wishes.push_back(state->isValue(knob, values[random() % values.size()]));
      if (solver.check(wishes) != z3::sat)
        wishes.pop_back();
    }
    if (solver.check(wishes) != z3::sat)
      break;
    found.push_back(state->found());
    state->exclude(found.back());
  }
  solver.pop();
  return found;
}

std::string Solver::whyIllegal(const Point &point) {
  const Space &space = state->space;
  for (size_t knob = 0; knob < space.knobs.size(); ++knob)
    if (!point.contains(space.knobs[knob].name))
      return fmt::format("{} has no value", space.knobs[knob].name);
  z3::expr_vector values(state->context);
  for (size_t knob = 0; knob < space.knobs.size(); ++knob)
    values.push_back(state->isValue(knob, point.at(space.knobs[knob].name)));
  if (state->solver.check(values) == z3::sat)
    return {};
  // The solver says that it is illegal; the words are those of the first constraint that is not
  // true for these numbers.
  for (const Knob &knob : space.knobs)
    if (!std::ranges::binary_search(knob.values, point.at(knob.name)))
      return fmt::format("{} = {} is none of the values that are tried", knob.name,
                         point.at(knob.name));
  const Constraint *violated = kernels::firstViolated(space.constraints, point);
  return violated ? kernels::describe(*violated, point) : "the solver finds no solution";
}

} // namespace tw::tune
