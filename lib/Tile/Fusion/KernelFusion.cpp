// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Fusion/KernelFusion.h"
#include "IR/Graph/Graph.h"
#include "IR/Tile/Variants.h"
#include "Support/Checked.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include <set>

using namespace mlir;

namespace tw::tile {

Operands::Operands(KernelOp kernel) {
  for (auto [value, argument] :
       llvm::zip(kernel.getBody().getArguments(), kernel.getArguments().getAsRange<ArgumentAttr>()))
    (argument.getAccess() == Access::Scalar ? scalars
     : argument.getAccess() == Access::In   ? ins
                                            : outs)
        .push_back(cast<BlockArgument>(value));
}

size_t lengthOf(KernelOp kernel) {
  size_t length = 0;
  kernel->walk([&](Operation *) { ++length; });
  return length;
}

void eraseUnusedKernels(ModuleOp module) {
  SymbolTable table(module);
  std::set<std::string> used;
  module.walk([&](graph::DispatchOp op) {
    auto kernel = table.lookup<KernelOp>(op.getKernel());
    if (used.insert(op.getKernel().str()).second && kernel)
      for (KernelOp variant : variantsOf(kernel))
        used.insert(variant.getSymName().str());
  });
  for (auto kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
    if (!used.contains(kernel.getSymName().str()))
      kernel.erase();
}

FailureOr<KernelOp> KernelFusion::build(std::string &why, bool follows) {
  if (!unifySymbols(why))
    return failure();
  OwningOpRef<KernelOp> made(createKernel());
  IRMapping map;
  for (auto [old, now] : baseArguments)
    map.map(old, now);
  b.setInsertionPointToEnd(&made->getBody().front());
  bool isWritten =
      follows ? writeBehindStores(map, why) : writeForLoads(base.getBody().front(), map, why);
  if (!isWritten)
    return failure();
  if (failed(verify(*made)))
    return why = "the fused kernel would be invalid", failure();
  return made.release();
}

bool KernelFusion::writeBehindStores(IRMapping &map, std::string &why) {
  for (Operation &op : base.getBody().front()) {
    auto store = dyn_cast<StoreOp>(op);
    if (!store || store.getBuffer() != shared)
      b.clone(op, map);
    else if (!writeAfter(store, map, why))
      return false;
  }
  return true;
}

bool KernelFusion::writeForLoads(Block &block, IRMapping &map, std::string &why) {
  for (Operation &op : block) {
    if (auto load = dyn_cast<LoadOp>(op); load && load.getBuffer() == shared) {
      if (!writeInstead(load, map, why))
        return false;
      continue;
    }
    auto loop = dyn_cast<ForOp>(op);
    bool hasLoad = loop && llvm::any_of(shared.getUsers(), [&](Operation *user) {
                     return loop.getBody().isAncestor(user->getParentRegion());
                   });
    if (!hasLoad) {
      b.clone(op, map);
      continue;
    }
    // What stands in for the load needs the copy's values, so the body is copied one by one.
    Operation *copy = b.insert(loop->cloneWithoutRegions(map));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&copy->getRegion(0));
    Block &old = loop.getBody().front();
    for (BlockArgument argument : old.getArguments())
      map.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    if (!writeForLoads(old, map, why))
      return false;
    loop.getCombine().cloneInto(&copy->getRegion(1), map);
  }
  return true;
}

bool KernelFusion::unifySymbols(std::string &why) {
  auto mine = sizesOf(cast<BufferType>(shared.getType())),
       others = sizesOf(cast<BufferType>(otherShared.getType()));
  if (mine.size() != others.size() || cast<BufferType>(shared.getType()).getElementType() !=
                                          cast<BufferType>(otherShared.getType()).getElementType())
    return why = "they see the buffer in different shapes", false;
  for (auto [mineSize, otherSize] : llvm::zip(mine, others)) {
    auto symbol = otherSize.asSymbol();
    if (symbol && symbols.try_emplace(*symbol, mineSize).second)
      continue;
    if (otherSize.substitute(symbols) != mineSize)
      return why = "they see the buffer in different shapes", false;
  }
  std::set<std::string> taken;
  for (auto symbol : base.getSymbols().getAsRange<SymbolAttr>()) {
    taken.insert(symbol.getName().str());
    allSymbols.push_back(symbol);
  }
  for (auto symbol : other.getSymbols().getAsRange<SymbolAttr>()) {
    if (symbols.contains(symbol.getName().str()))
      continue;
    std::string name = symbol.getName().str();
    while (!taken.insert(name).second)
      name += "_";
    symbols.emplace(symbol.getName().str(), Size::symbol(name));
    allSymbols.push_back(SymbolAttr::get(b.getContext(), name, symbol.getMin(), symbol.getMax(),
                                         symbol.getMultiple()));
  }
  return true;
}

Type KernelFusion::mapped(Type type) const {
  auto buffer = dyn_cast<BufferType>(type);
  if (!buffer)
    return type;
  SmallVector<SizeAttr> shape;
  for (const Size &size : sizesOf(buffer))
    shape.push_back(SizeAttr::get(type.getContext(), size.substitute(symbols)));
  return BufferType::get(type.getContext(), shape, buffer.getElementType());
}

KernelOp KernelFusion::createKernel() {
  b.setInsertionPoint(base);
  Operands mine(base), others(other);
  SmallVector<Attribute> attributes;
  SmallVector<std::pair<BlockArgument, bool>> arguments; // and whether it is other's
  auto add = [&](ArrayRef<BlockArgument> list, bool isOther) {
    for (BlockArgument argument : list) {
      bool drops = isOther ? argument == otherShared : argument == shared && !keepsShared;
      if (!drops)
        arguments.push_back({argument, isOther});
    }
  };
  add(mine.ins, false), add(others.ins, true);
  add(mine.outs, false), add(others.outs, true);
  add(mine.scalars, false), add(others.scalars, true);
  static const char *const words[] = {"in", "out", "inout", "n"};
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto old = (argument.second ? other : base).getArgument(argument.first.getArgNumber());
    std::string name = words[size_t(old.getAccess())] + std::to_string(i);
    attributes.push_back(old.withName(name));
  }
  auto kernel =
      KernelOp::create(b, b.getFusedLoc({base.getLoc(), other.getLoc()}), base.getSymName(),
                       b.getArrayAttr(attributes), b.getArrayAttr(allSymbols), base.getGrid());
  for (NamedAttribute attribute : base->getDiscardableAttrs())
    kernel->setDiscardableAttr(attribute.getName(), attribute.getValue());
  Block *body = b.createBlock(&kernel.getBody());
  for (auto [argument, isOther] : arguments) {
    Type type = isOther ? mapped(argument.getType()) : argument.getType();
    Value now = body->addArgument(type, argument.getLoc());
    if (isOther)
      otherArguments[argument] = now;
    else
      baseArguments.push_back({argument, now});
  }
  kernel->remove();
  return kernel;
}

