// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Failure.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace tw::cli {

int fail(const Diagnostic &error) {
  std::fflush(stdout);
  std::fputs(error.render().c_str(), stderr);
  return static_cast<int>(error.category());
}

/// The parts of a rendered diagnostic, line by line; a line that starts no part continues the last.
static void parseParts(std::string_view text, Diagnostic &error) {
  std::string *part = nullptr;
  auto starts = [](std::string_view &line, std::string_view prefix) {
    bool found = line.starts_with(prefix);
    if (found)
      line.remove_prefix(prefix.size());
    return found;
  };
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("error["))
      part = nullptr; // the message, which the caller has
    else if (starts(line, "  --> "))
      part = &(error.location = line);
    else if (starts(line, "  note: "))
      part = &error.notes.emplace_back(line);
    else if (starts(line, "  help: "))
      part = &(error.help = line);
    else if (part)
      *part += fmt::format("\n{}", line);
  }
}

Status fromRuntime(tw_status *status) {
  if (!status)
    return {};
  Diagnostic error{parseCode(tw_status_code(status)).value_or(Code::CLI_9),
                   tw_status_message(status)};
  parseParts(tw_status_text(status), error);
  tw_status_free(status);
  return error;
}

Status writeResults(std::string_view text) {
  errno = 0;
  size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0)
    return {};
  return Diagnostic{Code::CLI_2,
                    fmt::format("cannot write the results to stdout: {}", std::strerror(errno))};
}

} // namespace tw::cli
