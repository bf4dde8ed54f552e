// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/AttentionGradient.h"
#include <functional>
#include <numeric>

namespace tw::kernels {
using namespace tw::kernel;

static std::vector<Access *> ownAccesses(AttentionGradient &gradient) {
  std::vector<Access *> accesses = {&gradient.outputGradient, &gradient.logSumExp, &gradient.delta};
  for (auto *result : {&gradient.queryGradient, &gradient.keyGradient, &gradient.valueGradient})
    if (*result)
      accesses.push_back(&**result);
  return accesses;
}

void dropUnusedDims(AttentionGradient &gradient) {
  dropUnusedDims(gradient, ownAccesses(gradient));
}

std::vector<int> dropUnusedBuffers(AttentionGradient &gradient) {
  std::vector<Access *> accesses = ownAccesses(gradient);
  accesses.insert(accesses.end(), {&gradient.query, &gradient.key, &gradient.value});
  if (gradient.mask)
    accesses.push_back(&*gradient.mask);
  std::vector<int> kept, number(gradient.buffers.size());
  std::vector<BufferSpec> buffers;
  for (int buffer = 0; buffer < int(gradient.buffers.size()); ++buffer) {
    number[buffer] = int(kept.size());
    if (std::any_of(accesses.begin(), accesses.end(),
                    [&](Access *access) { return access->buffer == buffer; }))
      kept.push_back(buffer), buffers.push_back(gradient.buffers[buffer]);
  }
  for (Access *access : accesses)
    access->buffer = number[access->buffer];
  gradient.buffers = std::move(buffers);
  return kept;
}

/// The dimensions of the batch that `result` does not run along.
static std::vector<int> dimsBeside(const AttentionGradient &gradient, const Access &result) {
  std::vector<int> dims;
  for (int dim = 0; dim < int(gradient.dims.size()); ++dim)
    if (!result.covers(dim) && dim != gradient.queries && dim != gradient.keys &&
        dim != gradient.depth && dim != gradient.width)
      dims.push_back(dim);
  return dims;
}

/// What blocks are of: the gradient of the keys, or of the values; else that of the queries.
static const Access &blockResult(const AttentionGradient &gradient) {
  return gradient.keyGradient     ? *gradient.keyGradient
         : gradient.valueGradient ? *gradient.valueGradient
                                  : *gradient.queryGradient;
}

std::vector<int> summedDims(const AttentionGradient &gradient) {
  return dimsBeside(gradient, blockResult(gradient));
}

std::string whyNotTogether(const AttentionGradient &gradient) {
  if (!gradient.hasQueries() || !gradient.hasKeys())
    return {};
  if (!gradient.dims[gradient.keys].size)
    return "how many keys there are is known only at the call";
  return dimsBeside(gradient, *gradient.queryGradient).empty()
             ? ""
             : "the gradient of the queries is a sum over some of the batch";
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

using Configured = AttentionGradientConfiguration;
static constexpr Member<Configured> members[] = {
    {"queries", &Configured::queries, 1, "queries in a block"},
    {"keys", &Configured::keys, 1, "keys in a block"},
    {"split_loop", &Configured::splitsLoop, 0, "whether workers may share the outermost loop"},
};

const ConfigurationSchema &attentionGradientSchema() {
  static const ConfigurationSchema schema = schemaOf<Configured>("attention_gradient", members);
  return schema;
}
Numbers numbersOf(const AttentionGradientConfiguration &configuration) {
  return numbersOf<Configured>(configuration, members);
}
AttentionGradientConfiguration attentionGradientFrom(const Numbers &fields) {
  return fromNumbers<Configured>(fields, members);
}

std::vector<Constraint> attentionGradientConstraints(const AttentionGradient &gradient) {
  std::vector<Constraint> constraints = scoreConstraints(gradient, "queries * keys");
  if (!gradient.hasQueries() || !gradient.hasKeys())
    return constraints;
  if (std::string why = whyNotTogether(gradient); !why.empty())
    constraints.emplace_back("1", "0", "the gradients are not one kernel: " + why);
  else
    constraints.emplace_back(std::to_string(*gradient.dims[gradient.keys].size), "keys",
                             "a block has all keys where the gradient of the queries is computed "
                             "beside that of the keys");
  constraints.emplace_back("split_loop", "0",
                           "the loop stores the gradient of the queries beside what it sums");
  return constraints;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// What is summed over blocks.
using Sums = std::vector<Tile>;

/// A number for each query: what weights are without, and what their gradients are without.
struct QueryNumbers {
  Tile logSumExp, delta;
};

/// The operands of a program's own block, which lies along columns. Numbers if it is of queries.
struct Own {
  Tile scoreFactor, weightFactor;
  std::optional<QueryNumbers> numbers;
};

class GradientWriter {
public:
  GradientWriter(const AttentionGradient &spec, const AttentionGradientConfiguration &configuration)
      : spec(spec), configuration(configuration), ownsQueries(!spec.hasKeys()),
        own(ownsQueries ? spec.queries : spec.keys), walked(ownsQueries ? spec.keys : spec.queries),
        summed(summedDims(spec)), frame(spec.dims, spec.buffers, tilingsOf()),
        block{spec, /*isTransposed=*/ownsQueries, {spec.queries}} {}

  void write() {
    std::optional<Own> mine;
    if (!ownVaries())
      mine = load(frame);
    storeSums(overSummed(0, frame, mine, noSums()));
  }

private:
  using Hidden = ScoreBlock::Hidden;

  int64_t blockOf(int dim) const {
    return dim == spec.queries ? configuration.queries : configuration.keys;
  }

  std::vector<DimTiling> tilingsOf() const {
    std::vector<DimTiling> tilings(spec.dims.size(), {1});
    tilings[own] = {blockOf(own)};
    for (int dim : {walked, spec.depth, spec.width})
      tilings[dim] = {};
    for (int dim : summed)
      tilings[dim] = {};
    return tilings;
  }

  //===--- operands -----------------------------------------------------------===//

  /// What scores are products of, and what the gradients of weights are, on either side.
  const Access &scoreFactor(int dim) const { return dim == spec.queries ? spec.query : spec.key; }
  const Access &weightFactor(int dim) const {
    return dim == spec.queries ? spec.outputGradient : spec.value;
  }

  bool ownVaries() const {
    std::vector<const Access *> accesses = {&scoreFactor(own), &weightFactor(own)};
    if (ownsQueries)
      accesses.insert(accesses.end(), {&spec.logSumExp, &spec.delta});
    return std::any_of(summed.begin(), summed.end(), [&](int dim) {
      return std::any_of(accesses.begin(), accesses.end(),
                         [&](const Access *access) { return access->covers(dim); });
    });
  }

  Own load(const KernelFrame &at) const {
    Tile scores = at.load(scoreFactor(own), {spec.depth, own});
    Tile weights = at.load(weightFactor(own), {spec.width, own});
    // Scaling narrow ones would round them again.
    return {spec.isNarrow() ? scores : scores * spec.scale, weights,
            ownsQueries ? std::optional(numbers(at)) : std::nullopt};
  }

  QueryNumbers numbers(const KernelFrame &at) const {
    return {block.finite(block.vector(at, spec.logSumExp), block.mayHideAll()),
            block.vector(at, spec.delta)};
  }

  /// As what it is multiplied by.
  Tile rounded(const Tile &x, const Access &like) const {
    return spec.isNarrow() ? cast(x, spec.buffers[like.buffer].dtype) : x;
  }

  //===--- sums ---------------------------------------------------------------===//

  /// Whether gradients of scores are summed, and not only weights.
  bool sumsScores() const { return ownsQueries || spec.keyGradient; }

  Sums noSums() const {
    Sums sums;
    auto add = [&](int inner) {
      sums.push_back(zeros({frame.extent(own), frame.extent(inner)}, spec.sum));
    };
    if (sumsScores())
      add(spec.depth);
    if (spec.valueGradient)
      add(spec.width);
    return sums;
  }

  /// One block: rows of scores are what is walked over, columns are the program's own.
  Sums addBlock(const KernelFrame &at, const Own &mine, Hidden hidden, const Sums &sums) const {
    QueryNumbers queries = mine.numbers ? *mine.numbers : numbers(at);
    Tile scoreRows = at.load(scoreFactor(walked), {walked, spec.depth});
    Tile weightRows = at.load(weightFactor(walked), {walked, spec.width});
    Tile none = zeros({at.extent(walked), at.extent(own)}, spec.sum);
    Tile product = dot(scoreRows, mine.scoreFactor, none);
    Tile scores = block.masked(at, spec.isNarrow() ? product * spec.scale : product, hidden);
    Tile weights = exp(scores - queries.logSumExp);
    Sums added;
    if (sumsScores() || spec.queryGradient) {
      Tile gradients = weights * (dot(weightRows, mine.weightFactor, none) - queries.delta);
      if (sumsScores())
        added.push_back(
            dot(transpose(rounded(gradients, scoreFactor(walked))), scoreRows, sums[0]));
      if (!ownsQueries && spec.queryGradient)
        storeQueries(at, gradients);
    }
    if (spec.valueGradient)
      added.push_back(
          dot(transpose(rounded(weights, spec.outputGradient)), weightRows, sums.back()));
    return added;
  }

  /// The gradient of a block of queries, where the program has all keys.
  void storeQueries(const KernelFrame &at, const Tile &gradients) const {
    Tile keys = at.load(spec.key, {spec.keys, spec.depth});
    Tile none = zeros({at.extent(spec.queries), at.extent(spec.depth)}, spec.sum);
    Tile sum = dot(rounded(gradients, spec.key), keys, none);
    store(at, *spec.queryGradient, {spec.queries, spec.depth}, sum * spec.scale);
  }

  //===--- loops --------------------------------------------------------------===//

  /// From `begin` to before `end`; only what begins with zeros can be split.
  Sums loop(const Index &begin, const Index &end, const Sums &start, bool isFirst,
            const std::function<Sums(const Index &, const Sums &)> &body) const {
    bool isSplit = configuration.splitsLoop && isFirst;
    if (start.size() == 1) {
      auto step = [&](const Index &n, const Tile &sum) { return body(n, {sum})[0]; };
      if (!isSplit)
        return {forLoop(begin, end, 1, start[0], step)};
      return {forLoop(begin, end, 1, start[0], step,
                      commutative([](const Tile &x, const Tile &y) { return x + y; }))};
    }
    auto step = [&](const Index &n, const Tile &first, const Tile &second) {
      Sums sums = body(n, {first, second});
      return std::tuple(sums[0], sums[1]);
    };
    std::tuple both(start[0], start[1]);
    auto combine = commutative([](const Tile &x1, const Tile &x2, const Tile &y1, const Tile &y2) {
      return std::tuple(x1 + y1, x2 + y2);
    });
    auto [first, second] =
        isSplit ? forLoop(begin, end, 1, both, step, combine) : forLoop(begin, end, 1, both, step);
    return {first, second};
  }

  Sums overSummed(size_t number, const KernelFrame &at, const std::optional<Own> &mine,
                  const Sums &start) const {
    if (number == summed.size())
      return overBlocks(at, mine ? *mine : load(at), start);
    int dim = summed[number];
    return loop(0, Index(at.size(spec.dims[dim])), start, number == 0,
                [&](const Index &n, const Sums &sums) {
                  KernelFrame inner = at;
                  inner.fix(dim, n);
                  return overSummed(number + 1, inner, mine, sums);
                });
  }

  Sums overRange(const KernelFrame &at, const Own &mine, const Index &begin, const Index &end,
                 Hidden hidden, const Sums &start, bool isFirst) const {
    return loop(begin, end, start, isFirst && summed.empty(),
                [&](const Index &n, const Sums &sums) {
                  KernelFrame inner = at;
                  inner.take(walked, blockOf(walked), n);
                  return addBlock(inner, mine, hidden, sums);
                });
  }

  Sums overBlocks(const KernelFrame &at, const Own &mine, const Sums &start) const {
    const Extent &extent = spec.dims[walked];
    int64_t count = blockOf(walked);
    if (extent.size && *extent.size <= count)
      return addBlock(at, mine, {false, spec.isCausal}, start);
    Index all = ceilDiv(at.size(extent), count);
    if (ownsQueries)
      return overKeys(at, mine, all, count, start);
    // Queries beyond the last one have gradients of 0, which add nothing.
    if (!spec.isCausal)
      return overRange(at, mine, 0, all, {}, start, true);
    // Blocks of which no query sees a key of the program come first, then those of which some do.
    Index first = at.first(own), last = first + at.extent(own) - 1;
    Index begin = minimum(all, floorDiv(first, count)), clear = minimum(all, ceilDiv(last, count));
    return overRange(at, mine, clear, all, {},
                     overRange(at, mine, begin, clear, {false, true}, start, true), false);
  }

  Sums overKeys(const KernelFrame &at, const Own &mine, Index all, int64_t count,
                const Sums &start) const {
    const Extent &keys = spec.dims[spec.keys];
    Index whole = floorDiv(at.size(keys), count);
    bool isEven = keys.size && *keys.size % count == 0;
    if (spec.isCausal) {
      // Blocks that every query of the program sees, and those that none does.
      Index first = at.first(own), end = first + at.extent(own);
      whole = minimum(whole, floorDiv(first + 1, count));
      all = minimum(all, ceilDiv(end, count));
    } else if (isEven) {
      return overRange(at, mine, 0, all, {}, start, true);
    }
    return overRange(at, mine, whole, all, {!isEven, spec.isCausal},
                     overRange(at, mine, 0, whole, {}, start, true), false);
  }

  //===--- results ------------------------------------------------------------===//

  void store(const KernelFrame &at, const Access &access, const std::vector<int> &axes,
             const Tile &tile) const {
    at.store(access, axes, cast(tile, spec.buffers[access.buffer].dtype));
  }

  void storeSums(const Sums &sums) const {
    if (ownsQueries)
      store(frame, *spec.queryGradient, {own, spec.depth}, sums[0] * spec.scale);
    if (spec.keyGradient)
      store(frame, *spec.keyGradient, {own, spec.depth}, sums[0] * spec.scale);
    if (spec.valueGradient)
      store(frame, *spec.valueGradient, {own, spec.width}, sums.back());
  }

  const AttentionGradient &spec;
  const AttentionGradientConfiguration &configuration;
  bool ownsQueries; // else keys
  int own, walked;
  std::vector<int> summed;
  KernelFrame frame;
  ScoreBlock block; // what is walked over x the program's own
};

} // namespace

void writeAttentionGradient(const AttentionGradient &gradient,
                            const AttentionGradientConfiguration &configuration) {
  GradientWriter(gradient, configuration).write();
}

} // namespace tw::kernels
