// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-fuse (Passes.td).
#include "IR/Coded.h"
#include "IR/Graph/Decisions.h"
#include "IR/Graph/Values.h"
#include "IR/KernelLength.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/Elementwise.h"
#include "IR/Tile/Variants.h"
#include "Tile/Fusion/KernelFusion.h"
#include "Tile/Fusion/Pointwise.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_FUSEDISPATCHES
#include "Tile/Passes.h.inc"

namespace {

//===----------------------------------------------------------------------===//
// What may be fused
//===----------------------------------------------------------------------===//

/// So often a consumer is written again at most, once for each store to the buffer.
constexpr unsigned mostStores = 8;

/// Whether all that is done with a buffer is to store whole boxes of it at the top of the kernel.
bool isStoredInBoxes(BlockArgument buffer) {
  unsigned stores = 0;
  for (Operation *user : buffer.getUsers()) {
    auto store = dyn_cast<StoreOp>(user);
    bool isPlain =
        store && isa<KernelOp>(store->getParentOp()) && !store.getUpdate() && !store.getMask() &&
        llvm::all_of(store.getPositions(), [](Value p) { return isa<IndexType>(p.getType()); });
    if (!isPlain || ++stores > mostStores)
      return false;
  }
  return stores > 0;
}

/// How far one trip of a loop is from the next; nothing if that is not a constant.
std::optional<int64_t> stepOf(ForOp loop) {
  auto step = indexForm(loop.getStep());
  return step ? step->constant() : std::nullopt;
}

/// Whether the trips of a loop read boxes that do not overlap: it alone moves them along one
/// dimension, by no less than their extent.
bool movesPast(ForOp loop, LoadOp load) {
  auto step = stepOf(loop);
  std::string name = loopSymbol(loop);
  for (auto [d, position] : llvm::enumerate(load.getPositions()))
    if (auto form = indexForm(position); form && form->symbols().contains(name)) {
      Size moved = form->substitute({{name, Size::symbol(name) + Size(1)}}) - *form;
      return step && moved.constant() && *step > 0 && *moved.constant() > 0 &&
             *moved.constant() * *step >= load.getType().getDimSize(d);
    }
  return false;
}

/// How many trips a loop makes; nothing where its bounds are no sizes.
std::optional<Size> tripsOf(ForOp loop) {
  auto begin = indexForm(loop.getBegin()), end = indexForm(loop.getEnd());
  auto step = stepOf(loop);
  if (!begin || !end || !step || *step < 1)
    return std::nullopt;
  return tripCount(*begin, *end, *step);
}

/// How often programs and their loops read each element of a buffer: once, where all of the grid
/// and of the loops goes into where they read. Nothing where it is not known.
std::optional<Size> readsOfElement(LoadOp load) {
  auto kernel = load->getParentOfType<KernelOp>();
  std::set<std::string> used;
  for (Value position : load.getPositions()) {
    auto form = indexForm(position);
    if (!form)
      return std::nullopt;
    for (const std::string &name : form->symbols())
      used.insert(name);
  }
  Size reads(1);
  for (auto [d, count] : llvm::enumerate(kernel.getGrid().getAsRange<SizeAttr>()))
    if (!used.contains(coordinateSymbol(int64_t(d))))
      reads = reads * count.getSize();
  for (auto loop = load->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>()) {
    if (movesPast(loop, load))
      continue;
    auto trips = tripsOf(loop);
    if (!trips || used.contains(loopSymbol(loop))) // boxes overlap
      return std::nullopt;
    reads = reads * *trips;
  }
  return reads;
}

/// Whether a tile goes into a product, maybe under another shape or after further operations: then
/// the target places it.
bool feedsProducts(Value tile) {
  return llvm::any_of(tile.getUsers(), [](Operation *user) {
    if (isa<DotOp>(user))
      return true;
    return user->getNumResults() == 1 && !isa<ForOp>(user) && feedsProducts(user->getResult(0));
  });
}

/// Whether a tile is only the left operand of products, which is read element by element.
bool feedsRows(Value tile) {
  return llvm::all_of(tile.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ReshapeOp, TransposeOp>(user))
      return feedsRows(user->getResult(0));
    return isa<DotOp>(user) && use.getOperandNumber() == 0;
  });
}

