// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/ScratchFolder.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace tw {

Result<ScratchFolder> ScratchFolder::create() {
  const char *given = std::getenv("TMPDIR");
  std::string base = given && *given ? given : "/tmp", name = base + "/tilewright-XXXXXX";
  if (mkdtemp(name.data()))
    return ScratchFolder(name);
  return Diagnostic{
      Code::IO_2,
      fmt::format("no folder for temporary files can be made in {}: {}", base, strerror(errno)),
      {},
      {},
      "set TMPDIR to a folder that can be written"};
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!name.empty())
    std::filesystem::remove_all(name, ignored);
}

} // namespace tw
