// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.attention as what it is defined by: a contraction, scale and masks, a softmax, a contraction.
// For what has no kernel of its own for it: the reference target, and the truth that compiled
// programs are checked against.
#include "Graph/Passes.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include <limits>

using namespace mlir;

namespace tw {
namespace {

using Dims = SmallVector<unsigned>;
using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

class Expander {
public:
  explicit Expander(graph::AttentionOp op) : op(op), b(op), loc(op.getLoc()), sums(op.sumType()) {}

  void run() {
    unsigned l = op.queryDim(), s = op.keyDim(), f = op.widthDim();
    Walked query = operand(op.getQueryMutable()), key = operand(op.getKeyMutable()),
           value = operand(op.getValueMutable());
    Walked scores = masked(contract(query, key, batchAnd({l, s})));
    Dims rows = batchAnd({l});
    Walked most =
        reduced<arith::MaximumFOp>(scores, rows, -std::numeric_limits<double>::infinity());
    Walked exps = pointwise({scores, most}, batchAnd({l, s}), exponential);
    Walked sum = reduced<arith::AddFOp>(exps, rows, 0);
    Walked weights = pointwise({exps, sum, most}, batchAnd({l, s}), weight);
    replace(0, contract(weights, value, batchAnd({l, f})));
    if (op.getNumResults() > 1)
      replace(1, pointwise({sum, most}, rows, logarithm));
    op.erase();
  }

private:
  /// A tensor, and along which dimensions of the operation its axes run.
  struct Walked {
    Value tensor;
    AffineMap map;
  };

  Dims batchAnd(ArrayRef<unsigned> last) {
    Dims dims = llvm::to_vector(llvm::seq(op.batchDims()));
    llvm::append_range(dims, last);
    return dims;
  }
  Walked operand(OpOperand &of) { return {of.get(), op.mapOf(of)}; }

  AffineMap mapAlong(const Dims &dims) {
    return AffineMap::getMultiDimMapWithTargets(op.resultMap(0).getNumDims(), dims, b.getContext());
  }

  Value empty(const Dims &dims, Type element) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned dim : dims) {
      auto [operand, axis] = op.axisAlong(dim);
      sizes.push_back(tensor::getMixedSize(b, loc, operand->get(), axis));
    }
    return tensor::EmptyOp::create(b, loc, sizes, element);
  }

  /// One linalg.generic into `init`; it reduces the dimensions that `out` lacks.
  Value generic(ArrayRef<Walked> inputs, AffineMap out, Value init, Body body) {
    unsigned count = out.getNumDims();
    llvm::SmallBitVector isUnused(count, true);
    SmallVector<AffineMap> maps;
    SmallVector<Value> tensors;
    for (const Walked &input : inputs) {
      maps.push_back(input.map);
      tensors.push_back(input.tensor);
    }
    maps.push_back(out);
    SmallVector<utils::IteratorType> iterators;
    for (unsigned dim = 0; dim < count; ++dim) {
      if (llvm::none_of(maps, [&](AffineMap map) { return map.isFunctionOfDim(dim); }))
        continue;
      isUnused.reset(dim);
      iterators.push_back(out.isFunctionOfDim(dim) ? utils::IteratorType::parallel
                                                   : utils::IteratorType::reduction);
    }
    for (AffineMap &map : maps)
      map = projectDims(map, isUnused, /*compressDimsFlag=*/true);
    auto made =
        linalg::GenericOp::create(b, loc, init.getType(), tensors, init, maps, iterators,
                                  [&](OpBuilder &builder, Location at, ValueRange args) {
                                    linalg::YieldOp::create(builder, at, body(builder, at, args));
                                  });
    return made.getResult(0);
  }

  Walked pointwise(ArrayRef<Walked> inputs, const Dims &dims, Body body) {
    AffineMap map = mapAlong(dims);
    return {generic(inputs, map, empty(dims, sums), body), map};
  }

  Value filled(const Dims &dims, double with) {
    Value scalar = arith::ConstantOp::create(b, loc, b.getFloatAttr(sums, with));
    return linalg::FillOp::create(b, loc, scalar, empty(dims, sums)).getResult(0);
  }

