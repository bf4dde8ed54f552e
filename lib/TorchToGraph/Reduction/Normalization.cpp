// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layer, group, batch, instance and RMS normalisation and their gradients. All are: statistics over
// some dimensions (two passes, in the accumulation dtype), then one elementwise op.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <limits>

using namespace mlir;

namespace tw::lower {
namespace {

/// Mean and 1 / sqrt(variance + eps) over `dims`, which stay with size 1, in opmath of the dtype.
struct Statistics {
  Tensor mean, rstd, variance; // variance: the biased one
};

/// Batch statistics are summed in double, as PyTorch does on the CPU: they go over whole batches,
/// and gradients depend on them much.
constexpr DType batchSums = DType::F64;

Statistics statistics(Lowering &ctx, const Tensor &x, ArrayRef<int64_t> dims, double eps,
                      std::optional<DType> accumulate = std::nullopt) {
  ReduceSpace space{x, SmallVector<int64_t>(dims), true};
  Tensor mean = reduceMean(ctx, space, accumulate);
  Tensor squares = reduceSquares(ctx, space, mean, accumulate);
  Scalar count{Scalar::Kind::Int, reducedCount(ctx, space)};
  Tensor variance = pointwise(
      ctx, {squares, count}, mean.dtype, [](Element &e, ValueRange x) { return e.div(x[0], x[1]); },
      squares.dtype);
  Tensor rstd = pointwise(ctx, {variance}, mean.dtype, [&](Element &e, ValueRange x) {
    return e.rsqrt(e.add(x[0], e.constant(eps)));
  });
  return {mean, rstd, variance};
}

/// (x - mean) * rstd * weight + bias, rounded once; weight and bias may be missing.
Tensor normalize(Lowering &ctx, const Tensor &x, const Tensor &mean, const Tensor &rstd,
                 std::optional<Tensor> weight, std::optional<Tensor> bias, DType result) {
  SmallVector<Operand> inputs = {x, mean, rstd};
  if (weight)
    inputs.push_back(*weight);
  if (bias)
    inputs.push_back(*bias);
  return pointwise(
      ctx, inputs, result,
      [&](Element &e, ValueRange v) {
        Value y = e.mul(e.sub(v[0], v[1]), v[2]);
        if (weight)
          y = e.mul(y, v[3]);
        return bias ? e.add(y, v.back()) : y;
      },
      opmath(x.dtype));
}

/// A per-channel tensor [C] with `count` dimensions of size 1 after it.
Tensor perChannel(Lowering &ctx, Tensor tensor, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    tensor = unsqueeze(ctx, tensor, tensor.rank());
  return tensor;
}
std::optional<Tensor> perChannel(Lowering &ctx, std::optional<Tensor> tensor, int64_t count) {
  return tensor ? std::optional(perChannel(ctx, *tensor, count)) : std::nullopt;
}

Tensor multiply(Lowering &ctx, const Tensor &a, const Tensor &b, DType dtype) {
  return pointwise(
      ctx, {a, b}, dtype, [](Element &e, ValueRange x) { return e.mul(x[0], x[1]); }, dtype);
}

/// rstd * (g - mean(g) - xhat * mean(g * xhat)), means over `dims`: the gradient with respect to
/// the input of xhat = (x - mean) * rstd, given that with respect to xhat.
Tensor inputGradient(Lowering &ctx, const Tensor &g, const Tensor &xhat, const Tensor &rstd,
                     ArrayRef<int64_t> dims, DType result,
                     std::optional<DType> accumulate = std::nullopt) {
  ReduceSpace plain{g, SmallVector<int64_t>(dims), true};
  Tensor meanG = reduceMean(ctx, plain, accumulate);
  Tensor product = multiply(ctx, g, xhat, g.dtype);
  Tensor meanProduct = reduceMean(ctx, {product, SmallVector<int64_t>(dims), true}, accumulate);
  return pointwise(
      ctx, {g, meanG, xhat, meanProduct, rstd}, result,
      [](Element &e, ValueRange x) {
        return e.mul(x[4], e.sub(e.sub(x[0], x[1]), e.mul(x[2], x[3])));
      },
      g.dtype);
}

/// (x - mean) * rstd in opmath.
Tensor standardized(Lowering &ctx, const Tensor &x, const Tensor &mean, const Tensor &rstd) {
  return normalize(ctx, x, mean, rstd, std::nullopt, std::nullopt, opmath(x.dtype));
}

SmallVector<int64_t> range(int64_t from, int64_t to) {
  return llvm::to_vector(llvm::seq<int64_t>(from, to));
}

// -- Layer and RMS normalisation: over the last dimensions.

/// The first normalised dimension.
int64_t firstNormalized(Lowering &ctx, const Tensor &x) {
  int64_t count = ctx.sizes("normalized_shape").size();
  if (count < 1 || count > x.rank()) {
    (void)ctx.refuse("normalized_shape has " + counted(count, "dimension") + ", the input " +
                     Twine(x.rank()));
    return 0;
  }
  return x.rank() - count;
}

LogicalResult lowerLayerNorm(Lowering &ctx) {
  Tensor x = ctx.tensor("input");
  if (ctx.hasRefused())
    return failure();
  int64_t first = firstNormalized(ctx, x);
  if (ctx.hasRefused())
    return failure();
  Statistics s = statistics(ctx, x, range(first, x.rank()), ctx.number("eps"));
  Tensor y = normalize(ctx, x, s.mean, s.rstd, ctx.optTensor("weight"), ctx.optTensor("bias"),
                       ctx.resultDType());
  if (ctx.op->getNumResults() == 1)
    return ctx.done(y);
  return ctx.done(
      {y, castTo(ctx, s.mean, ctx.resultDType(1)), castTo(ctx, s.rstd, ctx.resultDType(2))});
}

LogicalResult lowerLayerNormBackward(Lowering &ctx) {
  Tensor go = ctx.tensor("grad_out"), x = ctx.tensor("input"), mean = ctx.tensor("mean"),
         rstd = ctx.tensor("rstd");
  SmallVector<int64_t> mask = ctx.integers("output_mask");
  if (ctx.hasRefused())
    return failure();
  int64_t first = firstNormalized(ctx, x);
  DType dtype = opmath(x.dtype);
  Tensor xhat = standardized(ctx, x, mean, rstd);
  std::optional<Tensor> weight = ctx.optTensor("weight");
  SmallVector<Operand> results(3);
  if (mask[0]) {
    Tensor g = weight ? multiply(ctx, go, *weight, dtype) : castTo(ctx, go, dtype);
    results[0] =
        inputGradient(ctx, g, xhat, castTo(ctx, rstd, dtype), range(first, x.rank()), x.dtype);
  }
  if (mask[1] && weight) {
    Tensor product = multiply(ctx, go, xhat, dtype);
    results[1] = castTo(ctx, reduceSum(ctx, {product, range(0, first)}, dtype), weight->dtype);
  }
  if (std::optional<Tensor> bias = ctx.optTensor("bias"); mask[2] && bias)
    results[2] = castTo(ctx, reduceSum(ctx, {go, range(0, first)}, dtype), bias->dtype);
  return ctx.done(results);
}

/// The eps that stands for None: the distance from 1 to the next number of the opmath dtype.
double epsilon(DType dtype) {
  return dtype == DType::F64 ? std::numeric_limits<double>::epsilon()
                             : std::numeric_limits<float>::epsilon();
}

LogicalResult lowerRmsNorm(Lowering &ctx) {
  Tensor x = ctx.tensor("input");
  if (ctx.hasRefused())
    return failure();
  int64_t first = firstNormalized(ctx, x);
  if (ctx.hasRefused())
    return failure();
  double eps = ctx.number("eps", epsilon(x.dtype));
  DType dtype = opmath(x.dtype);
  ReduceSpace space{x, range(first, x.rank()), true};
  Tensor squares = reduce(
      ctx, space, dtype, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange v) { return e.add(v[0], e.mul(v[1], v[1])); });
  Scalar count{Scalar::Kind::Int, reducedCount(ctx, space)};
  Tensor rstd = pointwise(ctx, {squares, count}, dtype, [&](Element &e, ValueRange v) {
    return e.rsqrt(e.add(e.div(v[0], v[1]), e.constant(eps)));
  });
  SmallVector<Operand> inputs = {x, rstd};
  if (auto weight = ctx.optTensor("weight"))
    inputs.push_back(*weight);
  Tensor y = pointwise(
      ctx, inputs, ctx.resultDType(),
      [&](Element &e, ValueRange v) {
        Value scaled = e.mul(v[0], v[1]);
        return v.size() > 2 ? e.mul(scaled, v[2]) : scaled;
      },
      dtype);
  if (ctx.op->getNumResults() == 1)
    return ctx.done(y);
  return ctx.done({y, castTo(ctx, rstd, ctx.resultDType(1))});
}

/// With xhat = x rstd: dx = rstd (g - xhat mean(g xhat)), dweight = sum(go xhat).
LogicalResult lowerRmsNormBackward(Lowering &ctx) {
  Tensor go = ctx.tensor("grad_out"), x = ctx.tensor("input"), rstd = ctx.tensor("rstd");
  SmallVector<int64_t> mask = ctx.integers("output_mask");
  if (ctx.hasRefused())
    return failure();
  int64_t first = firstNormalized(ctx, x);
  DType dtype = opmath(x.dtype);
  Tensor xhat = multiply(ctx, x, rstd, dtype);
  std::optional<Tensor> weight = ctx.optTensor("weight");
  SmallVector<Operand> results(2);
  if (mask[0]) {
    Tensor g = weight ? multiply(ctx, go, *weight, dtype) : castTo(ctx, go, dtype);
    Tensor mean = reduceMean(ctx, {multiply(ctx, g, xhat, dtype), range(first, x.rank()), true});
    results[0] = pointwise(
        ctx, {g, xhat, mean, rstd}, x.dtype,
        [](Element &e, ValueRange v) { return e.mul(v[3], e.sub(v[0], e.mul(v[1], v[2]))); },
        dtype);
  }
  if (mask[1] && weight) {
    Tensor product = multiply(ctx, go, xhat, dtype);
    results[1] = castTo(ctx, reduceSum(ctx, {product, range(0, first)}, dtype), weight->dtype);
  }
  return ctx.done(results);
}

// -- Group and instance normalisation: over the channels of a group and all places.

/// [N, C, places...] as [N, groups, C / groups, all places].
Tensor inGroups(Lowering &ctx, const Tensor &x, int64_t groups) {
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(x);
  OpFoldResult places = m.product(ArrayRef(sizes).drop_front(2));
  return reshape(ctx, x,
                 {sizes[0], m.constant(groups), m.floorDiv(sizes[1], m.constant(groups)), places});
}

/// [C] as [groups, C / groups, 1].
Tensor channelsInGroups(Lowering &ctx, const Tensor &x, int64_t groups) {
  IndexMath m{ctx.b, ctx.loc};
  OpFoldResult each = m.floorDiv(ctx.sizeOf(x, 0), m.constant(groups));
  return reshape(ctx, x, {m.constant(groups), each, m.constant(1)});
}
std::optional<Tensor> channelsInGroups(Lowering &ctx, std::optional<Tensor> x, int64_t groups) {
  return x ? std::optional(channelsInGroups(ctx, *x, groups)) : std::nullopt;
}

bool hasGroups(Lowering &ctx, const Tensor &x, int64_t groups) {
  if (x.rank() >= 2 && groups >= 1 && (x.type().isDynamicDim(1) || x.size(1) % groups == 0))
    return true;
  (void)ctx.refuse("the input's channels cannot be split into " + Twine(groups) + " groups");
  return false;
}

LogicalResult groupNorm(Lowering &ctx, int64_t groups) {
  Tensor x = ctx.tensor("input");
  if (ctx.hasRefused() || !hasGroups(ctx, x, groups))
    return failure();
  Tensor grouped = inGroups(ctx, x, groups);
  Statistics s = statistics(ctx, grouped, {2, 3}, ctx.number("eps"));
  Tensor y = normalize(ctx, grouped, s.mean, s.rstd,
                       channelsInGroups(ctx, ctx.optTensor("weight"), groups),
                       channelsInGroups(ctx, ctx.optTensor("bias"), groups), ctx.resultDType());
  y = reshape(ctx, y, ctx.sizesOf(x));
  if (ctx.op->getNumResults() == 1)
    return ctx.done(y);
  auto perGroup = [&](const Tensor &t, unsigned i) {
    return castTo(ctx, squeeze(ctx, squeeze(ctx, t, 3), 2), ctx.resultDType(i));
  };
  return ctx.done({y, perGroup(s.mean, 1), perGroup(s.rstd, 2)});
}

LogicalResult lowerGroupNorm(Lowering &ctx) { return groupNorm(ctx, ctx.integer("num_groups")); }
LogicalResult lowerNativeGroupNorm(Lowering &ctx) { return groupNorm(ctx, ctx.integer("group")); }

/// Dtypes are what the program says: of bf16 with weights of f32 PyTorch's own backward and what it
/// traces differ.
LogicalResult lowerGroupNormBackward(Lowering &ctx) {
  Tensor go = ctx.tensor("grad_out"), x = ctx.tensor("input"), mean = ctx.tensor("mean"),
         rstd = ctx.tensor("rstd");
  SmallVector<int64_t> mask = ctx.integers("output_mask");
  int64_t groups = ctx.integer("group");
  if (ctx.hasRefused() || !hasGroups(ctx, x, groups))
    return failure();
  DType dtype = opmath(x.dtype);
  auto perGroup = [&](const Tensor &t) { return perChannel(ctx, castTo(ctx, t, dtype), 2); };
  Tensor groupedGo = inGroups(ctx, go, groups);
  Tensor xhat = standardized(ctx, inGroups(ctx, x, groups), perGroup(mean), perGroup(rstd));
  std::optional<Tensor> weight = ctx.optTensor("weight");
  SmallVector<Operand> results(3);
  if (mask[0]) {
    Tensor g = weight ? multiply(ctx, groupedGo, channelsInGroups(ctx, *weight, groups), dtype)
                      : castTo(ctx, groupedGo, dtype);
    Tensor dx = inputGradient(ctx, g, xhat, perGroup(rstd), {2, 3}, ctx.resultDType(0));
    results[0] = reshape(ctx, dx, ctx.sizesOf(x));
  }
  SmallVector<OpFoldResult> channels = {ctx.sizeOf(x, 1)};
  auto perChannelSum = [&](const Tensor &t, int result) {
    Tensor sum = castTo(ctx, reduceSum(ctx, {t, {0, 3}}, dtype), ctx.resultDType(result));
    return reshape(ctx, sum, channels);
  };
  if (mask[1])
    results[1] = perChannelSum(multiply(ctx, groupedGo, xhat, dtype), 1);
  if (mask[2])
    results[2] = perChannelSum(groupedGo, 2);
  return ctx.done(results);
}

// -- Batch normalisation: over everything but the channels.

SmallVector<int64_t> allButChannels(const Tensor &x) {
  SmallVector<int64_t> dims = {0};
  dims.append(range(2, x.rank()));
  return dims;
}

/// With known statistics [C]: x * scale + shift, where scale and shift depend on parameters alone.
Tensor batchNormWith(Lowering &ctx, const Tensor &x, const Tensor &mean, const Tensor &variance,
                     DType result) {
  DType dtype = opmath(x.dtype);
  double eps = ctx.number("eps");
  std::optional<Tensor> weight = ctx.optTensor("weight"), bias = ctx.optTensor("bias");
  SmallVector<Operand> scaleInputs = {variance}, shiftInputs = {mean};
  if (weight)
    scaleInputs.push_back(*weight);
  Tensor scale = pointwise(
      ctx, scaleInputs, dtype,
      [&](Element &e, ValueRange v) {
        Value rstd = e.rsqrt(e.add(v[0], e.constant(eps)));
        return v.size() > 1 ? e.mul(rstd, v[1]) : rstd;
      },
      dtype);
  shiftInputs.push_back(scale);
  if (bias)
    shiftInputs.push_back(*bias);
  Tensor shift = pointwise(
      ctx, shiftInputs, dtype,
      [](Element &e, ValueRange v) {
        Value moved = e.mul(v[0], v[1]);
        return v.size() > 2 ? e.sub(v[2], moved) : e.neg(moved);
      },
      dtype);
  int64_t places = std::max<int64_t>(x.rank() - 2, 0);
  return pointwise(
      ctx, {x, perChannel(ctx, scale, places), perChannel(ctx, shift, places)}, result,
      [](Element &e, ValueRange v) { return e.add(e.mul(v[0], v[1]), v[2]); }, dtype);
}

/// (1 - momentum) * running + momentum * observed.
Tensor updated(Lowering &ctx, const Tensor &running, const Tensor &observed, double momentum) {
  return pointwise(
      ctx, {running, observed}, running.dtype,
      [&](Element &e, ValueRange v) {
        return e.add(e.mul(v[0], e.constant(1 - momentum)), e.mul(v[1], e.constant(momentum)));
      },
      opmath(running.dtype));
}

/// A tensor [1, C, 1...] as [C].
Tensor channelsOf(Lowering &ctx, const Tensor &x) { return reshape(ctx, x, {ctx.sizeOf(x, 1)}); }

/// Nothing is saved for a backward pass: a tensor without elements.
Tensor nothing(Lowering &ctx, unsigned result) {
  return ctx.filled({ctx.b.getIndexAttr(0)}, ctx.resultDType(result),
                    Scalar::ofInt(ctx.b.getContext(), 0));
}

/// Results in the order out, mean, rstd, new running mean, new running variance: as many as the
/// operator has. Where there are six, the fourth is memory of other devices' kernels.
LogicalResult batchNormTraining(Lowering &ctx, const Tensor &x) {
  ReduceSpace space{x, allButChannels(x), true};
  Statistics s = statistics(ctx, x, space.dims, ctx.number("eps"), batchSums);
  int64_t places = x.rank() - 2;
  Tensor y = normalize(ctx, x, s.mean, s.rstd, perChannel(ctx, ctx.optTensor("weight"), places),
                       perChannel(ctx, ctx.optTensor("bias"), places), ctx.resultDType());
  Tensor mean = channelsOf(ctx, s.mean);
  SmallVector<Operand> results = {y};
  if (ctx.op->getNumResults() >= 3) {
    results.push_back(castTo(ctx, mean, ctx.resultDType(1)));
    results.push_back(castTo(ctx, channelsOf(ctx, s.rstd), ctx.resultDType(2)));
  }
  if (ctx.op->getNumResults() == 6)
    results.push_back(nothing(ctx, 3));
  if (ctx.op->getNumResults() >= 5) {
    Scalar count{Scalar::Kind::Int, reducedCount(ctx, space)};
    Tensor unbiased = pointwise(ctx, {channelsOf(ctx, s.variance), count}, s.variance.dtype,
                                [](Element &e, ValueRange v) {
                                  return e.mul(v[0], e.div(v[1], e.sub(v[1], e.constant(1))));
                                });
    double momentum = ctx.number("momentum");
    results.push_back(updated(ctx, ctx.tensor("running_mean"), mean, momentum));
    results.push_back(updated(ctx, ctx.tensor("running_var"), unbiased, momentum));
  }
  return ctx.done(results);
}

LogicalResult batchNorm(Lowering &ctx, bool training) {
  Tensor x = ctx.tensor("input");
  if (ctx.hasRefused())
    return failure();
  if (x.rank() < 2)
    return ctx.refuse("the input needs a batch and a channel dimension");
  if (training)
    return batchNormTraining(ctx, x);
  Tensor mean = ctx.tensor("running_mean"), variance = ctx.tensor("running_var");
  if (ctx.hasRefused())
    return failure();
  SmallVector<Operand> results = {batchNormWith(ctx, x, mean, variance, ctx.resultDType())};
  for (unsigned i = 1; i < std::min(ctx.op->getNumResults(), 3u); ++i)
    results.push_back(nothing(ctx, i));
  if (ctx.op->getNumResults() == 5) {
    results.push_back(mean);
    results.push_back(variance);
  }
  return ctx.done(results);
}

LogicalResult lowerBatchNorm(Lowering &ctx) { return batchNorm(ctx, ctx.flag("training")); }
LogicalResult lowerBatchNormUpdate(Lowering &ctx) { return batchNorm(ctx, true); }
LogicalResult lowerBatchNormInference(Lowering &ctx) { return batchNorm(ctx, false); }

LogicalResult lowerInstanceNorm(Lowering &ctx) {
  if (!ctx.flag("use_input_stats", true))
    return batchNorm(ctx, false);
  Tensor x = ctx.tensor("input");
  if (ctx.hasRefused())
    return failure();
  if (x.rank() < 3)
    return ctx.refuse("the input needs batch, channel and at least one more dimension");
  Statistics s = statistics(ctx, x, range(2, x.rank()), ctx.number("eps"));
  int64_t places = x.rank() - 2;
  return ctx.done(normalize(ctx, x, s.mean, s.rstd,
                            perChannel(ctx, ctx.optTensor("weight"), places),
                            perChannel(ctx, ctx.optTensor("bias"), places), ctx.resultDType()));
}

LogicalResult lowerBatchNormBackward(Lowering &ctx) {
  Tensor go = ctx.tensor("grad_out"), x = ctx.tensor("input");
  SmallVector<int64_t> mask = ctx.integers("output_mask");
  bool training = ctx.flag(ctx.has("train") ? "train" : "update");
  if (ctx.hasRefused())
    return failure();
  DType dtype = opmath(x.dtype);
  int64_t places = x.rank() - 2;
  Tensor mean = castTo(ctx, ctx.tensor(training ? "save_mean" : "running_mean"), dtype);
  Tensor rstd =
      training ? castTo(ctx, ctx.tensor(ctx.has("save_invstd") ? "save_invstd" : "save_var"), dtype)
               : pointwise(
                     ctx, {ctx.tensor("running_var")}, dtype,
                     [&](Element &e, ValueRange v) {
                       return e.rsqrt(e.add(v[0], e.constant(ctx.number("eps"))));
                     },
                     dtype);
  if (ctx.hasRefused())
    return failure();
  Tensor wideRstd = perChannel(ctx, rstd, places);
  Tensor xhat = standardized(ctx, x, perChannel(ctx, mean, places), wideRstd);
  std::optional<Tensor> weight = ctx.optTensor("weight");
  SmallVector<int64_t> dims = allButChannels(x);
  SmallVector<Operand> results(3);
  if (mask[0]) {
    Tensor g = weight ? multiply(ctx, go, perChannel(ctx, *weight, places), dtype)
                      : castTo(ctx, go, dtype);
    results[0] = training ? inputGradient(ctx, g, xhat, wideRstd, dims, x.dtype, batchSums)
                          : castTo(ctx, multiply(ctx, g, wideRstd, dtype), x.dtype);
  }
  if (mask[1]) {
    Tensor sum = reduceSum(ctx, {multiply(ctx, go, xhat, dtype), dims}, batchSums);
    results[1] = castTo(ctx, sum, weight ? weight->dtype : x.dtype);
  }
  if (mask[2])
    results[2] =
        castTo(ctx, reduceSum(ctx, {go, dims}, batchSums), weight ? weight->dtype : x.dtype);
  return ctx.done(results);
}

} // namespace

