// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Fusion/Pointwise.h"
#include "IR/Tile/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;

namespace tw::tile {

FailureOr<Pointwise> Pointwise::analyse(KernelOp kernel, std::string &why) {
  Pointwise result;
  result.kernel = kernel;
  auto fail = [&](const Twine &reason) -> FailureOr<Pointwise> {
    return why = reason.str(), failure();
  };
  llvm::SmallPtrSet<Value, 4> written;
  for (Operation &op : kernel.getBody().front()) {
    bool isKnown = isa<ProgramIdOp, SizeOp, LoadOp, GatherOp, FullOp, IotaOp, BroadcastOp,
                       ReshapeOp, TransposeOp, CheckOp, StoreOp, ExtractOp>(op) ||
                   isElementwise(&op) || op.hasTrait<OpTrait::ConstantLike>();
    if (!isKnown)
      return fail("it has " + op.getName().getStringRef());
    auto store = dyn_cast<StoreOp>(op);
    if (!store)
      continue;
    if (store.getUpdate() || store.getMask() || store.getDrop() ||
        llvm::any_of(store.getStrides(), [](int64_t s) { return s != 1; }))
      return fail("it stores in other ways than once an element");
    if (!written.insert(store.getBuffer()).second)
      return fail("it stores to one buffer twice");
    std::vector<Size> at;
    for (Value position : store.getPositions()) {
      auto form = isa<IndexType>(position.getType()) ? indexForm(position) : std::nullopt;
      if (!form)
        return fail("it stores at computed places");
      at.push_back(*form);
    }
    std::vector<Size> extents = extentsOf(store.getTile().getType());
    if (result.outputs.empty())
      result.positions = at, result.extents = extents;
    else if (at != result.positions || extents != result.extents)
      return fail("its outputs are stored in different boxes");
    result.outputs.push_back(store);
  }
  if (result.outputs.empty())
    return fail("it stores nothing");
  result.order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(result.positions.size())));
  std::vector<Size> shape = result.shape();
  for (StoreOp store : result.outputs)
    if (sizesOf(store.getBuffer().getType()) != shape)
      return fail("its outputs have different shapes");
  return result;
}

std::vector<Size> Pointwise::shape() const {
  std::vector<Size> ofOutput = sizesOf(StoreOp(outputs.front()).getBuffer().getType());
  std::vector<Size> ofBox = ofOutput;
  for (auto [d, dim] : llvm::enumerate(order))
    ofBox[size_t(dim)] = ofOutput[d];
  return ofBox;
}

Pointwise Pointwise::inOrderOf(Value buffer) const {
  auto load = buffer.use_empty() ? LoadOp() : dyn_cast<LoadOp>(*buffer.user_begin());
  size_t rank = positions.size();
  if (!load || load.getPositions().size() != rank || isTransposed())
    return *this;
  std::vector<Size> read = extentsOf(load.getType());
  Pointwise ordered = *this;
  llvm::SmallBitVector taken(rank);
  for (auto [dim, position] : llvm::enumerate(load.getPositions())) {
    auto form = isa<IndexType>(position.getType()) ? indexForm(position) : std::nullopt;
    auto follows = [&](size_t d) {
      return form && !taken[d] && read[dim] == extents[d] && (*form - positions[d]).constant();
    };
    size_t d = follows(dim) ? dim : 0;
    while (d < rank && !follows(d))
      ++d;
    if (d == rank)
      return *this;
    taken.set(d);
    ordered.order[d] = int64_t(dim);
    ordered.positions[dim] = positions[d];
    ordered.extents[dim] = extents[d];
  }
  return ordered;
}

FailureOr<std::vector<std::vector<int64_t>>> Pointwise::distancesTo(Value buffer,
                                                                    std::string &why) const {
  std::set<std::vector<int64_t>> distances;
  for (Operation *user : buffer.getUsers()) {
    auto load = dyn_cast<LoadOp>(user);
    if (!load || load.getPositions().size() != positions.size())
      return why = "it reads it in other ways than as boxes", failure();
    std::vector<int64_t> distance;
    for (auto [begin, position] : llvm::zip_equal(positions, load.getPositions())) {
      auto form = isa<IndexType>(position.getType()) ? indexForm(position) : std::nullopt;
      auto along = form ? (*form - begin).constant() : std::nullopt;
      if (!along)
        return why = "it reads at other places than those it writes", failure();
      distance.push_back(*along);
    }
    distances.insert(distance);
  }
  return std::vector(distances.begin(), distances.end());
}

