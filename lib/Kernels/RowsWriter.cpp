// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Chunks.h"
#include "Kernels/Reductions.h"
#include "Kernels/Rows.h"
#include "Language/ByName.h"
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

namespace tw::kernels {
using namespace tw::kernel;
using kernel::Size;

namespace {

using Scanning = Tile (*)(const Tile &, tw::kernel::Axis, Direction, Here);

const std::pair<const char *, Scanning> scans[] = {
    {"sum", cumsum}, {"prod", cumprod}, {"max", cummax}, {"min", cummin}};

constexpr int64_t mostUnrolled = 16;

class RowsWriter {
public:
  RowsWriter(const LoopProgram &program, const RowsConfiguration &configuration)
      : program(program), writer(std::make_unique<Writer>(program.dims, program.buffers,
                                                          program.scalars, configuration.walks)),
        walks(configuration.walks), order(program.dims.size()), ones(program.dims.size(), Size(1)) {
    std::iota(order.begin(), order.end(), 0);
  }

  void run() {
    values.resize(program.steps.size());
    states.resize(program.steps.size());
    auto chunked = std::find_if(walks.begin(), walks.end(), [](auto &walk) { return walk.chunk; });
    if (chunked != walks.end())
      runInChunks(int(chunked - walks.begin()), chunked->chunk);
    else
      run(0, program.steps.size());
  }

private:
  void run(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (program.steps[i].kind == Step::Kind::Fold)
        i = fold(i);
      else
        values[i].emplace(write(program.steps[i]));
  }

  /// A loop; gives the number of its last step.
  size_t fold(size_t first) {
    const Step &step = program.steps[first];
    size_t last = first + 1;
    for (int depth = 1; last < program.steps.size(); ++last) {
      depth += program.steps[last].kind == Step::Kind::Fold;
      if (program.steps[last].kind == Step::Kind::Yield && --depth == 0)
        break;
    }
    Shape shape = ones;
    for (int dim : step.along)
      shape[dim] = writer->extent(dim);
    std::vector<Tile> carried;
    for (size_t i = step.isRange ? 3 : 0; i < step.operands.size(); ++i)
      carried.push_back(broadcast(value(step.operands[i]), shape));
    auto body = [&](const std::vector<Tile> &now) {
      states[first] = std::vector<Tile>(now);
      run(first + 1, last);
      std::vector<Tile> next;
      for (int operand : program.steps[last].operands)
        next.push_back(broadcast(value(operand), shape));
      return next;
    };
    if (step.isRange)
      carried = loop(index(step.operands[0]), index(step.operands[1]), index(step.operands[2]),
                     carried, [&](const Index &at, const std::vector<Tile> &now) {
                       variables.erase(first);
                       variables.emplace(first, at);
                       return body(now);
                     });
    else
      carried = foldDims(step, 0, isShort(step), carried, body);
    states[first] = std::move(carried);
    return last;
  }

  //===--- chunks ------------------------------------------------------------===//

