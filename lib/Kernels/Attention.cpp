// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Attention.h"
#include "Kernels/KernelFrame.h"

namespace tw::kernels {
using namespace tw::kernel;

void dropUnusedDims(Attention &attention) {
  DimRenumbering renumbering(attention.dims.size());
  std::vector<Access *> accesses = {&attention.query, &attention.key, &attention.value,
                                    &attention.output};
  if (attention.mask)
    accesses.push_back(&*attention.mask);
  if (attention.logSumExp)
    accesses.push_back(&*attention.logSumExp);
  std::vector<int> roles = {attention.queries, attention.keys, attention.depth, attention.width};
  for (const Access *access : accesses)
    renumbering.use(*access);
  renumbering.use(roles);
  attention.dims = renumbering.compact(attention.dims);
  for (Access *access : accesses)
    renumbering.renumber(*access);
  renumbering.renumber(roles);
  attention.queries = roles[0], attention.keys = roles[1];
  attention.depth = roles[2], attention.width = roles[3];
}

std::string refuse(const Attention &attention) {
  for (const Extent &extent : attention.dims)
    if (extent.size == 0)
      return "it has no elements";
  return {};
}

std::optional<int> groupDim(const Attention &attention) {
  for (int dim = int(attention.dims.size()) - 1; dim >= 0; --dim)
    if (dim != attention.queries && dim != attention.depth && attention.query.covers(dim) &&
        attention.output.covers(dim) && !attention.key.covers(dim) && !attention.value.covers(dim))
      return dim;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

using Configured = AttentionConfiguration;
static constexpr Member<Configured> members[] = {
    {"queries", &Configured::queries, 1, "queries in a program"},
    {"keys", &Configured::keys, 1, "keys in a trip of the loop"},
    {"groups", &Configured::groups, 1, "groups of queries that share keys, in a program"},
    {"query_programs", &Configured::queryPrograms, 1,
     "programs along the queries that follow each other on one worker"},
    {"transposed", &Configured::isTransposed, 0,
     "whether scores lie as keys x queries, so that vectors run along queries"},
    {"split_keys", &Configured::splitsKeys, 0, "whether workers may share the loop over the keys"},
};

const ConfigurationSchema &attentionSchema() {
  static const ConfigurationSchema schema = schemaOf<Configured>("attention", members);
  return schema;
}
Numbers numbersOf(const AttentionConfiguration &configuration) {
  return numbersOf<Configured>(configuration, members);
}
AttentionConfiguration attentionFrom(const Numbers &fields) {
  return fromNumbers<Configured>(fields, members);
}

/// Scores of a block lie on the stack or in the workspace.
constexpr int64_t mostScores = 1 << 20;

std::vector<Constraint> attentionConstraints(const Attention &attention) {
  std::vector<Constraint> constraints = {
      {"queries * groups * keys", std::to_string(mostScores), "a block is no larger"}};
  auto atMost = [&](const char *field, const Extent &extent, const char *reason) {
    if (extent.size)
      constraints.emplace_back(field, std::to_string(*extent.size), reason);
  };
  atMost("queries", attention.dims[attention.queries], "there are no more queries");
  atMost("keys", attention.dims[attention.keys], "there are no more keys");
  std::optional<int> group = groupDim(attention);
  Extent groups = group ? attention.dims[*group] : Extent{1};
  if (!groups.size)
    groups.size = 1; // counted at the call: one by one
  constraints.emplace_back(std::to_string(*groups.size) + " mod groups", "0",
                           "groups come out even");
  return constraints;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// What a pass over some of the keys gives for each query: the greatest score, the sum of
/// exp(score - greatest), and of that times the values.
using State = std::tuple<Tile, Tile, Tile>;

class AttentionWriter {
public:
  AttentionWriter(const Attention &spec, const AttentionConfiguration &configuration)
      : spec(spec), configuration(configuration), group(groupDim(spec)),
        frame(spec.dims, spec.buffers, tilingsOf(spec, configuration)),
        rows(frame.extent(spec.queries)), isTransposed(configuration.isTransposed) {
    if (configuration.groups == 1)
      group.reset();
    if (group)
      rows = rows * frame.extent(*group);
    order = group ? std::vector<int>{*group, spec.queries} : std::vector<int>{spec.queries};
  }

  void write() {
    loadQueries();
    auto [most, total, acc] = overAllKeys();
    Tile divisor = mayHideAll() ? select(total == 0.0, 1.0, total) : total;
    Tile result = acc / divisor;
    storeRows(spec.output, isTransposed ? transpose(result) : result, {spec.width});
    if (spec.logSumExp)
      storeRows(*spec.logSumExp, most + log(total), {});
  }

private:
  static std::vector<DimTiling> tilingsOf(const Attention &spec,
                                          const AttentionConfiguration &configuration) {
    std::vector<DimTiling> tilings(spec.dims.size(), {1});
    if (auto group = groupDim(spec))
      tilings[*group] = {configuration.groups};
    tilings[spec.queries] = {configuration.queries, configuration.queryPrograms};
    for (int dim : {spec.keys, spec.depth, spec.width})
      tilings[dim] = {};
    return tilings;
  }

  /// A tile with an axis for each dimension of `order` and then `inner` as a matrix whose rows are
  /// queries, or whose columns are.
  Tile matrix(const KernelFrame &at, const Access &access, int inner) const {
    std::vector<int> axes = order;
    Shape full;
    axes.insert(isTransposed ? axes.begin() : axes.end(), inner);
    for (int dim : axes)
      full.push_back(at.extent(dim));
    Tile tile = at.load(access, axes);
    if (!group)
      return tile;
    return reshape(broadcast(tile, full),
                   isTransposed ? Shape{at.extent(inner), rows} : Shape{rows, at.extent(inner)});
  }

  bool isNarrow() const { return spec.buffers[spec.query.buffer].dtype != spec.sum; }
  /// The axis along which queries are, and keys.
  int rowAxis() const { return isTransposed ? 1 : 0; }
  int keyAxis() const { return isTransposed ? 0 : 1; }
  /// A shape with that of each query along the one axis, and `inner` along the other.
  Shape shapeOf(const kernel::Size &inner) const {
    return isTransposed ? Shape{inner, rows} : Shape{rows, inner};
  }

  void loadQueries() {
    queries = matrix(frame, spec.query, spec.depth);
    if (!isNarrow()) // scaling narrow ones would round them again
      queries = queries * spec.scale;
  }

  //===--- blocks of keys ---------------------------------------------------===//

  /// Which scores of a block may not be seen.
  struct Hidden {
    bool beyondEnd = false, later = false; // keys after the last one; those after the query
  };

  Tile scoresOf(const KernelFrame &at, const Index &first, Hidden hidden) const {
    kernel::Size count = at.extent(spec.keys);
    Tile keys = at.load(spec.key, {spec.keys, spec.depth});
    Tile none = zeros(shapeOf(count), spec.sum);
    Tile scores = isTransposed ? dot(keys, queries, none) : dot(queries, transpose(keys), none);
    if (isNarrow())
      scores = scores * spec.scale;
    if (spec.mask)
      scores = withMask(at, scores);
    Tile position = iota(isTransposed ? Shape{count, 1} : Shape{1, count}, keyAxis(), i32, first);
    if (hidden.beyondEnd)
      scores = select(position < at.size(spec.dims[spec.keys]), scores, -inf);
    if (hidden.later)
      scores = select(position <= places(), scores, -inf);
    return scores;
  }

  Tile withMask(const KernelFrame &at, const Tile &scores) const {
    Tile mask = matrix(at, *spec.mask, spec.keys);
    if (spec.buffers[spec.mask->buffer].dtype == i1)
      return select(mask, scores, -inf);
    return scores + cast(mask, spec.sum);
  }

  /// Which query each row is.
  Tile places() const {
    kernel::Size count = frame.extent(spec.queries);
    Index first = frame.first(spec.queries);
    if (!group)
      return iota(isTransposed ? Shape{1, count} : Shape{count, 1}, rowAxis(), i32, first);
    Tile each = iota({1, count}, 1, i32, first);
    return reshape(broadcast(each, {frame.extent(*group), count}), shapeOf(1));
  }

  /// A mask may hide all keys from a query: then the greatest score is -inf.
  bool mayHideAll() const { return spec.mask.has_value(); }
  /// Keeps -inf - -inf, which is NaN, out of exponents.
  Tile finite(const Tile &most, bool mayBeEmpty) const {
    return mayBeEmpty ? select(most == -inf, 0.0, most) : most;
  }

  Tile weigh(const Tile &weights, const Tile &values, const Tile &acc) const {
    Tile rounded = isNarrow() ? cast(weights, spec.buffers[spec.value.buffer].dtype) : weights;
    return isTransposed ? dot(transpose(values), rounded, acc) : dot(rounded, values, acc);
  }

  State firstBlock(const KernelFrame &at, Hidden hidden) const {
    Tile scores = scoresOf(at, 0, hidden), most = max(scores, keyAxis());
    Tile weights = exp(scores - finite(most, mayHideAll()));
    Tile values = at.load(spec.value, {spec.keys, spec.width});
    Tile none = zeros(shapeOf(at.extent(spec.width)), spec.sum);
    return {most, sum(weights, keyAxis()), weigh(weights, values, none)};
  }

  State nextBlock(const KernelFrame &at, const Index &first, Hidden hidden,
                  const State &before) const {
    auto [most, total, acc] = before;
    Tile scores = scoresOf(at, first, hidden);
    Tile next = maximum(most, max(scores, keyAxis())), base = finite(next, mayHideAll());
    Tile weights = exp(scores - base), fade = exp(most - base);
    Tile values = at.load(spec.value, {spec.keys, spec.width});
    return {next, total * fade + sum(weights, keyAxis()), weigh(weights, values, acc * fade)};
  }

  /// What two parts of the keys gave; one of them may have had none.
  State combine(const State &a, const State &b) const {
    auto [most1, total1, acc1] = a;
    auto [most2, total2, acc2] = b;
    Tile most = maximum(most1, most2), base = finite(most, true);
    Tile fade1 = exp(most1 - base), fade2 = exp(most2 - base);
    return {most, total1 * fade1 + total2 * fade2, acc1 * fade1 + acc2 * fade2};
  }

  State noKeys() const {
    return {full(shapeOf(1), -inf, spec.sum), zeros(shapeOf(1), spec.sum),
            zeros(shapeOf(frame.extent(spec.width)), spec.sum)};
  }

  /// From block `begin` to before block `end`. Only what begins without any key can be split.
  State overBlocks(const Index &begin, const Index &end, Hidden hidden,
                   const std::optional<State> &before = {}) const {
    State start = before ? *before : noKeys();
    auto block = [&](const Index &n, const Tile &most, const Tile &total, const Tile &acc) {
      KernelFrame at = frame;
      at.take(spec.keys, configuration.keys, n);
      return nextBlock(at, n * configuration.keys, hidden, {most, total, acc});
    };
    if (before || !configuration.splitsKeys)
      return forLoop(begin, end, 1, start, block);
    return forLoop(begin, end, 1, start, block,
                   [&](const Tile &most1, const Tile &total1, const Tile &acc1, const Tile &most2,
                       const Tile &total2, const Tile &acc2) {
                     return combine({most1, total1, acc1}, {most2, total2, acc2});
                   });
  }

  State overAllKeys() const {
    const Extent &keys = spec.dims[spec.keys];
    int64_t block = configuration.keys;
    if (keys.size && *keys.size <= block)
      return firstBlock(frame, {false, spec.isCausal});
    Index all = ceilDiv(frame.size(keys), block), whole = floorDiv(frame.size(keys), block);
    bool isEven = keys.size && *keys.size % block == 0;
    if (spec.isCausal) {
      // Blocks that every query of the program sees, and those that none does.
      Index first = frame.first(spec.queries), end = first + frame.extent(spec.queries);
      whole = minimum(whole, floorDiv(first + 1, block));
      all = minimum(all, ceilDiv(end, block));
    } else if (isEven) {
      return overBlocks(0, all, {});
    }
    return overBlocks(whole, all, {!isEven, spec.isCausal}, overBlocks(0, whole, {}));
  }

  //===--- results ------------------------------------------------------------===//

  /// Stores a tile that has a row for each query.
  void storeRows(const Access &access, const Tile &tile, const std::vector<int> &inner) const {
    std::vector<int> axes = order;
    axes.insert(axes.end(), inner.begin(), inner.end());
    Shape shape;
    for (int dim : axes)
      shape.push_back(frame.extent(dim));
    frame.store(access, axes, reshape(cast(tile, spec.buffers[access.buffer].dtype), shape));
  }

  const Attention &spec;
  const AttentionConfiguration &configuration;
  std::optional<int> group; // of which a program has several
  KernelFrame frame;
  kernel::Size rows; // of a program
  bool isTransposed;
  std::vector<int> order; // of what rows run along
  Tile queries;
};

} // namespace

void writeAttention(const Attention &attention, const AttentionConfiguration &configuration) {
  AttentionWriter(attention, configuration).write();
}

} // namespace tw::kernels
