// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From scores to weights, in registers: a thread has some columns of two rows of each warp's 16, of
// which four threads next to each other have all columns. Elements are computed where they are;
// what reduces a row combines these four threads' parts.
#include "Target/Common/Operations/Combine.h"
#include "Target/NVIDIA/Attention/AttentionEmitter.h"
#include "Target/NVIDIA/Product/Emission/RowReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t scoreSums = 1;

Value AttentionEmitter::evaluate(Value tile, const Point &point) {
  FailureOr<Value> value = e.evaluate(tile, point);
  hasFailed |= failed(value);
  return succeeded(value) ? *value : at.i32(0);
}

Point AttentionEmitter::rowPoint(Value tile, int64_t number) const {
  Point point(size_t(cast<RankedTensorType>(tile.getType()).getRank()), Ix(0));
  for (unsigned dim : wideDims(tile))
    point[dim] = fragment.row(0, number);
  return point;
}

void AttentionEmitter::setRows(const AttentionPart &part, ValueRange carried, ValueRange elements) {
  size_t next = 0;
  for (auto [number, tile] : llvm::enumerate(carried))
    if (number != part.sums)
      for (int64_t row : {0, 1}) {
        Value element = elements[next++];
        if (hasRow(row))
          e.setElement(tile, rowPoint(tile, 2 * row), element);
      }
}

bool AttentionEmitter::isOfRow(int64_t number, std::optional<int64_t> row) const {
  int64_t own = SumsFragment::isOfSecondRow(number);
  return row ? own == *row : hasRow(own);
}

void AttentionEmitter::setSums(Value tile, ValueRange sums, std::optional<int64_t> row) {
  for (auto [i, sum] : llvm::enumerate(sums))
    if (auto number = int64_t(i); isOfRow(number, row))
      e.setElement(tile, {fragment.row(0, number), fragment.column(number)}, sum);
}

void AttentionEmitter::evaluateRows(const AttentionPart &part, ValueRange carried, State &state) {
  state.rows.clear();
  for (auto [number, tile] : llvm::enumerate(carried))
    if (number != part.sums)
      for (int64_t row : {0, 2})
        state.rows.push_back(evaluate(tile, rowPoint(tile, row)));
}

/// Terms beyond the tile are looked for at its last one, so that nobody reads further.
void AttentionEmitter::findTermColumns() {
  for (int64_t number = 0; number < terms / 2; ++number) {
    int64_t first = number / 4 * 8 + number % 2; // the first thread's
    Ix column = fragment.column(number);
    bool isInside = first + 6 < attention.terms;
    isTerm.push_back(isInside ? Value() : e.ix().less(column, attention.terms));
    termColumns.push_back(isInside ? column : e.ix().min(column, attention.terms - 1));
  }
}

Value AttentionEmitter::ifTerm(int64_t number, Value value, Value otherwise) {
  Value isInside = isTerm[size_t(number)];
  return isInside ? at.select(isInside, value, otherwise) : value;
}

/// `tile` without a positive factor that is the same everywhere, by which maxima and minima can be
/// multiplied instead: rounding keeps order.
static Value withoutFactor(Value tile, TypedAttr &factor) {
  auto product = tile.getDefiningOp<arith::MulFOp>();
  if (!product)
    return tile;
  for (unsigned side : {0, 1}) {
    auto full = product->getOperand(side).getDefiningOp<tile::FullOp>();
    FloatAttr number;
    if (full && matchPattern(full.getValue(), m_Constant(&number)) &&
        number.getValue().isFiniteNonZero() && !number.getValue().isNegative()) {
      factor = number;
      return product->getOperand(1 - side);
    }
  }
  return tile;
}

/// The reduction of `carried * f + sum` that a loop carries on, if nothing else uses any of it.
static tile::ReduceOp addedSum(tile::ForOp loop, unsigned number) {
  auto add =
      loop.getBody().front().getTerminator()->getOperand(number).getDefiningOp<arith::AddFOp>();
  Value carried = loop.getCarried()[number];
  if (!add || !add.getResult().hasOneUse() || !carried.hasOneUse())
    return nullptr;
  for (unsigned side : {0, 1}) {
    Value sum = add->getOperand(side);
    while (auto reshape = sum.getDefiningOp<tile::ReshapeOp>())
      sum = sum.hasOneUse() ? reshape.getOperand() : Value();
    auto reduce = sum ? sum.getDefiningOp<tile::ReduceOp>() : nullptr;
    auto product = add->getOperand(1 - side).getDefiningOp<arith::MulFOp>();
    if (reduce && product && sum.hasOneUse() && product.getResult().hasOneUse() &&
        reduce.getKind() == tile::ReduceKind::Sum &&
        llvm::is_contained(product->getOperands(), carried))
      return reduce;
  }
  return nullptr;
}

static bool isUsedOnce(tile::ForOp loop, unsigned result) {
  return loop.getResult(result).hasOneUse();
}

void AttentionEmitter::findPartialRows() {
  tile::ForOp first = attention.parts[0].loop;
  for (unsigned number = 0; first && number < first.getNumResults(); ++number) {
    auto full = first.getInitial()[number].getDefiningOp<tile::FullOp>();
    bool isPartial = full && matchPattern(full.getValue(), m_AnyZeroFloat());
    SmallVector<Operation *> sums;
    for (size_t part = 0; part <= attention.firstRuns && isPartial; ++part) {
      tile::ReduceOp sum = addedSum(attention.parts[part].loop, number);
      isPartial = sum && (part == 0 || isUsedOnce(attention.parts[part - 1].loop, number));
      sums.push_back(sum);
    }
    if (!isPartial)
      continue;
    partialRows.insert(number);
    partialSums.insert(sums.begin(), sums.end());
  }
}

