// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/CutDecisions.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "IR/ModelLocation.h"

using namespace mlir;

namespace tw::conversion {
using tile::Cut;

static constexpr const char *slower = "one kernel is expected to be faster";
static constexpr const char *contradicted = "operators of the same kernels want it both ways";
static constexpr const char *given = "a configuration has the cuts of its dispatch";

/// What a cut is about: the operation of a template, or the first of the reductions that are split.
static Location operatorOf(const Subkernel &subkernel) {
  auto *program = std::get_if<LoopProgram>(&subkernel.what);
  auto dim = program ? longestReducedDim(*program) : std::nullopt;
  if (dim)
    for (const Statement &statement : program->statements) {
      bool isReduction =
          statement.kind == Statement::Kind::Reduce || statement.kind == Statement::Kind::ArgReduce;
      if (isReduction && llvm::is_contained(statement.dims, *dim))
        return statement.op->getLoc();
    }
  return subkernel.locations.back();
}

/// The operators of a dispatch, in the order of its operations.
static SmallVector<Location> partsOf(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  return fused && !fused.getMetadata() ? SmallVector<Location>(fused.getLocations())
                                       : SmallVector<Location>{loc};
}

/// Of all calls, which share the kernels: a function is said to come from the operators of one.
static SmallVector<Location> operatorsOf(func::FuncOp function, const Subkernel &subkernel,
                                         const DispatchCalls &calls) {
  Location own = operatorOf(subkernel);
  SmallVector<Location> parts = partsOf(function.getLoc());
  auto isOwn = [name = nodeName(own)](Location part) { return nodeName(part) == name; };
  size_t position = size_t(llvm::find_if(parts, isOwn) - parts.begin());
  SmallVector<Location> operators;
  for (graph::DispatchOp call : calls.of(function))
    if (SmallVector<Location> others = partsOf(call.getLoc());
        others.size() == parts.size() && position < others.size())
      operators.push_back(others[position]);
  if (operators.empty())
    operators.push_back(own);
  return operators;
}

Cut CutDecisions::possibleCut(const ConfigurationProblem &problem, Cut chosen) const {
  if (chosen != Cut::None)
    return chosen;
  for (uint32_t number = 1; number <= tile::getMaxEnumValForCut(); ++number) {
    Cut cut = *tile::symbolizeCut(number);
    // A weight is stored as its kernel wants it.
    bool isIdle = cut == Cut::TransposeRhs && problem.isRhsWeight;
    if (!isIdle && whyNoCut(problem.subkernel, cut, chooser).empty())
      return cut;
  }
  return Cut::None;
}

void CutDecisions::note(ArrayRef<Location> operators, Cut cut, StringRef reason) {
  for (Location each : operators)
    decisions.note(graph::DecisionKind::Cut, each, cut != Cut::None, reason);
}

Cut CutDecisions::choose(func::FuncOp function, const ConfigurationProblem &problem) {
  Cut chosen = chooser.chooseCut(problem);
  Cut possible = possibleCut(problem, chosen);
  if (possible == Cut::None)
    return Cut::None;
  SmallVector<Location> operators = operatorsOf(function, problem.subkernel, calls);
  bool isWanted = false, isUnwanted = false;
  for (Location each : operators)
    if (auto wanted = decisions.wanted(graph::DecisionKind::Cut, each))
      (*wanted ? isWanted : isUnwanted) = true;
  if (isWanted != isUnwanted)
    chosen = isWanted ? possible : Cut::None;
  note(operators, chosen,
       isWanted && isUnwanted ? contradicted
       : isUnwanted           ? graph::unwanted
                              : slower);
  return chosen;
}

void CutDecisions::noteGiven(func::FuncOp function, const ConfigurationProblem &problem, Cut cut) {
  if (possibleCut(problem, cut) != Cut::None)
    note(operatorsOf(function, problem.subkernel, calls), cut, given);
}

} // namespace tw::conversion
