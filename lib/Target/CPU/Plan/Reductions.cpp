// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Placements.h"
#include "Target/CPU/Plan/Steps.h"
#include "Target/CPU/Plan/Strips.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Whether there are so few strips that they may be written out.
bool isSmall(ArrayRef<Size> extents, const Strips &strips) {
  int64_t count = 1;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    if (!extent.constant() || count > mostUnrolled)
      return false;
    bool isLane = int(d) == strips.lane;
    count *= llvm::divideCeil(*extent.constant(), isLane ? strips.lanes : 1);
  }
  return count <= mostUnrolled;
}

/// Whether the rows of the result may be as long as whole vectors: what is written in one piece
/// is never looked for in memory when it is read.
bool hasWholeRows(tile::ReduceOp op, const Strips &results) {
  auto type = op.getResult().getType();
  int last = int(type.getRank()) - 1;
  return type.hasStaticShape() && results.lanes > 1 && results.lane == last &&
         type.getShape().back() % results.lanes != 0 &&
         llvm::all_of(op.getResult().getUsers(), [&](Operation *user) {
           auto reshape = dyn_cast<tile::ReshapeOp>(user);
           int rank = reshape ? int(reshape.getResult().getType().getRank()) : 0;
           return llvm::all_of(llvm::seq(0, rank),
                               [&](int lane) { return sourceLane(reshape, lane).has_value(); });
         });
}

/// What is reduced and used again is kept while it is reduced.
LogicalResult planOperand(Scene &scene, Value operand, Step &step, ReduceStep &reduce) {
  int lane = step.strips.lane;
  if (!scene.shouldMaterialize(operand))
    return prepare(scene, operand, step.strips, lane, step.before);
  for (Value inner : operand.getDefiningOp()->getOperands())
    if (isa<RankedTensorType>(inner.getType()) &&
        failed(prepare(scene, inner, step.strips, lane, step.before)))
      return failure();
  reduce.output = outputAsScratch(scene, operand);
  reduce.keep = reduce.output ? ReduceStep::Keep::Output : ReduceStep::Keep::Scratch;
  return success();
}

bool isPosition(tile::ReduceKind kind) {
  return kind == tile::ReduceKind::ArgMax || kind == tile::ReduceKind::ArgMin;
}

/// Of results that lie along vectors: as many chains of additions as hide how long one takes.
/// Columns that are neighbours in memory come first, since rows are then read in one piece.
void chooseChains(tile::ReduceOp op, ReduceStep &reduce) {
  constexpr int64_t chains = 8, mostSideBySide = 4;
  const Strips &results = reduce.results;
  if (results.lanes <= 1 || reduce.isUnrolled)
    return;
  auto columns = extentsOf(op.getResult())[results.lane].constant();
  auto length = extentsOf(op.getOperand())[op.getAxis()].constant();
  if (columns)
    reduce.together =
        std::clamp<int64_t>(int64_t(llvm::divideCeil(*columns, results.lanes)), 1, chains);
  int64_t rows = std::min(mostSideBySide, chains / int64_t(llvm::PowerOf2Ceil(reduce.together)));
  bool isShort = length && *length < 2 * rows;
  if (!isShort && !isPosition(op.getKind()))
    reduce.sideBySide = rows;
}

Strips stripsOfResults(const Strips &strips, int axis) {
  Strips results;
  if (strips.lane != axis && strips.lane >= 0) {
    results.lane = strips.lane - (strips.lane > axis);
    results.lanes = strips.lanes;
  }
  return results;
}

} // namespace

LogicalResult planReduce(Scene &scene, tile::ReduceOp op, Step &step) {
  ReduceStep reduce;
  int axis = int(op.getAxis());
  std::vector<Size> extents = extentsOf(op.getOperand());
  step.strips = stripsOf(extents, lanesFor(scene, op.getOperand()));
  // Positions are known where all coordinates are.
  bool isKnown = readsAtComputed(scene, op.getOperand(), step.strips.lane);
  reduce.isUnrolled = step.strips.isUnrolled && isKnown;
  step.strips.isUnrolled = false;
  if (failed(planOperand(scene, op.getOperand(), step, reduce)))
    return failure();
  extents.erase(extents.begin() + axis);
  reduce.results = stripsOfResults(step.strips, axis);
  reduce.results.isUnrolled = reduce.isUnrolled || (isKnown && reduce.results.lane >= 0 &&
                                                    isSmall(extents, reduce.results));
  chooseChains(op, reduce);
  auto type = op.getResult().getType();
  reduce.inRegister = type.hasStaticShape() && type.getNumElements() == 1;
  reduce.hasWholeRows = !reduce.inRegister && hasWholeRows(op, reduce.results);
  if (reduce.keep != ReduceStep::Keep::No)
    scene.putInMemory(op.getOperand());
  if (reduce.inRegister)
    scene.putInRegisters(op.getResult(), 1);
  else
    scene.putInMemory(op.getResult());
  step.detail = std::move(reduce);
  return success();
}

} // namespace tw::target::cpu
