// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "Trace Event Format", Google, 2016: complete events ("X"), counters ("C") and names ("M").
#include "IO/Formats/JsonWriter.h"
#include "Text.h"
#include <fmt/format.h>

namespace tw::cli {

namespace {

class TraceWriter {
public:
  TraceWriter(const Profile &profile, const Recording &recording)
      : profile(profile), recording(recording),
        start(recording.spans.empty() ? 0 : recording.spans.front().begin) {}

  std::string write() {
    json.beginObject().member("displayTimeUnit", "ns").key("traceEvents").beginArray();
    nameTrack(0, "dispatches");
    for (size_t i = 0; i < recording.threads.size(); ++i)
      nameTrack(int(i) + 1, fmt::format("thread {}", i));
    for (const Recording::Span &span : recording.spans) {
      addSpan(span);
      addMemory(span);
    }
    for (size_t i = 0; i < recording.threads.size(); ++i)
      addThread(int(i) + 1, recording.threads[i]);
    return json.endArray().endObject().text() + "\n";
  }

private:
  double at(int64_t ns) const { return double(ns - start) / 1e3; }

  JsonWriter &begin(std::string_view name, const char *kind, int track) {
    json.beginObject().member("name", name).member("ph", kind);
    return json.member("pid", 1).member("tid", track);
  }

  void nameTrack(int track, const std::string &name) {
    begin("thread_name", "M", track).key("args").beginObject().member("name", name);
    json.endObject().endObject();
  }

  void addSpan(const Recording::Span &span) {
    const ProfileRow &row = profile.dispatches[size_t(span.dispatch)];
    begin(row.name, "X", 0).member("ts", at(span.begin));
    json.member("dur", double(span.end - span.begin) / 1e3).key("args").beginObject();
    json.member("ops", row.ops).member("source", row.source).member("kernel", row.kernel);
    json.member("configuration", row.configuration).endObject().endObject();
  }

  void addMemory(const Recording::Span &span) {
    if (profile.liveBytes.empty())
      return;
    begin("temporaries", "C", 0).member("ts", at(span.begin)).key("args").beginObject();
    json.member("bytes", profile.liveBytes[size_t(span.dispatch)]).endObject().endObject();
  }

  /// Pieces have the name of the dispatch in which they lie; between them the thread waits.
  void addThread(int track, const std::vector<rt::ThreadPool::Piece> &pieces) {
    size_t next = 0;
    for (const rt::ThreadPool::Piece &piece : pieces) {
      while (next < recording.spans.size() && recording.spans[next].end < piece.end)
        ++next;
      bool isInside = next < recording.spans.size() && recording.spans[next].begin <= piece.begin;
      begin(isInside ? profile.dispatches[size_t(recording.spans[next].dispatch)].name : "piece",
            "X", track);
      json.member("ts", at(piece.begin)).member("dur", double(piece.end - piece.begin) / 1e3);
      json.endObject();
    }
  }

  const Profile &profile;
  const Recording &recording;
  int64_t start;
  JsonWriter json;
};

} // namespace

std::string traceText(const Profile &profile, const Recording &recording) {
  return TraceWriter(profile, recording).write();
}

} // namespace tw::cli
