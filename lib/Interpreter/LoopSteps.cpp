// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.for and scf.if.
#include "IR/ModelLocation.h"
#include "Interpreter/Loop.h"
#include "Support/Checked.h"
#include "Support/Counted.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::interpreter {

uint64_t Loop::trips(const Machine &m) const {
  return tripCount(m.slots[begin].scalar.i, m.slots[end].scalar.i, m.slots[step].scalar.i);
}

State Loop::initial(const Machine &m) const {
  State state;
  for (int slot : inits)
    state.push_back(m.slots[slot]);
  return state;
}

/// Puts values into slots.
static void put(Machine &m, ArrayRef<int> slots, const State &state) {
  for (size_t i = 0; i < slots.size(); ++i)
    m.slots[slots[i]] = state[i];
}

bool Loop::run(Machine &m, uint64_t from, uint64_t to, State &state) const {
  uint64_t first = m.slots[begin].scalar.i, by = m.slots[step].scalar.i;
  for (uint64_t trip = from; trip < to; ++trip) {
    m.slots[index] = {nullptr, {.i = int64_t(first + trip * by)}};
    put(m, carried, state);
    if (!m.spend(1) || !m.run(body))
      return false;
    for (size_t i = 0; i < yielded.size(); ++i)
      state[i] = m.slots[yielded[i]];
  }
  return true;
}

bool Loop::runCombine(Machine &m, const State &a, const State &b, State &result) const {
  put(m, left, a);
  put(m, right, b);
  if (!m.spend(1) || !m.run(combine))
    return false;
  result.clear();
  for (int slot : combined)
    result.push_back(m.slots[slot]);
  return true;
}

static void reportZeroStep(Machine &m, Location place) {
  if (m.isChecking() && m.findings.wants(Code::INTERPRETER_109, place, ""))
    m.findings.add({{Code::INTERPRETER_109,
                     "the step of the loop is 0, so it makes no trip",
                     {},
                     {},
                     "a loop goes from its begin to its end by a step that is not 0"},
                    m.program,
                    {},
                    {}});
}

/// Rounds the sums that were carried on in f64.
static bool finish(Machine &m, const Loop &loop, State &state) {
  for (size_t i = 0; i < state.size(); ++i) {
    DType dtype = m.precision(loop.rounded[i]);
    int slot = loop.results[i];
    m.slots[slot] = state[i];
    if (dtype == DType::F64)
      continue;
    if (!state[i].tile) {
      m.slots[slot].scalar.f = roundTo(dtype, state[i].scalar.f);
      continue;
    }
    int64_t count = loop.shapes[i].count;
    Cell *cells = m.allocate(slot, count);
    if (!cells)
      return false;
    std::copy_n(state[i].cells(), count, cells);
    roundTo(dtype, {cells, size_t(count)});
  }
  return true;
}

static bool runLoop(Machine &m, const Loop &loop, CombineTrial *trial) {
  if (m.slots[loop.step].scalar.i == 0)
    reportZeroStep(m, loop.place);
  if (trial && m.isChecking() && !tryCombine(m, loop, *trial))
    return false;
  State state = loop.initial(m);
  return loop.run(m, 0, loop.trips(m), state) && finish(m, loop, state);
}

/// Says after the run that no execution was long enough to try associativity.
static void noteUntried(Location place, const CombineTrial &trial, Run &run) {
  if (trial.mostTrips < 3)
    run.notes.push_back(fmt::format("{}: combine was hardly tried: the loop made {} at most, and 3 "
                                    "are needed to see whether it is associative",
                                    describePlace(place), counted(trial.mostTrips, "trip")));
}

Step makeFor(tile::ForOp op, Compiler &compiler) {
  auto loop = std::make_shared<Loop>(Loop{compiler.slot(op.getBegin()),
                                          compiler.slot(op.getEnd()),
                                          compiler.slot(op.getStep()),
                                          compiler.slot(op.getInductionVar()),
                                          compiler.slotsOf(op.getInitial()),
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          op->getLoc(),
                                          {},
                                          {},
                                          {},
                                          {}});
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    loop->carried.push_back(compiler.slot(op.getCarried()[k]));
    loop->results.push_back(compiler.slot(result));
    loop->dtypes.push_back(dtypeOf(result.getType()));
    loop->shapes.push_back(compiler.shapeOf(result.getType()));
    bool rounds = compiler.findSum(op, k) && !compiler.isUnrounded(result);
    loop->rounded.push_back(rounds ? loop->dtypes.back() : DType::F64);
  }
  loop->body = compiler.compile(op.getBody().front());
  loop->yielded = compiler.slotsOf(op.getBody().front().getTerminator()->getOperands());
  if (!op.canSplit())
    return [loop](Machine &m) { return runLoop(m, *loop, nullptr); };
  Block &combine = op.getCombine().front();
  loop->isCommutative = op.getCommutative();
  size_t count = loop->carried.size();
  loop->combine = compiler.compile(combine);
  loop->left = compiler.slotsOf(combine.getArguments().take_front(count));
  loop->right = compiler.slotsOf(combine.getArguments().drop_front(count));
  loop->combined = compiler.slotsOf(combine.getTerminator()->getOperands());
  auto trial = std::make_shared<CombineTrial>();
  compiler.afterwards.push_back(
      [trial, place = op->getLoc()](Run &run) { noteUntried(place, *trial, run); });
  return [loop, trial](Machine &m) { return runLoop(m, *loop, trial.get()); };
}

Step makeIf(Operation *op, Compiler &compiler) {
  struct Branch {
    Steps steps;
    SmallVector<int> yielded;
  };
  auto choice = cast<scf::IfOp>(op);
  auto make = [&](Region &region) {
    Branch branch;
    if (region.empty())
      return branch;
    branch.steps = compiler.compile(region.front());
    branch.yielded = compiler.slotsOf(region.front().getTerminator()->getOperands());
    return branch;
  };
  return [condition = compiler.slot(choice.getCondition()),
          branches = std::array{make(choice.getElseRegion()), make(choice.getThenRegion())},
          results = compiler.slotsOf(op->getResults())](Machine &m) {
    const Branch &branch = branches[m.slots[condition].scalar.i];
    if (!m.run(branch.steps))
      return false;
    for (size_t i = 0; i < results.size(); ++i)
      m.slots[results[i]] = m.slots[branch.yielded[i]];
    return true;
  };
}

} // namespace tw::interpreter
