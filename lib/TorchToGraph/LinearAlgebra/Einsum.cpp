// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products named by their dimensions: einsum, tensordot and relatives, as contractions in opmath
// with one rounding at the end.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Norm.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <map>

using namespace mlir;

namespace tw::lower {

namespace {

/// "ij,...j->i...": labels of the operands and, if given, of the result, without blanks.
struct Equation {
  SmallVector<std::string> inputs;
  std::optional<std::string> output;
};

Equation parseEquation(StringRef text) {
  std::string compact;
  for (char c : text)
    if (c != ' ')
      compact += c;
  Equation equation;
  auto [left, right] = StringRef(compact).split("->");
  if (StringRef(compact).contains("->"))
    equation.output = right.str();
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  for (StringRef part : parts)
    equation.inputs.push_back(part.str());
  return equation;
}

/// Replaces "..." by labels of its own (from '0' on), aligned at the right.
std::string expandEllipsis(const std::string &labels, int64_t count, int64_t longest) {
  size_t at = labels.find("...");
  if (at == std::string::npos)
    return labels;
  std::string dims;
  for (int64_t i = longest - count; i < longest; ++i)
    dims += char('0' + i);
  return labels.substr(0, at) + dims + labels.substr(at + 3);
}

/// Without an arrow: the ellipsis, then every label that occurs once, in alphabetical order.
std::string implicitOutput(ArrayRef<std::string> inputs, int64_t longest) {
  std::map<char, int> counts;
  for (const std::string &labels : inputs)
    for (char label : labels)
      ++counts[label];
  std::string output;
  for (int64_t i = 0; i < longest; ++i)
    output += char('0' + i);
  for (auto [label, count] : counts)
    if (count == 1 && !isdigit(label))
      output += label;
  return output;
}

bool hasRepeats(StringRef labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels.find(labels[i], i + 1) != StringRef::npos)
      return true;
  return false;
}

} // namespace

/// Sums over the labels that `out` lacks and orders the rest as it says.
static Tensor arrange(Lowering &ctx, const Labelled &x, StringRef out, DType accumulate) {
  ReduceSpace space{x.tensor, {}, false};
  std::string kept;
  for (auto [i, label] : llvm::enumerate(x.labels))
    if (out.contains(label))
      kept += label;
    else
      space.dims.push_back(i);
  Tensor value = space.dims.empty() ? x.tensor : reduceSum(ctx, space, accumulate);
  SmallVector<int64_t> order;
  for (char label : out)
    order.push_back(kept.find(label));
  return permute(ctx, value, order);
}

/// `x` without the labels that nothing else has: sums of one operand's own come before any product,
/// as in PyTorch.
static Labelled withoutOwn(Lowering &ctx, const Labelled &x, StringRef others, DType accumulate) {
  std::string kept;
  for (char label : x.labels)
    if (others.contains(label))
      kept += label;
  return kept == x.labels ? x : Labelled{arrange(ctx, x, kept, accumulate), kept};
}

/// Contracts the operands from the left; labels nobody needs any more are summed at once.
static Tensor contractAll(Lowering &ctx, SmallVector<Labelled> operands, StringRef out,
                          DType accumulate) {
  Labelled result = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string needed = out.str(), labels;
    for (size_t later = i + 1; later < operands.size(); ++later)
      needed += operands[later].labels;
    Labelled left = withoutOwn(ctx, result, needed + operands[i].labels, accumulate);
    Labelled right = withoutOwn(ctx, operands[i], needed + result.labels, accumulate);
    bool isLast = i + 1 == operands.size();
    for (char label : isLast ? out.str() : left.labels + right.labels)
      if (needed.find(label) != std::string::npos && labels.find(label) == std::string::npos)
        labels += label;
    result = {contract(ctx, left, right, labels, accumulate), labels};
  }
  return operands.size() == 1 ? arrange(ctx, result, out, accumulate) : result.tensor;
}

