// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/RunApart.h"
#include "Support/ChildProcess.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

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

Result<Fields> runApart(const std::string &what, int seconds,
                        const std::function<Fields()> &action) {
  auto end = runInChild({seconds, mostMemory}, [&] { return joinFields(action()); });
  if (!end)
    return Diagnostic{Code::IO_3, fmt::format("{}: {}", what, std::strerror(errno))};
  if (end->answer)
    return splitFields(*end->answer);
  return Diagnostic{
      Code::KERNEL_8,
      end->isInTime ? fmt::format("{} ended early, with {}", what, end->text())
                    : fmt::format("{} takes more than {} s", what, seconds),
      {},
      {},
      end->isInTime ? "a kernel's own C++ crashes, or wants more than 4 GiB: try it in a debugger"
                    : "a loop of the kernel's own C++ does not end"};
}

} // namespace tw
