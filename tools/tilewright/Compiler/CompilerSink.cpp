// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompilerSink.h"
#include "tools/tilewright/Failure.h"

namespace tw::cli {

tilewright_sink CompilerSink::sink() {
  tilewright_sink sink = {};
  sink.struct_size = sizeof sink;
  sink.diagnostic = [](void *user, const char *text, tilewright_outcome) {
    static_cast<CompilerSink *>(user)->progress.clear();
    printError(text);
  };
  sink.report = [](void *user, const char *text) {
    static_cast<CompilerSink *>(user)->report += text;
  };
  sink.time_report = [](void *user, const char *json) {
    static_cast<CompilerSink *>(user)->timeReport = json;
  };
  sink.progress = [](void *user, const char *stage, double fraction) {
    static_cast<CompilerSink *>(user)->progress.at(stage, fraction);
  };
  return sink;
}

} // namespace tw::cli