bool Pointwise::isMovement() const {
  for (Operation &op : KernelOp(kernel).getBody().front())
    if (isElementwise(&op) && isa<RankedTensorType>(op.getResult(0).getType()) &&
        !isa<arith::ExtFOp, arith::TruncFOp>(op))
      return false;
  return true;
}

bool Pointwise::hasChecks() const {
  return llvm::any_of(KernelOp(kernel).getBody().front(),
                      [](Operation &op) { return isa<CheckOp>(op); });
}

/// Writes the operations behind one value again, for another box. A value is written for labels:
/// the dimension of the box that each of its dimensions runs along, or -1: it is one element there.
class PointwiseWriter {
public:
  PointwiseWriter(const Pointwise &source, const Pointwise::InlineSite &site, std::string &why)
      : source(source), site(site), b(site.b), loc(KernelOp(source.kernel).getLoc()), why(why) {}

  using Labels = SmallVector<int>;

  /// A tile whose extents are those of the box, or 1 where the value is the same.
  FailureOr<Value> write(Value value, const Labels &labels) {
    for (auto &[known, of, written] : done)
      if (known == value && of == labels)
        return written;
    FailureOr<Value> written = compute(value, labels);
    if (succeeded(written))
      done.push_back({value, labels, *written});
    return written;
  }

  /// Stretched to the box.
  Value stretched(Value tile, ArrayRef<Size> extents) {
    auto type = tileType(extents, elementOf(tile));
    return tile.getType() == type ? tile : BroadcastOp::create(b, loc, type, tile).getResult();
  }

private:
  static Type elementOf(Value tile) { return getElementTypeOrSelf(tile.getType()); }

  FailureOr<Value> fail(const Twine &reason) {
    if (why.empty())
      why = reason.str();
    return failure();
  }