  /// What is reduced along `dim` is carried by a loop over pieces of `chunk` elements; what neither
  /// extends along it nor depends on the loop comes before, the rest behind it.
  void runInChunks(int dim, int64_t chunk) {
    std::vector<ChunkPlace> places = placesInChunks(program, dim);
    auto stepsAt = [&](ChunkPlace wanted) {
      std::vector<size_t> steps;
      for (size_t i = 0; i < places.size(); ++i)
        if (places[i] == wanted)
          steps.push_back(i);
      return steps;
    };
    auto writeAll = [&](const std::vector<size_t> &steps) {
      for (size_t i : steps)
        values[i].emplace(write(program.steps[i]));
    };
    std::vector<size_t> reduced = stepsAt(ChunkPlace::Reduced),
                        inLoop = stepsAt(ChunkPlace::InLoop);
    writeAll(stepsAt(ChunkPlace::Before));
    CarriedReductions carried(program, reduced);
    auto combine = [&](const std::vector<Tile> &both) {
      auto middle = both.begin() + both.size() / 2;
      return carried.combined({both.begin(), middle}, {middle, both.end()});
    };
    auto add = [&](const std::vector<Tile> &now, const Size &count, const Index &begin) {
      auto part = std::make_unique<Writer>(*writer);
      part->takeInside(dim, count, begin);
      std::swap(writer, part);
      writeAll(inLoop);
      auto reduceStep = [&](const Step &step) { return reduce(step); };
      std::vector<Tile> next =
          carried.combined(now, carried.ofPart(reduceStep, writer->first(dim)));
      std::swap(writer, part);
      return next;
    };
    auto body = [&](const Index &number, const std::vector<Tile> &now) {
      return add(now, chunk, number * chunk);
    };
    Size size = writer->size(program.dims[dim]), trips = floorDiv(size, chunk);
    std::vector<Tile> start = carried.neutral([&](int d) { return writer->extent(d); });
    std::vector<Tile> last = loop(0, trips, 1, start, body, combine);
    if (Size rest = mod(size, chunk); !rest.isConstant() || rest.constant() > 0)
      last = add(last, rest, trips * chunk);
    std::vector<Tile> results = carried.results(last);
    for (size_t i = 0; i < reduced.size(); ++i)
      values[reduced[i]].emplace(results[i]);
    writeAll(stepsAt(ChunkPlace::Behind));
  }

  //===--- folds -------------------------------------------------------------===//

  using FoldBody = std::function<std::vector<Tile>(const std::vector<Tile> &)>;

  /// Runs a body for each place along the dimensions of a fold, outermost first.
  std::vector<Tile> foldDims(const Step &step, size_t level, bool isUnrolled,
                             std::vector<Tile> carried, const FoldBody &body) {
    if (level == step.dims.size())
      return body(carried);
    int dim = step.dims[level];
    Size size = writer->size(program.dims[dim]);
    auto at = [&](const Index &place, const std::vector<Tile> &now) {
      auto fixed = std::make_unique<Writer>(*writer);
      fixed->fix(dim, place);
      std::swap(writer, fixed);
      std::vector<Tile> next = foldDims(step, level + 1, isUnrolled, now, body);
      std::swap(writer, fixed);
      return next;
    };
    if (!isUnrolled)
      return loop(0, size, 1, carried, at);
    for (int64_t place = 0; place < size.constant(); ++place)
      carried = at(place, carried);
    return carried;
  }

  static std::vector<Tile>
  loop(const Index &begin, const Index &end, const Index &step, const std::vector<Tile> &carried,
       const std::function<std::vector<Tile>(const Index &, const std::vector<Tile> &)> &body,
       const FoldBody &combine = nullptr) {
    auto refs = [](const std::vector<Tile> &tiles) {
      detail::Refs all;
      for (const Tile &tile : tiles)
        all.push_back(tile.ref());
      return all;
    };
    auto tiles = [](const detail::Refs &all, size_t from) {
      std::vector<Tile> made;
      for (size_t i = from; i < all.size(); ++i)
        made.push_back(Tile(all[i]));
      return made;
    };
    auto run = [&](const detail::Refs &all) {
      return refs(body(Index(detail::at(all, 0)), tiles(all, 1)));
    };
    detail::Body both;
    if (combine)
      both = [&](const detail::Refs &all) { return refs(combine(tiles(all, 0))); };
    return tiles(detail::forLoop(begin, end, step, refs(carried), run, both, Here::current()), 0);
  }

  /// Whether a fold has so few places that it is written out.
  bool isShort(const Step &step) const {
    int64_t places = 1;
    for (int dim : step.dims)
      places *=
          std::min<int64_t>(program.dims[dim].size.value_or(mostUnrolled + 1), mostUnrolled + 1);
    return places <= mostUnrolled;
  }

  const Tile &value(int step) const { return *values[size_t(step)]; }

  Index index(int step) const { return Index(extract(value(step))); }

