// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/File.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tw {

namespace {

/// A descriptor that closes itself.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};

Diagnostic cannotRead(const std::string &path, const std::string &reason) {
  return {Code::IO_1, fmt::format("cannot read {}: {}", path, reason)};
}

Diagnostic cannotWrite(const std::string &path, int error) {
  return {Code::IO_2, fmt::format("cannot write {}: {}", path, std::strerror(error))};
}

/// Writes all of `bytes`; returns 0 or errno.
int writeAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    bytes = bytes.subspan(written);
  }
  return 0;
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string &path) {
  // Not blocking: opening a pipe that nobody writes to would hang.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status;
  if (file.fd < 0 || fstat(file.fd, &status) != 0)
    return cannotRead(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    return cannotRead(path, "it is a folder");
  if (!S_ISREG(status.st_mode))
    return cannotRead(path, "it is not a regular file");
  MappedFile result;
  result.name = path;
  if (status.st_size == 0)
    return result;
  void *data = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED)
    return cannotRead(path, std::strerror(errno));
  result.data = static_cast<const std::byte *>(data);
  result.size = status.st_size;
  return result;
}

MappedFile::~MappedFile() {
  if (data)
    munmap(const_cast<std::byte *>(data), size);
}

void MappedFile::swap(MappedFile &other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  std::swap(name, other.name);
}

Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> pieces) {
  struct stat before;
  bool plain = stat(path.c_str(), &before) != 0 || S_ISREG(before.st_mode);
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.fd < 0)
    return cannotWrite(path, errno);
  int error = 0;
  for (size_t i = 0; i < pieces.size() && !error; ++i)
    error = writeAll(file.fd, pieces[i]);
  if (close(std::exchange(file.fd, -1)) != 0 && !error)
    error = errno;
  if (!error)
    return {};
  if (plain) // never a device
    unlink(path.c_str());
  return cannotWrite(path, error);
}

} // namespace tw
