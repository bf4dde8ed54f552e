// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-channels-last (Passes.td).
#include "Graph/ChannelsLast/ChannelOrder.h"
#include "Graph/ChannelsLast/PointwiseConvolutions.h"
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Coded.h"
#include "IR/Graph/Contraction.h"
#include "IR/Graph/Decisions.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_CHANNELSLAST
#include "Graph/Passes.h.inc"

namespace {

// An image as it comes has a channel or two, colours, or colours and how transparent it is. It is
// read plane by plane as it lies: a fact of what goes into models, not of a machine, for turning it
// would be another pass over it, after which a place has no more channels than that.
constexpr int64_t imageChannels = 4;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

class Turning {
public:
  Turning(func::FuncOp function, graph::Decisions &decisions)
      : function(function), decisions(decisions), b(function.getContext(), graph::valueKeeper()) {}

  void run() {
    SmallVector<Operation *> ops;
    bool hasConvolution = false;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      hasConvolution |= isa<graph::ConvOp>(op) || isFilterGradient(op);
      if (op == function.getOperation() || isa<scf::SCFDialect>(op->getDialect()))
        return WalkResult::advance();
      ops.push_back(op);
      return WalkResult::skip();
    });
    if (!hasConvolution)
      return;
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      visit(op);
    }
    dropReplaced();
  }

