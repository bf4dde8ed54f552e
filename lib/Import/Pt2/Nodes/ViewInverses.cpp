// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For each operator that makes a view: how a new value of the view becomes part of its base.
#include "Import/Pt2/Tensors.h"
#include "llvm/ADT/StringMap.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

/// Sums of what a file says wrap around instead of overflowing.
static int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// Empty when the file's record of it is wrong.
static std::optional<int64_t> rankOf(Value tensor) {
  auto type = cast<ValueTensorType>(tensor.getType());
  return type.getHasSizes() ? std::optional<int64_t>(type.getSizes().size()) : std::nullopt;
}

/// `dim` counted from the front; empty when it is out of range.
static std::optional<int64_t> normalized(std::optional<int64_t> dim, int64_t rank) {
  if (!dim || *dim < -rank || *dim >= rank)
    return std::nullopt;
  return *dim < 0 ? *dim + rank : *dim;
}

//===----------------------------------------------------------------------===//
// The same elements in the same order, or permuted
//===----------------------------------------------------------------------===//

static Value reshaped(Emit &emit, const ViewStep &, Value base, Value written) {
  Value sizes = emit.sizes(base);
  return sizes ? emit.aten("aten.reshape", base.getType(), {{"self", written}, {"shape", sizes}})
               : Value();
}

using Permutation = std::optional<SmallVector<int64_t>>;

static SmallVector<int64_t> identity(int64_t rank) {
  SmallVector<int64_t> result(rank);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

static Permutation swapOf(int64_t rank, std::optional<int64_t> a, std::optional<int64_t> b) {
  if (rank == 0)
    return identity(0);
  a = normalized(a, rank);
  b = normalized(b, rank);
  if (!a || !b)
    return std::nullopt;
  SmallVector<int64_t> result = identity(rank);
  std::swap(result[*a], result[*b]);
  return result;
}

static Permutation swapArguments(const ViewStep &step, int64_t rank) {
  bool axes = step.schema->argumentIndex("axis0").has_value();
  return swapOf(rank, constantInt(step.operand(axes ? "axis0" : "dim0")),
                constantInt(step.operand(axes ? "axis1" : "dim1")));
}
static Permutation swapFirstTwo(const ViewStep &, int64_t rank) {
  return rank < 2 ? identity(rank) : *swapOf(rank, 0, 1);
}
static Permutation swapLastTwo(const ViewStep &, int64_t rank) {
  return swapOf(rank, rank - 1, rank - 2);
}
static Permutation reversed(const ViewStep &, int64_t rank) {
  SmallVector<int64_t> result = identity(rank);
  std::reverse(result.begin(), result.end());
  return result;
}

static Permutation permuteArgument(const ViewStep &step, int64_t rank) {
  auto dims = constantInts(step.operand("dims"));
  if (!dims || static_cast<int64_t>(dims->size()) != rank)
    return std::nullopt;
  llvm::SmallVector<bool> seen(rank, false);
  for (int64_t &dim : *dims) {
    auto place = normalized(dim, rank);
    if (!place || seen[*place])
      return std::nullopt;
    seen[dim = *place] = true;
  }
  return dims;
}

/// movedim(source, destination): the other dimensions keep their order.
static Permutation moved(const ViewStep &step, int64_t rank) {
  auto ints = [&](StringRef name) -> std::optional<SmallVector<int64_t>> {
    if (auto one = constantInt(step.operand(name)))
      return SmallVector<int64_t>{*one};
    return constantInts(step.operand(name));
  };
  auto from = ints("source"), to = ints("destination");
  if (!from || !to || from->size() != to->size())
    return std::nullopt;
  SmallVector<int64_t> result(rank, -1);
  llvm::SmallVector<bool> used(rank, false);
  for (auto [f, t] : llvm::zip(*from, *to)) {
    auto source = normalized(f, rank), target = normalized(t, rank);
    if (!source || !target || used[*source] || result[*target] >= 0)
      return std::nullopt;
    result[*target] = *source;
    used[*source] = true;
  }
  int64_t next = 0;
  for (int64_t &place : result) {
    if (place >= 0)
      continue;
    while (used[next])
      ++next;
    place = next++;
  }
  return result;
}

/// Permutes back: view dimension i is base dimension permutation[i].
template <Permutation (*permutationOf)(const ViewStep &, int64_t)>
static Value permutedBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  auto rank = rankOf(base);
  Permutation permutation = rank ? permutationOf(step, *rank) : std::nullopt;
  if (!permutation)
    return {};
  SmallVector<int64_t> inverse(permutation->size());
  for (auto [i, dim] : llvm::enumerate(*permutation))
    inverse[dim] = i;
  return emit.aten("aten.permute", base.getType(),
                   {{"self", written}, {"dims", emit.integers(inverse)}});
}