  Tile state(const Step &step) const {
    size_t fold = size_t(step.operands[0]);
    if (step.argument < 0)
      return full(ones, variables.at(fold), step.dtype);
    return states[fold][size_t(step.argument)];
  }

  void update(const Step &step) const {
    std::vector<Index> positions;
    std::vector<Tile> places;
    for (size_t i = 1; i < step.operands.size(); ++i)
      places.push_back(value(step.operands[i]));
    Writer::Combine combine;
    if (!step.name.empty())
      combine = [&](const Tile &there, const Tile &value) {
        return applyByName(step.name, {there, value}, step.dtype, {});
      };
    if (std::any_of(places.begin(), places.end(), [&](auto &tile) { return onlyDim(tile) != -1; }))
      return writer->updateElements(step.access, order, value(step.operands[0]), places, combine);
    for (size_t i = 1; i < step.operands.size(); ++i)
      positions.push_back(index(step.operands[i]));
    writer->update(step.access, order, value(step.operands[0]), positions, combine);
  }

  Tile write(const Step &step) {
    switch (step.kind) {
    case Step::Kind::Load:
      return writer->load(step.access, order, padOf(step));
    case Step::Kind::Number:
      return full(ones, std::visit([](auto number) { return Scalar(number); }, step.number),
                  step.dtype);
    case Step::Kind::Argument:
      return full(ones, writer->scalar(step.argument), step.dtype);
    case Step::Kind::Size:
      return full(ones, Index(writer->size(program.dims[step.dims[0]])), step.dtype);
    case Step::Kind::Coordinate:
      return coordinate(step.dims[0]);
    case Step::Kind::Apply:
      return applyByName(step.name, operands(step), step.dtype, step.predicate);
    case Step::Kind::Reduce:
      return reduce(step);
    case Step::Kind::Scan:
      return scan(step);
    case Step::Kind::State:
    case Step::Kind::Result:
      return state(step);
    case Step::Kind::Update:
      update(step);
      return {};
    case Step::Kind::Fold:
    case Step::Kind::Yield:
      return {};
    case Step::Kind::Gather:
      return gather(step);
    case Step::Kind::Check:
      return check(value(step.operands[0]), Index(extract(value(step.operands[1]))), step.name,
                   inside(value(step.operands[0]).shape()));
    case Step::Kind::Store:
      writer->store(step.access, order, value(step.operands[0]));
      return {};
    }
    return {};
  }

  std::vector<Tile> operands(const Step &step) const {
    std::vector<Tile> tiles;
    for (int operand : step.operands)
      tiles.push_back(value(operand));
    return tiles;
  }

  Tile coordinate(int dim) const { return writer->coordinate(dim, order); }

  /// What a load reads outside of its buffer, where it may.
  Scalar padOf(const Step &step) const {
    if (step.operands.empty())
      return {};
    const Step &pad = program.steps[step.operands[0]];
    if (pad.kind == Step::Kind::Number)
      return constant(std::visit([](auto number) { return Scalar(number); }, pad.number),
                      pad.dtype);
    return extract(value(step.operands[0]));
  }

  /// Innermost dimensions first: what is left of the others is short then.
  Tile reduce(const Step &step) const {
    Tile tile = value(step.operands[0]);
    const Reduction &row = reductionOf(step);
    std::vector<int> dims = step.dims;
    std::sort(dims.rbegin(), dims.rend());
    for (int dim : dims) {
      Shape shape = tile.shape();
      shape[dim] =
          writer->extent(dim); // a value that is the same along a dimension counts each time
      tile = row.reduce(broadcast(tile, shape), dim, KeepDim::yes, Here::current());
    }
    return tile;
  }

  Tile scan(const Step &step) const {
    Tile tile = value(step.operands[0]);
    auto row = std::find_if(std::begin(scans), std::end(scans),
                            [&](auto &r) { return r.first == step.name; });
    int dim = step.dims[0];
    Shape shape = tile.shape();
    shape[dim] = writer->extent(dim);
    return row->second(broadcast(tile, shape), dim,
                       step.predicate.empty() ? Direction::forward : Direction::backward,
                       Here::current());
  }

