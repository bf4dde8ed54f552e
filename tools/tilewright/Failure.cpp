// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Failure.h"
#include "IO/Formats/JsonWriter.h"
#include "Support/Advice.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>

namespace tw::cli {

namespace {

/// What becomes of the JSON object; a child process has a copy.
struct JsonOutput {
  bool isExpected = false, isPrinted = false;
  std::FILE *results = stdout;
  std::vector<Diagnostic> errors;
};
JsonOutput output;

} // namespace

void expectJson(bool isExpected) { output.isExpected = isExpected; }

void keepStdoutForResults() {
  int results = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (results < 0) // closed: writing will say so
    return;
  output.results = fdopen(results, "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

bool hasPrinted() { return output.isPrinted; }
void setPrinted() { output.isPrinted = true; }

int fail(const Diagnostic &error) {
  std::fflush(stdout);
  std::fputs(error.render().c_str(), stderr);
  output.errors.push_back(error);
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

void printError(const std::string &text) {
  std::fputs(text.c_str(), stderr);
  // "error[CODE]: message"
  constexpr std::string_view begin = "error[";
  size_t end = text.find("]: ");
  if (!text.starts_with(begin) || end == text.npos)
    return;
  std::string code = text.substr(begin.size(), end - begin.size());
  Diagnostic error{parseCode(code).value_or(Code::CLI_9),
                   text.substr(end + 3, text.find('\n') - end - 3)};
  parseParts(text, error);
  output.errors.push_back(std::move(error));
}

static std::string errorsJson(int status) {
  JsonWriter json;
  json.beginObject().member("status", status).key("errors").beginArray();
  for (const Diagnostic &error : output.errors) {
    json.beginObject().member("code", codeName(error.code)).member("message", error.message);
    json.member("location", error.location).key("notes").beginArray();
    for (const std::string &note : error.notes)
      json.value(note);
    json.endArray().member("help", adviceOf(error)).endObject();
  }
  return json.endArray().endObject().text() + "\n";
}

int finish(int status) {
  if (status != 0 && output.isExpected && !output.isPrinted)
    (void)writeResults(errorsJson(status)).ok(); // there is nowhere to say that it failed
  return status;
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
  output.isPrinted = true;
  size_t written = std::fwrite(text.data(), 1, text.size(), output.results);
  if (written == text.size() && std::fflush(output.results) == 0)
    return {};
  return Diagnostic{Code::CLI_2,
                    fmt::format("cannot write the results to stdout: {}", std::strerror(errno))};
}

} // namespace tw::cli