//===----------------------------------------------------------------------===//
// What pays
//===----------------------------------------------------------------------===//

/// What a pointwise kernel does for one element of its result.
struct ElementWork {
  double operations = 0, functions = 0, loads = 0;
};

/// Tiles smaller than the result are computed for several of its elements. Nothing where that is
/// not known.
std::optional<ElementWork> workOfElement(const Pointwise &pointwise) {
  StoreOp store = pointwise.stores().front();
  ElementWork work;
  bool isKnown = true;
  store->getParentOfType<KernelOp>().walk([&](Operation *op) {
    bool isLoad = isa<LoadOp, GatherOp>(op);
    auto tile = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                         : RankedTensorType();
    if (!tile || !(isLoad || isElementwise(op)))
      return;
    RankedTensorType whole = store.getTile().getType();
    isKnown &= tile.hasStaticShape() && whole.hasStaticShape();
    if (!isKnown)
      return;
    double share = double(tile.getNumElements()) / double(whole.getNumElements());
    bool isFunction = isa<math::MathDialect>(op->getDialect()) ||
                      isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::RemSIOp>(op);
    (isLoad ? work.loads : isFunction ? work.functions : work.operations) += share;
  });
  return isKnown ? std::optional(work) : std::nullopt;
}

struct FuseDispatches : impl::FuseDispatchesBase<FuseDispatches> {
  using FuseDispatchesBase::FuseDispatchesBase;

  void runOnOperation() override {
    table.emplace(getOperation());
    decisions.emplace(getOperation());
    SmallVector<graph::DispatchOp> work;
    getOperation().walk([&](graph::DispatchOp op) { work.push_back(op); });
    for (graph::DispatchOp op : work)
      while (graph::DispatchOp fused = fuseWithProducer(op))
        op = fused;
    eraseUnusedKernels(getOperation());
    decisions->store();
  }

  KernelOp kernelOf(graph::DispatchOp op) {
    return op ? table->lookup<KernelOp>(op.getKernel()) : KernelOp();
  }

  /// The dispatch that `op` and one of its producers became; null if none.
  graph::DispatchOp fuseWithProducer(graph::DispatchOp op) {
    KernelOp kernel = kernelOf(op);
    if (!kernel)
      return {};
    for (auto [i, operand] : llvm::enumerate(op.getInputs())) {
      auto producer = operand.getDefiningOp<graph::DispatchOp>();
      auto isProducers = [&](Value v) { return v.getDefiningOp() == producer; };
      if (!kernelOf(producer) || producer->getBlock() != op->getBlock() ||
          llvm::count_if(op.getInputs(), isProducers) != 1)
        continue; // of a producer with several results that are read, only one could be known
      unsigned result = cast<OpResult>(operand).getResultNumber();
      std::string why;
      Location operators[] = {producer.getLoc(), op.getLoc()};
      graph::DispatchOp fused = fuse(producer, result, op, i, why);
      decisions->note(graph::DecisionKind::Fuse, operators, bool(fused), why);
      if (fused)
        return fused;
      if (reported.insert({kernelOf(producer), kernel}).second)
        emitReport(op.getLoc()) << "not fused with its producer" << nodeSuffix(producer.getLoc())
                                << ": " << why;
    }
    return {};
  }

