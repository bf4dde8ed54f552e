// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Describe.h"
#include "Kernels/Body.h"
#include "Kernels/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::kernels {
namespace {

/// How a reduction's body ends, and what changes nothing in it.
struct Combiner {
  const char *operation, *reduction;
  std::variant<bool, int64_t, double> neutral;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

const Combiner combiners[] = {
    {"arith.addf", "sum", 0.0},
    {"arith.addi", "sum", int64_t(0)},
    {"arith.mulf", "prod", 1.0},
    {"arith.muli", "prod", int64_t(1)},
    {"arith.maximumf", "max", -infinity},
    {"arith.minimumf", "min", infinity},
    {"arith.maxsi", "max", int64_t(INT64_MIN)},
    {"arith.minsi", "min", int64_t(INT64_MAX)},
    {"arith.ori", "any", false},
    {"arith.andi", "all", true},
};

class Describer {
public:
  Describer(func::FuncOp dispatch, bool keepsAxes) : dispatch(dispatch), keepsAxes(keepsAxes) {}

  FailureOr<Description> run(std::string &why) {
    if (failed(nests.read(dispatch)))
      return why = nests.why, failure();
    joined.emplace(nests, keepsAxes);
    auto outs = cast<func::ReturnOp>(dispatch.getBody().front().getTerminator()).getOperands();
    for (auto [i, value] : llvm::enumerate(outs)) {
      if (!nests.results.contains(value))
        return why = "it returns what no operation of it computes", failure();
      returned.insert(value);
    }
    for (OpLoops &nest : nests.ops)
      if (failed(addOp(nest)))
        return why = reason, failure();
    for (Value value : returned)
      store(value);
    Description description;
    for (PieceBuilder &piece : pieces)
      description.pieces.push_back(piece.take());
    return description;
  }

private:
  llvm::LogicalResult fail(const Twine &text) {
    reason = text.str();
    return failure();
  }

  static bool isReduction(linalg::LinalgOp op) { return op.getNumReductionLoops() > 0; }

  LogicalResult addOp(OpLoops &nest) {
    for (size_t loop = 0; loop < nest.loops.size(); ++loop)
      for (size_t other = 0; other < loop; ++other)
        for (int atom : nests.table.atoms({nest.loops[loop]}))
          if (llvm::is_contained(nests.table.atoms({nest.loops[other]}), atom))
            return fail("an operation walks over a value along two dimensions at once");
    if (std::optional<ContractionParts> parts = matchContraction(nest.op)) {
      LogicalResult result = addContraction(nest, *parts);
      if (succeeded(result) || !isReduction(nest.op))
        return result;
      return failure();
    }
    return addLoops(nest);
  }

  //===--- loop programs ------------------------------------------------------===//

  struct Known {
    int piece, step; // step -1: in memory
  };

  /// The first loop program that may read what the operation reads.
  PieceBuilder &pieceFor(OpLoops &nest) {
    int least = 0;
    for (auto &operand : nest.operands)
      if (operand)
        if (auto it = values.find(operand->root); it != values.end())
          least = std::max(least, it->second.piece + (it->second.step < 0 ? 1 : 0));
    if (pieces.empty() || int(pieces.size()) <= least || pieces.back().isContraction())
      pieces.emplace_back(*joined, nests);
    return pieces.back();
  }

  LogicalResult addLoops(OpLoops &nest) {
    PieceBuilder &piece = pieceFor(nest);
    int number = int(&piece - pieces.data());
    piece.locations.push_back(nest.op.getLoc());
    BodyReader body(piece, nest, nests, *joined);
    Block *block = nest.op.getBlock();
    unsigned inputs = nest.op.getNumDpsInputs();
    auto accumulated = [&](BlockArgument argument) {
      return argument.getArgNumber() >= inputs && isReduction(nest.op);
    };
    for (auto [operand, argument] : llvm::zip(nest.op->getOpOperands(), block->getArguments())) {
      if (argument.use_empty() || accumulated(argument))
        continue;
      FailureOr<int> step = read(piece, number, nest, operand, body);
      if (failed(step))
        return failure();
      body.map(argument, *step);
    }
    auto yield = block->getTerminator();
    for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
      FailureOr<int> step =
          isReduction(nest.op) ? reduce(piece, number, nest, body, i, value) : body.read(value);
      if (failed(step))
        return fail(body.why.empty() ? reason : body.why);
      values[nest.op->getResult(i)] = {number, *step};
    }
    return success();
  }

  /// The elements of an operand.
  FailureOr<int> read(PieceBuilder &piece, int number, OpLoops &nest, OpOperand &operand,
                      BodyReader &body) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      return body.read(operand.get());
    if (Value scalar = filledWith(operand.get()))
      return body.read(scalar);
    auto &walk = nest.operands[operand.getOperandNumber()];
    if (!walk)
      return fail("an uninitialised tensor is read");
    auto known = values.find(walk->root);
    if (known != values.end() && known->second.piece == number && known->second.step >= 0)
      return known->second.step;
    auto dtype = dtypeOf(walk->root.getType());
    if (!dtype)
      return fail("its dtype has no kernel");
    Step load{Step::Kind::Load, *dtype};
    if (known != values.end())
      load.access = piece.accessOfValue(walk->root, store(walk->root), *dtype);
    else if (auto access = piece.accessOfArgument(*walk, *dtype))
      load.access = *access;
    else
      return fail("one dimension of a tensor is read along several");
    return piece.add(std::move(load));
  }

