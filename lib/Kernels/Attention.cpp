// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Attention.h"
#include "Kernels/KernelFrame.h"
#include "Kernels/SplitParts.h"

namespace tw::kernels {
using namespace tw::kernel;

void dropUnusedDims(Attention &attention) {
  std::vector<Access *> accesses = {&attention.output};
  if (attention.logSumExp)
    accesses.push_back(&*attention.logSumExp);
  dropUnusedDims(attention, std::move(accesses));
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
    {"one_loop", &Configured::isOneLoop, 0,
     "whether blocks of which some keys are hidden are in one loop with the others"},
};

const ConfigurationSchema &attentionSchema() {
  static const ConfigurationSchema schema =
      withSplitParts(schemaOf<Configured>("attention", members));
  return schema;
}
Numbers numbersOf(const AttentionConfiguration &configuration) {
  return withChosenSplitParts(numbersOf<Configured>(configuration, members));
}
AttentionConfiguration attentionFrom(const Numbers &fields) {
  return fromNumbers<Configured>(fields, members);
}

std::vector<Constraint> attentionConstraints(const Attention &attention) {
  std::vector<Constraint> constraints = scoreConstraints(attention, "queries * groups * keys");
  std::optional<int> group = groupDim(attention);
  Extent groups = group ? attention.dims[*group] : Extent{1};
  if (!groups.size)
    groups.size = 1; // counted at the call: one by one
  constraints.emplace_back(std::to_string(*groups.size) + " mod groups", "0",
                           "groups come out even");
  constraints.push_back(splitPartsConstraint("split_keys"));
  if (attention.isCausal)
    constraints.emplace_back("one_loop * split_keys", "0",
                             "each part has keys that all queries of a program see");
  const Extent &keys = attention.dims[attention.keys];
  if (keys.size && !attention.isCausal)
    constraints.emplace_back("one_loop", std::to_string(*keys.size) + " mod keys",
                             "all blocks of keys are whole");
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
      : spec(spec), configuration(configuration),
        frame(spec.dims, spec.buffers, tilingsOf(spec, configuration)),
        block{spec, configuration.isTransposed, rowsOf(spec, configuration)} {}

  void write() {
    loadQueries();
    auto [most, total, acc] = overAllKeys();
    Tile divisor = block.mayHideAll() ? select(total == 0.0, 1.0, total) : total;
    Tile result = acc / divisor;
    storeRows(spec.output, block.isTransposed ? transpose(result) : result, {spec.width});
    if (spec.logSumExp)
      storeRows(*spec.logSumExp, most + log(total), {});
  }

private:
  using Hidden = ScoreBlock::Hidden;

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

  /// A program may have several groups.
  static std::vector<int> rowsOf(const Attention &spec,
                                 const AttentionConfiguration &configuration) {
    std::optional<int> group = groupDim(spec);
    return group && configuration.groups > 1 ? std::vector<int>{*group, spec.queries}
                                             : std::vector<int>{spec.queries};
  }

  void loadQueries() {
    queries = block.matrix(frame, spec.query, spec.depth);
    if (!spec.isNarrow()) // scaling narrow ones would round them again
      queries = keep(queries * spec.scale);
  }

  //===--- blocks of keys ---------------------------------------------------===//

  Tile scoresOf(const KernelFrame &at, Hidden hidden) const {
    Tile keys = at.load(spec.key, {spec.keys, spec.depth});
    Tile none = zeros(block.shape(at, at.extent(spec.keys)), spec.sum);
    Tile scores =
        block.isTransposed ? dot(keys, queries, none) : dot(queries, transpose(keys), none);
    if (spec.isNarrow())
      scores = scores * spec.scale;
    return block.masked(at, scores, hidden);
  }

  Tile finite(const Tile &most, bool mayBeEmpty) const { return block.finite(most, mayBeEmpty); }
  int keyAxis() const { return block.keyAxis(); }
  bool mayHideAll() const { return block.mayHideAll(); }

  Tile weigh(const Tile &weights, const Tile &values, const Tile &acc) const {
    Tile rounded = spec.isNarrow() ? cast(weights, spec.buffers[spec.value.buffer].dtype) : weights;
    return block.isTransposed ? dot(transpose(values), rounded, acc) : dot(rounded, values, acc);
  }

  State firstBlock(const KernelFrame &at, Hidden hidden) const {
    Tile scores = scoresOf(at, hidden), most = max(scores, keyAxis());
    Tile weights = exp(scores - finite(most, mayHideAll()));
    Tile values = at.load(spec.value, {spec.keys, spec.width});
    Tile none = zeros(block.shape(at, at.extent(spec.width)), spec.sum);
    return {most, sum(weights, keyAxis()), weigh(weights, values, none)};
  }

  State nextBlock(const KernelFrame &at, Hidden hidden, const State &before) const {
    auto [most, total, acc] = before;
    Tile scores = scoresOf(at, hidden);
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
    Shape one = block.shape(frame, 1);
    return {full(one, -inf, spec.sum), zeros(one, spec.sum),
            zeros(block.shape(frame, frame.extent(spec.width)), spec.sum)};
  }

  /// From block `begin` to before block `end`. Only what begins without any key can be split.
  State overBlocks(const Index &begin, const Index &end, Hidden hidden,
                   const std::optional<State> &before = {}) const {
    State start = before ? *before : noKeys();
    auto next = [&](const Index &n, const Tile &most, const Tile &total, const Tile &acc) {
      KernelFrame at = frame;
      at.take(spec.keys, configuration.keys, n);
      return nextBlock(at, hidden, {most, total, acc});
    };
    if (before || !configuration.splitsKeys)
      return forLoop(begin, end, 1, start, next);
    auto both = [&](const Tile &most1, const Tile &total1, const Tile &acc1, const Tile &most2,
                    const Tile &total2, const Tile &acc2) {
      return combine({most1, total1, acc1}, {most2, total2, acc2});
    };
    return forLoop(begin, end, 1, start, next, commutative(both));
  }

  State overAllKeys() const {
    const Extent &keys = spec.dims[spec.keys];
    int64_t count = configuration.keys;
    if (keys.size && *keys.size <= count)
      return firstBlock(frame, {false, spec.isCausal});
    Index all = ceilDiv(frame.size(keys), count), whole = floorDiv(frame.size(keys), count);
    bool isEven = keys.size && *keys.size % count == 0;
    if (spec.isCausal) {
      // Blocks that every query of the program sees, and those that none does.
      Index first = frame.first(spec.queries), end = first + frame.extent(spec.queries);
      whole = minimum(whole, floorDiv(first + 1, count));
      all = minimum(all, ceilDiv(end, count));
    } else if (isEven) {
      return overBlocks(0, all, {});
    }
    if (configuration.isOneLoop)
      return overBlocks(0, all, {!isEven, spec.isCausal});
    return overBlocks(whole, all, {!isEven, spec.isCausal}, overBlocks(0, whole, {}));
  }

  //===--- results ------------------------------------------------------------===//

  /// Stores a tile that has a row for each query.
  void storeRows(const Access &access, const Tile &tile, const std::vector<int> &inner) const {
    std::vector<int> axes = block.rows;
    axes.insert(axes.end(), inner.begin(), inner.end());
    Shape shape;
    for (int dim : axes)
      shape.push_back(frame.extent(dim));
    frame.store(access, axes, reshape(cast(tile, spec.buffers[access.buffer].dtype), shape));
  }

  const Attention &spec;
  const AttentionConfiguration &configuration;
  KernelFrame frame;
  ScoreBlock block;
  Tile queries;
};

} // namespace

void writeAttention(const Attention &attention, const AttentionConfiguration &configuration) {
  AttentionWriter(attention, configuration).write();
}

} // namespace tw::kernels