static Box boxOf(OperandRange positions, RankedTensorType tile, const IRMapping &map) {
  Box box{{}, extentsOf(tile)};
  for (Value position : positions)
    box.positions.push_back(map.lookup(position));
  return box;
}

bool KernelFusion::writeAfter(StoreOp store, IRMapping &map, std::string &why) {
  if (keepsShared)
    b.clone(*store, map);
  Box box = boxOf(store.getPositions(), store.getTile().getType(), map);
  box.strides.assign(store.getStrides().begin(), store.getStrides().end());
  box.mayBeginOutside = store.getDrop();
  return writeOther(store, box, {{{}, map.lookup(store.getTile())}}, why);
}

bool KernelFusion::writeOther(StoreOp store, const Box &box, ArrayRef<Pointwise::KnownTile> known,
                              std::string &why) {
  Pointwise::InlineSite site{b, box, otherArguments, symbols, otherShared, llvm::to_vector(known)};
  FailureOr<SmallVector<Value>> tiles = pointwise.write(site, why);
  if (failed(tiles))
    return false;
  DenseI64ArrayAttr strides = store.getStridesAttr();
  if (!box.strides.empty())
    strides = b.getDenseI64ArrayAttr(pointwise.ofOutputs(box.strides));
  for (auto [tile, old] : llvm::zip(*tiles, pointwise.stores()))
    StoreOp::create(b, store.getLoc(), tile, otherArguments.lookup(StoreOp(old).getBuffer()),
                    pointwise.ofOutputs(box.positions), strides, Value(), store.getDrop(),
                    UpdateAttr());
  return true;
}

bool KernelFusion::writeInstead(LoadOp load, IRMapping &map, std::string &why) {
  Pointwise::InlineSite site{
      b, boxOf(load.getPositions(), load.getType(), map), otherArguments, symbols, {}, {}};
  SmallVector<unsigned> edges = openDims(load);
  if (!edges.empty() && pointwise.hasChecks())
    return why = "it checks indices, and is read out of bounds", false;
  FailureOr<SmallVector<Value>> tiles = pointwise.write(site, why);
  if (failed(tiles))
    return false;
  size_t number = 0;
  for (auto [i, store] : llvm::enumerate(pointwise.stores()))
    if (StoreOp(store).getBuffer() == otherShared)
      number = i;
  map.map(load.getResult(), padded((*tiles)[number], site.box, load, edges, map));
  return true;
}

SmallVector<unsigned> KernelFusion::openDims(LoadOp load) {
  SmallVector<unsigned> open;
  std::vector<Size> sizes = sizesOf(load.getBuffer().getType()),
                    extents = extentsOf(load.getType());
  ArrayRef<int64_t> strides = load.getStrides();
  for (auto [d, position] : llvm::enumerate(load.getPositions()))
    if (!isSurelyInside(base, load, position, extents[d], strides.empty() ? 1 : strides[d],
                        sizes[d]))
      open.push_back(unsigned(d));
  return open;
}

