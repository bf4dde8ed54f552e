// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConfigurationText.h"
#include "IO/Formats/JsonWriter.h"
#include "Tune/Spec/FieldsVersion.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tw::cli {
using tune::Knob;
using tune::Point;

kernels::Fields fieldsAt(const TunableKernel &kernel, const Point &point, bool ofTarget) {
  kernels::Fields fields;
  for (const Knob &knob : kernel.space.knobs) {
    if (kernel.isOfTarget.at(knob.name) != ofTarget)
      continue;
    int64_t value = point.at(knob.name);
    if (!knob.element) {
      fields.numbers[knob.name] = value;
      continue;
    }
    std::vector<int64_t> &list = fields.lists[knob.element->list];
    list.resize(std::max(list.size(), knob.element->index + 1));
    list[knob.element->index] = value;
  }
  return fields;
}

static void writeFields(JsonWriter &json, const kernels::Fields &fields) {
  for (const auto &[name, value] : fields.numbers)
    json.member(name, value);
  for (const auto &[name, list] : fields.lists) {
    json.key(name).beginArray();
    for (int64_t value : list)
      json.value(value);
    json.endArray();
  }
}

KernelConfiguration configurationAt(const TunableKernel &kernel, const Point &point) {
  if (kernel.bound.isForAll())
    return {point, kernel.areVariantsGiven ? std::optional(kernel.variants) : std::nullopt};
  KernelConfiguration made{kernel.own, kernel.variants};
  made.variants->insert_or_assign(kernel.bound, point);
  return made;
}

bool isCompilersChoice(const TunableKernel &kernel, const Point &point) {
  return kernel.bound.isForAll() ? point == kernel.chosen && !kernel.areVariantsGiven
                                 : point == kernel.start.point && kernel.isChosen;
}

/// As members of an open object.
static void writeConfiguration(JsonWriter &json, const TunableKernel &kernel, const Point &point) {
  json.member("kind", std::string_view(kernel.kind));
  writeFields(json, fieldsAt(kernel, point, /*ofTarget=*/false));
  if (!kernel.target.empty()) {
    json.key("target").beginObject().member("kind", std::string_view(kernel.target));
    writeFields(json, fieldsAt(kernel, point, /*ofTarget=*/true));
    json.endObject();
  }
}

static void writeKernel(JsonWriter &json, const TunableKernel &kernel, const Point &point) {
  KernelConfiguration written = configurationAt(kernel, point);
  json.beginObject().member("kernel", std::string_view(kernel.name));
  writeConfiguration(json, kernel, written.own);
  if (written.variants) {
    json.key("variants").beginArray();
    for (const auto &[bound, variant] : *written.variants) {
      auto [name, number] = bound.field();
      json.beginObject().member(name, number);
      writeConfiguration(json, kernel, variant);
      json.endObject();
    }
    json.endArray();
  }
  json.endObject();
}

std::string configurationText(const std::vector<TunableKernel> &kernels, const Choice &choice,
                              const std::vector<Decision> &decisions) {
  std::set<std::string> signatures;
  for (const auto &[number, point] : choice)
    signatures.insert(kernels[number].signature);
  JsonWriter json;
  json.beginObject().member("version", tune::fieldsVersion);
  if (!decisions.empty())
    write(json.key("decisions"), decisions);
  json.key("configurations").beginArray();
  for (const std::string &signature : signatures) {
    std::map<int64_t, size_t> members; // of the dispatch, by their numbers in it
    for (size_t number = 0; number < kernels.size(); ++number)
      if (kernels[number].signature == signature)
        members.try_emplace(kernels[number].number, number);
    const TunableKernel &first = kernels[members.begin()->second];
    json.beginObject().member("signature", std::string_view(signature));
    json.member("ops", fmt::format("{}", fmt::join(first.operators, ", ")));
    json.member("source", std::string_view(first.source)).key("kernels").beginArray();
    for (const auto &[place, number] : members) {
      auto chosen = choice.find(number);
      writeKernel(json, kernels[number],
                  chosen == choice.end() ? kernels[number].start.point : chosen->second);
    }
    json.endArray().endObject();
  }
  return json.endArray().endObject().text() + "\n";
}

} // namespace tw::cli
