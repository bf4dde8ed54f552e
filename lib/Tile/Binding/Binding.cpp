// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Binding/Binding.h"
#include "Support/Checked.h"
#include "Support/Counted.h"
#include "Support/KernelLimits.h"
#include "Support/SolveSymbols.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw {

namespace {

class Binder {
public:
  Binder(const KernelSignature &kernel, std::span<const GivenArgument> given, bool isPartial)
      : kernel(kernel), given(given), isPartial(isPartial) {}

  Result<BoundKernel> bind() {
    TW_TRY(checkTypes());
    TW_TRY(takeArguments());
    TW_TRY(solve());
    TW_TRY(checkSymbols());
    TW_TRY(evaluateSizes());
    TW_TRY(evaluateGrid());
    TW_TRY(checkBody());
    return std::move(bound);
  }

private:
  Diagnostic error(Code code, std::string message) const {
    return {code, std::move(message), fmt::format("kernel {}", kernel.name)};
  }

  bool isUnknown(int64_t value) const { return isPartial && value == unknownSize; }

  std::string sizesText(std::span<const int64_t> sizes) const {
    std::vector<std::string> texts;
    for (int64_t size : sizes)
      texts.push_back(isUnknown(size) ? "?" : std::to_string(size));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  static std::string sizesText(std::span<const Size> sizes) {
    std::vector<std::string> texts;
    for (const Size &size : sizes)
      texts.push_back(size.str());
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }

  Status checkTypes() const {
    if (given.size() != kernel.arguments.size())
      return error(Code::INTERPRETER_1,
                   fmt::format("the kernel has {}, but {} {} given",
                               counted(kernel.arguments.size(), "argument"), given.size(),
                               oneOrMany(given.size(), "is", "are")));
    for (size_t i = 0; i < given.size(); ++i) {
      const KernelArgument &argument = kernel.arguments[i];
      if (!argument.isGiven())
        continue;
      if (argument.dtype != given[i].dtype)
        return error(Code::INTERPRETER_1,
                     fmt::format("argument \"{}\" is {}, but {} is given", argument.name,
                                 info(argument.dtype).name, info(given[i].dtype).name));
      if (!argument.isBuffer() && !given[i].sizes.empty())
        return error(Code::INTERPRETER_1,
                     fmt::format("argument \"{}\" is a scalar, but {} is given", argument.name,
                                 sizesText(given[i].sizes)));
      if (argument.sizes.size() != given[i].sizes.size())
        return error(Code::INTERPRETER_1,
                     fmt::format("argument \"{}\" has {}, {}, but {} {} given, {}", argument.name,
                                 counted(argument.sizes.size(), "dimension"),
                                 sizesText(argument.sizes), given[i].sizes.size(),
                                 oneOrMany(given[i].sizes.size(), "is", "are"),
                                 sizesText(given[i].sizes)));
      for (int64_t size : given[i].sizes)
        if (size < 0 && !isUnknown(size))
          return error(Code::INTERPRETER_1,
                       fmt::format("argument \"{}\" is given with the negative size {}",
                                   argument.name, size));
    }
    return {};
  }

  Status take(const std::string &symbol, int64_t value, std::string source) {
    if (value < 0)
      return error(Code::INTERPRETER_2, fmt::format("symbol {} would be {} by {}; symbols are not "
                                                    "negative",
                                                    symbol, value, source));
    auto [place, isNew] = bound.symbols.emplace(symbol, value);
    if (isNew)
      sources.emplace(symbol, std::move(source));
    else if (place->second != value)
      return error(Code::INTERPRETER_2,
                   fmt::format("symbol {} is {} by {}, but {} by {}", symbol, place->second,
                               sources.at(symbol), value, source));
    return {};
  }

  Status takeArguments() {
    for (size_t i = 0; i < given.size(); ++i)
      if (const KernelArgument &argument = kernel.arguments[i];
          !argument.symbol.empty() && !isUnknown(given[i].integer))
        TW_TRY(
            take(argument.symbol, given[i].integer, fmt::format("argument \"{}\"", argument.name)));
    return {};
  }

  std::string placeOf(size_t i, size_t d) const {
    return fmt::format("size {} of \"{}\", {}", d, kernel.arguments[i].name,
                       sizesText(given[i].sizes));
  }

  bool areKnown(const std::set<std::string> &symbols) const {
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](const std::string &symbol) { return bound.symbols.contains(symbol); });
  }

