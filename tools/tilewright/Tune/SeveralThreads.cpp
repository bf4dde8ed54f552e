// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SeveralThreads.h"
#include "IO/Formats/JsonWriter.h"
#include "Support/Counted.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {

/// More threads that save less than this are wanted elsewhere.
static constexpr double worthMoreThreads = 0.98;

int bestThreads(std::span<const CallOfThreads> calls) {
  const CallOfThreads *best = nullptr;
  for (const CallOfThreads &call : calls)
    if (!best || call.us < worthMoreThreads * best->us)
      best = &call;
  return best ? best->threads : 0;
}

std::string reportText(std::span<const CallOfThreads> calls) {
  std::string text = fmt::format("{:>8} {:>10} {:>6}\n", "threads", "us", "ratio");
  for (const CallOfThreads &call : calls)
    text += fmt::format("{:>8} {:>10.1f} {:>6.3f}{}\n", call.threads, call.us, call.ratio.median,
                        call.ratio.isSlower() ? "  slower than the compiler's own choice" : "");
  return text + fmt::format("a call takes least with {}\n", counted(bestThreads(calls), "thread"));
}

void write(JsonWriter &json, std::span<const CallOfThreads> calls) {
  json.beginArray();
  for (const CallOfThreads &call : calls) {
    json.beginObject().member("threads", int64_t(call.threads)).member("us", call.us);
    json.key("ratio").beginObject().member("median", call.ratio.median);
    json.member("low", call.ratio.low).member("high", call.ratio.high).endObject().endObject();
  }
  json.endArray();
}

} // namespace tw::cli
