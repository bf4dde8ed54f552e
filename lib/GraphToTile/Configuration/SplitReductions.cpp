// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/SplitReductions.h"
#include "GraphToTile/Analysis/Subkernels/SubkernelBuilder.h"
#include <algorithm>

namespace tw::conversion {

using Kind = Statement::Kind;

static bool has(const std::vector<int> &dims, int dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

static bool isReducedAlong(const Statement &statement, int dim) {
  return (statement.kind == Kind::Reduce || statement.kind == Kind::ArgReduce) &&
         has(statement.dims, dim);
}

static bool storesAlong(const LoopProgram &program, int dim) {
  bool found = false;
  forEachAccess(
      program, [&](const Access &access, bool isStore) { found |= isStore && access.covers(dim); });
  return found;
}

static bool extendsAlong(const Statement &statement, int dim) {
  return std::any_of(statement.results.begin(), statement.results.end(),
                     [&](const std::vector<int> &dims) { return has(dims, dim); });
}

bool canLoop(const LoopProgram &program) {
  static const Kind kinds[] = {Kind::Map, Kind::Reduce, Kind::ArgReduce, Kind::AddToInit};
  return std::all_of(
      program.statements.begin(), program.statements.end(), [](const Statement &statement) {
        bool isKnown =
            std::find(std::begin(kinds), std::end(kinds), statement.kind) != std::end(kinds);
        return isKnown && !statement.hasLoop && !statement.hasCheck;
      });
}

std::vector<int> reductionDepths(const LoopProgram &program, int dim) {
  std::vector<int> depths;
  for (const Statement &statement : program.statements) {
    int depth = 0;
    for (const Source &source : statement.sources)
      if (source.result)
        depth = std::max(depth, depths[source.result.statement]);
    depths.push_back(depth + isReducedAlong(statement, dim));
  }
  return depths;
}

std::vector<LoopPosition> positionsInLoop(const LoopProgram &program, int dim) {
  std::vector<int> depths = reductionDepths(program, dim);
  bool isOnce = !depths.empty() && *std::max_element(depths.begin(), depths.end()) == 1;
  if (!isOnce || !canLoop(program) || storesAlong(program, dim))
    return {};
  std::vector<LoopPosition> positions;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const Statement &statement = program.statements[i];
    bool isInside = extendsAlong(statement, dim);
    if (isInside && depths[i] > 0)
      return {};
    positions.push_back(isInside                         ? LoopPosition::Inside
                        : isReducedAlong(statement, dim) ? LoopPosition::Reduced
                        : depths[i] > 0                  ? LoopPosition::Behind
                                                         : LoopPosition::Before);
  }
  return positions;
}

namespace {

/// Numbers of the temporaries that results of reductions go through; -1: none.
using Temporaries = std::vector<std::vector<int>>; // by statement and result

/// A program with some of the statements of another one, in which reductions come from memory.
class Extract {
public:
  Extract(const Subkernel &from, const Temporaries &temporaries)
      : from(from), program(std::get<LoopProgram>(from.what)), temporaries(temporaries),
        numbers(program.statements.size(), -1), buffers(program.buffers.size(), -1) {
    made.dims = program.dims;
    made.scalars = program.scalars;
    made.sizes = program.sizes;
    made.unitDims = program.unitDims;
  }

  /// Stores the results of a reduction to their temporaries. `loaded`: statements whose results are
  /// in theirs.
  void keep(int number, const std::vector<bool> &loaded) {
    for (int result = 0; result < int(program.statements[number].results.size()); ++result) {
      int own = statement(number, loaded);
      made.stores.push_back({{own, result}, temporary({number, result}, true)});
    }
  }

  /// A store of the original program, with all that it needs, which is not `loaded`.
  void keep(const StoredResult &store, const std::vector<bool> &loaded) {
    int own = statement(store.value.statement, loaded);
    made.stores.push_back({{own, store.value.result}, moved(store.access)});
  }

