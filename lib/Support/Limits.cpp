// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Limits.h"
#include "Support/Forks.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <pthread.h>
#include <sys/resource.h>
#include <system_error>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

namespace tw {

/// How a guarded child ends when memory or its stack runs out. Nothing else exits so: the work of a
/// child answers instead.
static constexpr int memoryRanOut = 191, stackRanOut = 192;

//===----------------------------------------------------------------------===//
// What to say
//===----------------------------------------------------------------------===//

/// "at most 65536 KiB (ulimit -v)", or that there is no limit.
static std::string limitText(int resource, const char *option, uint64_t unit, const char *name) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return fmt::format("no limit is set (ulimit {})", option);
  return fmt::format("the limit is {}{} (ulimit {})", limit.rlim_cur / unit, name, option);
}

/// `used`: the bytes that there were when more were wanted; 0: not known.
static Diagnostic memory(const std::string &doing, uint64_t used = 0) {
  Diagnostic problem{Code::SYSTEM_1,
                     fmt::format("there is not enough memory for {}", doing),
                     {},
                     {"address space: " + limitText(RLIMIT_AS, "-v", 1024, " KiB")},
                     "raise the limit, or use a machine with more memory"};
  if (used)
    problem.notes.push_back(
        fmt::format("memory: {} MiB were in use, and more was wanted", used >> 20));
  return problem;
}

static Diagnostic processes(const std::string &doing) {
  return {Code::SYSTEM_5,
          fmt::format("no more processes or threads can be started for {}", doing),
          {},
          {"processes: " + limitText(RLIMIT_NPROC, "-u", 1, ""),
           "address space: " + limitText(RLIMIT_AS, "-v", 1024, " KiB")},
          "raise the limit, or end other processes"};
}

std::optional<Diagnostic> limitReached(int error, const std::string &doing) {
  switch (error) {
  case ENOMEM:
    return memory(doing);
  case EAGAIN:
    return processes(doing);
  case EMFILE:
  case ENFILE:
    return Diagnostic{Code::SYSTEM_4,
                      fmt::format("too many files are open for {}", doing),
                      {},
                      {"open files: " + limitText(RLIMIT_NOFILE, "-n", 1, "")},
                      "raise the limit: ulimit -n 1024"};
  case EFBIG:
    return Diagnostic{Code::SYSTEM_3,
                      fmt::format("a file may not become large enough for {}", doing),
                      {},
                      {"size of a file: " + limitText(RLIMIT_FSIZE, "-f", 1024, " KiB")},
                      "raise the limit: ulimit -f unlimited"};
  case ENOSPC:
  case EDQUOT:
    return Diagnostic{Code::SYSTEM_3,
                      fmt::format("the disk is full: there is no room for {}", doing),
                      {},
                      {},
                      "make room, or set TMPDIR to a folder on another disk"};
  default:
    return std::nullopt;
  }
}