void AttentionEmitter::reduce(tile::ReduceOp op) {
  tile::ReduceKind kind = op.getKind();
  Value tile = op.getOperand();
  TypedAttr factor;
  if (kind != tile::ReduceKind::Sum)
    tile = withoutFactor(tile, factor);
  Value identity = reduceIdentity(b, loc, kind, b.getF32Type());
  // Loops hide them behind products, and have no registers to spare.
  size_t chains = plan.hasLoaders ? 1 : 4;
  Value results[2];
  for (int64_t row : {0, 1}) {
    if (!hasRow(row)) {
      results[row] = results[0];
      continue;
    }
    SmallVector<Value> values;
    for (int64_t number = 0; number < terms / 2; ++number)
      if (SumsFragment::isOfSecondRow(number) == (row == 1))
        values.push_back(
            ifTerm(number, evaluate(tile, {fragment.row(0, number), termColumns[size_t(number)]}),
                   identity));
    results[row] = combinedInChains(b, loc, kind, values, chains);
  }
  for (int64_t row : {0, 1})
    if (!partialSums.contains(op))
      results[row] = hasRow(row) ? combineLanes(b, loc, kind, results[row]) : results[0];
  for (int64_t row : {0, 1}) {
    if (factor)
      results[row] =
          arith::MulFOp::create(b, loc, results[row], arith::ConstantOp::create(b, loc, factor));
    if (hasRow(row))
      e.setElement(op.getResult(), rowPoint(op.getResult(), 2 * row), results[row]);
  }
}

/// Those at the kernel's top level before `end`, or all.
void AttentionEmitter::reduceBefore(Operation *end) {
  Block &top = e.kernel.getBody().front();
  for (; reduced != top.end() && &*reduced != end; ++reduced)
    if (auto op = dyn_cast<tile::ReduceOp>(*reduced))
      reduce(op);
}

/// What the weights read beside scores, while these are not there yet.
void AttentionEmitter::readMasks(const AttentionPart &part) {
  if (!plan.readsMasksAhead)
    return;
  tile::DotOp output = part.output;
  SmallVector<tile::LoadOp, 2> loads = maskLoads(part);
  for (int64_t number = 0; number < terms / 2 && !loads.empty(); ++number)
    if (hasRow(SumsFragment::isOfSecondRow(number)))
      hasFailed |= failed(e.readAhead(
          output.getA(), {fragment.row(0, number), termColumns[size_t(number)]}, loads));
}

/// The second product's left operand in pairs, and what the loop carries but its sums.
void AttentionEmitter::weigh(const AttentionPart &part, Value scores, State &state) {
  tile::ForOp loop = part.loop;
  if (loop)
    setRows(part, loop.getCarried(), state.rows);
  tile::DotOp product = part.scores, output = part.output;
  for (int64_t number = 0; number < terms / 2; ++number)
    if (Value score = at.sum(scores, number, scoreSums);
        hasRow(SumsFragment::isOfSecondRow(number)))
      e.setElement(product.getResult(), {fragment.row(0, number), termColumns[size_t(number)]},
                   score);
  if (!loop)
    reduceBefore(output);
  else
    for (auto op : loop.getBody().front().getOps<tile::ReduceOp>())
      reduce(op);
  Value left = output.getA();
  auto weight = [&](int64_t number) -> Value {
    Value value = evaluate(left, {fragment.row(0, number), termColumns[size_t(number)]});
    value = ifTerm(number, value, e.constant(value.getType(), 0));
    // Those of a row that is not looked at are in registers of their own nevertheless, as products
    // want them: a constant would be written there between products, which serializes them.
    return hasRow(SumsFragment::isOfSecondRow(number))
               ? value
               : at.select(fragment.hasRow(0, number - 2), value, e.constant(value.getType(), 0));
  };
  state.weights.clear();
  for (int64_t number = 0; number < terms / 2; number += 2) {
    Value low = weight(number), high = weight(number + 1);
    state.weights.push_back(at.packed(low, high));
  }
  if (loop)
    evaluateRows(part, loop.getBody().front().getTerminator()->getOperands(), state);
}

/// What the sums become before this trip's products are added: to be done after `weigh`, in its
/// scope.
void AttentionEmitter::scaleSums(const AttentionPart &part, Value sumsBefore, State &state) {
  tile::DotOp output = part.output;
  if (!hasRow(1)) {
    // What becomes of the row that is not looked at is of no interest, but that it is computed as
    // the other one is: ptxas serializes products of which some sums are used and others are not.
    Emitter::Scope scope(e);
    setSums(sumsBefore, state.sums, /*row=*/1);
    evaluateSums(output.getAcc(), state.sums, /*row=*/1);
  }
  setSums(sumsBefore, state.sums);
  evaluateSums(output.getAcc(), state.sums);
}

void AttentionEmitter::evaluateSums(Value tile, MutableArrayRef<Value> sums,
                                    std::optional<int64_t> row) {
  for (auto [i, sum] : llvm::enumerate(sums))
    if (auto number = int64_t(i); isOfRow(number, row))
      sum = evaluate(tile, {fragment.row(0, number), fragment.column(number)});
}

} // namespace tw::target::nvidia
