// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/OutputFile.h"
#include "IO/File.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;

namespace tw {

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

static std::string nameOf(const std::string &path) { return path.substr(path.rfind('/') + 1); }

std::string followLinks(std::string path) {
  constexpr int mostLinks = 40; // as the kernel
  for (int i = 0; i < mostLinks; ++i) {
    char link[PATH_MAX];
    ssize_t length = readlink(path.c_str(), link, sizeof link);
    if (length < 0)
      return path; // no link: whether it can be written is seen later
    std::string to(link, size_t(length));
    path = to.starts_with('/') ? to : fmt::format("{}/{}", folderOf(path), to);
  }
  errno = ELOOP;
  return "";
}

/// Names of what a process has open: a file behind them is written where its descriptor stands, not
/// replaced.
static bool isStream(const std::string &path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/");
}

Diagnostic cannotWrite(const std::string &path, int error) {
  Diagnostic problem{Code::IO_2, fmt::format("cannot write {}: {}", path, std::strerror(error))};
  if (error == EMFILE || error == ENFILE) {
    problem.code = Code::SYSTEM_4;
    problem.help = "raise the limit of open files: ulimit -n";
  } else if (error == EFBIG) {
    problem.code = Code::SYSTEM_3;
    problem.help = "raise the limit of a file's size: ulimit -f";
  } else if (error == ENOSPC || error == EDQUOT) {
    problem.code = Code::SYSTEM_3;
    std::string folder = folderOf(followLinks(path));
    struct statvfs facts;
    struct stat there;
    bool isFile = stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode);
    if (isFile && statvfs(folder.c_str(), &facts) == 0)
      problem.notes.push_back(fmt::format("{} bytes are free in {}",
                                          uint64_t(facts.f_bavail) * facts.f_frsize, folder));
    problem.help = "make room there, or write to another disk";
  }
  return problem;
}

//===----------------------------------------------------------------------===//
// OutputFile
//===----------------------------------------------------------------------===//

OutputFile::OutputFile(OutputFile &&other) noexcept
    : given(std::move(other.given)), target(std::move(other.target)),
      fd(std::exchange(other.fd, -1)), isNamed(std::exchange(other.isNamed, false)) {}

OutputFile::~OutputFile() {
  if (isNamed)
    unlink(hiddenName().c_str());
  if (fd >= 0)
    close(fd);
}

std::string OutputFile::hiddenName() const {
  constexpr size_t mostOfName = 200; // names end at 255 bytes
  return fmt::format("{}/.{}.tilewright", folderOf(target), nameOf(target).substr(0, mostOfName));
}

/// Removes a hidden file whose process is gone; waits for one that is still at work. False when it
/// cannot be removed.
bool OutputFile::removeStale() const {
  std::string name = hiddenName();
  int stale = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (stale < 0)
    return errno == ENOENT;
  struct stat opened, there;
  bool isFine = true;
  // Whoever works on it holds the lock.
  if (flock(stale, LOCK_EX) == 0 && fstat(stale, &opened) == 0 &&
      lstat(name.c_str(), &there) == 0 && opened.st_ino == there.st_ino &&
      opened.st_dev == there.st_dev)
    isFine = unlink(name.c_str()) == 0 || errno == ENOENT;
  close(stale);
  return isFine;
}

