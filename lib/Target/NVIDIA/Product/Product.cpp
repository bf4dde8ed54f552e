// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Product.h"
#include "Target/Common/Index/ScalarValues.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Product/Emission/RowReduction.h"
#include "Target/NVIDIA/Product/ProductPlan.h"
#include "Target/NVIDIA/Product/TileRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

constexpr int64_t rowsOfInstruction = 64;
constexpr int64_t mostRows = 256, mostColumns = 256, mostDepth = 256;
constexpr int64_t mostOfDimension = int64_t(1) << 30;

Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

class Matcher {
public:
  explicit Matcher(tile::KernelOp kernel) : kernel(kernel) {}

  ProductMatch run() {
    ProductMatch match;
    kernel.walk(
        [&](tile::DotOp dot) { match.isWanted |= isHalf(elementOf(dot.getA())) || dot.getTf32(); });
    if (findTrip() && findDot() && findOperands() && findStores() && readsNoResult(kernel, why))
      match.product = std::move(product);
    match.why = std::move(why);
    return match;
  }

private:
  bool no(const Twine &reason) {
    why = reason.str();
    return false;
  }

  /// The top level has one loop, or one dot; beside it, scalars and tiles whose elements are
  /// computed one by one.
  bool findTrip() {
    for (Operation &op : kernel.getBody().front()) {
      if (isa<tile::ForOp, tile::DotOp>(op)) {
        if (product.loop || product.dot)
          return no("it has several loops or dots beside each other");
        product.loop = dyn_cast<tile::ForOp>(op);
        product.dot = dyn_cast<tile::DotOp>(op);
        continue;
      }
      auto reduce = dyn_cast<tile::ReduceOp>(op);
      if (!isOfSingleElements(&op) && !isa<tile::StoreOp>(op) &&
          !(reduce && isReductionOfSums(reduce)))
        return no("it has " + op.getName().getStringRef() + " beside its product");
    }
    if (!product.loop && !product.dot)
      return no("it has neither a loop nor a dot of its own");
    return !product.loop || product.loop.getNumResults() == 1 ||
           no("its loop carries several values");
  }

  /// Sums that begin at 0, in a loop or of one trip.
  bool findDot() {
    if (product.loop && !findDotOfLoop())
      return false;
    tile::DotOp dot = product.dot;
    tile::ForOp loop = product.loop;
    Value initial = loop ? loop.getInitial()[0] : dot.getAcc();
    auto full = initial.getDefiningOp<tile::FullOp>();
    if (!full || !matchPattern(full.getValue(), m_AnyZeroFloat()))
      return no("its sums do not begin at 0");
    product.trips = 1;
    return findBlock() && (!loop || findTrips());
  }

  bool findDotOfLoop() {
    tile::ForOp loop = product.loop;
    Block &body = loop.getBody().front();
    for (Operation &op : body) {
      if (auto dot = dyn_cast<tile::DotOp>(op)) {
        if (product.dot)
          return no("its loop has several dots");
        product.dot = dot;
      } else if (!isOfSingleElements(&op)) {
        return no("its loop has " + op.getName().getStringRef());
      }
    }
    tile::DotOp dot = product.dot;
    return (dot && dot.getAcc() == loop.getCarried()[0] &&
            body.getTerminator()->getOperand(0) == dot.getResult() &&
            loop.getCarried()[0].hasOneUse() && dot.getResult().hasOneUse()) ||
           no("its loop does not sum up one dot");
  }

  bool findBlock() {
    tile::DotOp dot = product.dot;
    auto sums = cast<RankedTensorType>(dot.getType());
    product.element = elementOf(dot.getA());
    bool isTF32 = product.element.isF32() && dot.getTf32();
    if ((!isHalf(product.element) && !isTF32) || elementOf(dot.getB()) != product.element ||
        !sums.getElementType().isF32())
      return no("it is no dot of f16, bf16 or tf32 that is summed in f32");
    if (sums.getRank() != 2 || !sums.hasStaticShape())
      return no("its block is no matrix of known size");
    product.tileRows = sums.getDimSize(0);
    product.rows = std::max(product.tileRows, rowsOfInstruction);
    product.columns = sums.getDimSize(1);
    if (product.tileRows < 2 || product.rows % rowsOfInstruction != 0 || product.rows > mostRows ||
        product.columns % 8 != 0 || product.columns > mostColumns)
      return no("its block has " + Twine(product.tileRows) + " x " + Twine(product.columns) +
                " elements: rows are 2 to 63 or multiples of 64, columns of 8, both to 256");
    return true;
  }

