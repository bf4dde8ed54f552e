// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Padding: with a value, or with what a rule about positions (reflect, replicate, circular) finds
// inside. A negative padding takes elements away.
#include "TorchToGraph/Movement/Pad.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

using SizeList = SmallVector<OpFoldResult>;

Paddings readPaddings(Lowering &ctx, StringRef argument, int64_t rank) {
  SizeList given = ctx.sizes(argument);
  Paddings result{SizeList(rank, ctx.b.getIndexAttr(0)), SizeList(rank, ctx.b.getIndexAttr(0))};
  if (given.size() % 2 || int64_t(given.size()) > 2 * rank) {
    ctx.refuse(fmt::format("{} {} not fit a tensor of {}: each has two",
                           counted(given.size(), "padding"), oneOrMany(given.size(), "does", "do"),
                           counted(rank, "dimension")));
    return result;
  }
  result.first = rank - int64_t(given.size() / 2);
  for (size_t i = 0; i < given.size(); i += 2) {
    result.low[rank - 1 - i / 2] = given[i];
    result.high[rank - 1 - i / 2] = given[i + 1];
  }
  return result;
}

SizeList paddedSizes(Lowering &ctx, const Tensor &self, const Paddings &paddings) {
  IndexMath math{ctx.b, ctx.loc};
  SizeList sizes = ctx.sizesOf(self);
  for (auto [size, low, high] : llvm::zip_equal(sizes, paddings.low, paddings.high))
    size = math.add(math.add(size, low), high);
  requireSizes(ctx, sizes);
  return sizes;
}

//===----------------------------------------------------------------------===//
// With a value
//===----------------------------------------------------------------------===//

/// Takes away what negative paddings say, and makes them 0.
static Tensor crop(Lowering &ctx, Tensor tensor, Paddings &paddings) {
  IndexMath math{ctx.b, ctx.loc};
  OpFoldResult zero = math.constant(0);
  for (int64_t dim = paddings.first; dim < tensor.rank(); ++dim) {
    OpFoldResult &low = paddings.low[dim], &high = paddings.high[dim];
    OpFoldResult before = greater(ctx, math.sub(zero, low), zero);
    OpFoldResult after = greater(ctx, math.sub(zero, high), zero);
    OpFoldResult size = ctx.sizeOf(tensor, dim), taken = math.add(before, after);
    requireAtMost(ctx, taken, size, "paddings take away %lld elements of a dimension of size %lld");
    tensor = slice(ctx, tensor, dim, before, math.sub(size, taken));
    low = greater(ctx, low, zero), high = greater(ctx, high, zero);
  }
  return tensor;
}

static LogicalResult padValue(Lowering &ctx, StringRef argument) {
  Tensor self = ctx.tensor("self");
  Paddings paddings = readPaddings(ctx, argument, self.rank());
  Scalar value = ctx.scalar("value");
  if (ctx.hasRefused())
    return failure();
  paddedSizes(ctx, self, paddings); // for its checks
  if (ctx.hasRefused())
    return failure();
  Tensor cropped = crop(ctx, self, paddings);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(pad(ctx, cropped, paddings.low, paddings.high, value));
}

static LogicalResult lowerConstantPad(Lowering &ctx) { return padValue(ctx, "pad"); }

//===----------------------------------------------------------------------===//
// With elements of the tensor
//===----------------------------------------------------------------------===//

namespace {

/// Arithmetic on index values in a body.
struct Positions {
  OpBuilder &b;
  Location loc;

  Value add(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) const { return arith::MaxSIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) const { return arith::MinSIOp::create(b, loc, x, y); }
  Value constant(int64_t x) const { return arith::ConstantIndexOp::create(b, loc, x); }
  Value ifLess(Value x, Value y, Value then, Value otherwise) const {
    Value less = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
    return arith::SelectOp::create(b, loc, less, then, otherwise);
  }
};

} // namespace

Value sourcePosition(OpBuilder &b, Location loc, PadMode mode, Value x, Value size) {
  Positions p{b, loc};
  Value zero = p.constant(0), last = p.sub(size, p.constant(1));
  if (mode == PadMode::Reflect) {
    x = p.max(x, p.sub(zero, x));
    x = p.min(x, p.sub(p.add(last, last), x));
  } else if (mode == PadMode::Circular) {
    x = p.ifLess(x, zero, p.add(x, size), x);
    x = p.ifLess(x, size, x, p.sub(x, size));
  }
  return p.max(p.min(x, last), zero);
}