static bool isLimited(int resource) {
  rlimit limit;
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

std::optional<Diagnostic> environmentsFault(const ChildEnd &end, const std::string &doing) {
  if (end.signal == 0 && end.exitStatus == memoryRanOut)
    return memory(doing, end.peakBytes);
  if (end.signal == 0 && end.exitStatus == stackRanOut)
    return Diagnostic{Code::SYSTEM_2,
                      fmt::format("the stack does not suffice for {}", doing),
                      {},
                      {"address space: " + limitText(RLIMIT_AS, "-v", 1024, " KiB")},
                      "the program is nested very deeply: write it with less nesting, or raise the "
                      "limit of memory, of which the stack is a part"};
  if (end.isInterrupted) // however the child ended meanwhile
    return Diagnostic{
        Code::SYSTEM_7, fmt::format("{} was interrupted", doing), {}, {}, "run the command again"};
  if (end.signal == SIGXCPU)
    return Diagnostic{Code::SYSTEM_6,
                      fmt::format("{} ran out of CPU time", doing),
                      {},
                      {"CPU time: " + limitText(RLIMIT_CPU, "-t", 1, " s")},
                      "raise the limit: ulimit -t unlimited"};
  if (end.signal == SIGBUS) // a mapped file that has no place on its disk, or was cut off
    return Diagnostic{
        Code::SYSTEM_3,
        fmt::format("a file could no longer be read or written for {}: {}", doing, end.text()),
        {},
        {},
        "a disk is full, or a file was changed meanwhile"};
  if (end.signal == SIGKILL && isLimited(RLIMIT_CPU)) // ulimit -t sets the hard limit, too
    return Diagnostic{Code::SYSTEM_6,
                      fmt::format("{} ran out of CPU time, it seems: {}", doing, end.text()),
                      {},
                      {"CPU time: " + limitText(RLIMIT_CPU, "-t", 1, " s")},
                      "raise the limit: ulimit -t unlimited"};
  for (int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM})
    if (end.signal == signal)
      return Diagnostic{Code::SYSTEM_7,
                        fmt::format("the process for {} was killed: {}", doing, end.text()),
                        {},
                        {},
                        signal == SIGKILL
                            ? "the system does so when memory runs out: see its log, and "
                              "use a machine with more memory"
                            : "run the command again"};
  // What is not ours may answer a lack of memory by dying.
  if (isLimited(RLIMIT_AS) && (end.signal == SIGABRT || end.signal == SIGSEGV))
    return memory(fmt::format("{}, it seems: {}", doing, end.text()), end.peakBytes);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// In the child
//===----------------------------------------------------------------------===//

/// Where the stack of the thread was that a signal has stopped.
static char *stackPointer(const void *context) {
  const auto &registers = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<char *>(registers.gregs[REG_RSP]);
#else
  return reinterpret_cast<char *>(registers.sp);
#endif
}

/// A fault next to the stack pointer is an overflow: a stack that is there has no faults.
static void onFault(int signal, siginfo_t *info, void *context) {
  constexpr ptrdiff_t near = 1 << 16; // frames may be large
  ptrdiff_t distance = static_cast<char *>(info->si_addr) - stackPointer(context);
  if (distance > -near && distance < near)
    _exit(stackRanOut);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void guardChild() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler([] { _exit(memoryRanOut); });
  constexpr size_t threadStack = 8 << 20;
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) == 0 &&
      pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < threadStack) {
    pthread_attr_setstacksize(&attributes, threadStack);
    pthread_setattr_default_np(&attributes);
  }
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
}

//===----------------------------------------------------------------------===//
// Large stacks
//===----------------------------------------------------------------------===//

namespace {

struct LargeStackCall {
  const std::function<void()> &action;
  const bool isCompiling;
  std::exception_ptr problem;
};

void *runCall(void *given) {
  auto &call = *static_cast<LargeStackCall *>(given);
  // The handler needs a stack that is not the full one.
  constexpr size_t handlerBytes = 1 << 16;
  alignas(16) static thread_local char handlerStack[handlerBytes];
  stack_t alternative = {}, before = {};
  alternative.ss_sp = handlerStack;
  alternative.ss_size = handlerBytes;
  sigaltstack(&alternative, &before);
  try {
    Compiling compiling(call.isCompiling);
    call.action();
  } catch (...) {
    call.problem = std::current_exception();
  }
  sigaltstack(&before, nullptr);
  return nullptr;
}

} // namespace

/// Waits for the thread's end.
static void join(pthread_t thread, const std::function<void()> &meanwhile) {
  constexpr long between = 50'000'000; // ns
  constexpr long second = 1'000'000'000;
  while (meanwhile) {
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (until.tv_nsec + between) / second;
    until.tv_nsec = (until.tv_nsec + between) % second;
    if (pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
      return;
    meanwhile();
  }
  pthread_join(thread, nullptr);
}

void runOnLargeStack(const std::function<void()> &action, const std::function<void()> &meanwhile) {
  LargeStackCall call{action, isCompiling(), {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  int error = EAGAIN;
  rlimit limit;
  size_t most = size_t(1) << 30, least = size_t(8) << 20;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 16 < most)
    most = std::max<size_t>(limit.rlim_cur / 16 / least * least, least); // the rest is for the heap
  for (size_t bytes = most; error && bytes >= least; bytes /= 4) {
    pthread_attr_setstacksize(&attributes, bytes);
    error = pthread_create(&thread, &attributes, runCall, &call);
  }
  pthread_attr_destroy(&attributes);
  if (error)
    throw std::system_error(error, std::generic_category(), "a thread with a large stack");
  {
    Resting resting;
    join(thread, meanwhile);
  }
  if (call.problem)
    std::rethrow_exception(call.problem);
}

} // namespace tw