  Status solve() {
    std::vector<Size> equations;
    std::vector<std::pair<size_t, size_t>> places;
    for (size_t i = 0; i < given.size(); ++i)
      for (size_t d = 0; kernel.arguments[i].isGiven() && d < given[i].sizes.size(); ++d)
        if (!isUnknown(given[i].sizes[d])) {
          equations.push_back(kernel.arguments[i].sizes[d]);
          places.emplace_back(i, d);
        }
    std::set<std::string> known;
    for (const auto &[symbol, value] : bound.symbols)
      known.insert(symbol);
    for (const SolvedSymbol &solved : solveSymbols(equations, known))
      if (areKnown(solved.factor.symbols()) && areKnown(solved.offset.symbols())) {
        auto [i, d] = places[solved.equation];
        TW_TRY(solve(solved, i, d));
      }
    return {};
  }

  /// The value of one symbol, unless its factor is 0: then nothing follows.
  Status solve(const SolvedSymbol &solved, size_t i, size_t d) {
    int64_t size = given[i].sizes[d];
    std::string equation =
        fmt::format("{} = {} ({})", kernel.arguments[i].sizes[d].str(), size, placeOf(i, d));
    auto factor = solved.factor.evaluate(bound.symbols);
    auto offset = solved.offset.evaluate(bound.symbols);
    auto rest = offset ? checkedSub(size, *offset) : std::nullopt;
    if (!factor || !rest || (*factor == -1 && *rest == INT64_MIN))
      return error(Code::INTERPRETER_2, fmt::format("{} overflows", equation));
    if (*factor == 0)
      return {};
    if (*rest % *factor != 0)
      return error(Code::INTERPRETER_2,
                   fmt::format("no integer {} gives {}", solved.symbol, equation));
    return take(solved.symbol, *rest / *factor, placeOf(i, d));
  }

  Status checkSymbols() const {
    for (const KernelSymbol &symbol : kernel.symbols) {
      auto found = bound.symbols.find(symbol.name);
      if (found == bound.symbols.end() && isPartial)
        continue;
      if (found == bound.symbols.end())
        return error(Code::INTERPRETER_2,
                     fmt::format("symbol {} does not follow from the arguments", symbol.name));
      int64_t value = found->second;
      auto refuse = [&](const std::string &what) {
        return error(Code::INTERPRETER_3,
                     fmt::format("symbol {} is {} by {}, but must be {}", symbol.name, value,
                                 sources.at(symbol.name), what));
      };
      if (value < symbol.min)
        return refuse(fmt::format("at least {}", symbol.min));
      if (int64_t most = std::min(symbol.max, mostOfSymbol); value > most)
        return refuse(fmt::format("at most {}", most));
      if (value % symbol.multiple != 0)
        return refuse(fmt::format("a multiple of {}", symbol.multiple));
    }
    return {};
  }

  /// "M = 4 by size 0 of "x", [4, 8]" for each symbol of `size`.
  std::vector<std::string> whence(const Size &size) const {
    std::vector<std::string> notes;
    for (const std::string &symbol : size.symbols())
      if (auto found = bound.symbols.find(symbol); found != bound.symbols.end())
        notes.push_back(fmt::format("{} = {} by {}", symbol, found->second, sources.at(symbol)));
    return notes;
  }

  Result<int64_t> evaluate(const Size &size, const std::string &what,
                           bool mayBeNegative = false) const {
    for (const std::string &symbol : size.symbols())
      if (isPartial && !bound.symbols.contains(symbol))
        return unknownSize;
    auto value = size.evaluate(bound.symbols);
    if (value && (*value >= 0 || mayBeNegative))
      return *value;
    Diagnostic problem =
        error(Code::INTERPRETER_2,
              value ? fmt::format("{}, {}, is {}, which is negative", what, size.str(), *value)
                    : fmt::format("{}, {}, overflows or divides by 0", what, size.str()));
    problem.notes = whence(size);
    return problem;
  }

