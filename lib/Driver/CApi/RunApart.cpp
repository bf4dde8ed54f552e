// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/CApi/RunApart.h"
#include "Support/ChildProcess.h"
#include "Support/Limits.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <new>

namespace tw {

static constexpr uint64_t mostMemory = uint64_t(4) << 30; // more than what there is already

/// Each field and a zero behind it.
static std::string joinFields(const Fields &fields) {
  std::string bytes;
  for (const std::string &field : fields)
    bytes += field + '\0';
  return bytes;
}

static Fields splitFields(const std::string &bytes) {
  Fields fields;
  for (size_t at = 0, zero; (zero = bytes.find('\0', at)) != bytes.npos; at = zero + 1)
    fields.push_back(bytes.substr(at, zero - at));
  return fields;
}

KernelTime::KernelTime() : all(60) {
  if (const char *given = std::getenv("TILEWRIGHT_KERNEL_SECONDS"))
    if (int seconds = 0; !llvm::StringRef(given).getAsInteger(10, seconds) && seconds > 0)
      all = seconds;
  latest = std::chrono::steady_clock::now() + std::chrono::seconds(all);
}

int KernelTime::secondsLeft() const {
  auto left = latest - std::chrono::steady_clock::now();
  return std::max(1, int(std::chrono::ceil<std::chrono::seconds>(left).count()));
}

Result<Fields> runApart(const std::string &what, const KernelTime &time,
                        const std::function<Fields()> &action) {
  auto end = runInChild({time.secondsLeft(), mostMemory}, [&] {
    // That code's crashes are reported as such.
    std::signal(SIGSEGV, SIG_DFL);
    std::set_new_handler(nullptr);
    return joinFields(action());
  });
  if (!end)
    return limitReached(errno, what)
        .value_or(Diagnostic{Code::IO_3, fmt::format("{}: {}", what, std::strerror(errno))});
  if (end->answer)
    return splitFields(*end->answer);
  if (end->isInTime && (end->isInterrupted || end->signal == SIGTERM || end->signal == SIGINT))
    return *environmentsFault(*end, what);
  return Diagnostic{
      Code::KERNEL_8,
      end->isInTime ? fmt::format("{} ended early, with {}", what, end->text())
                    : fmt::format("{} takes more than {} s", what, time.seconds()),
      {},
      {},
      end->isInTime
          ? "a kernel's own C++ crashes, or wants more than 4 GiB: try it in a debugger"
          : "a loop of the kernel's own C++, or a file that it includes, does not end; if "
            "it only takes long, set TILEWRIGHT_KERNEL_SECONDS to more"};
}

} // namespace tw