  Size mapped(const Size &size) const { return size.substitute(site.symbols); }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  FailureOr<Value> compute(Value value, const Labels &labels) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return fail("a tile comes from outside");
    return TypeSwitch<Operation *, FailureOr<Value>>(op)
        .Case([&](LoadOp load) { return writeLoad(load, labels); })
        .Case([&](GatherOp gather) { return writeGather(gather, labels); })
        .Case([&](CheckOp check) { return writeCheck(check, labels); })
        .Case([&](FullOp full) { return writeFull(full, labels); })
        .Case([&](IotaOp iota) { return writeIota(iota, labels); })
        .Case([&](BroadcastOp stretch) { return writeBroadcast(stretch, labels); })
        .Case([&](ReshapeOp reshape) { return writeReshape(reshape, labels); })
        .Case([&](TransposeOp transpose) { return writeTranspose(transpose, labels); })
        .Default([&](Operation *op) { return writeElementwise(op, labels); });
  }

  //===--- scalars ---------------------------------------------------------===//

  FailureOr<Value> scalar(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return site.arguments.lookup(argument);
    if (auto it = scalars.find(value); it != scalars.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    if (auto size = dyn_cast<SizeOp>(op))
      return SizeOp::create(b, loc, b.getIndexType(),
                            SizeAttr::get(b.getContext(), mapped(size.getSize().getSize())))
          .getResult();
    if (auto extract = dyn_cast<ExtractOp>(op)) {
      FailureOr<Value> tile =
          write(extract.getOperand(),
                Labels(cast<RankedTensorType>(extract.getOperand().getType()).getRank(), -1));
      if (failed(tile))
        return failure();
      return scalars[value] = ExtractOp::create(b, loc, value.getType(), *tile);
    }
    if (isa<ProgramIdOp>(op))
      return fail("it computes with the program's number");
    IRMapping map;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> written = scalar(operand);
      if (failed(written))
        return failure();
      map.map(operand, *written);
    }
    return scalars[value] = b.clone(*op, map)->getResult(0);
  }

  //===--- places ----------------------------------------------------------===//

  /// Whether `at` is where the box begins along `dim`, times `stride`, plus a constant; gives that.
  std::optional<int64_t> distance(const Size &at, int dim, int64_t stride) const {
    if (dim < 0)
      return std::nullopt;
    return (at - source.positions[dim] * Size(stride)).constant();
  }

  struct Along {
    Value position;
    Size extent;
    int64_t stride = 1;
    std::optional<int64_t> distance = {}; // from where the box begins, if it goes along that
  };

  /// Where an access begins and what it covers along one of its dimensions.
  std::optional<Along> along(Value position, const Size &extent, int64_t stride, int label) {
    auto form = indexForm(position);
    if (form && label >= 0 && extent == source.extents[label])
      if (auto offset = distance(*form, label, stride)) {
        Value at = site.box.positions[label];
        if (stride != 1)
          at = arith::MulIOp::create(b, loc, at, constant(stride));
        if (*offset != 0)
          at = arith::AddIOp::create(b, loc, at, constant(*offset));
        return Along{at, site.box.extents[label], stride * site.box.stride(size_t(label)),
                     stride == 1 ? offset : std::nullopt};
      }
    if (form && form->constant() && extent == Size(1))
      return Along{constant(*form->constant()), Size(1)};
    if (extent == Size(1) && !form)
      if (FailureOr<Value> at = scalar(position); succeeded(at))
        return Along{*at, Size(1)};
    return std::nullopt;
  }

  FailureOr<Value> writeLoad(LoadOp load, const Labels &labels) {
    SmallVector<Value> positions;
    SmallVector<int64_t> strides;
    std::vector<Size> extents, own = extentsOf(load.getType());
    bool isBox = true;
    SmallVector<int64_t> distance;
    for (auto [d, position] : llvm::enumerate(load.getPositions())) {
      int64_t stride = load.getStrides().empty() ? 1 : load.getStrides()[d];
      if (isa<RankedTensorType>(position.getType())) {
        FailureOr<Value> tile = write(position, {labels[d]});
        if (failed(tile))
          return failure();
        positions.push_back(*tile);
        strides.push_back(1);
        extents.push_back(extentsOf(cast<RankedTensorType>(tile->getType()))[0]);
        isBox = false;
        continue;
      }
      std::optional<Along> at = along(position, own[d], stride, labels[d]);
      if (!at)
        return fail("it reads at other places than those it writes");
      isBox &= labels[d] == int(d) && at->distance;
      distance.push_back(at->distance.value_or(0));
      positions.push_back(at->position);
      extents.push_back(at->extent);
      strides.push_back(at->stride);
    }
    if (llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
      strides.clear();
    if (site.known && load.getBuffer() == site.known) {
      Value tile;
      for (const Pointwise::KnownTile &each : site.tiles)
        if (each.distance.empty() ? llvm::all_of(distance, [](int64_t far) { return far == 0; })
                                  : each.distance == distance)
          tile = each.tile;
      if (!tile || !isBox || load.getMask() || labels.size() != site.box.extents.size())
        return fail("it reads at other places than those it writes");
      return tile;
    }
    auto type = tileType(extents, load.getType().getElementType());
    Value mask, pad;
    if (load.getMask()) {
      FailureOr<Value> written = write(load.getMask(), labels);
      if (failed(written))
        return failure();
      mask = stretched(*written, extents);
    }
    if (load.getPad()) {
      FailureOr<Value> written = scalar(load.getPad());
      if (failed(written))
        return failure();
      pad = *written;
    } else if (site.box.mayBeginOutside) { // what is stored there is dropped
      pad = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
    }
    return LoadOp::create(b, loc, type, site.arguments.lookup(load.getBuffer()), positions, strides,
                          mask, pad)
        .getResult();
  }

  FailureOr<Value> writeGather(GatherOp gather, const Labels &labels) {
    if (gather.getMask())
      return fail("it gathers under a mask");
    FailureOr<SmallVector<Value>> positions = aligned(gather.getPositions(), labels);
    if (failed(positions))
      return failure();
    Value pad;
    if (gather.getPad()) {
      FailureOr<Value> written = scalar(gather.getPad());
      if (failed(written))
        return failure();
      pad = *written;
    }
    auto shape = extentsOf(cast<RankedTensorType>(positions->front().getType()));
    return GatherOp::create(b, loc, tileType(shape, gather.getType().getElementType()),
                            site.arguments.lookup(gather.getBuffer()), *positions, Value(), pad)
        .getResult();
  }

  FailureOr<Value> writeCheck(CheckOp check, const Labels &labels) {
    if (!isa<RankedTensorType>(check.getValue().getType()))
      return fail("it checks a scalar");
    SmallVector<Value> tiles = {check.getValue()};
    if (check.getMask())
      tiles.push_back(check.getMask());
    FailureOr<SmallVector<Value>> written = aligned(tiles, labels);
    FailureOr<Value> bound = scalar(check.getBound());
    if (failed(written) || failed(bound))
      return failure();
    return CheckOp::create(b, loc, written->front().getType(), written->front(), *bound,
                           check.getMask() ? (*written)[1] : Value(), check.getMessageAttr())
        .getResult();
  }

  //===--- shapes ----------------------------------------------------------===//

  FailureOr<Value> writeFull(FullOp full, const Labels &labels) {
    FailureOr<Value> value = scalar(full.getOperand());
    if (failed(value))
      return failure();
    return FullOp::create(
               b, loc,
               tileType(std::vector<Size>(labels.size(), Size(1)), full.getType().getElementType()),
               *value)
        .getResult();
  }

  FailureOr<Value> writeIota(IotaOp iota, const Labels &labels) {
    auto d = unsigned(iota.getDim());
    std::optional<Along> at = along(iota.getStart(), extentsOf(iota.getType())[d], 1, labels[d]);
    if (!at || at->stride != 1)
      return fail("it counts from another place than where it writes");
    std::vector<Size> extents(labels.size(), Size(1));
    extents[d] = at->extent;
    return IotaOp::create(b, loc, tileType(extents, iota.getType().getElementType()),
                          iota.getDimAttr(), at->position)
        .getResult();
  }

  FailureOr<Value> writeBroadcast(BroadcastOp stretch, const Labels &labels) {
    auto from = extentsOf(cast<RankedTensorType>(stretch.getOperand().getType())),
         to = extentsOf(stretch.getType());
    Labels own = labels;
    for (size_t d = 0; d < own.size(); ++d)
      if (from[d] != to[d])
        own[d] = -1;
    return write(stretch.getOperand(), own);
  }

  FailureOr<Value> writeTranspose(TransposeOp transpose, const Labels &labels) {
    Labels own(labels.size());
    for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
      own[from] = labels[d];
    FailureOr<Value> tile = write(transpose.getOperand(), own);
    if (failed(tile))
      return failure();
    auto extents = extentsOf(cast<RankedTensorType>(tile->getType()));
    std::vector<Size> transposed;
    for (int64_t from : transpose.getPermutation())
      transposed.push_back(extents[from]);
    return TransposeOp::create(b, loc, tileType(transposed, elementOf(*tile)), *tile,
                               transpose.getPermutationAttr())
        .getResult();
  }

  /// Where dimension `d` of a tile begins, if it is known.
  static std::optional<Size> beginOf(Value tile, int64_t d) {
    if (auto load = tile.getDefiningOp<LoadOp>())
      return isa<IndexType>(load.getPositions()[d].getType()) ? indexForm(load.getPositions()[d])
                                                              : std::nullopt;
    if (auto turn = tile.getDefiningOp<TransposeOp>())
      return beginOf(turn.getOperand(), turn.getPermutation()[d]);
    return std::nullopt;
  }

  /// Which dimension of the result each of the operand's is, -1: none; only extents of 1 come and
  /// go. Empty when there is no such way.
  bool match(Value operand, ArrayRef<Size> from, ArrayRef<Size> to, const Labels &labels, size_t i,
             size_t j, SmallVectorImpl<int> &found) const {
    if (i == from.size() && j == to.size())
      return true;
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      auto begin = beginOf(operand, int64_t(i));
      if (!begin || distance(*begin, labels[j], 1) || begin->constant()) {
        found[i] = int(j);
        if (match(operand, from, to, labels, i + 1, j + 1, found))
          return true;
      }
    }
    if (j < to.size() && to[j] == Size(1) && match(operand, from, to, labels, i, j + 1, found))
      return true;
    if (i < from.size() && from[i] == Size(1)) {
      found[i] = -1;
      return match(operand, from, to, labels, i + 1, j, found);
    }
    return false;
  }

  FailureOr<Value> writeReshape(ReshapeOp reshape, const Labels &labels) {
    auto from = extentsOf(cast<RankedTensorType>(reshape.getOperand().getType())),
         to = extentsOf(reshape.getType());
    SmallVector<int> matched(from.size(), -1);
    if (!match(reshape.getOperand(), from, to, labels, 0, 0, matched))
      return fail("it reshapes tiles");
    Labels own;
    for (int dim : matched)
      own.push_back(dim < 0 ? -1 : labels[dim]);
    FailureOr<Value> tile = write(reshape.getOperand(), own);
    if (failed(tile))
      return failure();
    auto extents = extentsOf(cast<RankedTensorType>(tile->getType()));
    std::vector<Size> result(to.size(), Size(1));
    for (auto [i, dim] : llvm::enumerate(matched))
      if (dim >= 0)
        result[dim] = extents[i];
    auto type = tileType(result, elementOf(*tile));
    return tile->getType() == type ? *tile : ReshapeOp::create(b, loc, type, *tile).getResult();
  }

  //===--- elements --------------------------------------------------------===//

  /// Tiles of one shape.
  FailureOr<SmallVector<Value>> aligned(ValueRange tiles, const Labels &labels) {
    SmallVector<Value> written;
    std::vector<Size> shape(labels.size(), Size(1));
    for (Value tile : tiles) {
      FailureOr<Value> one = write(tile, labels);
      if (failed(one))
        return failure();
      written.push_back(*one);
      auto extents = extentsOf(cast<RankedTensorType>(one->getType()));
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] == Size(1))
          shape[d] = extents[d];
    }
    for (Value &tile : written)
      tile = stretched(tile, shape);
    return written;
  }

  FailureOr<Value> writeElementwise(Operation *op, const Labels &labels) {
    if (auto dense = dyn_cast<arith::ConstantOp>(op)) {
      auto splat = dyn_cast<SplatElementsAttr>(dense.getValue());
      if (!splat)
        return fail("it has a table");
      Value value = arith::ConstantOp::create(b, loc, splat.getSplatValue<TypedAttr>());
      return FullOp::create(b, loc,
                            tileType(std::vector<Size>(labels.size(), Size(1)), value.getType()),
                            value)
          .getResult();
    }
    SmallVector<Value> tiles;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        tiles.push_back(operand);
    FailureOr<SmallVector<Value>> written = aligned(tiles, labels);
    if (failed(written))
      return failure();
    IRMapping map;
    size_t next = 0;
    for (Value operand : op->getOperands()) {
      if (isa<RankedTensorType>(operand.getType())) {
        map.map(operand, (*written)[next++]);
        continue;
      }
      FailureOr<Value> one = scalar(operand);
      if (failed(one))
        return failure();
      map.map(operand, *one);
    }
    Operation *clone = b.clone(*op, map);
    auto shape = extentsOf(cast<RankedTensorType>(written->front().getType()));
    clone->getResult(0).setType(tileType(shape, elementOf(op->getResult(0))));
    return clone->getResult(0);
  }

  const Pointwise &source;
  const Pointwise::InlineSite &site;
  OpBuilder &b;
  Location loc;
  std::string &why;
  std::vector<std::tuple<Value, Labels, Value>> done;
  DenseMap<Value, Value> scalars;
};

FailureOr<SmallVector<Value>> Pointwise::write(const InlineSite &site, std::string &why) const {
  PointwiseWriter writer(*this, site, why);
  SmallVector<Value> tiles;
  for (StoreOp store : outputs) {
    PointwiseWriter::Labels labels(order.begin(), order.end());
    FailureOr<Value> tile = writer.write(store.getTile(), labels);
    if (failed(tile))
      return failure();
    tiles.push_back(writer.stretched(*tile, ofOutputs(site.box.extents)));
  }
  return tiles;
}

} // namespace tw::tile
