// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunIsolated.h"
#include "Support/Limits.h"
#include "tools/tilewright/Failure.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace tw::cli {

namespace {

/// An exit status, and whether results were printed.
constexpr size_t answerBytes = 2;

std::string actInChild(const std::function<int()> &action, const TemporaryFolder *folder) {
  guardChild();
  if (folder)
    setenv("TMPDIR", folder->path().c_str(), 1);
  int status = finish(action());
  return {static_cast<char>(status), static_cast<char>(hasPrinted())};
}

} // namespace

Result<int> runIsolated(const std::string &doing, const std::function<int()> &action,
                        const TemporaryFolder *folder, const ChildLimits &limits) {
  DelayedSignals delayed; // until the folder is gone
  std::optional<TemporaryFolder> own;
  if (!folder)
    // Where none can be made, the child says so if it needs one.
    if (auto made = TemporaryFolder::create())
      own.emplace(*std::move(made));
  auto end = runInChild(limits, [&] { return actInChild(action, own ? &*own : folder); });
  if (!end)
    return limitReached(errno, doing)
        .value_or(Diagnostic{Code::CLI_8,
                             fmt::format("cannot start the compiler: {}", std::strerror(errno))});
  if (!end->isInTime)
    return Diagnostic{Code::SYSTEM_6,
                      fmt::format("{} took longer than {} s", doing, *limits.seconds)};
  if (end->answer && end->answer->size() == answerBytes) {
    if ((*end->answer)[1])
      setPrinted();
    return static_cast<unsigned char>((*end->answer)[0]);
  }
  if (end->signal == SIGPIPE) { // nobody reads any more: end like that
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  if (auto fault = environmentsFault(*end, doing))
    return *fault;
  return Diagnostic{Code::CLI_8,
                    fmt::format("the compiler ended without an answer: {}", end->text()),
                    {},
                    {},
                    "this is a mistake of Tilewright, not yours: please report it with the model"};
}

} // namespace tw::cli
