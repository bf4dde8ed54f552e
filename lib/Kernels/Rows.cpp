// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Rows.h"
#include "Language/ByName.h"
#include <algorithm>
#include <numeric>

namespace tw::kernels {
using namespace tw::kernel;

namespace {

using Reduction = Tile (*)(const Tile &, tw::kernel::Axis, KeepDim, Here);

const std::pair<const char *, Reduction> reductions[] = {
    {"sum", sum}, {"prod", prod}, {"max", max},       {"min", min},
    {"any", any}, {"all", all},   {"argmax", argmax}, {"argmin", argmin},
};

using Scanning = Tile (*)(const Tile &, tw::kernel::Axis, Direction, Here);

const std::pair<const char *, Scanning> scans[] = {
    {"sum", cumsum}, {"prod", cumprod}, {"max", cummax}, {"min", cummin}};

class RowsWriter {
public:
  RowsWriter(const LoopProgram &program, const RowsConfiguration &configuration)
      : program(program),
        writer(program.dims, program.buffers, program.scalars, configuration.walks),
        order(program.dims.size()), ones(program.dims.size(), Size(1)) {
    std::iota(order.begin(), order.end(), 0);
  }

  void run() {
    for (const Step &step : program.steps)
      values.push_back(write(step));
  }

private:
  Tile write(const Step &step) {
    switch (step.kind) {
    case Step::Kind::Load:
      return writer.load(step.access, order, padOf(step));
    case Step::Kind::Number:
      return full(ones, std::visit([](auto number) { return Scalar(number); }, step.number),
                  step.dtype);
    case Step::Kind::Argument:
      return full(ones, writer.scalar(step.argument), step.dtype);
    case Step::Kind::Size:
      return full(ones, Index(writer.size(program.dims[step.dims[0]])), step.dtype);
    case Step::Kind::Coordinate:
      return coordinate(step.dims[0]);
    case Step::Kind::Apply:
      return applyByName(step.name, operands(step), step.dtype, step.predicate);
    case Step::Kind::Reduce:
      return reduce(step);
    case Step::Kind::Scan:
      return scan(step);
    case Step::Kind::Gather:
      return gather(step);
    case Step::Kind::Check:
      return check(values[step.operands[0]], Index(extract(values[step.operands[1]])), step.name,
                   inside(values[step.operands[0]].shape()));
    case Step::Kind::Store:
      writer.store(step.access, order, values[step.operands[0]]);
      return {};
    }
    return {};
  }

  std::vector<Tile> operands(const Step &step) const {
    std::vector<Tile> tiles;
    for (int operand : step.operands)
      tiles.push_back(values[operand]);
    return tiles;
  }

  Tile coordinate(int dim) const { return writer.coordinate(dim, order); }

  /// What a load reads outside of its buffer, where it may.
  Scalar padOf(const Step &step) const {
    if (step.operands.empty())
      return {};
    const Step &pad = program.steps[step.operands[0]];
    if (pad.kind == Step::Kind::Number)
      return constant(std::visit([](auto number) { return Scalar(number); }, pad.number),
                      pad.dtype);
    return extract(values[step.operands[0]]);
  }

  /// Innermost dimensions first: what is left of the others is short then.
  Tile reduce(const Step &step) const {
    Tile tile = values[step.operands[0]];
    auto row = std::find_if(std::begin(reductions), std::end(reductions),
                            [&](auto &r) { return r.first == step.name; });
    std::vector<int> dims = step.dims;
    std::sort(dims.rbegin(), dims.rend());
    for (int dim : dims) {
      Shape shape = tile.shape();
      shape[dim] =
          writer.extent(dim); // a value that is the same along a dimension counts each time
      tile = row->second(broadcast(tile, shape), dim, KeepDim::yes, Here::current());
    }
    return tile;
  }

  Tile scan(const Step &step) const {
    Tile tile = values[step.operands[0]];
    auto row = std::find_if(std::begin(scans), std::end(scans),
                            [&](auto &r) { return r.first == step.name; });
    int dim = step.dims[0];
    Shape shape = tile.shape();
    shape[dim] = writer.extent(dim);
    return row->second(broadcast(tile, shape), dim,
                       step.predicate.empty() ? Direction::forward : Direction::backward,
                       Here::current());
  }

  static bool isOne(const Size &extent) { return extent.isConstant() && extent.constant() == 1; }