private:
  void visit(Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case([&](graph::ConvOp o) { visitConv(o); })
        .Case([&](linalg::LinalgOp o) { visitLinalg(o); })
        .Case([&](tensor::PadOp o) { visitPad(o); })
        .Case([&](tensor::ConcatOp o) { visitConcat(o); })
        .Case([&](tensor::ExtractSliceOp o) { visitSlice(o); })
        .Case([&](tensor::ExpandShapeOp o) { visitExpand(o); })
        .Case([&](tensor::CollapseShapeOp o) { visitCollapse(o); })
        .Case([&](tensor::CastOp o) { visitCast(o); });
  }

  //===--- what is reordered -----------------------------------------------------===//

  const ReorderedTensor *find(Value value) const {
    auto it = reordered.find(value);
    return it == reordered.end() ? nullptr : &it->second;
  }

  /// `value` is this from now on; the operation that computed it is dropped, where it can be.
  void replace(Operation *op, ArrayRef<ReorderedTensor> results) {
    for (auto [old, now] : llvm::zip_equal(op->getResults(), results)) {
      graph::keepValues(old, now.value, now.order.dims());
      if (now.order.isIdentity())
        old.replaceAllUsesWith(now.value);
      else
        reordered.insert({old, now});
    }
    replaced.push_back(op);
  }

  /// A tensor of the graph in this order, reordered where it is made if it has not been.
  Value inOrder(Value value, const ChannelOrder &order, StringRef why) {
    if (order.isIdentity())
      return value;
    const ReorderedTensor *known = find(value);
    if (known && known->order == order)
      return known->value;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(value);
    Value made = toOrder(b, value.getLoc(), value, order);
    if (!known)
      reordered.insert({value, {made, order}});
    emitReport(value.getLoc()) << "transposed for " << why;
    return made;
  }

  void dropReplaced() {
    for (Operation *op : llvm::reverse(replaced)) {
      for (Value result : op->getResults()) {
        const ReorderedTensor *now = result.use_empty() ? nullptr : find(result);
        if (!now)
          continue;
        b.setInsertionPointAfterValue(now->value);
        StringRef reader = result.getUsers().begin()->getName().getStringRef();
        emitReport(op->getLoc()) << "transposed back: " << reader << " reads it channels first";
        Value back = toGraphOrder(b, op->getLoc(), *now);
        graph::keepValues(result, back);
        result.replaceAllUsesWith(back);
      }
      op->erase();
    }
  }

  /// What an operation begins with, in this order.
  Value initInOrder(Value init, const ChannelOrder &order, bool isRead) {
    if (order.isIdentity())
      return init;
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (isRead && !fill)
      return inOrder(init, order, "what is added to it");
    SmallVector<OpFoldResult> sizes = order.apply<OpFoldResult>(resolvedSizes(init, b));
    Type element = typeOf(init).getElementType();
    Value empty = tensor::EmptyOp::create(b, init.getLoc(), sizes, element);
    return fill ? linalg::FillOp::create(b, fill.getLoc(), fill.getInputs(), empty).getResult(0)
                : empty;
  }

  //===--- convolutions -------------------------------------------------------===//

  void visitConv(graph::ConvOp op) {
    if (op.isResultLast())
      return;
    if (!isWanted(op)) {
      if (isPointwise(op))
        multiplyFirst(op);
      return;
    }
    Value input = op.getInput();
    auto order = ChannelOrder::ofImages(typeOf(input).getRank());
    int64_t channels = typeOf(input).getDimSize(1);
    bool readsFirst = !find(input) && channels > 0 && channels <= imageChannels &&
                      op.getGroups() == 1 && !op.getTransposed();
    if (!readsFirst)
      input = inOrder(input, order, "a convolution");
    SmallVector<int64_t> padding(op.getPaddingLow());
    if (readsFirst && !isPointwise(op))
      input = padImage(op, input, padding);
    Value weight = weightOf(op), init = initInOrder(op.getInit(), order, true), result;
    if (isPointwise(op)) {
      result = multiplyChannelsLast(b, op, input, weight, init, readsFirst);
      emitReport(op.getLoc()) << "a convolution of single elements runs as a product";
    } else {
      auto layout =
          readsFirst ? graph::ConvLayout::ToChannelsLast : graph::ConvLayout::ChannelsLast;
      result = graph::ConvOp::create(b, op.getLoc(), init.getType(), input, weight, init,
                                     op.getStrides(), padding, op.getDilations(), op.getGroups(),
                                     op.getTransposed(), layout);
      emitReport(op.getLoc()) << "a convolution runs with channels last"
                              << (readsFirst ? ", and reads few channels as they are" : "");
    }
    replace(op, {{result, order}});
  }

  /// `image`, as large as all windows, with zeros around it, which `padding` says no longer then:
  /// its few channels are soon copied, and no window has to be looked at. As it is where its size
  /// is known only at the call.
  Value padImage(graph::ConvOp op, Value image, SmallVectorImpl<int64_t> &padding) {
    RankedTensorType type = typeOf(image), output = typeOf(op.getResult());
    SmallVector<int64_t> shape(type.getShape()), low(shape.size(), 0), high(shape.size(), 0);
    for (int64_t spatial = 0; spatial < op.getSpatialRank(); ++spatial) {
      int64_t dim = spatial + 2, window = typeOf(op.getWeight()).getDimSize(dim);
      if (type.isDynamicDim(unsigned(dim)) || output.isDynamicDim(unsigned(dim)) || window < 0)
        return image;
      int64_t last = (output.getDimSize(dim) - 1) * op.getStrides()[spatial] +
                     (window - 1) * op.getDilations()[spatial] - padding[spatial];
      low[dim] = padding[spatial];
      high[dim] = std::max<int64_t>(0, last + 1 - shape[dim]);
      shape[dim] += low[dim] + high[dim];
    }
    if (shape == type.getShape())
      return image;
    padding.assign(padding.size(), 0);
    Value zero = arith::ConstantOp::create(b, op.getLoc(), b.getZeroAttr(type.getElementType()));
    return tensor::PadOp::create(b, op.getLoc(), type.clone(shape), image,
                                 getAsIndexOpFoldResult(b.getContext(), low),
                                 getAsIndexOpFoldResult(b.getContext(), high), zero);
  }

  void multiplyFirst(graph::ConvOp op) {
    Value result = multiplyChannelsFirst(b, op);
    emitReport(op.getLoc()) << "a convolution of single elements runs as a product, with channels "
                               "first";
    graph::keepValues(op.getResult(), result);
    b.replaceOp(op, result);
  }

  /// Whether a convolution runs with channels last, as a configuration says, or as it pays.
  bool isWanted(graph::ConvOp op) {
    constexpr auto kind = graph::DecisionKind::ChannelsLast;
    auto wanted = decisions.wanted(kind, op.getLoc());
    bool isTaken = wanted.value_or(!(!find(op.getInput()) && isBetterFirst(op)));
    decisions.note(kind, op.getLoc(), isTaken,
                   wanted ? graph::unwanted
                          : "a product, and what is around it has channels first");
    return isTaken;
  }

  /// [window..., C / groups, O].
  Value weightOf(graph::ConvOp op) {
    Value weight = op.getWeight();
    int64_t rank = typeOf(weight).getRank(), groups = op.getGroups();
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(2, rank));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(weight);
    if (!op.getTransposed() || groups == 1) {
      permutation.append(op.getTransposed() ? std::initializer_list<int64_t>{0, 1}
                                            : std::initializer_list<int64_t>{1, 0});
      if (auto stored = weight.getDefiningOp<graph::WeightOp>())
        return permuted(stored, permutation);
      return reorder(b, op.getLoc(), weight, permutation);
    }
    // [groups * C, O, window...]
    SmallVector<ReassociationIndices> cut = {{0, 1}}, joined;
    SmallVector<OpFoldResult> sizes = resolvedSizes(weight, b);
    Value inputs = getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[0]);
    Value count = arith::ConstantIndexOp::create(b, op.getLoc(), groups);
    int64_t inputCount = typeOf(weight).getDimSize(0);
    SmallVector<int64_t> shape = {groups, inputCount < 0 ? inputCount : inputCount / groups};
    OpFoldResult each =
        inputCount < 0
            ? OpFoldResult(arith::DivUIOp::create(b, op.getLoc(), inputs, count).getResult())
            : b.getIndexAttr(shape[1]);
    SmallVector<OpFoldResult> cutSizes = {b.getIndexAttr(groups), each};
    for (int64_t dim = 1; dim < rank; ++dim) {
      cut.push_back({dim + 1});
      cutSizes.push_back(sizes[dim]);
      shape.push_back(typeOf(weight).getDimSize(dim));
    }
    Value parts = tensor::ExpandShapeOp::create(b, op.getLoc(), typeOf(weight).clone(shape), weight,
                                                cut, cutSizes);
    SmallVector<int64_t> reorderedParts = llvm::to_vector(llvm::seq<int64_t>(3, rank + 1));
    reorderedParts.append({1, 0, 2});
    Value reorderedWeight = reorder(b, op.getLoc(), parts, reorderedParts);
    for (int64_t dim = 0; dim < rank - 1; ++dim)
      joined.push_back({dim});
    joined.push_back({rank - 1, rank});
    return tensor::CollapseShapeOp::create(b, op.getLoc(), reorderedWeight, joined);
  }

  /// The same bytes with dimensions in another order.
  Value permuted(graph::WeightOp weight, ArrayRef<int64_t> order) {
    graph::WeightAttr source = weight.getSource();
    SmallVector<int64_t> sizes, strides;
    for (int64_t dim : order) {
      sizes.push_back(typeOf(weight).getDimSize(dim));
      strides.push_back(source.getStrides()[dim]);
    }
    return graph::WeightOp::create(
        b, weight.getLoc(), typeOf(weight).clone(sizes),
        graph::WeightAttr::get(b.getContext(), source.getName(), source.getFile(),
                               source.getOffset(), source.getBytes(), source.getStart(), strides));
  }

  //===--- loops --------------------------------------------------------------===//

  /// The loops of an operation that run along channels of what it reads; empty where it reads
  /// nothing that has been reordered.
  llvm::SmallBitVector channelLoops(linalg::LinalgOp op) {
    llvm::SmallBitVector loops(op.getNumLoops());
    bool found = false;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      const ReorderedTensor *source = find(operand->get());
      if (!source)
        continue;
      found = true;
      AffineMap map = op.getMatchingIndexingMap(operand);
      for (unsigned axis : source->order.channels().set_bits())
        for (unsigned loop = 0; loop < loops.size(); ++loop)
          if (map.getResult(axis).isFunctionOfDim(loop))
            loops.set(loop);
    }
    op->walk([&](tensor::ExtractOp look) {
      const ReorderedTensor *source = find(look.getTensor());
      if (!source)
        return;
      found = true;
      for (unsigned axis : source->order.channels().set_bits())
        if (auto index = look.getIndices()[axis].getDefiningOp<linalg::IndexOp>())
          loops.set(unsigned(index.getDim()));
    });
    return found ? loops : llvm::SmallBitVector();
  }

  static bool isFilterGradient(Operation *op) {
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    return linalg && graph::sumsOverWindows(linalg);
  }

  /// What a filter's gradient is made of: rows and columns, which are channels, last. Few channels
  /// are read as they are.
  void turnOperands(linalg::LinalgOp op) {
    auto iterators = op.getIteratorTypesArray();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      if (find(operand->get()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(operand);
      llvm::SmallBitVector channels(map.getNumResults());
      int64_t count = 1;
      for (auto [axis, position] : llvm::enumerate(map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(position);
            dim && iterators[dim.getPosition()] == utils::IteratorType::parallel) {
          channels.set(unsigned(axis));
          count *= typeOf(operand->get()).getDimSize(unsigned(axis));
        }
      if (count < 0 || count > imageChannels)
        inOrder(operand->get(), ChannelOrder(channels), "the gradient of a filter");
    }
  }

  void visitLinalg(linalg::LinalgOp op) {
    if (isFilterGradient(op) &&
        decisions.wanted(graph::DecisionKind::ChannelsLast, op.getLoc()).value_or(true))
      turnOperands(op);
    llvm::SmallBitVector loops = channelLoops(op);
    if (loops.empty())
      return;
    FailureOr<linalg::GenericOp> general = linalg::generalizeNamedOp(b, op);
    auto generic = succeeded(general) ? *general : dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic)
      return;
    b.setInsertionPoint(generic);
    SmallVector<ChannelOrder> orders;
    for (OpOperand &init : generic.getDpsInitsMutable()) {
      AffineMap map = generic.getMatchingIndexingMap(&init);
      llvm::SmallBitVector channels(map.getNumResults());
      for (auto [axis, expr] : llvm::enumerate(map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          channels[unsigned(axis)] = loops.test(dim.getPosition());
      orders.emplace_back(channels);
    }
    if (isCopy(generic, orders[0]))
      return replace(generic, {{find(generic.getInputs()[0])->value, orders[0]}});
    writeAgain(generic, orders);
  }

  /// Whether all it would do is to copy what has been reordered already.
  bool isCopy(linalg::GenericOp op, const ChannelOrder &order) {
    Operation &first = op.getBody()->front();
    const ReorderedTensor *source = op.getNumDpsInputs() == 1 ? find(op.getInputs()[0]) : nullptr;
    if (!source || !isa<linalg::YieldOp>(first) || first.getNumOperands() != 1 ||
        first.getOperand(0) != op.getBody()->getArgument(0))
      return false;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    return maps[0].isPermutation() && source->order.apply(maps[0]) == order.apply(maps[1]);
  }

  void writeAgain(linalg::GenericOp op, ArrayRef<ChannelOrder> orders) {
    SmallVector<Value> inputs, inits;
    SmallVector<AffineMap> maps;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      const ReorderedTensor *source = find(operand->get());
      AffineMap map = op.getMatchingIndexingMap(operand);
      inputs.push_back(source ? source->value : operand->get());
      maps.push_back(source ? source->order.apply(map) : map);
    }
    for (auto [init, order] : llvm::zip_equal(op.getDpsInitsMutable(), orders)) {
      inits.push_back(initInOrder(init.get(), order, op.payloadUsesValueFromOperand(&init)));
      maps.push_back(order.apply(op.getMatchingIndexingMap(&init)));
    }
    auto made = linalg::GenericOp::create(b, op.getLoc(), TypeRange(ValueRange(inits)), inputs,
                                          inits, maps, op.getIteratorTypesArray());
    made.getRegion().takeBody(op.getRegion());
    made.walk([&](Operation *inner) { readReordered(inner); });
    made = inOrderOfResult(made, maps[op.getNumDpsInputs()]);
    SmallVector<ReorderedTensor> results;
    for (auto [result, order] : llvm::zip_equal(made.getResults(), orders))
      results.push_back({result, order});
    replace(op, results);
  }

  /// Elements and sizes of a reordered tensor that a body asks for.
  void readReordered(Operation *op) {
    if (auto look = dyn_cast<tensor::ExtractOp>(op)) {
      if (const ReorderedTensor *source = find(look.getTensor())) {
        auto indices = source->order.apply<Value>(llvm::to_vector(look.getIndices()));
        look.getTensorMutable().assign(source->value);
        look.getIndicesMutable().assign(indices);
      }
    } else if (auto size = dyn_cast<tensor::DimOp>(op)) {
      const ReorderedTensor *source = find(size.getSource());
      auto dim = size.getConstantIndex();
      if (!source || !dim)
        return;
      auto place = llvm::find(source->order.dims(), *dim) - source->order.dims().begin();
      OpBuilder inner(op);
      size.getSourceMutable().assign(source->value);
      size.getIndexMutable().assign(arith::ConstantIndexOp::create(inner, op->getLoc(), place));
    }
  }

  /// With the loops along the result outermost, in its order.
  linalg::GenericOp inOrderOfResult(linalg::GenericOp op, AffineMap result) {
    SmallVector<unsigned> loops;
    for (AffineExpr expr : result.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && !llvm::is_contained(loops, dim.getPosition()))
        loops.push_back(dim.getPosition());
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (!llvm::is_contained(loops, loop))
        loops.push_back(loop);
    FailureOr<linalg::GenericOp> sorted = linalg::interchangeGenericOp(b, op, loops);
    return succeeded(sorted) ? *sorted : op;
  }

  //===--- movement -----------------------------------------------------------===//

  void visitPad(tensor::PadOp op) {
    const ReorderedTensor *source = find(op.getSource());
    Value number = op.getConstantPaddingValue();
    if (!source || !number)
      return;
    auto made =
        tensor::PadOp::create(b, op.getLoc(), source->order.apply(op.getResultType()),
                              source->value, source->order.apply<OpFoldResult>(op.getMixedLowPad()),
                              source->order.apply<OpFoldResult>(op.getMixedHighPad()), number);
    replace(op, {{made, source->order}});
  }

  /// Follows the greater part of the operands.
  void visitConcat(tensor::ConcatOp op) {
    const ReorderedTensor *first = nullptr;
    size_t count = 0;
    for (Value input : op.getInputs())
      if (const ReorderedTensor *source = find(input)) {
        first = first ? first : source;
        count += source->order == first->order;
      }
    if (!first || 2 * count < op.getInputs().size())
      return;
    ChannelOrder order = first->order;
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(inOrder(input, order, "a concatenation"));
    auto dim = llvm::find(order.dims(), int64_t(op.getDim())) - order.dims().begin();
    replace(op, {{tensor::ConcatOp::create(b, op.getLoc(), order.apply(op.getResultType()),
                                           b.getI64IntegerAttr(dim), inputs),
                  order}});
  }

  void visitSlice(tensor::ExtractSliceOp op) {
    const ReorderedTensor *source = find(op.getSource());
    if (!source || op.getType().getRank() != op.getSourceType().getRank())
      return;
    const ChannelOrder &order = source->order;
    auto made =
        tensor::ExtractSliceOp::create(b, op.getLoc(), order.apply(op.getType()), source->value,
                                       order.apply<OpFoldResult>(op.getMixedOffsets()),
                                       order.apply<OpFoldResult>(op.getMixedSizes()),
                                       order.apply<OpFoldResult>(op.getMixedStrides()));
    replace(op, {{made, order}});
  }

  void visitExpand(tensor::ExpandShapeOp op) {
    const ReorderedTensor *source = find(op.getSrc());
    if (!source)
      return;
    llvm::SmallBitVector channels(op.getResultType().getRank());
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices(), cut;
    for (unsigned dim : source->order.channels().set_bits())
      for (int64_t part : groups[dim])
        channels.set(unsigned(part));
    ChannelOrder order(channels);
    int64_t next = 0;
    for (int64_t dim : source->order.dims()) {
      cut.emplace_back();
      for (size_t part = 0; part < groups[dim].size(); ++part)
        cut.back().push_back(next++);
    }
    auto made = tensor::ExpandShapeOp::create(b, op.getLoc(), order.apply(op.getResultType()),
                                              source->value, cut,
                                              order.apply<OpFoldResult>(op.getMixedOutputShape()));
    replace(op, {{made, order}});
  }

  void visitCollapse(tensor::CollapseShapeOp op) {
    const ReorderedTensor *source = find(op.getSrc());
    if (!source)
      return;
    RankedTensorType type = op.getSrcType();
    ArrayRef<int64_t> dims = source->order.dims();
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices(), joined;
    llvm::SmallBitVector channels(groups.size());
    SmallVector<std::pair<int64_t, size_t>> places; // where a group is, its number
    for (auto [number, group] : llvm::enumerate(groups)) {
      SmallVector<int64_t> at,
          moving; // of all its dimensions; of those that are not 1, as they lie
      for (auto [place, dim] : llvm::enumerate(dims))
        if (llvm::is_contained(group, dim)) {
          at.push_back(int64_t(place));
          if (type.getDimSize(dim) != 1)
            moving.push_back(dim);
        }
      if (at.empty() || at.back() - at.front() + 1 != int64_t(at.size()) ||
          !llvm::is_sorted(moving))
        return;
      channels[unsigned(number)] =
          source->order.channels().test(unsigned(moving.empty() ? group.front() : moving.front()));
      places.push_back({at.front(), number});
    }
    ChannelOrder order(channels);
    llvm::sort(places);
    for (auto [i, place] : llvm::enumerate(places)) {
      if (order.dims()[i] != int64_t(place.second))
        return;
      joined.emplace_back();
      for (size_t part = 0; part < groups[place.second].size(); ++part)
        joined.back().push_back(place.first + int64_t(part));
    }
    auto made = tensor::CollapseShapeOp::create(b, op.getLoc(), order.apply(op.getResultType()),
                                                source->value, joined);
    replace(op, {{made, order}});
  }

  void visitCast(tensor::CastOp op) {
    const ReorderedTensor *source = find(op.getSource());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!source || !type)
      return;
    replace(op, {{tensor::CastOp::create(b, op.getLoc(), source->order.apply(type), source->value),
                  source->order}});
  }

  func::FuncOp function;
  graph::Decisions &decisions;
  IRRewriter b;
  DenseMap<Value, ReorderedTensor> reordered;
  SmallVector<Operation *> replaced; // in order
};

struct ChannelsLast : impl::ChannelsLastBase<ChannelsLast> {
  void runOnOperation() override {
    graph::Decisions decisions(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        Turning(function, decisions).run();
    decisions.store();
  }
};

} // namespace

} // namespace tw