Result<OutputFile> OutputFile::create(const std::string &path, mode_t mode) {
  std::string target = followLinks(path);
  if (target.empty())
    return cannotWrite(path, errno);
  struct stat before;
  bool exists = stat(target.c_str(), &before) == 0;
  if (isStream(path) || (exists && !S_ISREG(before.st_mode))) {
    int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
      return cannotWrite(path, errno);
    return OutputFile(path, "", fd);
  }
  if (exists && access(target.c_str(), W_OK) != 0)
    return cannotWrite(path, errno); // a file that was protected stays
  OutputFile file(path, target,
                  open(folderOf(target).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  while (file.fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EEXIST)) {
    file.fd = open(file.hiddenName().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    file.isNamed = file.fd >= 0;
    if (file.fd < 0 && errno == EEXIST && !file.removeStale())
      break;
  }
  if (file.fd < 0)
    return cannotWrite(path, errno);
  flock(file.fd, LOCK_EX);
  if (exists)
    fchmod(file.fd, before.st_mode & 07777);
  return std::move(file);
}

void startWriteback(int descriptor, int64_t at, int64_t bytes) {
  (void)sync_file_range(descriptor, at, bytes, SYNC_FILE_RANGE_WRITE); // not where there is no disk
}

static constexpr size_t together = size_t(8) << 20; // bytes, before they begin to go to the disk

Status OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), std::min(bytes.size(), together));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return cannotWrite(given, errno);
    bytes = bytes.subspan(size_t(written));
    if (size_t(written) == together)
      startWriteback(fd, lseek(fd, 0, SEEK_CUR) - written, written);
  }
  return {};
}

Status OutputFile::copy(const std::string &from) {
  TW_ASSIGN(MappedFile file, MappedFile::open(from));
  std::span<const std::byte> left = file.bytes();
  if (int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC); source >= 0) {
    ssize_t copied = 1;
    while (copied > 0 && !left.empty()) {
      copied = copy_file_range(source, nullptr, fd, nullptr, std::min(left.size(), together), 0);
      left = left.subspan(size_t(std::max<ssize_t>(copied, 0)));
      if (copied == ssize_t(together))
        startWriteback(fd, lseek(fd, 0, SEEK_CUR) - copied, copied);
    }
    close(source);
  }
  return write(left); // where the kernel does not; which says why it cannot be written, too
}

Status OutputFile::prepare() {
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS) // pipes and devices have no disk
    return cannotWrite(given, errno);
  std::string self = fmt::format("/proc/self/fd/{}", fd);
  while (isRegular() && !isNamed) {
    isNamed =
        linkat(AT_FDCWD, self.c_str(), AT_FDCWD, hiddenName().c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (!isNamed && (errno != EEXIST || !removeStale()))
      return cannotWrite(given, errno);
  }
  return {};
}

Status OutputFile::replace() {
  if (isRegular() && rename(hiddenName().c_str(), target.c_str()) != 0)
    return cannotWrite(given, errno);
  isNamed = false;
  return {};
}

Status OutputFile::commit() {
  TW_TRY(prepare());
  return replace();
}

Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> pieces) {
  TW_ASSIGN(OutputFile file, OutputFile::create(path));
  for (std::span<const std::byte> piece : pieces)
    TW_TRY(file.write(piece));
  return file.commit();
}

//===----------------------------------------------------------------------===//
// FileUses
//===----------------------------------------------------------------------===//

/// The same for all names of a regular file, whether it exists or not, and also where its folder is
/// still to be made; empty for anything else.
static std::string identityOf(const std::string &path) {
  std::string target = followLinks(path);
  struct stat facts;
  if (stat(target.c_str(), &facts) == 0)
    return S_ISREG(facts.st_mode) ? fmt::format("{}:{}", facts.st_dev, facts.st_ino) : "";
  std::error_code error; // its folder may be made only after this was asked
  return fs::weakly_canonical(fs::absolute(target, error), error).string();
}

static Diagnostic conflict(const std::string &path, const char *what, const char *help) {
  return {Code::IO_18, fmt::format("cannot write {}: {}", path, what), {}, {}, help};
}

void FileUses::reads(const std::string &path) {
  if (std::string identity = identityOf(path); !identity.empty())
    read.insert(std::move(identity));
}

Status FileUses::writes(const std::string &path) {
  std::string identity = identityOf(path);
  if (identity.empty())
    return {};
  if (read.contains(identity))
    return conflict(path, "this command also reads that file", "write to another file");
  if (!written.insert(identity).second)
    return conflict(path, "another output of this command goes to the same file",
                    "write each output to a file of its own");
  return {};
}

} // namespace tw
