// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Instance/InputCheck.h"
#include "Support/Checked.h"
#include "Support/Counted.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::rt {

std::string shapeText(std::span<const int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::string shapeText(std::span<const Size> sizes) {
  std::string text;
  for (const Size &size : sizes)
    text += (text.empty() ? "" : ", ") + size.text();
  return "[" + text + "]";
}

namespace {

/// How messages speak of a model, which was exported, and of a kernel, which its author declared.
struct Words {
  const char *program, *source, *shapeHelp, *range, *rangeHelp;
};
constexpr Words ofModel = {"the program", "the model says", "", "the model was exported with",
                           "export the model again with a wider range for this dimension"};
constexpr Words ofKernel = {"the kernel", "its declaration says",
                            "give sizes that fit each other as the kernel declares its arguments",
                            "its declaration says",
                            "give a size in that range, or declare the symbol with a wider one"};

class InputChecker {
public:
  InputChecker(const Metadata &metadata, std::span<const tw_tensor> inputs, SymbolValues &symbols,
               InputUse use)
      : metadata(metadata), words(metadata.isKernel ? ofKernel : ofModel), inputs(inputs),
        symbols(symbols), use(use) {
    symbols.assign(metadata.symbols.size(), std::nullopt);
    origins.resize(metadata.symbols.size());
  }

  Status run() {
    TW_TRY(checkCount());
    std::vector<size_t> rest;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!isAsDeclared(i))
        rest.push_back(i);
    for (size_t i : rest)
      TW_TRY(checkType(i));
    for (size_t i : rest)
      TW_TRY(bind(i));
    for (const SymbolSolution &solution : metadata.solutions)
      TW_TRY(solve(solution));
    for (size_t i : rest)
      TW_TRY(checkExpressions(i));
    return checkRanges();
  }

private:
  /// Where a symbol's value was seen: a dimension of an input, or (-1) a scalar input itself.
  struct Origin {
    size_t input = 0;
    int dimension = -1;
  };

  std::string name(size_t input) const {
    return fmt::format("input \"{}\"", metadata.inputs[input].name);
  }
  std::string place(size_t input, int dimension) const {
    return dimension < 0 ? name(input) : fmt::format("{} dimension {}", name(input), dimension);
  }
  std::string symbolText(int symbol) const {
    return fmt::format("{} = {} (from {})", metadata.symbols[symbol].name, *symbols[symbol],
                       place(origins[symbol].input, origins[symbol].dimension));
  }

  Diagnostic wrongShape(size_t i, std::string message) const {
    const tw_tensor &input = inputs[i];
    std::span<const int64_t> given(input.sizes, input.rank);
    return {Code::RUNTIME_11,
            std::move(message),
            {},
            {fmt::format("given {}, {} takes {}", shapeText(given), words.program,
                         shapeText(metadata.inputs[i].sizes))},
            words.shapeHelp};
  }

  /// Whether input `i` is a tensor of fixed sizes that it has: nothing else is to be checked of it,
  /// and that costs a few nanoseconds.
  bool isAsDeclared(size_t i) const {
    const ValueInfo &expected = metadata.inputs[i];
    const tw_tensor &input = inputs[i];
    if (!expected.fixedBytes || !input.data || input.bytes < *expected.fixedBytes ||
        static_cast<int>(input.dtype) != static_cast<int>(expected.dtype) ||
        input.rank != static_cast<int64_t>(expected.fixedSizes.size()) ||
        (input.rank && !input.sizes))
      return false;
    for (int d = 0; d < input.rank; ++d)
      if (input.sizes[d] != expected.fixedSizes[d])
        return false;
    return true;
  }

  Status checkCount() const {
    if (inputs.size() == metadata.inputs.size())
      return {};
    std::string names;
    for (const ValueInfo &input : metadata.inputs)
      names += (names.empty() ? "" : ", ") + input.name;
    return Diagnostic{Code::RUNTIME_9,
                      fmt::format("{} takes {}, but {} {} given", words.program,
                                  counted(metadata.inputs.size(), "input"), inputs.size(),
                                  oneOrMany(inputs.size(), "was", "were")),
                      {},
                      {fmt::format("the inputs are: {}", names)},
                      {}};
  }

  Status checkType(size_t i) const {
    const ValueInfo &expected = metadata.inputs[i];
    const tw_tensor &input = inputs[i];
    if (static_cast<int>(input.dtype) != static_cast<int>(expected.dtype)) {
      const char *given = tw_dtype_name(input.dtype);
      return Diagnostic{Code::RUNTIME_10,
                        fmt::format("{} is {}, but {} takes {}", name(i),
                                    given ? given : "of an unknown dtype", words.program,
                                    info(expected.dtype).name),
                        {},
                        {},
                        fmt::format("convert it to {}", info(expected.dtype).name)};
    }
    if (input.rank < 0 || (input.rank > 0 && !input.sizes))
      return Diagnostic{Code::RUNTIME_18, fmt::format("{} has rank {} and {} sizes", name(i),
                                                      input.rank, input.sizes ? "negative" : "no")};
    if (static_cast<size_t>(input.rank) != expected.sizes.size())
      return wrongShape(i, fmt::format("{} has {}, but {} takes {}", name(i),
                                       counted(input.rank, "dimension"), words.program,
                                       expected.sizes.size()));
    return checkMemory(i);
  }

  Status checkMemory(size_t i) const {
    const tw_tensor &input = inputs[i];
    auto count = checkedProduct({input.sizes, static_cast<size_t>(input.rank)});
    auto bytes = count ? checkedMul(*count, info(metadata.inputs[i].dtype).bytes) : std::nullopt;
    if (!bytes)
      return wrongShape(i, fmt::format("{} has sizes that no tensor can have", name(i)));
    if (use == InputUse::Sizes && metadata.inputs[i].kind == ValueKind::Tensor)
      return {};
    if (*bytes > 0 && !input.data)
      return Diagnostic{Code::RUNTIME_14, fmt::format("{} has no data, but its sizes need {} bytes",
                                                      name(i), *bytes)};
    if (input.bytes < *bytes)
      return Diagnostic{Code::RUNTIME_14, fmt::format("{} has {} bytes, but its sizes need {}",
                                                      name(i), input.bytes, *bytes)};
    return {};
  }

  /// Checks fixed sizes; takes the symbols that are sizes or scalars themselves.
  Status bind(size_t i) {
    const ValueInfo &expected = metadata.inputs[i];
    if (expected.symbol)
      return bindSymbol(*expected.symbol, *static_cast<const int64_t *>(inputs[i].data), {i, -1});
    for (int d = 0; d < inputs[i].rank; ++d) {
      const Size &size = expected.sizes[d];
      int64_t given = inputs[i].sizes[d];
      if (size.fixed && *size.fixed != given)
        return wrongShape(i, fmt::format("{} is {}, but {} takes {}", place(i, d), given,
                                         words.program, *size.fixed));
      if (auto symbol = size.expression ? size.expression->asSymbol() : std::nullopt)
        TW_TRY(bindSymbol(*symbol, given, {i, d}));
    }
    return {};
  }

  Status bindSymbol(int symbol, int64_t value, Origin origin) {
    if (!symbols[symbol]) {
      symbols[symbol] = value;
      origins[symbol] = origin;
      return {};
    }
    if (*symbols[symbol] == value)
      return {};
    std::string message = fmt::format("{} is {}, but {} {}", place(origin.input, origin.dimension),
                                      value, words.source, symbolText(symbol));
    return wrongShape(origin.input, std::move(message));
  }

  /// Nothing follows where the factor is 0 or not known.
  Status solve(const SymbolSolution &solution) {
    auto [i, d] = std::pair(size_t(solution.input), solution.dimension);
    int64_t size = inputs[i].sizes[d];
    auto factor = solution.factor.evaluate(symbols), offset = solution.offset.evaluate(symbols);
    auto rest = offset ? checkedSub(size, *offset) : std::nullopt;
    if (!rest || !factor || *factor == 0)
      return {};
    if (checkedMod(*rest, *factor) != 0)
      return wrongShape(i, fmt::format("{} is {}, but {} {}, which no whole number "
                                       "makes {}",
                                       place(i, d), size, words.source,
                                       metadata.inputs[i].sizes[d].expression->text(), size));
    return bindSymbol(solution.symbol, checkedFloorDiv(*rest, *factor).value_or(INT64_MAX), {i, d});
  }

  Status checkExpressions(size_t i) const {
    for (int d = 0; d < inputs[i].rank; ++d) {
      const auto &expression = metadata.inputs[i].sizes[d].expression;
      auto value = expression ? expression->evaluate(symbols) : std::nullopt;
      if (!value || *value == inputs[i].sizes[d])
        continue;
      std::string where;
      for (int symbol : expression->symbols())
        where += (where.empty() ? " with " : " and ") + symbolText(symbol);
      return wrongShape(i, fmt::format("{} is {}, but {} {}{}", place(i, d), inputs[i].sizes[d],
                                       words.source, expression->text(), where));
    }
    return {};
  }

  Status checkRanges() const {
    for (size_t s = 0; s < symbols.size(); ++s) {
      const SymbolInfo &symbol = metadata.symbols[s];
      if (!symbols[s] || (*symbols[s] >= symbol.min && *symbols[s] <= symbol.max))
        continue;
      bool low = *symbols[s] < symbol.min;
      return Diagnostic{Code::RUNTIME_12,
                        fmt::format("{} makes {} {}, but {} {} {} {}",
                                    place(origins[s].input, origins[s].dimension), symbol.name,
                                    *symbols[s], words.range, symbol.name,
                                    low ? ">=" : "<=", low ? symbol.min : symbol.max),
                        {},
                        {},
                        words.rangeHelp};
    }
    return {};
  }

  const Metadata &metadata;
  const Words &words;
  std::span<const tw_tensor> inputs;
  SymbolValues &symbols;
  InputUse use;
  std::vector<Origin> origins;
};

} // namespace

Status checkInputs(const Metadata &metadata, std::span<const tw_tensor> inputs,
                   SymbolValues &symbols, InputUse use) {
  Status status = InputChecker(metadata, inputs, symbols, use).run();
  if (status || !metadata.isKernel)
    return status;
  Diagnostic error = std::move(status).error();
  error.message.insert(0, fmt::format("kernel {}: ", metadata.model));
  return error;
}

} // namespace tw::rt
