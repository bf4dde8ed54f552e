// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TemporaryFolder.h"
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace tw::cli {

namespace {

/// The folder to remove when a signal ends the tool; empty when there is none.
char pending[PATH_MAX];

void removeFolder(const char *path) {
  DIR *folder = opendir(path);
  if (!folder)
    return;
  while (dirent *entry = readdir(folder))
    unlinkat(dirfd(folder), entry->d_name, 0);
  closedir(folder);
  rmdir(path);
}

/// The tool ends anyway, so that opendir allocates is bearable.
void onSignal(int signal) {
  if (pending[0])
    removeFolder(pending);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

} // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  const char *base = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/tilewright-XXXXXX", base && *base ? base : "/tmp");
  if (path.size() >= sizeof pending || !mkdtemp(path.data()))
    return Diagnostic{Code::CLI_2,
                      fmt::format("cannot make a folder for the compiled model in {}: {}",
                                  path.substr(0, path.find_last_of('/')), std::strerror(errno)),
                      {},
                      {},
                      "set TMPDIR to a folder that can be written to"};
  std::strcpy(pending, path.c_str());
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, onSignal);
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  if (name.empty())
    return;
  removeFolder(name.c_str());
  pending[0] = '\0';
}

} // namespace tw::cli
