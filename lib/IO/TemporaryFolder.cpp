// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/TemporaryFolder.h"
#include "IO/OutputFile.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

// A folder is only ever removed when it has such a name and mode, or is empty: a user's own folder
// may be called anything.
static constexpr std::string_view prefix = "tilewright-tmp-";
static constexpr size_t randomLetters = 6;        // of mkdtemp
static constexpr mode_t mode = S_ISVTX | S_IRWXU; // the sticky bit marks it

static bool isOurName(const std::string &name) {
  return name.size() == prefix.size() + randomLetters && name.starts_with(prefix);
}

static int openFolder(const std::string &path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Whether the path still leads to the open folder.
static bool isAt(int folder, const std::string &path) {
  struct stat opened, there;
  return fstat(folder, &opened) == 0 && lstat(path.c_str(), &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

/// Removes a folder of ours that nobody holds the lock of.
static void removeIfStale(const std::string &path) {
  int folder = openFolder(path);
  struct stat facts;
  std::error_code ignored;
  if (folder >= 0 && fstat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
      flock(folder, LOCK_EX | LOCK_NB) == 0) {
    if ((facts.st_mode & 07777) == mode)
      std::filesystem::remove_all(path, ignored);
    else
      rmdir(path.c_str()); // its process may have ended before it was marked
  }
  if (folder >= 0)
    close(folder);
}

static void removeStaleFolders(const std::string &base) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(base, error), end; !error && entry != end;
       entry.increment(error))
    if (isOurName(entry->path().filename().string()))
      removeIfStale(entry->path().string());
}

Result<TemporaryFolder> TemporaryFolder::create() {
  const char *given = std::getenv("TMPDIR");
  std::string base = given && *given ? given : "/tmp";
  static std::once_flag once;
  std::call_once(once, removeStaleFolders, base);
  while (true) {
    std::string name = fmt::format("{}/{}XXXXXX", base, prefix);
    bool isMade = mkdtemp(name.data()) != nullptr;
    int lock = isMade ? openFolder(name) : -1;
    if (lock < 0) {
      if (isMade && errno == ENOENT)
        continue; // removed by another process before it was locked
      Diagnostic problem = cannotWrite(base, errno);
      problem.message = fmt::format("no folder for temporary files can be made in {}: {}", base,
                                    std::strerror(errno));
      if (problem.code == Code::IO_2 || problem.code == Code::SYSTEM_3)
        problem.help = "set TMPDIR to a folder that can be written";
      return problem;
    }
    flock(lock, LOCK_EX);
    fchmod(lock, mode);
    if (isAt(lock, name))
      return TemporaryFolder(name, lock);
    close(lock);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!name.empty())
    std::filesystem::remove_all(name, ignored);
  if (lock >= 0)
    close(lock);
}

} // namespace tw
