// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Chunks.h"
#include "Kernels/PieceBuilder.h"
#include "Kernels/Rows.h"
#include <algorithm>

namespace tw::kernels {

static bool has(const std::vector<int> &dims, int dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

static bool isReducedAlong(const Step &step, int dim) {
  return step.kind == Step::Kind::Reduce && has(step.dims, dim);
}

static bool storesAlong(const LoopProgram &program, int dim) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step &step) {
    return step.kind == Step::Kind::Store && step.access.covers(dim);
  });
}

bool canLoop(const LoopProgram &program) {
  using Kind = Step::Kind;
  static const Kind kinds[] = {Kind::Load,   Kind::Number,     Kind::Argument,
                               Kind::Size,   Kind::Coordinate, Kind::Apply,
                               Kind::Reduce, Kind::Gather,     Kind::Store};
  return std::all_of(program.steps.begin(), program.steps.end(), [](const Step &step) {
    return std::find(std::begin(kinds), std::end(kinds), step.kind) != std::end(kinds);
  });
}

std::vector<int> reductionsBefore(const LoopProgram &program, int dim) {
  std::vector<int> counts;
  for (const Step &step : program.steps) {
    int count = 0;
    for (int operand : step.operands)
      count = std::max(count, counts[operand]);
    counts.push_back(count + isReducedAlong(step, dim));
  }
  return counts;
}

std::vector<ChunkPlace> placesInChunks(const LoopProgram &program, int dim) {
  std::vector<int> counts = reductionsBefore(program, dim);
  bool isOnce = !counts.empty() && *std::max_element(counts.begin(), counts.end()) == 1;
  if (!isOnce || !canLoop(program) || storesAlong(program, dim))
    return {};
  std::vector<std::vector<int>> extents = extentsOf(program.steps);
  std::vector<ChunkPlace> places;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    bool isInside = has(extents[i], dim);
    if (isInside && counts[i] > 0)
      return {};
    // Memory is written behind the loop, as workers that share it want it.
    bool isBehind = counts[i] > 0 || program.steps[i].kind == Step::Kind::Store;
    places.push_back(isInside                                ? ChunkPlace::InLoop
                     : isReducedAlong(program.steps[i], dim) ? ChunkPlace::Reduced
                     : isBehind                              ? ChunkPlace::Behind
                                                             : ChunkPlace::Before);
  }
  return places;
}

namespace {

/// A program with some of the steps of another one, in which reductions come from memory.
class Extract {
public:
  Extract(const Piece &from, const std::vector<int> &temporaryOf)
      : from(from), program(std::get<LoopProgram>(from.what)), temporaryOf(temporaryOf),
        extents(extentsOf(program.steps)), numbers(program.steps.size(), -1),
        buffers(program.buffers.size(), -1) {
    made.dims = program.dims;
    made.scalars = program.scalars;
    made.singles = program.singles;
  }

  /// `loaded`: whether a step's result is in its temporary.
  int step(int number, const std::vector<bool> &loaded) {
    int &known = numbers[number];
    if (known >= 0)
      return known;
    Step copy = program.steps[number];
    if (loaded[number]) {
      copy = {Step::Kind::Load, copy.dtype};
      copy.access = temporary(number, false);
    } else {
      for (int &operand : copy.operands)
        operand = step(operand, loaded);
      if (copy.access.buffer >= 0)
        copy.access.buffer = buffer(copy.access.buffer);
    }
    made.steps.push_back(std::move(copy));
    return known = int(made.steps.size()) - 1;
  }

  /// Stores a step's result to its temporary.
  void keep(int number, const std::vector<bool> &loaded) {
    Step store{Step::Kind::Store, program.steps[number].dtype, {step(number, loaded)}};
    store.access = temporary(number, true);
    made.steps.push_back(std::move(store));
  }

  Piece take() {
    Piece piece{std::move(made), std::move(tensors), from.scalars, from.locations};
    tidy(piece);
    return piece;
  }

private:
  int buffer(int old) {
    if (buffers[old] < 0) {
      buffers[old] = int(made.buffers.size());
      made.buffers.push_back(program.buffers[old]);
      tensors.push_back(from.tensors[old]);
    }
    return buffers[old];
  }

  /// How the temporary of a step is read or written.
  Access temporary(int number, bool isOutput) {
    Access access{int(made.buffers.size()), {}};
    BufferSpec spec{
        "t" + std::to_string(temporaryOf[number]), program.steps[number].dtype, {}, isOutput};
    for (int dim : extents[number]) {
      access.axes.push_back({dim});
      spec.shape.push_back(program.dims[dim]);
    }
    made.buffers.push_back(std::move(spec));
    tensors.push_back({{}, {}, temporaryOf[number]});
    return access;
  }

  const Piece &from;
  const LoopProgram &program;
  const std::vector<int> &temporaryOf;
  std::vector<std::vector<int>> extents;
  std::vector<int> numbers, buffers; // of steps and buffers in what is made
  LoopProgram made;
  std::vector<TensorUse> tensors;
};

} // namespace

std::vector<Piece> cutLongRows(Piece piece, int &temporaries) {
  auto *program = std::get_if<LoopProgram>(&piece.what);
  std::optional<int> dim = program ? longDim(*program) : std::nullopt;
  if (!dim || !placesInChunks(*program, *dim).empty())
    return {std::move(piece)};
  std::vector<int> counts = reductionsBefore(*program, *dim), temporaryOf(counts.size(), -1);
  for (size_t i = 0; i < counts.size(); ++i)
    if (isReducedAlong(program->steps[i], *dim))
      temporaryOf[i] = temporaries++;
  std::vector<Piece> pieces;
  std::vector<bool> loaded(counts.size());
  int last = *std::max_element(counts.begin(), counts.end()) + storesAlong(*program, *dim);
  for (int level = 1; level < last; ++level) {
    Extract extract(piece, temporaryOf);
    std::vector<bool> next = loaded;
    for (size_t i = 0; i < counts.size(); ++i)
      if (temporaryOf[i] >= 0 && counts[i] == level) {
        extract.keep(int(i), loaded);
        next[i] = true;
      }
    loaded = std::move(next);
    pieces.push_back(extract.take());
  }
  Extract rest(piece, temporaryOf);
  for (size_t i = 0; i < counts.size(); ++i)
    if (program->steps[i].kind == Step::Kind::Store)
      rest.step(int(i), loaded);
  pieces.push_back(rest.take());
  return pieces;
}

} // namespace tw::kernels