//===----------------------------------------------------------------------===//
// A part of the base
//===----------------------------------------------------------------------===//

static Value sliceInverse(Emit &emit, Value base, Value written, Value dim, Value start, Value end,
                          Value step) {
  return emit.aten("aten.slice_scatter", base.getType(),
                   {{"self", base},
                    {"src", written},
                    {"dim", dim},
                    {"start", start},
                    {"end", end},
                    {"step", step}});
}

static Value selectBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  return emit.aten("aten.select_scatter", base.getType(),
                   {{"self", base},
                    {"src", written},
                    {"dim", step.operand("dim")},
                    {"index", step.operand("index")}});
}

static Value sliceBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  return sliceInverse(emit, base, written, step.operand("dim"), step.operand("start"),
                      step.operand("end"), step.operand("step"));
}

static Value narrowBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  Value start = step.operand("start"), length = step.operand("length");
  if (!isa<IntType>(start.getType()))
    return {};
  auto knownStart = constantInt(start), knownLength = constantInt(length);
  Value end;
  if (knownStart && knownLength && *knownStart < 0 && sum(*knownStart, *knownLength) >= 0)
    end = emit.integer(std::numeric_limits<int64_t>::max()); // counted from the end, up to it
  else
    end = emit.aten("aten.add.int", emit.intType(), {{"a", start}, {"b", length}});
  return sliceInverse(emit, base, written, step.operand("dim"), start, end, emit.integer(1));
}

static Value diagonalBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  return emit.aten("aten.diagonal_scatter", base.getType(),
                   {{"self", base},
                    {"src", written},
                    {"offset", step.operand("offset")},
                    {"dim1", step.operand("dim1")},
                    {"dim2", step.operand("dim2")}});
}

/// Whether no two elements of the view are known to be one of the base: each stride is beyond all
/// that smaller ones reach.
static bool isKnownNotToOverlap(const ViewStep &step) {
  auto sizes = constantInts(step.operand("size")), strides = constantInts(step.operand("stride"));
  if (!sizes || !strides || sizes->size() != strides->size())
    return false;
  if (llvm::is_contained(*sizes, 0))
    return true;
  SmallVector<std::pair<int64_t, int64_t>> dims; // strides and sizes
  for (auto [stride, size] : llvm::zip(*strides, *sizes))
    dims.push_back({stride, size});
  llvm::sort(dims);
  int64_t reach = 0;
  for (auto [stride, size] : dims) {
    int64_t part;
    if (size > 1 && (stride <= reach || llvm::MulOverflow(stride, size - 1, part) ||
                     llvm::AddOverflow(reach, part, reach)))
      return false;
  }
  return true;
}

static Value stridedBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  if (!isKnownNotToOverlap(step)) // a write to one element would be one to others
    return {};
  return emit.aten("aten.as_strided_scatter", base.getType(),
                   {{"self", base},
                    {"src", written},
                    {"size", step.operand("size")},
                    {"stride", step.operand("stride")},
                    {"storage_offset", step.operand("storage_offset")}});
}

