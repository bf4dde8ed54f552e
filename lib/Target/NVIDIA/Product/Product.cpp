// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Product.h"
#include "IR/Tile/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

constexpr int64_t rowsOfInstruction = 64, depthOfInstruction = 16;
constexpr int64_t mostRows = 256, mostColumns = 256, mostDepth = 256, mostOfChunk = 64;
constexpr int64_t mostOfDimension = int64_t(1) << 30;
constexpr int64_t mostDims = 5;

bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

class Matcher {
public:
  explicit Matcher(tile::KernelOp kernel) : kernel(kernel) {}

  ProductMatch run() {
    ProductMatch match;
    kernel.walk([&](tile::DotOp dot) {
      match.isWanted |= isHalf(cast<RankedTensorType>(dot.getA().getType()).getElementType());
    });
    if (findLoop() && findDot() && findOperands() && findStores() && checkLoads())
      match.product = std::move(product);
    match.why = std::move(why);
    return match;
  }

private:
  bool no(const Twine &reason) {
    why = reason.str();
    return false;
  }

  /// The top level has one loop; beside it, scalars and tiles whose elements are computed one by
  /// one.
  bool findLoop() {
    for (Operation &op : kernel.getBody().front()) {
      if (auto loop = dyn_cast<tile::ForOp>(op)) {
        if (product.loop)
          return no("it has several loops");
        product.loop = loop;
        continue;
      }
      bool isPure = Emitter::isScalar(&op) || tile::isElementwise(&op) ||
                    isa<tile::LoadOp, tile::GatherOp, tile::FullOp, tile::IotaOp, tile::BroadcastOp,
                        tile::ReshapeOp, tile::TransposeOp, tile::SliceOp, tile::StoreOp>(op);
      if (!isPure && !op.hasTrait<OpTrait::IsTerminator>())
        return no("it has " + op.getName().getStringRef() + " beside its loop");
    }
    if (!product.loop)
      return no("it has no loop");
    return product.loop.getNumResults() == 1 || no("its loop carries several values");
  }

  bool findDot() {
    tile::ForOp loop = product.loop;
    Block &body = loop.getBody().front();
    for (Operation &op : body) {
      if (auto dot = dyn_cast<tile::DotOp>(op)) {
        if (product.dot)
          return no("its loop has several dots");
        product.dot = dot;
      } else if (!Emitter::isScalar(&op) &&
                 !isa<tile::LoadOp, tile::ReshapeOp, tile::TransposeOp>(op) &&
                 !op.hasTrait<OpTrait::IsTerminator>()) {
        return no("its loop has " + op.getName().getStringRef());
      }
    }
    tile::DotOp dot = product.dot;
    if (!dot || dot.getAcc() != loop.getCarried()[0] ||
        body.getTerminator()->getOperand(0) != dot.getResult() ||
        !loop.getCarried()[0].hasOneUse() || !dot.getResult().hasOneUse())
      return no("its loop does not sum up one dot");
    auto sums = cast<RankedTensorType>(dot.getType());
    product.element = cast<RankedTensorType>(dot.getA().getType()).getElementType();
    if (!isHalf(product.element) ||
        cast<RankedTensorType>(dot.getB().getType()).getElementType() != product.element ||
        !sums.getElementType().isF32())
      return no("it is no dot of f16 or bf16 that is summed in f32");
    if (sums.getRank() != 2 || !sums.hasStaticShape())
      return no("its block is no matrix of known size");
    product.rows = sums.getDimSize(0);
    product.columns = sums.getDimSize(1);
    if (product.rows % rowsOfInstruction != 0 || product.rows > mostRows ||
        product.columns % 8 != 0 || product.columns > mostColumns)
      return no("its block has " + Twine(product.rows) + " x " + Twine(product.columns) +
                " elements: rows are multiples of 64, columns of 8, both to 256");
    auto full = loop.getInitial()[0].getDefiningOp<tile::FullOp>();
    if (!full || !matchPattern(full.getValue(), m_AnyZeroFloat()))
      return no("its sums do not begin at 0");
    return findTrips();
  }

