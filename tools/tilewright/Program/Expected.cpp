// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Expected.h"
#include "tools/tilewright/Failure.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tw::cli {

/// CLI11's own check prints the largest double with all its digits.
static std::string checkNonNegative(const std::string &text) {
  double value = 0;
  bool fine = CLI::detail::lexical_cast(text, value) && value >= 0;
  return fine ? "" : fmt::format("{} is not a number of at least 0", text);
}

void ToleranceOptions::addTo(CLI::App &app) {
  CLI::Validator nonNegative(checkNonNegative, "");
  app.add_option("--rtol", rtol, "allowed difference relative to the expected value")
      ->check(nonNegative);
  app.add_option("--atol", atol, "allowed absolute difference, in addition")->check(nonNegative);
}

/// The SPEC without its name: what stands in messages.
static std::string sourceText(const InputSpec &spec) {
  return spec.name.empty() ? spec.text : spec.text.substr(spec.name.size() + 1);
}

Result<std::vector<OutputComparison>> compareOutputs(const Interface &callee,
                                                     std::span<const HostTensor> outputs,
                                                     std::span<const InputSpec> expected,
                                                     const ToleranceOptions &tolerances) {
  std::vector<std::string> names;
  for (const InputSpec &spec : expected)
    names.push_back(spec.name);
  TW_ASSIGN(std::vector<int> indices, findOutputs(callee, names));
  std::vector<OutputComparison> comparisons;
  for (size_t i = 0; i < expected.size(); ++i) {
    const HostTensor &output = outputs[indices[i]];
    TW_ASSIGN(HostTensor wanted, readInput(expected[i], output.dtype()));
    OutputComparison comparison;
    comparison.name = callee.outputs[indices[i]];
    comparison.against = sourceText(expected[i]);
    TW_ASSIGN(comparison.found,
              compare(output, wanted, fmt::format("output \"{}\"", comparison.name), tolerances));
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

bool reportDifferences(std::span<const OutputComparison> comparisons, const std::string &callName) {
  bool same = true;
  for (const OutputComparison &comparison : comparisons) {
    if (comparison.found.same())
      continue;
    same = false;
    fail({Code::CLI_4,
          fmt::format("{}{} \"{}\" differs from {}", callName, comparison.kind, comparison.name,
                      comparison.against),
          {},
          {comparison.found.text(),
           fmt::format("allowed is {:g} relative plus {:g} absolute",
                       comparison.found.tolerance.rtol, comparison.found.tolerance.atol)},
          {}});
  }
  return same;
}

void writeJson(JsonWriter &json, std::span<const OutputComparison> comparisons) {
  json.beginArray();
  for (const OutputComparison &c : comparisons) {
    json.beginObject().member(c.kind, c.name).member("against", c.against);
    json.member("same", c.found.same()).member("elements", c.found.count);
    json.member("mismatches", c.found.mismatches);
    json.member("max_absolute_error", c.found.maxAbsolute);
    json.member("max_relative_error", c.found.maxRelative);
    json.member("rtol", c.found.tolerance.rtol).member("atol", c.found.tolerance.atol);
    if (!c.found.same()) {
      json.key("first_mismatch").beginArray();
      for (int64_t i : c.found.firstIndex)
        json.value(i);
      json.endArray();
    }
    json.endObject();
  }
  json.endArray();
}

} // namespace tw::cli