  graph::DispatchOp fuse(graph::DispatchOp producer, unsigned result, graph::DispatchOp consumer,
                         unsigned input, std::string &why) {
    KernelOp from = kernelOf(producer), to = kernelOf(consumer);
    BlockArgument out = Operands(from).outs[result], in = Operands(to).input(input);
    Value value = producer.getResult(result);
    bool isOnlyUse = value.hasOneUse();
    for (Operation *user : value.getUsers())
      if (user != consumer &&
          (user->getBlock() != consumer->getBlock() || user->isBeforeInBlock(consumer)))
        return why = "another dispatch reads its result first", graph::DispatchOp();
    if (!usersFollow(producer, consumer))
      return why = "another dispatch reads the producer's other results first", graph::DispatchOp();
    auto wanted =
        decisions->wanted(graph::DecisionKind::Fuse, {producer.getLoc(), consumer.getLoc()});
    if (!wanted.value_or(true))
      return why = graph::unwanted, graph::DispatchOp();
    mayRecompute = wanted.value_or(false);
    auto [known, isNew] = fusions.try_emplace(
        {from.getSymNameAttr(), result, to.getSymNameAttr(), input, isOnlyUse, mayRecompute});
    if (isNew)
      known->second = fuseKernels(from, to, out, in, isOnlyUse, why);
    if (!known->second.kernel)
      return why = why.empty() ? known->second.why : why, graph::DispatchOp();
    return replace(producer, result, consumer, input, known->second, isOnlyUse);
  }

  static bool usersFollow(graph::DispatchOp producer, graph::DispatchOp consumer) {
    return llvm::all_of(producer->getUsers(), [&](Operation *user) {
      return user == consumer ||
             (user->getBlock() == consumer->getBlock() && consumer->isBeforeInBlock(user));
    });
  }

  struct Fusion {
    KernelOp kernel;
    bool follows = false; // the consumer was written into the producer
    std::string why = {};
    SmallVector<KernelOp> variants = {};
  };

  Fusion fuseKernels(KernelOp from, KernelOp to, BlockArgument out, BlockArgument in,
                     bool isOnlyUse, std::string &why) {
    if (size_t length = lengthOf(from) + lengthOf(to); length > longestKernel) {
      why = "together they have " + std::to_string(length) + " operations, more than " +
            std::to_string(longestKernel);
      return {{}, false, why};
    }
    for (KernelOp kernel : {from, to})
      if (kernel->hasAttr(TileDialect::beginsName)) { // what it does not store stays what it was
        why = "one of them updates a buffer in place";
        return {{}, false, why};
      }
    Fusion fusion = consumerIntoProducer(from, to, out, in, isOnlyUse);
    if (!fusion.kernel && isOnlyUse) {
      Fusion other = producerIntoConsumer(from, to, out, in);
      if (!other.kernel)
        other.why = fusion.why + "; " + other.why;
      fusion = other;
    }
    why = fusion.why;
    if (!fusion.kernel)
      return fusion;
    OpBuilder b(from);
    auto insert = [&](KernelOp kernel, StringRef name) {
      b.insert(kernel);
      kernel.setSymName(name);
      table->insert(kernel);
    };
    insert(fusion.kernel, from.getSymName());
    for (KernelOp variant : fusion.variants)
      insert(variant, variant.getSymName());
    setVariants(fusion.kernel, fusion.variants);
    return fusion;
  }

  /// Fuses a kernel, and its variants likewise; one that is not fused is left out.
  static void fuseAll(KernelOp base, Fusion &fusion,
                      llvm::function_ref<FailureOr<KernelOp>(KernelOp, std::string &)> fuse) {
    FailureOr<KernelOp> kernel = fuse(base, fusion.why);
    if (failed(kernel))
      return;
    fusion.kernel = *kernel;
    for (KernelOp variant : variantsOf(base)) {
      std::string why;
      if (auto fused = fuse(variant, why); succeeded(fused))
        fusion.variants.push_back(*fused);
      else
        emitReport(variant.getLoc())
            << "variant " << variant.getSymName() << " is left out, for it is not fused: " << why;
    }
  }

