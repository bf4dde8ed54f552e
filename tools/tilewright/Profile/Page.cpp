// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../EmbeddedJson.h"
#include "IO/Formats/JsonWriter.h"
#include "PageText.h"
#include "Text.h"

namespace tw::cli {

/// What the timeline and the plot of memory show: numbers only, for there are many.
static std::string timeline(const Profile &profile, const Recording &recording) {
  int64_t start = recording.spans.empty() ? 0 : recording.spans.front().begin;
  JsonWriter json;
  json.beginObject().key("spans").beginArray();
  for (const Recording::Span &span : recording.spans)
    json.beginArray()
        .value(int64_t(span.dispatch))
        .value(span.begin - start)
        .value(span.end - start)
        .endArray();
  json.endArray().key("threads").beginArray();
  for (const auto &pieces : recording.threads) {
    json.beginArray();
    for (const rt::ThreadPool::Piece &piece : pieces)
      json.beginArray().value(piece.begin - start).value(piece.end - start).endArray();
    json.endArray();
  }
  json.endArray().key("live_bytes").beginArray();
  for (int64_t bytes : profile.liveBytes)
    json.value(bytes);
  return json.endArray().endObject().text();
}

std::string pageText(const Profile &profile, const Recording &recording) {
  return pageWith(pageTemplate, {{"{{profile}}", profileJson(profile)},
                                 {"{{timeline}}", timeline(profile, recording)}});
}

} // namespace tw::cli