  Subkernel take() {
    Subkernel subkernel{std::move(made), std::move(tensors), from.locations};
    tidy(subkernel);
    return subkernel;
  }

private:
  int statement(int number, const std::vector<bool> &loaded) {
    if (numbers[number] >= 0)
      return numbers[number];
    Statement copy = program.statements[number];
    for (Source &source : copy.sources) {
      if (source.access)
        source.access = moved(*source.access);
      if (!source.result)
        continue;
      if (loaded[source.result.statement])
        source = {{}, {}, temporary(source.result, false), {}};
      else
        source.result.statement = statement(source.result.statement, loaded);
    }
    for (auto &[op, lookUp] : copy.lookUps)
      lookUp.access = moved(lookUp.access);
    made.statements.push_back(std::move(copy));
    return numbers[number] = int(made.statements.size()) - 1;
  }

  Access moved(Access access) {
    int &buffer = buffers[access.buffer];
    if (buffer < 0) {
      buffer = int(made.buffers.size());
      made.buffers.push_back(program.buffers[access.buffer]);
      tensors.push_back(from.tensors[access.buffer]);
    }
    access.buffer = buffer;
    return access;
  }

  /// How the temporary of a result is read or written.
  Access temporary(ResultRef value, bool isOutput) {
    int number = temporaries[value.statement][value.result];
    Access access{int(made.buffers.size()), {}};
    BufferSpec spec{"t" + std::to_string(number), dtypeOf(value), {}, isOutput};
    for (int dim : program.dimsOf(value)) {
      access.axes.push_back({dim});
      spec.shape.push_back(program.dims[dim]);
    }
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].temporary == number && made.buffers[i].isOutput == isOutput) {
        access.buffer = int(i);
        return access;
      }
    made.buffers.push_back(std::move(spec));
    tensors.push_back({{}, {}, number});
    return access;
  }

  kernel::DType dtypeOf(ResultRef value) const {
    const Statement &statement = program.statements[value.statement];
    return statement.op ? *conversion::dtypeOf(statement.op->getResult(value.result).getType())
                        : kernel::f32;
  }

  const Subkernel &from;
  const LoopProgram &program;
  const Temporaries &temporaries;
  std::vector<int> numbers, buffers; // of statements and buffers in what is made
  LoopProgram made;
  std::vector<TensorUse> tensors;
};

} // namespace

std::optional<int> longestReducedDim(const LoopProgram &program) {
  auto length = [&](int dim) { return program.dims[dim].size.value_or(INT64_MAX); };
  int longest = -1;
  for (const Statement &statement : program.statements)
    if (statement.kind == Kind::Reduce || statement.kind == Kind::ArgReduce)
      for (int dim : statement.dims)
        if (longest < 0 || length(dim) > length(longest))
          longest = dim;
  return longest < 0 ? std::nullopt : std::optional(longest);
}

bool canSplitReductions(const LoopProgram &program, int dim) {
  return canLoop(program) && positionsInLoop(program, dim).empty();
}

std::vector<Subkernel> splitReductions(const Subkernel &subkernel, int dim, int &count) {
  const auto &program = std::get<LoopProgram>(subkernel.what);
  std::vector<int> depths = reductionDepths(program, dim);
  Temporaries temporaries(depths.size());
  for (size_t i = 0; i < depths.size(); ++i)
    for (size_t result = 0; result < program.statements[i].results.size(); ++result)
      temporaries[i].push_back(isReducedAlong(program.statements[i], dim) ? count++ : -1);
  std::vector<Subkernel> parts;
  std::vector<bool> loaded(depths.size());
  int last = *std::max_element(depths.begin(), depths.end()) + storesAlong(program, dim);
  for (int level = 1; level < last; ++level) {
    Extract extract(subkernel, temporaries);
    std::vector<bool> next = loaded;
    for (size_t i = 0; i < depths.size(); ++i)
      if (isReducedAlong(program.statements[i], dim) && depths[i] == level) {
        extract.keep(int(i), loaded);
        next[i] = true;
        for (const StoredResult &store : program.stores)
          if (store.value.statement == int(i))
            extract.keep(store, loaded);
      }
    loaded = std::move(next);
    parts.push_back(extract.take());
  }
  Extract rest(subkernel, temporaries);
  for (const StoredResult &store : program.stores)
    if (!loaded[store.value.statement])
      rest.keep(store, loaded);
  parts.push_back(rest.take());
  return parts;
}

} // namespace tw::conversion
