// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/ChildProcess.h"
#include "Support/Forks.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tw {

using Clock = std::chrono::steady_clock;

std::string ChildEnd::text() const {
  return signal ? fmt::format("signal {} ({})", signal, strsignal(signal))
                : fmt::format("exit status {}", exitStatus);
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Those that end this process: under nohup, for one, SIGHUP does not, but would wait all the same
/// once it is blocked.
static sigset_t endingSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_IGN)
      sigaddset(&set, signal);
  }
  return set;
}

DelayedSignals::DelayedSignals() {
  sigset_t set = endingSignals();
  pthread_sigmask(SIG_BLOCK, &set, &before);
}

DelayedSignals::~DelayedSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

//===----------------------------------------------------------------------===//
// In the child
//===----------------------------------------------------------------------===//

/// More memory than that is refused, before the machine has none left.
static void limitMemory(uint64_t more) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages; // 0 where there is no such file
  rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, pages * rlim_t(sysconf(_SC_PAGESIZE)) + more);
  setrlimit(RLIMIT_AS, &limit);
}

/// Makes the child the first of a group that ends with its parent: the kernel signals the parent's
/// death to the child alone, which passes it on to what it has started.
static void joinFate(pid_t parent) {
  int parentDied = SIGRTMAX - 1; // that nobody else uses
  setpgid(0, 0);
  std::signal(parentDied, [](int) { kill(0, SIGKILL); });
  std::signal(SIGTTOU, SIG_IGN); // the terminal is another group's, but may be written to
  prctl(PR_SET_PDEATHSIG, parentDied);
  if (getppid() != parent)
    _exit(1); // it died before
  sigset_t set = endingSignals();
  sigaddset(&set, parentDied);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

/// How many bytes there are before them, so that a half is not taken for the whole.
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

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

static std::optional<std::string> parseAnswer(const std::string &bytes) {
  uint64_t count = 0;
  if (bytes.size() < sizeof count)
    return std::nullopt;
  std::memcpy(&count, bytes.data(), sizeof count);
  if (bytes.size() - sizeof count != count)
    return std::nullopt;
  return bytes.substr(sizeof count);
}

namespace {

/// A descriptor that closes itself.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0)
      close(fd);
    fd = -1;
  }
  int get() const { return fd; }

private:
  int fd;
};

/// Follows a child to its end.
class Watch {
public:
  /// `answers` does not block.
  Watch(pid_t child, int answers, const std::optional<int> &seconds)
      : child(child), answers(answers) {
    if (seconds)
      latest = Clock::now() + std::chrono::seconds(*seconds);
  }

  ChildEnd follow() {
    ChildEnd end;
    await(end);
    if (!end.isInTime || end.isInterrupted)
      kill(-child, SIGKILL);
    siginfo_t info; // not reaped yet: its number is nobody else's
    while (waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
      ;
    kill(-child, SIGKILL); // what it has started
    int status = 0;
    rusage usage = {};
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
      ;
    end.peakBytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    if (end.isInTime && !end.isInterrupted)
      end.answer = parseAnswer(bytes);
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.exitStatus = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return end;
  }

private:
  /// Until the child has answered or ended, its time is over, or a signal waits for this process.
  void await(ChildEnd &end) {
    sigset_t set = endingSignals();
    Descriptor signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    Descriptor process(int(syscall(SYS_pidfd_open, child, 0)));
    while (true) {
      pollfd waiting[] = {
          {answers, POLLIN, 0}, {signals.get(), POLLIN, 0}, {process.get(), POLLIN, 0}};
      int ready = poll(waiting, std::size(waiting), millisecondsLeft());
      if (ready < 0 && errno == EINTR)
        continue;
      if (ready == 0)
        end.isInTime = false;
      // It stays pending: what it does is decided by who has delayed it.
      end.isInterrupted = ready > 0 && waiting[1].revents;
      if (!end.isInTime || end.isInterrupted)
        return;
      bool isOpen = readSome();
      if (!isOpen || waiting[2].revents) // what it has written has been read
        return;
    }
  }

  /// Reads what there is; false at the end.
  bool readSome() {
    char part[1 << 12]; // the stack may be small (ulimit -s)
    while (true) {
      ssize_t count = read(answers, part, sizeof part);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return errno == EAGAIN;
      if (count == 0)
        return false;
      bytes.append(part, size_t(count));
    }
  }

  /// What poll is to wait; -1: for ever.
  int millisecondsLeft() const {
    if (!latest)
      return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*latest - Clock::now()).count();
    return left > 0 ? int(left) : 0;
  }

  pid_t child;
  int answers;
  std::optional<Clock::time_point> latest;
  std::string bytes;
};

} // namespace

std::optional<ChildEnd> runInChild(const ChildLimits &limits,
                                   const std::function<std::string()> &action) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return std::nullopt;
  Descriptor answers(ends[0]), question(ends[1]);
  fcntl(answers.get(), F_SETFL, O_NONBLOCK);
  std::fflush(nullptr); // or the child writes what is buffered here once more
  DelayedSignals delayed;
  pid_t parent = getpid(), child;
  {
    Resting resting; // glibc before 2.36 lets one thread at a time wait for others to rest
    child = fork();
  }
  if (child < 0) {
    int reason = errno;
    answers.reset();
    question.reset();
    errno = reason;
    return std::nullopt;
  }
  if (child == 0) {
    joinFate(parent);
    answers.reset();
    if (limits.bytes)
      limitMemory(*limits.bytes);
    std::string answer = action();
    std::fflush(nullptr);
    writeAnswer(question.get(), answer);
    _exit(0);
  }
  setpgid(child, child); // whoever comes first
  question.reset();
  Resting resting;
  return Watch(child, answers.get(), limits.seconds).follow();
}

} // namespace tw
