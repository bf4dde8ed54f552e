// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Analysis/ConstantElements.h"
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Math/Math.h"
#include "Target/CPU/Plan/Analysis/Expressions.h"
#include "Target/CPU/Plan/Analysis/Folding.h"
#include "Target/Common/Operations/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Where lanes are: a coordinate along each dimension, which grows by `step` along `lane`.
struct Lanes {
  SmallVector<int64_t> at;
  int lane = -1;
  int64_t step = 1;
};

/// Emits the elements into a block that nobody else sees.
class Evaluation {
public:
  Evaluation(Location loc, const KnownScalars &scalars, const CpuFeatures &cpu, unsigned lanes)
      : b(loc.getContext()), loc(loc), scalars(scalars), cpu(cpu), lanes(lanes) {
    b.setInsertionPointToStart(&block);
  }

  /// Null where it is not known.
  Value evaluate(Value tile, const Lanes &where) {
    std::vector<int64_t> key = {reinterpret_cast<intptr_t>(tile.getAsOpaquePointer()), where.lane,
                                where.step};
    key.insert(key.end(), where.at.begin(), where.at.end());
    auto found = evaluated.find(key);
    return found != evaluated.end() ? found->second : evaluated[key] = compute(tile, where);
  }

  /// What the lanes of an emitted value are, where they are all known.
  std::optional<SmallVector<int64_t>> numbers(Value value) {
    OpFoldResult known = folding.folded(value);
    if (auto attribute = dyn_cast<Attribute>(known)) {
      if (auto number = dyn_cast<IntegerAttr>(attribute); number && number.getType().isInteger(64))
        return SmallVector<int64_t>(lanes, number.getInt());
      auto elements = dyn_cast<DenseIntElementsAttr>(attribute);
      if (!elements || !elements.getElementType().isInteger(64))
        return std::nullopt;
      return llvm::to_vector(elements.getValues<int64_t>());
    }
    Value other = cast<Value>(known);
    APInt number;
    if (Value same = splatted(other))
      return same.getType().isInteger(64) && matchPattern(same, m_ConstantInt(&number))
                 ? std::optional(SmallVector<int64_t>(lanes, number.getSExtValue()))
                 : std::nullopt;
    Operation *op = other.getDefiningOp();
    if (!getElementTypeOrSelf(other.getType()).isInteger(64) || !isa<VectorType>(other.getType()) ||
        !isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return std::nullopt;
    auto x = numbers(op->getOperand(0)), y = numbers(op->getOperand(1));
    if (!x || !y)
      return std::nullopt;
    for (auto [own, factor] : llvm::zip(*x, *y)) {
      uint64_t a = uint64_t(own), c = uint64_t(factor);
      own = int64_t(isa<arith::AddIOp>(op) ? a + c : isa<arith::SubIOp>(op) ? a - c : a * c);
    }
    return x;
  }

private:
  Value compute(Value tile, const Lanes &where) {
    Operation *op = tile.getDefiningOp();
    if (!op)
      return {};
    if (auto full = dyn_cast<tile::FullOp>(op))
      return scalar(full.getValue());
    if (auto iota = dyn_cast<tile::IotaOp>(op))
      return counted(iota, where);
    if (movesElements(op)) {
      auto source = sourceOf(op, where);
      return source ? evaluate(op->getOperand(0), *source) : Value();
    }
    return tile::isElementwise(op) && isFoldable(op) ? elementwise(op, where) : Value();
  }

  /// Functions that are made of several operations are not looked through.
  static bool isFoldable(Operation *op) {
    return !isa<math::MathDialect>(op->getDialect()) ||
           isa<math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp, math::TruncOp,
               math::AbsFOp, math::AbsIOp, math::FmaOp>(op);
  }

  Value scalar(Value value) {
    auto attribute = dyn_cast_if_present<TypedAttr>(scalars.known(value));
    if (attribute && attribute.getType().isIndex())
      attribute = b.getI64IntegerAttr(cast<IntegerAttr>(attribute).getInt());
    return attribute ? Value(arith::ConstantOp::create(b, loc, attribute)) : Value();
  }

  Value counted(tile::IotaOp op, const Lanes &where) {
    auto start = scalars.constant(op.getStart());
    if (!start)
      return {};
    Type element = scalarType(op.getType().getElementType());
    APInt first(64, uint64_t(*start + where.at[op.getDim()]));
    first = first.trunc(element.getIntOrFloatBitWidth());
    if (int(op.getDim()) != where.lane || lanes == 1)
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, first));
    SmallVector<APInt> all;
    for (unsigned lane = 0; lane < lanes; ++lane)
      all.push_back(first + APInt(64, uint64_t(lane * where.step)).trunc(first.getBitWidth()));
    auto type = VectorType::get(int64_t(lanes), element);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(all)));
  }

  Value elementwise(Operation *op, const Lanes &where) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      bool isTile = isa<RankedTensorType>(operand.getType());
      operands.push_back(isTile ? evaluate(operand, where) : scalar(operand));
      if (!operands.back())
        return {};
    }
    auto polynomial = [&](StringRef name, ValueRange x) { return emitMath(b, loc, name, x, cpu); };
    auto libm = [](StringRef, ValueRange) { return Value(); };
    return emitElementwise(b, loc, op, operands, {polynomial, libm, imports});
  }

  static std::optional<Lanes> sourceOf(Operation *op, const Lanes &where) {
    auto lane = sourceLane(op, where.lane);
    if (!lane)
      return std::nullopt;
    return llvm::TypeSwitch<Operation *, std::optional<Lanes>>(op)
        .Case([&](tile::BroadcastOp o) {
          Lanes source{where.at, *lane, where.step};
          for (auto [at, extent] : llvm::zip(source.at, extentsOf(o.getOperand())))
            if (extent == Size(1))
              at = 0;
          return source;
        })
        .Case([&](tile::ReshapeOp o) { return reshaped(o, where, *lane); })
        .Case([&](tile::TransposeOp o) {
          Lanes source{SmallVector<int64_t>(where.at.size(), 0), *lane, where.step};
          for (auto [d, from] : llvm::enumerate(o.getPermutation()))
            source.at[from] = where.at[d];
          return source;
        })
        .Case([&](tile::SliceOp o) {
          Lanes source{{}, *lane, where.step};
          for (auto [d, at] : llvm::enumerate(where.at))
            source.at.push_back(o.getOffsets()[d] + at * o.getStrides()[d]);
          if (*lane >= 0)
            source.step *= o.getStrides()[*lane];
          return source;
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  static std::optional<Lanes> reshaped(tile::ReshapeOp op, const Lanes &where, int lane) {
    std::vector<Size> from = extentsOf(op.getOperand()), to = extentsOf(op.getResult());
    Lanes source{SmallVector<int64_t>(from.size(), 0), lane, where.step};
    if (auto units = unitReshape(op)) {
      for (auto [f, t] : llvm::zip(units->from, units->to))
        source.at[f] = where.at[t];
      return source;
    }
    int64_t number = 0;
    for (auto [extent, at] : llvm::zip(to, where.at)) {
      if (!extent.constant())
        return std::nullopt;
      number = number * *extent.constant() + at;
    }
    for (int64_t d = int64_t(from.size()) - 1; d >= 0; --d) {
      auto extent = from[d].constant();
      if (!extent || *extent < 1)
        return std::nullopt;
      source.at[d] = number % *extent;
      number /= *extent;
    }
    return source;
  }

  Block block;
  OpBuilder b;
  Location loc;
  const KnownScalars &scalars;
  const CpuFeatures &cpu;
  unsigned lanes;
  std::set<std::string> imports;
  std::map<std::vector<int64_t>, Value> evaluated; // by tile and where
  Folding folding;
};

} // namespace

std::optional<SmallVector<int64_t>> ConstantElements::numbers(Value tile, ArrayRef<int64_t> at,
                                                              int lane, unsigned lanes) const {
  Evaluation evaluation(loc, scalars, cpu, lanes);
  Value value = evaluation.evaluate(tile, {llvm::to_vector(at), lane, 1});
  return value ? evaluation.numbers(value) : std::nullopt;
}

std::optional<int64_t> ConstantElements::first(Value tile) const {
  SmallVector<int64_t> at(cast<RankedTensorType>(tile.getType()).getRank(), 0);
  auto number = numbers(tile, at, -1, 1);
  return number ? std::optional(number->front()) : std::nullopt;
}

} // namespace tw::target::cpu
