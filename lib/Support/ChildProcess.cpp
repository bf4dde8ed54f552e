// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/ChildProcess.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tw {

using Clock = std::chrono::steady_clock;

std::string ChildEnd::text() const {
  return signal ? fmt::format("signal {} ({})", signal, strsignal(signal))
                : fmt::format("exit status {}", exitStatus);
}

/// In the child: more memory than that is refused, before the machine has none left.
static void limitMemory(uint64_t more) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages; // 0 where there is no such file
  rlimit limit = {pages * rlim_t(sysconf(_SC_PAGESIZE)) + more, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

/// In the child: how many bytes there are before them, so that a half is not taken for the whole.
static void writeAnswer(int file, const std::string &answer) {
  uint64_t count = answer.size();
  std::string bytes(reinterpret_cast<const char *>(&count), sizeof count);
  bytes += answer;
  for (size_t done = 0; done < bytes.size();) {
    ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno != EINTR)
      return;
    done += written > 0 ? size_t(written) : 0;
  }
}

static std::optional<std::string> parseAnswer(const std::string &bytes) {
  uint64_t count = 0;
  if (bytes.size() < sizeof count)
    return std::nullopt;
  std::memcpy(&count, bytes.data(), sizeof count);
  if (bytes.size() - sizeof count != count)
    return std::nullopt;
  return bytes.substr(sizeof count);
}

/// What poll is to wait, in ms; -1: for ever.
static int millisecondsUntil(const std::optional<Clock::time_point> &latest) {
  if (!latest)
    return -1;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(*latest - Clock::now()).count();
  return left > 0 ? int(left) : 0;
}

/// All that comes until the other end is closed; false when that takes too long.
static bool readAll(int file, std::optional<int> seconds, std::string &bytes) {
  std::optional<Clock::time_point> latest;
  if (seconds)
    latest = Clock::now() + std::chrono::seconds(*seconds);
  char part[1 << 16];
  while (true) {
    pollfd waiting = {file, POLLIN, 0};
    int ready = poll(&waiting, 1, millisecondsUntil(latest));
    if (ready == 0)
      return false;
    ssize_t count = ready < 0 ? -1 : read(file, part, sizeof part);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return true;
    bytes.append(part, size_t(count));
  }
}

std::optional<ChildEnd> runInChild(const ChildLimits &limits,
                                   const std::function<std::string()> &action) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return std::nullopt;
  std::fflush(nullptr); // or the child writes what is buffered here once more
  pid_t child = fork();
  if (child < 0) {
    int reason = errno;
    close(ends[0]);
    close(ends[1]);
    errno = reason;
    return std::nullopt;
  }
  if (child == 0) {
    close(ends[0]);
    if (limits.bytes)
      limitMemory(*limits.bytes);
    std::string answer = action();
    std::fflush(nullptr);
    writeAnswer(ends[1], answer);
    _exit(0);
  }
  close(ends[1]);
  std::string bytes;
  ChildEnd end;
  end.isInTime = readAll(ends[0], limits.seconds, bytes);
  close(ends[0]);
  if (!end.isInTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (end.isInTime)
    end.answer = parseAnswer(bytes);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exitStatus = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return end;
}

} // namespace tw