  static bool isOne(const Size &extent) { return extent.isConstant() && extent.constant() == 1; }

  /// Where the elements of a tile are no padding; empty when none are.
  Tile inside(const Shape &shape) const {
    Tile mask;
    for (int dim : order)
      if (writer->hasEdge(dim) && !isOne(shape[dim])) {
        Tile own = coordinate(dim) < writer->size(program.dims[dim]);
        mask = mask.ref().index() == 0 ? own : mask && own;
      }
    if (mask.ref().index() != 0)
      mask = broadcast(mask, shape);
    return mask;
  }

  /// The only dimension that a step's result extends along; -1: none, -2: several.
  int onlyDim(const Tile &tile) const {
    int only = -1;
    Shape shape = tile.shape();
    for (int dim : order)
      if (!isOne(shape[dim]))
        only = only == -1 ? dim : -2;
    return only;
  }

  /// A box where every position runs along a dimension of its own, as the rows of an embedding do;
  /// else single elements.
  Tile gather(const Step &step) const {
    Positions positions;
    Shape extents;
    std::vector<bool> used(order.size());
    std::vector<int> axes;
    bool isBox = true;
    for (int operand : step.operands) {
      const Tile &tile = value(operand);
      int dim = onlyDim(tile);
      isBox &= dim != -2 && (dim < 0 || !used[dim]);
      if (!isBox)
        break;
      const Step &source = program.steps[operand];
      Size extent = dim < 0 ? Size(1) : writer->extent(dim);
      if (source.kind == Step::Kind::Coordinate && dim >= 0)
        positions.push_back(writer->first(dim));
      else if (dim < 0)
        positions.push_back(Index(extract(tile)));
      else
        positions.push_back(reshape(tile, {extent}));
      extents.push_back(extent);
      axes.push_back(dim);
      if (dim >= 0)
        used[dim] = true;
    }
    const Buffer &buffer = writer->buffer(step.access.buffer);
    if (!isBox)
      return gatherElements(buffer, step);
    return arrange(load(buffer, positions, extents, {.pad = zeroOf(step.dtype)}), axes);
  }

  static Scalar zeroOf(DType dtype) {
    return dtype == i1 ? Scalar(false) : dtype <= f64 ? Scalar(0.0) : Scalar(0);
  }

  /// A tile whose axes run along `axes` (-1: one element), with an axis for each dimension.
  Tile arrange(const Tile &tile, const std::vector<int> &axes) const {
    std::vector<int> sorted(axes.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(),
              [&](int a, int b) { return std::pair(axes[a], a) < std::pair(axes[b], b); });
    Shape shape = ones, own = tile.shape();
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] >= 0)
        shape[axes[i]] = own[i];
    bool isSorted = std::is_sorted(sorted.begin(), sorted.end());
    return reshape(isSorted ? tile : transpose(tile, sorted), shape);
  }

  Tile gatherElements(const Buffer &buffer, const Step &step) const {
    Positions positions;
    for (int operand : step.operands)
      positions.push_back(value(operand));
    return kernel::gather(buffer, positions, {.pad = zeroOf(step.dtype)});
  }

  const LoopProgram &program;
  std::unique_ptr<Writer> writer;
  const std::vector<Walk> &walks;
  std::vector<int> order;
  Shape ones;
  // Nothing that is made outside of a loop may be assigned in it, so what changes is made anew.
  std::vector<std::optional<Tile>> values;
  std::vector<std::vector<Tile>> states; // of folds
  std::map<size_t, Index> variables;     // of folds over a range
};

} // namespace

void writeRows(const LoopProgram &program, const RowsConfiguration &configuration) {
  RowsWriter(program, configuration).run();
}

} // namespace tw::kernels