/// The diagonal along each label that comes several times: "ii" becomes "i".
static Labelled withoutRepeats(Lowering &ctx, const Labelled &operand) {
  if (!hasRepeats(operand.labels))
    return operand;
  Labelled result;
  SmallVector<OpFoldResult> all = ctx.sizesOf(operand.tensor), sizes;
  SmallVector<int64_t> resultDim;
  for (auto [label, size] : llvm::zip(operand.labels, all)) {
    size_t place = result.labels.find(label);
    if (place == std::string::npos) {
      place = result.labels.size();
      result.labels += label;
      sizes.push_back(size);
    } else {
      ctx.requireEqual(sizes[place], size);
    }
    resultDim.push_back(place);
  }
  result.tensor = gather(ctx, sizes, operand.tensor.dtype, {}, [&](GatherBody &body, ValueRange) {
    SmallVector<Value> at;
    for (int64_t dim : resultDim)
      at.push_back(body.position(dim));
    return body.read(operand.tensor, at);
  });
  return result;
}

static LogicalResult lowerEinsum(Lowering &ctx) {
  Equation equation = parseEquation(ctx.string("equation"));
  SmallVector<Tensor> tensors = ctx.tensors("tensors");
  if (ctx.hasRefused() || tensors.empty() || tensors.size() != equation.inputs.size())
    return ctx.refuse("the equation does not fit the number of tensors");
  int64_t longest = 0;
  SmallVector<int64_t> counts;
  for (auto [labels, tensor] : llvm::zip(equation.inputs, tensors)) {
    bool hasEllipsis = labels.find("...") != std::string::npos;
    int64_t count = tensor.rank() - int64_t(labels.size()) + (hasEllipsis ? 3 : 0);
    if (count < 0 || count > 9 || (!hasEllipsis && count))
      return ctx.refuse("operand \"" + labels + "\" of the equation does not fit " +
                        describe(Operand(tensor)));
    counts.push_back(count);
    longest = std::max(longest, count);
  }
  SmallVector<Labelled> operands;
  for (auto [labels, tensor, count] : llvm::zip(equation.inputs, tensors, counts)) {
    labels = expandEllipsis(labels, count, longest);
    operands.push_back(withoutRepeats(ctx, {tensor, labels}));
  }
  std::string out = equation.output ? expandEllipsis(*equation.output, longest, longest)
                                    : implicitOutput(equation.inputs, longest);
  std::string all;
  for (const Labelled &operand : operands)
    all += operand.labels;
  if (hasRepeats(out) || out.find_first_not_of(all) != std::string::npos)
    return ctx.refuse("the result \"" + out + "\" has a dimension twice or one no operand has");
  Tensor result = contractAll(ctx, operands, out, contractDType(ctx.resultDType()));
  return ctx.done(castTo(ctx, result, ctx.resultDType()));
}

static LogicalResult lowerTensordot(Lowering &ctx) {
  Tensor a = ctx.tensor("self"), b = ctx.tensor("other");
  SmallVector<int64_t> left = ctx.integers("dims_self"), right = ctx.integers("dims_other");
  if (a.rank() > 12 || b.rank() > 12 || left.size() != right.size())
    return ctx.refuse("its lists of dimensions must be equally long");
  std::string labels[2] = {std::string("abcdefghijkl").substr(0, a.rank()),
                           std::string("mnopqrstuvwx").substr(0, b.rank())};
  for (auto [i, j] : llvm::zip(left, right)) {
    i += i < 0 ? a.rank() : 0, j += j < 0 ? b.rank() : 0;
    if (i < 0 || i >= a.rank() || j < 0 || j >= b.rank())
      return ctx.refuse("it names a dimension that a tensor does not have");
    labels[1][j] = labels[0][i];
  }
  std::string out;
  for (char label : labels[0] + labels[1])
    if ((labels[0].find(label) == std::string::npos) !=
        (labels[1].find(label) == std::string::npos))
      out += label;
  Tensor product = contract(ctx, {a, labels[0]}, {b, labels[1]}, out, contractDType(a.dtype));
  return ctx.done(castTo(ctx, product, ctx.resultDType()));
}

/// The last dimensions of both multiplied and summed.
static LogicalResult lowerInner(Lowering &ctx) {
  Tensor a = ctx.tensor("self"), b = ctx.tensor("other");
  if (a.rank() == 0 || b.rank() == 0 || a.rank() > 10 || b.rank() > 10)
    return ctx.refuse("its tensors need 1 to 10 dimensions");
  std::string left = std::string("abcdefghi").substr(0, a.rank() - 1);
  std::string right = std::string("nopqrstuv").substr(0, b.rank() - 1);
  Tensor product =
      contract(ctx, {a, left + "k"}, {b, right + "k"}, left + right, contractDType(a.dtype));
  return ctx.done(castTo(ctx, product, ctx.resultDType()));
}