void checkPaddings(Lowering &ctx, PadMode mode, ArrayRef<OpFoldResult> sizes,
                   const Paddings &paddings) {
  IndexMath math{ctx.b, ctx.loc};
  for (int64_t dim = paddings.first; dim < int64_t(sizes.size()); ++dim) {
    bool padded = constantOf(paddings.low[dim]) != 0 || constantOf(paddings.high[dim]) != 0;
    if (!padded)
      continue;
    requireAtMost(ctx, math.constant(1), sizes[dim],
                  "a dimension must have at least %lld elements to be padded, not %lld");
    if (mode == PadMode::Replicate)
      continue;
    OpFoldResult most = mode == PadMode::Reflect ? math.sub(sizes[dim], math.constant(1))
                                                 : OpFoldResult(sizes[dim]);
    for (OpFoldResult padding : {paddings.low[dim], paddings.high[dim]})
      requireAtMost(ctx, padding, most, "a padding of %lld is more than the %lld possible here");
  }
}

static LogicalResult padFromInside(Lowering &ctx, PadMode mode, StringRef argument) {
  Tensor self = ctx.tensor("self");
  Paddings paddings = readPaddings(ctx, argument, self.rank());
  if (ctx.hasRefused())
    return failure();
  SizeList sizes = ctx.sizesOf(self), padded = paddedSizes(ctx, self, paddings);
  checkPaddings(ctx, mode, sizes, paddings);
  if (ctx.hasRefused())
    return failure();
  IndexMath math{ctx.b, ctx.loc};
  SmallVector<Value> lows, bounds;
  for (auto [low, size] : llvm::zip_equal(paddings.low, sizes)) {
    lows.push_back(math.value(low));
    bounds.push_back(math.value(size));
  }
  return ctx.done(
      gather(ctx, agreedSizes(ctx, padded), self.dtype, {}, [&](GatherBody &body, ValueRange) {
        SmallVector<Value> coordinates;
        for (int64_t dim = 0; dim < self.rank(); ++dim) {
          Value x = body.position(dim);
          if (dim >= paddings.first)
            x = sourcePosition(body.b, body.loc, mode,
                               arith::SubIOp::create(body.b, body.loc, x, lows[dim]), bounds[dim]);
          coordinates.push_back(x);
        }
        return body.read(self, coordinates);
      }));
}

template <PadMode mode>
static LogicalResult lowerPadding(Lowering &ctx) {
  return padFromInside(ctx, mode, "padding");
}

static LogicalResult lowerPadCircular(Lowering &ctx) {
  return padFromInside(ctx, PadMode::Circular, "pad");
}

static LogicalResult lowerPad(Lowering &ctx) {
  std::string mode = ctx.has("mode") ? ctx.string("mode") : std::string("constant");
  if (mode == "constant")
    return padValue(ctx, "pad");
  if (mode == "reflect")
    return padFromInside(ctx, PadMode::Reflect, "pad");
  if (mode == "replicate")
    return padFromInside(ctx, PadMode::Replicate, "pad");
  if (mode == "circular")
    return padFromInside(ctx, PadMode::Circular, "pad");
  return ctx.refuse("the mode must be constant, reflect, replicate or circular, not " + mode);
}

static LogicalResult lowerPadEnum(Lowering &ctx) {
  int64_t mode = ctx.integer("mode");
  if (mode < 0 || mode > 3)
    return ctx.refuse(fmt::format("the mode must be between 0 and 3, not {}", mode));
  return mode == 3 ? padValue(ctx, "pad") : padFromInside(ctx, PadMode(mode), "pad");
}

Family padFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.constant_pad_nd", lowerConstantPad},
      {"torch.aten.pad", lowerPad},
      {"torch.aten._pad_enum", lowerPadEnum},
      {"torch.aten._pad_circular", lowerPadCircular},
      {"torch.aten.reflection_pad1d", lowerPadding<PadMode::Reflect>},
      {"torch.aten.reflection_pad2d", lowerPadding<PadMode::Reflect>},
      {"torch.aten.reflection_pad3d", lowerPadding<PadMode::Reflect>},
      {"torch.aten.replication_pad1d", lowerPadding<PadMode::Replicate>},
      {"torch.aten.replication_pad2d", lowerPadding<PadMode::Replicate>},
      {"torch.aten.replication_pad3d", lowerPadding<PadMode::Replicate>},
  };
  return {"Padding", rows};
}

} // namespace tw::lower