Family normalizationFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.layer_norm", lowerLayerNorm},
      {"torch.aten.native_layer_norm", lowerLayerNorm},
      {"torch.aten.native_layer_norm_backward", lowerLayerNormBackward},
      {"torch.aten.rms_norm", lowerRmsNorm},
      {"torch.aten._fused_rms_norm", lowerRmsNorm},
      {"torch.aten._fused_rms_norm_backward", lowerRmsNormBackward},
      {"torch.aten.group_norm", lowerGroupNorm},
      {"torch.aten.native_group_norm", lowerNativeGroupNorm},
      {"torch.aten.native_group_norm_backward", lowerGroupNormBackward},
      {"torch.aten.instance_norm", lowerInstanceNorm},
      {"torch.aten.batch_norm", lowerBatchNorm},
      {"torch.aten.native_batch_norm", lowerBatchNorm},
      {"torch.aten._native_batch_norm_legit", lowerBatchNorm},
      {"torch.aten._native_batch_norm_legit.no_stats", lowerBatchNorm},
      {"torch.aten._native_batch_norm_legit_functional", lowerBatchNorm},
      {"torch.aten._native_batch_norm_legit_no_training", lowerBatchNormInference},
      {"torch.aten._batch_norm_with_update_functional", lowerBatchNormUpdate},
      {"torch.aten.native_batch_norm_backward", lowerBatchNormBackward},
      {"torch.aten.batch_norm_backward", lowerBatchNormBackward},
  };
  return {"Normalisation", rows};
}

} // namespace tw::lower