  Fusion consumerIntoProducer(KernelOp from, KernelOp to, BlockArgument out, BlockArgument in,
                              bool isOnlyUse) {
    Fusion fusion{{}, true, {}};
    FailureOr<Pointwise> pointwise = Pointwise::analyse(to, fusion.why);
    if (failed(pointwise))
      return fusion.why = "the consumer is not pointwise: " + fusion.why, fusion;
    if (leastTransposedRun > 0)
      *pointwise = pointwise->inOrderOf(in);
    bool takesParts = pointwise->shape() != sizesOf(cast<BufferType>(in.getType()));
    if (!llvm::all_of(in.getUsers(), [](Operation *user) { return isa<LoadOp>(user); }))
      return fusion.why = "the consumer reads it at computed positions", fusion;
    fuseAll(from, fusion, [&](KernelOp base, std::string &why) -> FailureOr<KernelOp> {
      BlockArgument shared = base.getBlockArgument(out.getArgNumber());
      if (!isStoredInBoxes(shared))
        return why = "the producer does not store it as a few boxes", failure();
      if (pointwise->isTransposed() && !storesRuns(shared, *pointwise, why))
        return failure();
      KernelFusion kernels(base, to, shared, in, *pointwise, !isOnlyUse);
      return takesParts ? kernels.followParts(why) : kernels.follow(why);
    });
    return fusion;
  }

  /// Whether enough of what each store of a buffer has would be side by side, transposed.
  bool storesRuns(BlockArgument buffer, const Pointwise &pointwise, std::string &why) const {
    for (Operation *user : buffer.getUsers()) {
      auto extents = extentsOf(cast<StoreOp>(user).getTile().getType());
      auto run = extents.size() == pointwise.shape().size()
                     ? pointwise.ofOutputs(extents).back().constant()
                     : std::nullopt;
      if (!run || *run < leastTransposedRun)
        return why = "transposed, few of the elements that it stores would be side by side", false;
    }
    return true;
  }

  Fusion producerIntoConsumer(KernelOp from, KernelOp to, BlockArgument out, BlockArgument in) {
    Fusion fusion;
    FailureOr<Pointwise> pointwise = Pointwise::analyse(from, fusion.why);
    if (failed(pointwise))
      return fusion.why = "the producer is not pointwise: " + fusion.why, fusion;
    if (pointwise->stores().size() != 1)
      return fusion.why = "the producer has other results", fusion;
    fuseAll(to, fusion, [&](KernelOp base, std::string &why) -> FailureOr<KernelOp> {
      BlockArgument shared = base.getBlockArgument(in.getArgNumber());
      LoadOp load = onlyLoad(shared, why);
      if (!load)
        return failure();
      bool isInLoop = !isa<KernelOp>(load->getParentOp());
      if (isInLoop && feedsProducts(load))
        return why = "the consumer reads it in a loop of products", failure();
      auto reads = readsOfElement(load);
      bool isFree =
          (reads && *reads == Size(1)) || (!isInLoop && pointwise->isMovement() && feedsRows(load));
      if (!mayRecompute && !isFree && !paysToRecompute(*pointwise, load, reads, why))
        return failure();
      return KernelFusion(base, from, shared, out, *pointwise, false).replaceLoads(why);
    });
    return fusion;
  }

  /// Whether what is computed again, for each read, takes less than a kernel that computes it once,
  /// stores it and has it loaded. What feeds products is placed by the target.
  bool paysToRecompute(const Pointwise &pointwise, LoadOp load, std::optional<Size> reads,
                       std::string &why) {
    why = "it would be recomputed by several programs";
    Size elements(1);
    for (const Size &size : sizesOf(load.getBuffer().getType()))
      elements = elements * size;
    auto times = reads ? reads->constant() : std::nullopt, count = elements.constant();
    auto work = workOfElement(pointwise);
    if (!times || !count || !work || feedsProducts(load))
      return false;
    double once = double(*count), often = once * double(*times);
    double element =
        work->operations * operation + work->functions * function + work->loads * access;
    double apart = dispatch + once * (element + access) + often * access, fused = often * element;
    why += llvm::formatv(", {0} times: {1:F0} cycles, {2:F0} where it is stored", *times, fused,
                         apart);
    return fused < apart;
  }