static LogicalResult lowerMultiDot(Lowering &ctx) {
  SmallVector<Tensor> tensors = ctx.tensors(ctx.has("matrices") ? "matrices" : "tensors");
  if (tensors.empty())
    return ctx.refuse("it needs at least one matrix");
  Tensor product = tensors.front();
  for (const Tensor &next : ArrayRef(tensors).drop_front())
    product = matmul(ctx, product, next);
  return ctx.done(castTo(ctx, product, ctx.resultDType()));
}

/// x @ weight[o] @ y for each o.
static LogicalResult lowerBilinear(Lowering &ctx) {
  Tensor x = ctx.tensor("input1"), y = ctx.tensor("input2"), weight = ctx.tensor("weight");
  auto bias = ctx.optTensor("bias");
  if (x.rank() != y.rank() || x.rank() == 0 || x.rank() > 10 || weight.rank() != 3)
    return ctx.refuse("its inputs need equally many dimensions and the weight 3");
  std::string rows = std::string("abcdefghi").substr(0, x.rank() - 1);
  DType dtype = contractDType(x.dtype);
  Tensor left = contract(ctx, {x, rows + "k"}, {weight, "okl"}, rows + "ol", dtype);
  Tensor product = contract(ctx, {left, rows + "ol"}, {y, rows + "l"}, rows + "o", dtype);
  if (!bias)
    return ctx.done(castTo(ctx, product, ctx.resultDType()));
  return ctx.done(pointwise(ctx, {product, *bias}, ctx.resultDType(),
                            [](Element &e, ValueRange v) { return e.add(v[0], v[1]); }));
}

/// The letters of the dimensions of `total` that a factor has: it does not where `absent` says so.
static std::string labelsWithout(ArrayRef<int64_t> absent, int64_t total) {
  std::string labels;
  for (int64_t dim = 0; dim < total; ++dim)
    if (!llvm::is_contained(absent, dim))
      labels += char('a' + dim);
  return labels;
}

/// The sum of i1 i2 i3 over "sumdim", after each has got the dimensions that it lacks.
static LogicalResult lowerTrilinear(Lowering &ctx) {
  Tensor factors[] = {ctx.tensor("i1"), ctx.tensor("i2"), ctx.tensor("i3")};
  SmallVector<int64_t> absent[] = {ctx.integers("expand1"), ctx.integers("expand2"),
                                   ctx.integers("expand3")};
  if (ctx.hasRefused())
    return failure();
  int64_t total = factors[0].rank() + int64_t(absent[0].size());
  if (total > 26)
    return ctx.refuse("it has " + counted(total, "dimension") + ", but may have 26");
  std::string labels[3], summed;
  for (int64_t dim : ctx.integers("sumdim"))
    summed += char('a' + dim);
  for (auto [i, factor] : llvm::enumerate(factors)) {
    labels[i] = labelsWithout(absent[i], total);
    if (int64_t(labels[i].size()) != factor.rank())
      return ctx.refuse("i" + std::to_string(i + 1) + " has " +
                        counted(factor.rank(), "dimension") + ", but " +
                        std::to_string(labels[i].size()) + " " +
                        std::string(oneOrMany(labels[i].size(), "is", "are")) + " needed");
  }
  auto isIn = [](StringRef text, char c) { return text.contains(c); };
  std::string kept, result;
  for (int64_t dim = 0; dim < total; ++dim) {
    char c = char('a' + dim);
    bool isOfPair = isIn(labels[0], c) || isIn(labels[1], c), isSummed = isIn(summed, c);
    if (!isOfPair && !isIn(labels[2], c))
      return ctx.refuse("no tensor has dimension " + std::to_string(dim));
    if (isOfPair && (!isSummed || isIn(labels[2], c)))
      kept += c;
    if (!isSummed)
      result += c;
  }
  DType dtype = contractDType(factors[0].dtype);
  Tensor pair = contract(ctx, {factors[0], labels[0]}, {factors[1], labels[1]}, kept, dtype);
  Tensor sum = contract(ctx, {pair, kept}, {factors[2], labels[2]}, result, dtype);
  return ctx.done(castTo(ctx, sum, ctx.resultDType()));
}