  /// Where the elements of a tile are no padding; empty when none are.
  Tile inside(const Shape &shape) const {
    Tile mask;
    for (int dim : order)
      if (writer.hasEdge(dim) && !isOne(shape[dim])) {
        Tile own = coordinate(dim) < writer.size(program.dims[dim]);
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
      const Tile &tile = values[operand];
      int dim = onlyDim(tile);
      isBox &= dim != -2 && (dim < 0 || !used[dim]);
      if (!isBox)
        break;
      const Step &source = program.steps[operand];
      Size extent = dim < 0 ? Size(1) : writer.extent(dim);
      if (source.kind == Step::Kind::Coordinate && dim >= 0)
        positions.push_back(writer.first(dim));
      else if (dim < 0)
        positions.push_back(Index(extract(tile)));
      else
        positions.push_back(reshape(tile, {extent}));
      extents.push_back(extent);
      axes.push_back(dim);
      if (dim >= 0)
        used[dim] = true;
    }
    const Buffer &buffer = writer.buffer(step.access.buffer);
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
      positions.push_back(values[operand]);
    return kernel::gather(buffer, positions, {.pad = zeroOf(step.dtype)});
  }

  const LoopProgram &program;
  Writer writer;
  std::vector<int> order;
  Shape ones;
  std::vector<Tile> values;
};

constexpr int64_t programElements = 1024; // of an elementwise program: stays in registers and L1
constexpr int64_t transposedBlock = 16;
constexpr int64_t columnBlock = 64;
constexpr int64_t workerElements = 1 << 14; // worth handing to another thread
constexpr int64_t unknownExtent = 256;

bool reads(const Step &step) {
  return step.kind == Step::Kind::Load || step.kind == Step::Kind::Store;
}

int innermost(const Access &access) { return access.axes.empty() ? -1 : access.axes.back().dim; }

} // namespace

std::vector<bool> parallelDims(const LoopProgram &program) {
  std::vector<bool> parallel(program.dims.size(), true);
  for (const Step &step : program.steps) {
    if (step.kind == Step::Kind::Reduce || step.kind == Step::Kind::Scan)
      for (int dim : step.dims)
        parallel[dim] = false;
    if (step.kind == Step::Kind::Store)
      for (size_t dim = 0; dim < parallel.size(); ++dim)
        if (std::none_of(step.access.axes.begin(), step.access.axes.end(),
                         [&](const Axis &axis) { return axis.dim == int(dim); }))
          parallel[dim] = false;
  }
  return parallel;
}

RowsConfiguration chooseRows(const LoopProgram &program) {
  RowsConfiguration chosen;
  chosen.walks.resize(program.dims.size());
  std::vector<bool> parallel = parallelDims(program);
  int last = int(program.dims.size()) - 1;
  bool isNest = std::all_of(parallel.begin(), parallel.end(), [](bool b) { return b; });
  int64_t elements = 1;
  for (size_t dim = 0; dim < parallel.size(); ++dim)
    if (parallel[dim])
      chosen.walks[dim].block = 1;
    else
      elements *= program.dims[dim].size.value_or(unknownExtent);
  auto grow = [&](int dim, int64_t most) {
    int64_t size = program.dims[dim].size.value_or(most);
    chosen.walks[dim].block = std::max<int64_t>(1, std::min(size, most));
    elements *= chosen.walks[dim].block;
  };
  if (last >= 0 && parallel[last]) {
    bool isTransposed = false;
    for (const Step &step : program.steps)
      if (int inner = innermost(step.access);
          reads(step) && inner >= 0 && inner != last && parallel[inner]) {
        isTransposed = true;
        if (chosen.walks[inner].block == 1)
          grow(inner, transposedBlock);
      }
    grow(last, !isNest ? columnBlock : isTransposed ? 4 * transposedBlock : programElements);
  }
  // A short innermost dimension makes short vectors, so take several of the next one.
  for (int dim = last - 1; isNest && dim >= 0 && elements < programElements / 4; --dim)
    if (chosen.walks[dim].block == 1 &&
        chosen.walks[dim + 1].block == program.dims[dim + 1].size.value_or(-1))
      grow(dim, programElements / std::max<int64_t>(elements, 1));
    else
      break;
  int64_t rest = std::max<int64_t>(1, workerElements / std::max<int64_t>(elements, 1));
  for (int dim = last; dim >= 0 && rest > 1; --dim)
    if (Walk &walk = chosen.walks[dim]; walk.block > 0) {
      int64_t count =
          program.dims[dim].size ? (*program.dims[dim].size + walk.block - 1) / walk.block : rest;
      walk.programs = std::max<int64_t>(1, std::min(count, rest));
      rest /= walk.programs;
    }
  return chosen;
}

void writeRows(const LoopProgram &program, const RowsConfiguration &configuration) {
  RowsWriter(program, configuration).run();
}

} // namespace tw::kernels
