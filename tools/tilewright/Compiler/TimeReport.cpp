// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TimeReport.h"
#include "IO/Formats/Json.h"
#include <fmt/format.h>

namespace tw::cli {

static Status addStages(const Json &stages, double total, int depth, std::string &text) {
  return stages.forEach([&](const Json &stage) -> Status {
    TW_ASSIGN(Json name, stage.get("name"));
    TW_ASSIGN(std::string_view label, name.string());
    TW_ASSIGN(Json ms, stage.get("ms"));
    TW_ASSIGN(double time, ms.number());
    text += fmt::format("{:10.1f} ms {:5.1f}%  {:{}}{}\n", time, total > 0 ? 100 * time / total : 0,
                        "", 2 * depth, label);
    if (auto children = stage.find("children"))
      TW_TRY(addStages(*children, total, depth + 1, text));
    return {};
  });
}

static Result<std::string> table(const std::string &json) {
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(json, "time report"));
  TW_ASSIGN(Json totalJson, document.root().get("total_ms"));
  TW_ASSIGN(double total, totalJson.number());
  TW_ASSIGN(Json stages, document.root().get("stages"));
  std::string text;
  TW_TRY(addStages(stages, total, 0, text));
  return text + fmt::format("{:10.1f} ms 100.0%  total\n", total);
}

std::string timeReportText(const std::string &json) {
  auto text = table(json);
  return text ? *text : json + "\n";
}

} // namespace tw::cli