/// Each element of self times all of other.
static LogicalResult lowerKron(Lowering &ctx) {
  Tensor a = ctx.tensor("self"), b = ctx.tensor("other");
  int64_t rank = std::max(a.rank(), b.rank());
  SmallVector<OpFoldResult> left, right, result;
  IndexMath math{ctx.b, ctx.loc};
  for (int64_t i = 0; i < rank; ++i) {
    auto sizeIn = [&](const Tensor &t) {
      int64_t at = i - (rank - t.rank());
      return at < 0 ? OpFoldResult(ctx.b.getIndexAttr(1)) : ctx.sizeOf(t, at);
    };
    left.append({sizeIn(a), ctx.b.getIndexAttr(1)});
    right.append({ctx.b.getIndexAttr(1), sizeIn(b)});
    result.push_back(math.mul(sizeIn(a), sizeIn(b)));
  }
  Tensor product =
      pointwise(ctx, {reshape(ctx, a, left), reshape(ctx, b, right)}, ctx.resultDType(),
                [](Element &e, ValueRange x) { return e.mul(x[0], x[1]); });
  return ctx.done(reshape(ctx, product, result));
}

//===----------------------------------------------------------------------===//
// Distances and similarities
//===----------------------------------------------------------------------===//

/// Sum over one dimension of f(a, b), in opmath.
static Tensor sumOver(Lowering &ctx, const Tensor &a, const Tensor &b, int64_t dim, bool keepDim,
                      llvm::function_ref<Value(Element &, Value, Value)> term) {
  ReduceSpace space{a, {dim}, keepDim};
  return reduce(
      ctx, space, opmath(a.dtype), [](Element &e) { return e.constant(0); },
      [&](Element &e, ValueRange x) { return e.add(x[0], term(e, x[1], x[2])); }, b);
}

static LogicalResult lowerVecdot(Lowering &ctx) {
  Tensor x = ctx.tensor("x"), y = ctx.tensor("y");
  auto sizes = broadcastSizes(ctx, {x, y});
  x = broadcastTo(ctx, x, sizes);
  int64_t dim = ctx.dim("dim", x.rank(), -1);
  if (x.rank() == 0)
    return ctx.refuse("its tensors need a dimension");
  Tensor sum =
      sumOver(ctx, x, y, dim, false, [](Element &e, Value a, Value b) { return e.mul(a, b); });
  return ctx.done(castTo(ctx, sum, ctx.resultDType()));
}

/// x1 . x2 / (max(|x1|, eps) max(|x2|, eps)).
static LogicalResult lowerCosineSimilarity(Lowering &ctx) {
  Tensor a = ctx.tensor("x1"), b = ctx.tensor("x2");
  auto sizes = broadcastSizes(ctx, {a, b});
  a = broadcastTo(ctx, a, sizes), b = broadcastTo(ctx, b, sizes);
  int64_t dim = ctx.dim("dim", a.rank(), 1);
  double eps = ctx.number("eps", 1e-8);
  if (a.rank() == 0)
    return ctx.refuse("its tensors need a dimension");
  auto times = [](Element &e, Value x, Value y) { return e.mul(x, y); };
  Tensor ab = sumOver(ctx, a, b, dim, false, times), aa = sumOver(ctx, a, a, dim, false, times),
         bb = sumOver(ctx, b, b, dim, false, times);
  return ctx.done(pointwise(ctx, {ab, aa, bb}, ctx.resultDType(), [&](Element &e, ValueRange x) {
    Value bound = e.constant(eps);
    return e.div(x[0], e.mul(e.max(e.sqrt(x[1]), bound), e.max(e.sqrt(x[2]), bound)));
  }));
}

Family einsumFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.einsum", lowerEinsum},
      {"torch.aten.tensordot", lowerTensordot},
      {"torch.aten.inner", lowerInner},
      {"torch.aten.chain_matmul", lowerMultiDot},
      {"torch.aten.linalg_multi_dot", lowerMultiDot},
      {"torch.aten.bilinear", lowerBilinear},
      {"torch.aten._trilinear", lowerTrilinear},
      {"torch.aten.kron", lowerKron},
      {"torch.aten.linalg_vecdot", lowerVecdot},
      {"torch.aten.cosine_similarity", lowerCosineSimilarity},
  };
  return {"Einsum", rows};
}

} // namespace tw::lower