static Value unbindBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  return emit.aten("aten.select_scatter", base.getType(),
                   {{"self", base},
                    {"src", written},
                    {"dim", step.operand("dim")},
                    {"index", emit.integer(step.element)}});
}

/// An element of split, chunk, ...: it begins where those before it end.
static Value splitBack(Emit &emit, const ViewStep &step, Value base, Value written) {
  auto rank = rankOf(base);
  auto dim = rank ? normalized(constantInt(step.operand("dim")), *rank) : std::nullopt;
  if (!dim)
    return {};
  Value start = emit.integer(0);
  auto plus = [&](Value a, Value b) -> Value {
    auto x = constantInt(a), y = constantInt(b);
    if (x && y)
      return emit.integer(sum(*x, *y));
    return emit.aten("aten.add.int", emit.intType(), {{"a", a}, {"b", b}});
  };
  for (Value before : ArrayRef(step.elements).take_front(step.element))
    start = plus(start, emit.size(before, *dim));
  Value end = plus(start, emit.size(step.elements[step.element], *dim));
  return sliceInverse(emit, base, written, step.operand("dim"), start, end, emit.integer(1));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using ViewInverse = Value (*)(Emit &, const ViewStep &, Value base, Value written);

Value viewInverse(Emit &emit, const ViewStep &step, Value base, Value written) {
  static const llvm::StringMap<ViewInverse> table = {
      {"torch.aten.view", reshaped},
      {"torch.aten.reshape", reshaped},
      {"torch.aten._reshape_alias", reshaped},
      {"torch.aten._unsafe_view", reshaped},
      {"torch.aten.view_as", reshaped},
      {"torch.aten.reshape_as", reshaped},
      {"torch.aten.flatten.using_ints", reshaped},
      {"torch.aten.unflatten.int", reshaped},
      {"torch.aten.ravel", reshaped},
      {"torch.aten.squeeze", reshaped},
      {"torch.aten.squeeze.dim", reshaped},
      {"torch.aten.squeeze.dims", reshaped},
      {"torch.aten.unsqueeze", reshaped},
      {"torch.aten.atleast_1d", reshaped},
      {"torch.aten.atleast_2d", reshaped},
      {"torch.aten.atleast_3d", reshaped},
      {"torch.aten.t", permutedBack<swapFirstTwo>},
      {"torch.aten.transpose.int", permutedBack<swapArguments>},
      {"torch.aten.swapaxes", permutedBack<swapArguments>},
      {"torch.aten.swapdims", permutedBack<swapArguments>},
      {"torch.aten.permute", permutedBack<permuteArgument>},
      {"torch.aten.movedim.int", permutedBack<moved>},
      {"torch.aten.movedim.intlist", permutedBack<moved>},
      {"torch.aten.moveaxis.int", permutedBack<moved>},
      {"torch.aten.moveaxis.intlist", permutedBack<moved>},
      {"torch.aten.mT", permutedBack<swapLastTwo>},
      {"torch.aten.mH", permutedBack<swapLastTwo>},
      {"torch.aten.adjoint", permutedBack<swapLastTwo>},
      {"torch.aten.numpy_T", permutedBack<reversed>},
      {"torch.aten.select.int", selectBack},
      {"torch.aten.slice.Tensor", sliceBack},
      {"torch.aten.narrow", narrowBack},
      {"torch.aten.diagonal", diagonalBack},
      {"torch.aten.as_strided", stridedBack},
      {"torch.aten.unbind.int", unbindBack},
      {"torch.aten.split.Tensor", splitBack},
      {"torch.aten.split.sizes", splitBack},
      {"torch.aten.split_with_sizes", splitBack},
      {"torch.aten.chunk", splitBack},
      {"torch.aten.tensor_split.sections", splitBack},
      {"torch.aten.tensor_split.indices", splitBack},
  };
  auto found = table.find(step.schema->opName);
  if (found == table.end())
    return {};
  return found->second(emit, step, base, written);
}

} // namespace tw::pt2