  /// The same number in all programs, or one that each of them, or the host, counts.
  bool findTrips() {
    tile::ForOp loop = product.loop;
    llvm::APInt step;
    if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() <= 0)
      return no("how its loop goes on is not known");
    product.trips = knownTrips(loop);
    if (product.trips)
      return (*product.trips > 0 && *product.trips <= mostOfDimension) ||
             no("its loop does not run");
    bool isSame = isKnownAtLaunch(loop.getBegin()) && isKnownAtLaunch(loop.getEnd());
    product.hasUnevenTrips = !isSame;
    if (isSame)
      product.conditions.loops.push_back({loop.getBegin(), loop.getEnd()});
    if (!isSame)
      findProgramTrips();
    return isSame || isSurelyBeyond(loop.getEnd(), loop.getBegin()) ||
           no("its loop may not run in all programs");
  }

  void findProgramTrips() {
    constexpr int64_t mostPrograms = 1 << 14;
    std::vector<int64_t> counts;
    int64_t all = 1;
    for (auto size : kernel.getGrid().getAsRange<tile::SizeAttr>()) {
      counts.push_back(size.getSize().constant().value_or(mostPrograms + 1));
      if (counts.back() > mostPrograms / std::max<int64_t>(all, 1))
        return;
      all *= counts.back();
    }
    for (int64_t program = 0; program < all; ++program) {
      auto number = [&](unsigned dim) -> std::optional<int64_t> {
        int64_t inner = 1;
        for (size_t d = dim + 1; d < counts.size(); ++d)
          inner *= counts[d];
        return program / inner % counts[dim];
      };
      std::optional<int64_t> trips = tripsInProgram(product.loop, number);
      if (!trips)
        return product.programTrips.clear();
      product.programTrips.push_back(*trips);
    }
  }

  bool findOperands() {
    Value left = product.dot.getA();
    if (!findOperand(left, 0, product.a, why)) {
      if (left.getDefiningOp<tile::LoadOp>() || !isHalf(product.element) ||
          !findComputedOperand(left, 0, product.a, why))
        return false;
      product.isLeftComputed = true;
      if (!product.a.isSumInnermost)
        return no("its left operand is computed, and has the result's dimension innermost");
    }
    return findOperand(product.dot.getB(), 1, product.b, why) && checkOperand(product.a, true) &&
           checkOperand(product.b, false);
  }

  bool checkOperand(const ProductOperand &operand, bool isLeft) {
    product.depth = operand.sumExtent;
    tile::LoadOp load = operand.load;
    Type element = elementOf(load.getResult());
    int64_t bytes = element.getIntOrFloatBitWidth() / 8, least = instructionBytes / bytes;
    int64_t instruction = instructionBytes * 8 / product.element.getIntOrFloatBitWidth();
    if (product.depth % instruction != 0 || product.depth > mostDepth)
      return no("a trip multiplies " + Twine(product.depth) + " terms, no multiple of " +
                Twine(instruction) + " to 256");
    if (product.element.isF32() && !operand.isSumInnermost)
      return no("tf32 wants the sum's dimension innermost, and in its " +
                Twine(isLeft ? "left" : "right") + " operand the result's is");
    int64_t free = isLeft ? product.rows : operand.freeExtent;
    int64_t inner = operand.isSumInnermost ? operand.sumExtent : free;
    bool isRow = inner * bytes % mostRowBytes == 0 || inner == 2 * least || inner == least;
    if (!isRow && (operand.isSumInnermost || inner % least != 0))
      return no("rows of " + Twine(inner) + " elements have no layout in shared memory");
    if (operand.needsAlignedRows)
      product.conditions.addAlignedRows(load.getBuffer());
    return true;
  }

  /// What the sums get to: elementwise operations, shapes and reductions of rows, then stores.
  bool findStores() {
    TileRoles roles;
    roles.set(product.sums(), {Along::Rows, Along::Columns});
    for (Operation &op : kernel.getBody().front())
      if (!roles.follow(&op, why))
        return false;
    for (auto reduce : kernel.getBody().front().getOps<tile::ReduceOp>()) {
      if (!roles.of(reduce.getOperand()))
        return no("it reduces something else than its sums");
      product.reductions.push_back(reduce);
    }
    return roles.findStores(kernel, product.stores, why);
  }

  tile::KernelOp kernel;
  Product product;
  std::string why;
};

} // namespace

Value Product::sums() const {
  return loop ? tile::ForOp(loop).getResult(0) : tile::DotOp(dot).getResult();
}

ProductMatch matchProduct(tile::KernelOp kernel) { return Matcher(kernel).run(); }

} // namespace tw::target::nvidia