  /// The load that is all that is done with a buffer, at the top of the kernel or in the body of
  /// loops; null if there is no such one.
  static LoadOp onlyLoad(BlockArgument buffer, std::string &why) {
    LoadOp load;
    for (Operation *user : buffer.getUsers()) {
      auto own = dyn_cast<LoadOp>(user);
      bool isPlain =
          own && !load && !own.getMask() &&
          llvm::all_of(own.getStrides(), [](int64_t s) { return s == 1; }) &&
          llvm::all_of(own.getPositions(), [](Value p) { return isa<IndexType>(p.getType()); });
      if (!isPlain)
        return why = "the consumer reads it in several places", LoadOp();
      load = own;
    }
    for (Operation *op = load; load && !isa<KernelOp>(op->getParentOp()); op = op->getParentOp())
      if (auto loop = dyn_cast<ForOp>(op->getParentOp());
          !loop || op->getParentRegion() != &loop.getBody())
        return why = "the consumer reads it in a branch", LoadOp();
    if (!load)
      why = "the consumer does not load it";
    return load;
  }

  /// One dispatch for two, where the consumer was.
  graph::DispatchOp replace(graph::DispatchOp producer, unsigned result, graph::DispatchOp consumer,
                            unsigned input, Fusion &fusion, bool isOnlyUse) {
    OpBuilder b(consumer);
    Operands from(kernelOf(producer)), to(kernelOf(consumer));
    // Those of the kernel that the other was written into come first.
    SmallVector<Value> ins[2], outs[2], scalars[2];
    SmallVector<Value> olds[2];
    auto collect = [&](graph::DispatchOp op, const Operands &operands, int side, int dropsInput,
                       int dropsResult) {
      for (auto [i, operand] : llvm::enumerate(op.getInputs()))
        if (int(i) != dropsInput)
          (i < operands.ins.size() ? ins : scalars)[side].push_back(operand);
      for (auto [i, out] : llvm::enumerate(op.getOuts()))
        if (int(i) != dropsResult) {
          outs[side].push_back(out);
          olds[side].push_back(op.getResult(i));
        }
    };
    int producerSide = fusion.follows ? 0 : 1;
    collect(producer, from, producerSide, -1, isOnlyUse ? int(result) : -1);
    collect(consumer, to, 1 - producerSide, int(input), -1);
    SmallVector<Value> inputs, destinations, results;
    for (auto *list : {&ins[0], &ins[1], &scalars[0], &scalars[1]})
      llvm::append_range(inputs, *list);
    for (auto *list : {&outs[0], &outs[1]})
      llvm::append_range(destinations, *list);
    for (auto *list : {&olds[0], &olds[1]})
      llvm::append_range(results, *list);
    auto fused = graph::DispatchOp::create(b, b.getFusedLoc({producer.getLoc(), consumer.getLoc()}),
                                           SmallVector<Type>(ValueRange(destinations).getTypes()),
                                           fusion.kernel.getSymName(), inputs, destinations);
    for (auto [old, now] : llvm::zip(results, fused.getResults())) {
      graph::keepValues(old, now);
      Value(old).replaceAllUsesWith(now);
    }
    // The configuration is that of the kernel that the other was written into, which stands first.
    llvm::SetVector<Attribute> configured;
    for (graph::DispatchOp op :
         {fusion.follows ? producer : consumer, fusion.follows ? consumer : producer})
      configured.insert_range(graph::configuredNames(op));
    fused->setAttr(graph::configuredName, b.getArrayAttr(configured.getArrayRef()));
    emitReport(consumer.getLoc())
        << (fusion.follows ? "fused into its producer, which stores the result of both"
                           : "fused with its producer, instead of what it loads");
    consumer.erase();
    producer.erase();
    return fused;
  }

  std::optional<SymbolTable> table;
  std::optional<graph::Decisions> decisions;
  bool mayRecompute = false; // the configuration wants the fusion that is tried
  /// The producer's kernel and result, the consumer's kernel and input, whether that is the only
  /// use, and whether the producer may be computed again.
  using FusionKey = std::tuple<StringAttr, unsigned, StringAttr, unsigned, unsigned, unsigned>;
  llvm::DenseMap<FusionKey, Fusion> fusions;
  llvm::DenseSet<std::pair<Operation *, Operation *>> reported;
};

} // namespace

} // namespace tw::tile