Value KernelFusion::padded(Value tile, const Box &box, LoadOp load, ArrayRef<unsigned> edges,
                           IRMapping &map) {
  if (edges.empty())
    return tile;
  Location loc = load.getLoc();
  std::vector<Size> sizes = sizesOf(cast<BufferType>(load.getBuffer().getType()));
  Value mask;
  for (unsigned d : edges) {
    auto type = tileType(box.extents, b.getIndexType());
    Value at = IotaOp::create(b, loc, type, b.getI64IntegerAttr(d), box.positions[d]);
    Value size = SizeOp::create(b, loc, b.getIndexType(), SizeAttr::get(b.getContext(), sizes[d]));
    Value sizesTile = FullOp::create(b, loc, type, size);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, sizesTile);
    mask = mask ? Value(arith::AndIOp::create(b, loc, mask, inside)) : inside;
  }
  auto type = cast<RankedTensorType>(tile.getType());
  Value pad = load.getPad()
                  ? map.lookup(load.getPad())
                  : Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType())));
  return arith::SelectOp::create(b, loc, mask, tile, FullOp::create(b, loc, type, pad));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<KernelFusion::PartStore>> KernelFusion::partStores(std::string &why) {
  SmallVector<PartStore> stores;
  for (StoreOp store : base.getOps<StoreOp>()) {
    if (store.getBuffer() != shared)
      continue;
    StoreOp first = stores.empty() ? store : stores.front().store;
    std::vector<int64_t> distance;
    for (auto [own, begin] : llvm::zip_equal(store.getPositions(), first.getPositions())) {
      auto form = indexForm(own), firstForm = indexForm(begin);
      auto far = form && firstForm ? (*form - *firstForm).constant() : std::nullopt;
      if (!far)
        return why = "the producer stores parts at computed distances", failure();
      distance.push_back(*far);
    }
    if (store.getDrop() || !store.getStrides().empty() ||
        store.getTile().getType() != first.getTile().getType())
      return why = "the producer's stores are no parts of one block", failure();
    stores.push_back({store, distance});
  }
  return stores;
}

/// Whether parts as large as `part`, at these distances, are all of a buffer of these sizes, side
/// by side along one dimension.
static bool areAllOf(ArrayRef<std::vector<int64_t>> distances, ArrayRef<Size> part,
                     ArrayRef<Size> sizes) {
  if (part.size() != sizes.size())
    return false;
  unsigned along = 0;
  while (along < sizes.size() && part[along] == sizes[along])
    ++along;
  if (along == sizes.size() || part[along] * Size(int64_t(distances.size())) != sizes[along])
    return false;
  for (auto [number, distance] : llvm::enumerate(distances))
    for (unsigned d = 0; d < sizes.size(); ++d) {
      Size wanted = d == along ? part[d] * Size(int64_t(number)) : Size(0);
      if (Size(distance[d]) != wanted || (d != along && part[d] != sizes[d]))
        return false;
    }
  return true;
}

FailureOr<KernelOp> KernelFusion::followParts(std::string &why) {
  FailureOr<std::vector<std::vector<int64_t>>> read = pointwise.distancesTo(otherShared, why);
  if (failed(read))
    return failure();
  FailureOr<SmallVector<PartStore>> stores = partStores(why);
  if (failed(stores) || !unifySymbols(why))
    return failure();
  std::vector<std::vector<int64_t>> stored;
  for (const PartStore &part : *stores)
    stored.push_back(part.distance);
  std::vector<Size> part = pointwise.shape();
  for (Size &size : part)
    size = size.substitute(symbols);
  // Then the first one stores as many elements as other does, each once.
  if (!areAllOf(stored, part, sizesOf(cast<BufferType>(shared.getType()))) ||
      !llvm::all_of(*read, [&](const auto &one) { return llvm::is_contained(stored, one); }))
    return why = "the consumer's results have another shape, and a program of the producer does "
                 "not have the parts that they are made of",
           failure();
  OwningOpRef<KernelOp> made(createKernel());
  IRMapping map;
  for (auto [old, now] : baseArguments)
    map.map(old, now);
  b.setInsertionPointToEnd(&made->getBody().front());
  for (Operation &op : base.getBody().front())
    if (auto store = dyn_cast<StoreOp>(op); !store || store.getBuffer() != shared || keepsShared)
      b.clone(op, map);
  SmallVector<Pointwise::KnownTile> tiles;
  for (PartStore &part : *stores)
    tiles.push_back({llvm::to_vector(part.distance), map.lookup(part.store.getTile())});
  StoreOp first = stores->front().store;
  Box box = boxOf(first.getPositions(), first.getTile().getType(), map);
  if (!writeOther(first, box, tiles, why))
    return failure();
  if (failed(verify(*made)))
    return why = "the fused kernel would be invalid", failure();
  return made.release();
}

} // namespace tw::tile
