// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FoundKernel.h"
#include "Tune/Spec/FieldsVersion.h"
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tw::cli {

namespace {

/// A string attribute.
std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (unsigned char c : text)
    if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
      out += fmt::format("\\{:02X}", c);
    else
      out += char(c);
  return out + '"';
}

std::string quoted(const std::vector<std::string> &texts) {
  std::vector<std::string> all;
  for (const std::string &text : texts)
    all.push_back(quoted(text));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

/// What a matcher asks of a kernel, beside its sizes and its dispatch.
std::string featuresText(const TunableKernel &kernel) {
  std::string text = fmt::format("kind = {}, dtypes = {}, weight = {}", quoted(kernel.kind),
                                 quoted(kernel.dtypes), kernel.isRhsWeight);
  if (kernel.kind == "loops")
    text += fmt::format(", operations = {}", quoted(kernel.operations));
  return text;
}

std::string sizesText(const TunableKernel &kernel) {
  std::string text;
  for (const auto &[name, range] : kernel.sizes) {
    std::string wanted = range.first == range.second
                             ? fmt::format("equals {}", range.first)
                             : fmt::format("least {} most {}", range.first, range.second);
    text += fmt::format("    transform.tuning.match.size %kernel {} {} : !transform.any_op\n",
                        quoted(name), wanted);
  }
  return text;
}

std::string fieldsText(const kernels::Fields &given) {
  std::vector<std::string> fields;
  for (const auto &[name, value] : given.numbers)
    fields.push_back(fmt::format("{} = {}", name, value));
  for (const auto &[name, list] : given.lists)
    fields.push_back(fmt::format("{} = array<i64: {}>", name, fmt::join(list, ", ")));
  return fmt::format("{}", fmt::join(fields, ", "));
}

std::string fieldsText(const TunableKernel &kernel, const tune::Point &point, const char *indent) {
  std::string text = fmt::format("kind = {}, {}", quoted(kernel.kind),
                                 fieldsText(fieldsAt(kernel, point, /*ofTarget=*/false)));
  if (!kernel.target.empty())
    text += fmt::format(",\n{}target = {{kind = {}, {}}}", indent, quoted(kernel.target),
                        fieldsText(fieldsAt(kernel, point, /*ofTarget=*/true)));
  return text;
}

std::string configurationText(const TunableKernel &kernel, const tune::Point &point) {
  KernelConfiguration written = configurationAt(kernel, point);
  std::string text = fieldsText(kernel, written.own, "        ");
  if (!written.variants)
    return text;
  std::vector<std::string> variants;
  for (const auto &[bound, variant] : *written.variants) {
    auto [name, number] = bound.field();
    variants.push_back(fmt::format("\n          {{{} = {}, {}}}", name, number,
                                   fieldsText(kernel, variant, "           ")));
  }
  return fmt::format("{},\n        variants = [{}]", text, fmt::join(variants, ","));
}

/// "2026-11-25"
std::string today() {
  std::time_t now = std::time(nullptr);
  char text[sizeof "2026-11-25"];
  return std::string(text, std::strftime(text, sizeof text, "%F", std::gmtime(&now)));
}

/// Which calls were measured: "all", or of the variant for them "at_most 4, size 3".
std::string callsText(const TunableKernel &kernel) {
  std::string text = kernel.bound.text();
  if (kernel.callSize)
    text += fmt::format(", size {}", *kernel.callSize);
  return text.empty() ? "all" : text.substr(2);
}

/// Where a configuration comes from, as attributes of its matcher.
std::string measuredText(const std::string &model, const FoundKernel &found) {
  if (!found.measured)
    return "";
  const FoundKernel::Measured &measured = *found.measured;
  return fmt::format(" attributes {{tuning.measured = {{\n"
                     "      model = {}, kernel = {}, operations = {}, calls = {},\n"
                     "      machine = {}, compiler = {}, date = {},\n"
                     "      start_us = {:.6e}, ratio = [{:.6e}, {:.6e}, {:.6e}]}}}}",
                     quoted(std::filesystem::path(model).filename()), quoted(found.kernel.name),
                     quoted(found.kernel.ops), quoted(callsText(found.kernel)),
                     quoted(measured.machine), quoted(measured.compiler), quoted(today()),
                     measured.startUs, measured.ratio.median, measured.ratio.low,
                     measured.ratio.high);
}

/// "contraction_f32_rows128_columns768_sum768"
std::string nameOf(const TunableKernel &kernel) {
  std::string name = kernel.kind + "_" + (kernel.dtypes.empty() ? "" : kernel.dtypes.front());
  for (const auto &[size, range] : kernel.sizes)
    if (range != std::pair<int64_t, int64_t>(1, 1))
      name += range.first == range.second ? fmt::format("_{}{}", size, range.first) : "_" + size;
  return name;
}

std::string sequenceText(const std::string &name, const std::string &attributes,
                         const std::string &features, const std::string &sizes,
                         const std::string &configuration) {
  return fmt::format(
      "  transform.named_sequence @{}(%kernel: !transform.any_op {{transform.readonly}})\n"
      "      -> (!transform.any_op, !transform.any_param){} {{\n"
      "    transform.tuning.match.kernel %kernel {{{}}} : !transform.any_op\n{}"
      "    %configuration = transform.param.constant {{\n        {}}} -> !transform.any_param\n"
      "    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param\n"
      "  }}\n",
      name, attributes, features, sizes, configuration);
}

} // namespace

std::string configurationText(const std::vector<FoundKernel> &kernels,
                              const std::vector<Decision> &decisions) {
  std::vector<TunableKernel> all;
  Choice changed;
  for (const FoundKernel &found : kernels) {
    if (!found.isCompilersChoice())
      changed.emplace(all.size(), *found.point);
    all.push_back(found.kernel);
  }
  return configurationText(all, changed, decisions);
}

std::string specText(const ModelOptions &model, const std::vector<FoundKernel> &kernels,
                     const std::vector<Decision> &decisions) {
  std::multiset<std::string> known;
  for (const FoundKernel &found : kernels)
    known.insert(featuresText(found.kernel) + sizesText(found.kernel));
  std::set<std::string> names;
  std::string sequences, pairs;
  for (const FoundKernel &found : kernels) {
    const TunableKernel &kernel = found.kernel;
    if (found.isCompilersChoice())
      continue;
    std::string features = featuresText(kernel), sizes = sizesText(kernel);
    if (known.count(features + sizes) > 1)
      features += fmt::format(", signature = {}, number = {} : i64", quoted(kernel.signature),
                              kernel.number);
    std::string name = nameOf(kernel);
    for (int again = 2; !names.insert(name).second; ++again)
      name = fmt::format("{}_{}", nameOf(kernel), again);
    sequences += sequenceText(name, measuredText(model.model, found), features, sizes,
                              configurationText(kernel, *found.point));
    pairs += fmt::format("{}@{} -> @configure", pairs.empty() ? "\n        " : ",\n        ", name);
  }
  std::string body = pairs.empty()
                         ? ""
                         : fmt::format("    %matched = transform.foreach_match in %kernels{}\n"
                                       "        : (!transform.any_op) -> !transform.any_op\n",
                                       pairs);
  return fmt::format(
      "// Found by `tilewright tune`; for `--tuning-spec`. docs/tuning.md.\n"
      "module attributes {{transform.with_named_sequence, tuning.version = {} : i64,\n"
      "    tuning.target = {}{}}} {{\n{}"
      "  transform.named_sequence @configure(%kernel: !transform.any_op {{transform.readonly}},\n"
      "      %configuration: !transform.any_param {{transform.readonly}}) {{\n"
      "    transform.annotate %kernel \"configuration\" = %configuration\n"
      "        : !transform.any_op, !transform.any_param\n"
      "    transform.yield\n  }}\n"
      "  transform.named_sequence @__transform_main(%kernels: !transform.any_op "
      "{{transform.consumed}}) {{\n{}    transform.yield\n  }}\n}}\n",
      tune::fieldsVersion, quoted(isForGpu(model.target) ? "nvidia" : "cpu"),
      decisions.empty() ? "" : ",\n    tuning.decisions = " + decisionRules(decisions), sequences,
      body);
}

} // namespace tw::cli