  bool findTrips() {
    tile::ForOp loop = product.loop;
    llvm::APInt begin, end, step;
    if (!matchPattern(loop.getBegin(), m_ConstantInt(&begin)) ||
        !matchPattern(loop.getEnd(), m_ConstantInt(&end)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)))
      return no("how often its loop runs is known only at the call");
    int64_t by = step.getSExtValue(), length = end.getSExtValue() - begin.getSExtValue();
    if (by <= 0 || length <= 0 || length > mostOfDimension)
      return no("its loop does not run");
    product.trips = (length + by - 1) / by;
    return true;
  }

  bool findOperands() {
    return findOperand(product.dot.getA(), 0, product.a) &&
           findOperand(product.dot.getB(), 1, product.b);
  }

  /// Follows dimensions `dims` of `value` through shapes; a dimension of extent 1 does not matter.
  static bool throughReshape(tile::ReshapeOp op, std::array<unsigned, 2> &dims) {
    auto wide = [](Value value) {
      SmallVector<std::pair<unsigned, int64_t>> all;
      for (auto [d, extent] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
        if (extent != 1)
          all.push_back({unsigned(d), extent});
      return all;
    };
    auto from = wide(op.getOperand()), to = wide(op.getResult());
    if (from.size() != to.size())
      return false;
    for (auto [x, y] : llvm::zip(from, to))
      if (x.second != y.second || ShapedType::isDynamic(x.second))
        return false;
    for (unsigned &dim : dims)
      for (auto [x, y] : llvm::zip(from, to))
        if (y.first == dim) {
          dim = x.first;
          break;
        }
    return true;
  }

  bool findOperand(Value value, unsigned freeAxis, ProductOperand &operand) {
    std::array<unsigned, 2> dims = {freeAxis, 1 - freeAxis}; // free, sum
    while (!value.getDefiningOp<tile::LoadOp>()) {
      Operation *op = value.getDefiningOp();
      if (auto transpose = dyn_cast_or_null<tile::TransposeOp>(op)) {
        for (unsigned &dim : dims)
          dim = unsigned(transpose.getPermutation()[dim]);
      } else if (auto reshape = dyn_cast_or_null<tile::ReshapeOp>(op);
                 !reshape || !throughReshape(reshape, dims)) {
        return no("an operand is computed, not loaded");
      }
      value = op->getOperand(0);
    }
    operand.load = value.getDefiningOp<tile::LoadOp>();
    operand.freeDim = dims[0];
    operand.sumDim = dims[1];
    return checkLoad(operand);
  }

  bool checkLoad(ProductOperand &operand) {
    tile::LoadOp load = operand.load;
    auto type = cast<RankedTensorType>(load.getType());
    if (!type.hasStaticShape())
      return no("an operand's box is of unknown size");
    if (load.getMask() || llvm::any_of(load.getStrides(), [](int64_t s) { return s != 1; }) ||
        llvm::any_of(load.getPositions(),
                     [](Value at) { return isa<RankedTensorType>(at.getType()); }))
      return no("an operand is no plain box");
    if (load.getPad() && !matchPattern(load.getPad(), m_AnyZeroFloat()))
      return no("an operand is padded with something else than 0");
    operand.freeExtent = type.getDimSize(operand.freeDim);
    operand.sumExtent = type.getDimSize(operand.sumDim);
    if (operand.freeExtent * operand.sumExtent != type.getNumElements())
      return no("an operand is a box of more than two dimensions");
    auto last = unsigned(type.getRank() - 1);
    if (operand.freeDim != last && operand.sumDim != last)
      return no("an operand is not contiguous along a dimension of its matrix");
    operand.isSumInnermost = operand.sumDim == last;
    product.depth = operand.sumExtent;
    if (product.depth % depthOfInstruction != 0 || product.depth > mostDepth)
      return no("a trip multiplies " + Twine(product.depth) + " terms, no multiple of 16 to 256");
    int64_t inner = operand.isSumInnermost ? operand.sumExtent : operand.freeExtent;
    if (inner % mostOfChunk != 0 && inner != 32 && inner != 16 &&
        (operand.isSumInnermost || inner % 16 != 0))
      return no("rows of " + Twine(inner) + " elements have no layout in shared memory");
    return canUseTensorMap(kernel, load.getBuffer(), why);
  }

  /// What the sums get to: elementwise operations and reshapes around unit dimensions, then stores.
  bool findStores() {
    llvm::SmallSetVector<Value, 16> reached;
    reached.insert(product.loop.getResult(0));
    SmallVector<int64_t> block = {product.rows, product.columns};
    for (size_t i = 0; i < reached.size(); ++i)
      for (OpOperand &use : reached[i].getUses()) {
        Operation *user = use.getOwner();
        auto store = dyn_cast<tile::StoreOp>(user);
        if (store && use.getOperandNumber() == 0)
          continue;
        std::array<unsigned, 2> none = {0, 0};
        auto reshape = dyn_cast<tile::ReshapeOp>(user);
        if (!tile::isElementwise(user) && !(reshape && throughReshape(reshape, none)))
          return no("its sums get to " + user->getName().getStringRef());
        reached.insert(user->getResult(0));
      }
    for (auto store : kernel.getBody().front().getOps<tile::StoreOp>()) {
      auto type = cast<RankedTensorType>(store.getTile().getType());
      if (!reached.contains(store.getTile()))
        return no("it stores what does not depend on its sums");
      ProductStore found{store, 0, 0};
      SmallVector<unsigned> wide;
      for (auto [d, extent] : llvm::enumerate(type.getShape()))
        if (extent != 1)
          wide.push_back(unsigned(d));
      if (wide.size() != 2)
        return no("it stores no matrix");
      found.rowDim = wide[0];
      found.columnDim = wide[1];
      product.stores.push_back(found);
    }
    return !product.stores.empty() || no("it stores nothing");
  }

  /// No thread may read what another one has stored.
  bool checkLoads() {
    bool readsWritten = false;
    kernel.walk([&](Operation *op) {
      Value buffer;
      if (auto load = dyn_cast<tile::LoadOp>(op))
        buffer = load.getBuffer();
      else if (auto gather = dyn_cast<tile::GatherOp>(op))
        buffer = gather.getBuffer();
      readsWritten |= buffer && !isOnlyRead(buffer);
    });
    return !readsWritten || no("it reads a buffer that it writes");
  }

  bool isOnlyRead(Value buffer) {
    auto number = cast<BlockArgument>(buffer).getArgNumber();
    return kernel.getArgument(number).getAccess() == tile::Access::In;
  }

  tile::KernelOp kernel;
  Product product;
  std::string why;
};

} // namespace

bool canUseTensorMap(tile::KernelOp, Value buffer, std::string &why) {
  auto type = cast<tile::BufferType>(buffer.getType());
  std::vector<Size> sizes = tile::sizesOf(type);
  if (sizes.empty() || int64_t(sizes.size()) > mostDims) {
    why = "a buffer has no dimension, or more than five";
    return false;
  }
  int64_t bytes = type.getTileElementType().getIntOrFloatBitWidth() / 8;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> known = size.constant();
    if (known && (*known < 1 || *known > mostOfDimension)) {
      why = "a buffer has a dimension of " + std::to_string(*known) + " elements";
      return false;
    }
    // A row's length is the distance between rows.
    bool isRow = d + 1 == sizes.size() && sizes.size() > 1;
    if (isRow && (!known || *known * bytes % tmaAlignment != 0)) {
      why = known ? "rows of " + std::to_string(*known * bytes) +
                        " bytes are no multiples of the 16 that TMA wants"
                  : "rows are of a length known only at the call, which may be no multiple of the "
                    "16 bytes that TMA wants";
      return false;
    }
  }
  return true;
}

ProductMatch matchProduct(tile::KernelOp kernel) { return Matcher(kernel).run(); }

} // namespace tw::target::nvidia
