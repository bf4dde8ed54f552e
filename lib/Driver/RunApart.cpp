// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/RunApart.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tw {

/// What is written ends with this many zeros in a row, so that a half is not taken for the whole.
static constexpr std::string_view end = std::string_view("\0\0", 2);

static constexpr rlim_t mostMemory = rlim_t(4) << 30; // more than what there is already

/// In the child: more memory than that is refused, before the machine has none left.
static void limitMemory() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages; // 0 where there is no such file
  rlimit limit = {pages * rlim_t(sysconf(_SC_PAGESIZE)) + mostMemory, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

/// In the child: each field, a zero after it, and at the end two.
static void writeFields(int file, const Fields &fields) {
  std::string bytes;
  for (const std::string &field : fields)
    bytes += "\1" + field + '\0'; // no field is empty
  bytes += end;
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR)
      return;
    done += count > 0 ? size_t(count) : 0;
  }
}

static std::optional<Fields> parseFields(const std::string &bytes) {
  if (!bytes.ends_with(end))
    return std::nullopt;
  Fields fields;
  for (size_t at = 0; at + end.size() < bytes.size();) {
    size_t zero = bytes.find('\0', at);
    fields.push_back(bytes.substr(at + 1, zero - at - 1));
    at = zero + 1;
  }
  return fields;
}

/// All that comes until the other end is closed; false when that takes too long.
static bool readAll(int file, int seconds, std::string &bytes) {
  using Clock = std::chrono::steady_clock;
  auto latest = Clock::now() + std::chrono::seconds(seconds);
  char part[1 << 16];
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(latest - Clock::now());
    pollfd waiting = {file, POLLIN, 0};
    int ready = left.count() <= 0 ? 0 : poll(&waiting, 1, int(left.count()));
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

static std::string endText(int status) {
  return WIFSIGNALED(status)
             ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
             : fmt::format("exit status {}", WEXITSTATUS(status));
}

Result<Fields> runApart(const std::string &what, int seconds,
                        const std::function<Fields()> &action) {
  int ends[2];
  pid_t child = pipe(ends) == 0 ? fork() : -1;
  if (child < 0)
    return Diagnostic{Code::IO_3, fmt::format("{}: {}", what, std::strerror(errno))};
  if (child == 0) {
    close(ends[0]);
    limitMemory();
    writeFields(ends[1], action());
    _exit(0);
  }
  close(ends[1]);
  std::string bytes;
  bool isInTime = readAll(ends[0], seconds, bytes);
  close(ends[0]);
  if (!isInTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (auto fields = parseFields(bytes); fields && isInTime)
    return *fields;
  return Diagnostic{
      Code::KERNEL_8,
      isInTime ? fmt::format("{} ended early, with {}", what, endText(status))
               : fmt::format("{} takes more than {} s", what, seconds),
      {},
      {},
      isInTime ? "a kernel's own C++ crashes, or wants more than 4 GiB: try it in a debugger"
               : "a loop of the kernel's own C++ does not end"};
}

} // namespace tw