  Status evaluateSizes() {
    for (size_t i = 0; i < given.size(); ++i) {
      const KernelArgument &argument = kernel.arguments[i];
      auto &sizes = bound.sizes.emplace_back();
      for (size_t d = 0; d < argument.sizes.size(); ++d) {
        TW_ASSIGN(int64_t value,
                  evaluate(argument.sizes[d], fmt::format("size {} of \"{}\"", d, argument.name)));
        bool isChecked = argument.isGiven() && !isUnknown(value) && !isUnknown(given[i].sizes[d]);
        if (isChecked && value != given[i].sizes[d])
          return contradiction(i, d, value);
        sizes.push_back(value);
      }
    }
    return {};
  }

  Diagnostic contradiction(size_t i, size_t d, int64_t value) const {
    const Size &size = kernel.arguments[i].sizes[d];
    Diagnostic problem = error(
        Code::INTERPRETER_2,
        size.constant() ? fmt::format("{}: must be {}", placeOf(i, d), value)
                        : fmt::format("{}: must be {} = {}", placeOf(i, d), size.str(), value));
    problem.notes = whence(size);
    return problem;
  }

  Status evaluateGrid() {
    for (size_t d = 0; d < kernel.grid.size(); ++d) {
      TW_ASSIGN(int64_t value, evaluate(kernel.grid[d], fmt::format("size {} of the grid", d)));
      bound.grid.push_back(value);
    }
    return limitProduct(kernel.grid, bound.grid, mostPrograms, "the grid", "programs");
  }

  Status limitProduct(const std::vector<Size> &sizes, std::span<const int64_t> values, int64_t most,
                      const char *what, const char *ofWhat) const {
    if (std::any_of(values.begin(), values.end(), [&](int64_t n) { return isUnknown(n); }))
      return {};
    auto product = checkedProduct(values);
    if (product && *product <= most)
      return {};
    Diagnostic problem = error(Code::INTERPRETER_2, fmt::format("{}, {}, has more than {} {}", what,
                                                                sizesText(values), most, ofWhat));
    for (const Size &size : sizes)
      for (std::string &note : whence(size))
        if (std::find(problem.notes.begin(), problem.notes.end(), note) == problem.notes.end())
          problem.notes.push_back(std::move(note));
    return problem;
  }

  Status checkBody() const {
    auto at = [](Diagnostic problem, const std::string &place) {
      problem.location = place;
      return problem;
    };
    for (const KernelSize &one : kernel.sizes)
      if (auto value = evaluate(one.size, one.isExtent ? "an extent of a tile" : "a size",
                                /*mayBeNegative=*/!one.isExtent);
          !value)
        return at(value.error(), one.place);
    for (const KernelTile &tile : kernel.tiles)
      if (Status status = checkTile(tile); !status)
        return at(status.error(), tile.place);
    return {};
  }

  Status checkTile(const KernelTile &tile) const {
    std::vector<int64_t> extents;
    for (const Size &size : tile.extents) {
      TW_ASSIGN(extents.emplace_back(), evaluate(size, "an extent of a tile"));
    }
    return limitProduct(tile.extents, extents, mostTileElements, "a tile", "elements");
  }

  const KernelSignature &kernel;
  std::span<const GivenArgument> given;
  bool isPartial;
  BoundKernel bound;
  std::map<std::string, std::string, std::less<>> sources; // of each symbol: for messages
};

} // namespace

Diagnostic wrongCount(const KernelSignature &kernel, size_t given) {
  return {Code::INTERPRETER_1,
          fmt::format("{0} {1} given, which {1} not as many as the kernel takes",
                      counted(given, "argument"), oneOrMany(given, "is", "are")),
          fmt::format("kernel {}", kernel.name)};
}

Result<BoundKernel> bindKernel(const KernelSignature &kernel,
                               std::span<const GivenArgument> given) {
  return Binder(kernel, given, /*isPartial=*/false).bind();
}

Result<BoundKernel> bindKnown(const KernelSignature &kernel, std::span<const GivenArgument> given) {
  return Binder(kernel, given, /*isPartial=*/true).bind();
}

} // namespace tw
