// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/JsonWriter.h"
#include "Text.h"
#include <cmath>

namespace tw::cli {

static void write(JsonWriter &json, std::string_view name, std::optional<double> number) {
  json.key(name);
  if (number)
    json.value(*number);
  else
    json.null();
}

static double rounded(double us) { return std::round(us * 1000) / 1000; }

static void writeRow(JsonWriter &json, const ProfileRow &row, double total) {
  double calls = double(std::max<int64_t>(row.calls, 1));
  auto each = [&](std::optional<double> all) {
    return all ? std::optional(std::round(*all / calls)) : std::nullopt;
  };
  json.beginObject().member("name", row.name).member("kernel", row.kernel);
  json.member("configured_as", row.configuredAs);
  json.member("ops", row.ops).member("source", row.source).member("module", row.module);
  json.member("configuration", row.configuration).member("arithmetic", row.arithmetic);
  json.member("calls", row.calls).member("total_us", rounded(row.totalUs));
  json.member("mean_us", rounded(row.meanUs())).member("min_us", row.minUs);
  json.member("max_us", row.maxUs);
  write(json, "median_of_call_us",
        row.medianUs ? std::optional(rounded(*row.medianUs)) : std::nullopt);
  json.member("percent", total > 0 ? rounded(100 * row.totalUs / total) : 0.0);
  write(json, "flops", each(row.flops));
  write(json, "weight_bytes", each(row.weightBytes));
  write(json, "other_bytes", each(row.otherBytes));
  write(json, "roofline", row.rooflineShare());
  json.key("bound");
  if (row.boundUs)
    json.value(row.bound());
  else
    json.null();
  json.endObject();
}

std::string profileJson(const Profile &profile) {
  JsonWriter json;
  json.beginObject().member("model", profile.model).member("target", profile.target);
  json.member("device", profile.device).member("cpu", profile.cpu);
  json.member("threads", profile.threads).key("call").beginObject();
  json.member("median_us", rounded(profile.call.median))
      .member("p10_us", rounded(profile.call.p10));
  json.member("min_us", rounded(profile.call.min)).member("calls", profile.call.count).endObject();
  json.key("limits").beginObject().member("f32_flops", profile.limits.arithmetic.flops32);
  json.member("bf16_flops", profile.limits.arithmetic.flops16);
  json.member("weight_bandwidth", profile.limits.weightBandwidth);
  json.member("temporary_bandwidth", profile.limits.temporaryBandwidth).endObject();
  json.member("weight_bytes", profile.weightBytes);
  json.member("temporary_bytes", profile.temporaryBytes).key("dispatches").beginArray();
  for (const ProfileRow &row : profile.dispatches)
    writeRow(json, row, profile.totalUs());
  return json.endArray().endObject().text() + "\n";
}

} // namespace tw::cli