  template <typename Combine>
  Walked reduced(const Walked &of, const Dims &dims, double neutral) {
    AffineMap map = mapAlong(dims);
    return {generic({of}, map, filled(dims, neutral),
                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                      return Combine::create(b, loc, x[1], x[0]);
                    }),
            map};
  }

  Walked contract(const Walked &x, const Walked &y, const Dims &dims) {
    AffineMap map = mapAlong(dims);
    return {generic({x, y}, map, filled(dims, 0),
                    [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                      Value product = arith::MulFOp::create(b, loc, widened(b, loc, v[0]),
                                                            widened(b, loc, v[1]));
                      return arith::AddFOp::create(b, loc, v[2], product);
                    }),
            map};
  }

  Value widened(OpBuilder &at, Location loc, Value x) {
    return x.getType() == sums ? x : arith::ExtFOp::create(at, loc, sums, x).getResult();
  }

  /// To a float type of another width, or the same.
  static Value rounded(OpBuilder &b, Location loc, Value x, Type to) {
    unsigned from = x.getType().getIntOrFloatBitWidth(), bits = to.getIntOrFloatBitWidth();
    if (from == bits)
      return x;
    return from < bits ? arith::ExtFOp::create(b, loc, to, x).getResult()
                       : arith::TruncFOp::create(b, loc, to, x).getResult();
  }

  Value scaleInSums() {
    FloatAttr known;
    if (!matchPattern(op.getScale(), m_Constant(&known)))
      return rounded(b, loc, op.getScale(), sums);
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(sums, known.getValueAsDouble()));
  }

  /// Scaled, -inf where a query may not see a key.
  Walked masked(const Walked &scores) {
    Value scale = scaleInSums();
    SmallVector<Walked> inputs = {scores};
    if (op.getMask())
      inputs.push_back(operand(*op.getMaskMutable().begin()));
    unsigned l = op.queryDim(), s = op.keyDim();
    return pointwise(inputs, batchAnd({l, s}), [&](OpBuilder &b, Location loc, ValueRange x) {
      Value score = arith::MulFOp::create(b, loc, x[0], scale);
      Value hidden = arith::ConstantOp::create(
          b, loc, b.getFloatAttr(sums, -std::numeric_limits<double>::infinity()));
      if (op.getMask() && x[1].getType().isInteger())
        score = arith::SelectOp::create(b, loc, x[1], score, hidden);
      else if (op.getMask())
        score = arith::AddFOp::create(b, loc, score, rounded(b, loc, x[1], sums));
      if (!op.getCausal())
        return score;
      // The loops of the operation: the batch, queries, keys.
      Value query = linalg::IndexOp::create(b, loc, l), key = linalg::IndexOp::create(b, loc, s);
      Value isSeen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, key, query);
      return arith::SelectOp::create(b, loc, isSeen, score, hidden).getResult();
    });
  }

  static Value exponential(OpBuilder &b, Location loc, ValueRange x) {
    return math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, x[0], x[1]));
  }

  /// exps, sum, maximum: zero where the maximum says that all is hidden.
  static Value weight(OpBuilder &b, Location loc, ValueRange x) {
    auto type = x[0].getType();
    Value hidden = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type, -std::numeric_limits<double>::infinity()));
    Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 0));
    Value isEmpty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[2], hidden);
    return arith::SelectOp::create(b, loc, isEmpty, zero,
                                   arith::DivFOp::create(b, loc, x[0], x[1]));
  }

  static Value logarithm(OpBuilder &b, Location loc, ValueRange x) {
    return arith::AddFOp::create(b, loc, math::LogOp::create(b, loc, x[0]), x[1]);
  }

  /// Rounds into the destination of a result.
  void replace(unsigned number, const Walked &by) {
    Value out = op.getOuts()[number];
    Type element = cast<RankedTensorType>(out.getType()).getElementType();
    Value result =
        generic({by}, op.resultMap(number), out, [&](OpBuilder &b, Location loc, ValueRange x) {
          return rounded(b, loc, x[0], element);
        });
    op.getResult(number).replaceAllUsesWith(result);
  }

  graph::AttentionOp op;
  OpBuilder b;
  Location loc;
  FloatType sums;
};

struct ExpandAttention : PassWrapper<ExpandAttention, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandAttention)
  StringRef getArgument() const override { return "tw-expand-attention"; }
  StringRef getDescription() const override { return "Attention as contractions and a softmax"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect>();
  }

  void runOnOperation() override {
    SmallVector<graph::AttentionOp> all;
    getOperation()->walk([&](graph::AttentionOp op) { all.push_back(op); });
    for (graph::AttentionOp op : all)
      Expander(op).run();
  }
};

} // namespace

std::unique_ptr<Pass> createExpandAttention() { return std::make_unique<ExpandAttention>(); }

} // namespace tw
