// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops and branches.
#include "Language/Operations/Control.h"
#include "Language/Elements.h"
#include "Support/Counted.h"

namespace tw::kernel::detail {
namespace {

bool sameType(const Type &a, const Type &b) {
  return a.dtype == b.dtype && a.isTile == b.isTile && a.shape == b.shape;
}

/// What a body returned as values of the types that are carried; numbers adopt them.
Refs adapt(Tracer &tracer, const std::string &what, const Refs &returned,
           const std::vector<Type> &types, Here here) {
  if (Tracer::current() != &tracer)
    throw Failed(); // the author's code caught what fail() threw
  if (returned.size() != types.size())
    tracer.fail(here, what + " returns " + tw::counted(returned.size(), "value") + ", but " +
                          tw::counted(types.size(), "value") + " are carried");
  Refs values;
  for (size_t i = 0; i < types.size(); ++i) {
    bool isNumber = isLiteral(returned[i]) && !types[i].isTile;
    auto *size = std::get_if<SizePtr>(&returned[i]);
    ValuePtr value = isNumber && types[i].dtype == DType::index
                         ? indexOf(tracer, returned[i], what, here)
                     : isNumber || (size && !types[i].isTile)
                         ? scalarOf(tracer, returned[i], types[i].dtype, what, here)
                         : valueOf(tracer, returned[i], here);
    if (!sameType(value->type, types[i]))
      tracer.fail(value->here,
                  what + " returns " + typeText(value->type) + " as value " + std::to_string(i) +
                      ", but " + typeText(types[i]) + " is carried",
                  "a body returns what it is given: cast, reshape or broadcast the value, or the "
                  "one that is carried in");
    values.emplace_back(value);
  }
  return values;
}

std::vector<Type> typesOf(const Values &values) {
  std::vector<Type> types;
  for (const ValuePtr &value : values)
    types.push_back(value->type);
  return types;
}

bool isNegative(const Ref &step) {
  auto *number = std::get_if<int64_t>(&step);
  return !number || *number < 0;
}

void checkStep(Tracer &tracer, const Ref &step, Here here) {
  auto *number = std::get_if<int64_t>(&step);
  auto *size = std::get_if<SizePtr>(&step);
  if ((number && *number == 0) || (size && *size && (*size)->constant() == 0))
    tracer.fail(here, "the step of the loop is 0", "it may be negative, but not 0");
}

Refs toRefs(const Values &values) { return Refs(values.begin(), values.end()); }

} // namespace

// ---- Loops -------------------------------------------------------------------------------------

OpenLoop::OpenLoop(Tracer &tracer, const Range &range, const Refs &inits, bool splits, Here here)
    : tracer(tracer), here(here) {
  checkStep(tracer, range.step, here);
  if (splits)
    tracer.checkSplit(here);
  operands = {indexOf(tracer, range.begin, "the begin of the loop", here),
              indexOf(tracer, range.end, "the end of the loop", here),
              indexOf(tracer, range.step, "the step of the loop", here)};
  bool countsUp = operands[0]->isNonNegative && !isNegative(range.step);
  for (const Ref &init : inits)
    operands.push_back(valueOf(tracer, init, here));
  carried = typesOf({operands.begin() + 3, operands.end()});
  std::vector<Type> arguments = {Type{DType::index}};
  arguments.insert(arguments.end(), carried.begin(), carried.end());
  std::vector<std::string> names(arguments.size());
  names[0] = "i";
  given = tracer.enter(here, splits ? Tracer::splitBody : "the body of the loop", arguments, names);
  std::const_pointer_cast<Value>(std::get<ValuePtr>(given[0]))->isNonNegative = countsUp;
}

Refs OpenLoop::finish(const Refs &yields, const Merge &merge) {
  std::vector<Region> regions;
  regions.push_back(
      tracer.leave(here, adapt(tracer, "the body of the loop", yields, carried, here)));
  if (merge.combine) {
    std::vector<Type> states = carried;
    states.insert(states.end(), carried.begin(), carried.end());
    auto runCombine = [&](const Refs &refs) {
      return adapt(tracer, "combine", merge.combine(refs), carried, here);
    };
    regions.push_back(
        tracer.trace(here, "combine", states, std::vector<std::string>(states.size()), runCombine));
  }
  Attributes attributes;
  attributes.flag = merge.isCommutative;
  return toRefs(
      tracer.emit(here, "tile.for", operands, carried, std::move(attributes), std::move(regions)));
}

// ---- Branches ----------------------------------------------------------------------------------

OpenBranch::OpenBranch(Tracer &tracer, const Ref &condition, Here here)
    : tracer(tracer), here(here), test(valueOf(tracer, condition, here)) {
  if (test->type.dtype != DType::i1)
    tracer.fail(here,
                "the condition of " + std::string(tracer.say().branch) + " is " +
                    typeText(test->type) + ", but must be i1",
                "compare it: x != 0");
  tracer.enter(here, "the first branch", {}, {});
}

void OpenBranch::otherwise(const Refs &yields) {
  regions.push_back(tracer.leave(here, yields));
  tracer.enter(here, "the second branch", {}, {});
}

Refs OpenBranch::finish(const Refs &yields) {
  regions.push_back(tracer.leave(here, yields));
  std::vector<Type> types = typesOf(regions[0].yields), others = typesOf(regions[1].yields);
  std::string name = tracer.say().branch;
  if (types.size() != others.size())
    tracer.fail(here,
                name + ": the first branch returns " + tw::counted(types.size(), "value") +
                    ", but the second " + tw::counted(others.size(), "value"),
                "both must return the same");
  for (size_t i = 0; i < types.size(); ++i)
    if (!sameType(types[i], others[i]))
      tracer.fail(here,
                  name + ": value " + std::to_string(i) + " is " + typeText(types[i]) +
                      " from the first branch, but " + typeText(others[i]) + " from the second",
                  "both must be equal: cast, reshape or broadcast one of them");
  return toRefs(tracer.emit(here, "scf.if", {test}, types, {}, std::move(regions)));
}

// ---- The functions -----------------------------------------------------------------------------

namespace {
/// Leaves regions that a body has not ended because it threw.
class Unwind {
public:
  explicit Unwind(Tracer &tracer) : tracer(tracer), depth(tracer.depth()) {}
  ~Unwind() { tracer.abandon(depth); }

private:
  Tracer &tracer;
  size_t depth;
};

} // namespace

Refs forLoop(const Index &begin, const Index &end, const Index &step, const Refs &inits,
             const Body &body, const Merge &merge, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  Unwind unwind(*tracer);
  OpenLoop loop(*tracer, {begin.ref(), end.ref(), step.ref()}, inits, bool(merge.combine), here);
  return loop.finish(body(loop.arguments()), merge);
}

Refs ifThenElse(const Scalar &condition, const Body &then, const Body &otherwise, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  Unwind unwind(*tracer);
  OpenBranch branch(*tracer, condition.ref(), here);
  branch.otherwise(then({}));
  return branch.finish(otherwise({}));
}

Ref carriedRef(const Index &index) {
  auto *number = std::get_if<int64_t>(&index.ref());
  return number ? Ref(Size(*number).expr()) : index.ref();
}

} // namespace tw::kernel::detail