  FailureOr<int> reduce(PieceBuilder &piece, int number, OpLoops &nest, BodyReader &body,
                        unsigned result, Value yielded) {
    Operation *last = yielded.getDefiningOp();
    BlockArgument sum = nest.op.getBlock()->getArgument(nest.op.getNumDpsInputs() + result);
    const Combiner *row = nullptr;
    if (last && last->getNumOperands() == 2 && sum.hasOneUse() && *sum.user_begin() == last)
      row = llvm::find_if(combiners, [&](const Combiner &c) {
        return last->getName().getStringRef() == c.operation;
      });
    bool isBool = yielded.getType().isInteger(1);
    if (!row || row == std::end(combiners) || isBool != std::holds_alternative<bool>(row->neutral))
      return fail("a reduction's body is no sum, product, maximum, minimum, any or all");
    FailureOr<int> element = body.read(last->getOperand(last->getOperand(0) == sum ? 1 : 0));
    auto dtype = dtypeOf(yielded.getType());
    if (failed(element) || !dtype)
      return failure();
    Step step{Step::Kind::Reduce, *dtype, {*element}, row->reduction};
    std::vector<int> reduced;
    for (auto [loop, kind] : llvm::zip(nest.loops, nest.op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        reduced.push_back(loop);
    step.dims = joined->of(nests.table.atoms(reduced));
    int total = step.dims.empty() ? *element : piece.add(std::move(step));
    OpOperand &init = *nest.op.getDpsInitOperand(result);
    if (Value scalar = filledWith(init.get()); scalar && isNeutral(scalar, *row))
      return total;
    FailureOr<int> start = read(piece, number, nest, init, body);
    if (failed(start))
      return failure();
    return piece.add({Step::Kind::Apply, *dtype, {*start, total}, row->operation});
  }

  static bool isNeutral(Value scalar, const Combiner &row) {
    auto constant = scalar.getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return false;
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return number.getValueAsDouble() == std::get<double>(row.neutral);
    APInt number = cast<IntegerAttr>(constant.getValue()).getValue();
    if (auto *flag = std::get_if<bool>(&row.neutral))
      return number.isOne() == *flag;
    int64_t neutral = std::get<int64_t>(row.neutral);
    return neutral == INT64_MIN   ? number.isMinSignedValue()
           : neutral == INT64_MAX ? number.isMaxSignedValue()
                                  : number.getSExtValue() == neutral;
  }

  /// Makes a value one that is in memory, and gives its number.
  int store(Value value) {
    auto [it, isNew] = stored.try_emplace(value, int(stored.size()));
    Known &known = values[value];
    if (!isNew || known.step < 0)
      return it->second;
    PieceBuilder &piece = pieces[known.piece];
    auto dtype = *dtypeOf(value.getType());
    Step step{Step::Kind::Store, dtype, {known.step}};
    step.access = piece.accessOfValue(value, it->second, dtype, true, destination(value));
    piece.add(std::move(step));
    return it->second;
  }

  /// The argument of the function that a returned value is written to; -1 for others.
  int destination(Value value) {
    auto outs = cast<func::ReturnOp>(dispatch.getBody().front().getTerminator()).getOperands();
    auto it = llvm::find(outs, value);
    if (it == outs.end())
      return -1;
    return int(dispatch.getNumArguments() - outs.size() + (it - outs.begin()));
  }

  //===--- contractions -------------------------------------------------------===//

  LogicalResult addContraction(OpLoops &nest, const ContractionParts &parts) {
    Value init = filledWith(nest.op.getDpsInits()[0]);
    if (!init || !isNeutral(init, *llvm::find_if(combiners, [&](const Combiner &c) {
                              return StringRef(c.operation) ==
                                     (parts.isFloat ? "arith.addf" : "arith.addi");
                            })))
      return fail("a contraction adds to other values than 0");
    PieceBuilder piece(*joined, nests);
    Contraction spec;
    Value result = nest.op->getResult(0);
    auto sum = dtypeOf(result.getType());
    Access *accesses[] = {&spec.a, &spec.b};
    for (auto [i, access] : llvm::enumerate(accesses)) {
      auto &walk = nest.operands[parts.operands[i]];
      if (!walk)
        return fail("an operand of a contraction is one value");
      auto dtype = dtypeOf(walk->root.getType());
      if (!dtype || !sum)
        return fail("its dtype has no kernel");
      std::optional<Access> found;
      if (values.contains(walk->root))
        found = piece.accessOfValue(walk->root, store(walk->root), *dtype);
      else
        found = piece.accessOfArgument(*walk, *dtype);
      if (!found)
        return fail("one dimension of a tensor is read along several");
      *access = *found;
    }
    int number = stored.try_emplace(result, int(stored.size())).first->second;
    spec.c = piece.accessOfValue(result, number, *sum, true, destination(result));
    spec.sum = *sum;
    // Columns are what lies side by side in c.
    if (!spec.c.axes.empty() && spec.a.covers(spec.c.axes.back().dim) &&
        !spec.b.covers(spec.c.axes.back().dim))
      std::swap(spec.a, spec.b);
    piece.locations.push_back(nest.op.getLoc());
    piece.setContraction(std::move(spec));
    if (std::string why = refuse(piece.contraction()); !why.empty())
      return fail("a contraction has no kernel: " + why);
    values[result] = {int(pieces.size()), -1};
    pieces.push_back(std::move(piece));
    return success();
  }

  func::FuncOp dispatch;
  bool keepsAxes;
  LoopNests nests;
  std::optional<JoinedDims> joined;
  std::vector<PieceBuilder> pieces;
  llvm::MapVector<Value, Known> values;
  llvm::MapVector<Value, int> stored; // in memory, by number
  llvm::SetVector<Value> returned;
  std::string reason;
};

} // namespace

FailureOr<Description> describe(func::FuncOp dispatch, bool keepsAxes, std::string &why) {
  return Describer(dispatch, keepsAxes).run(why);
}

} // namespace tw::kernels
