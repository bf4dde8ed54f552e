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

} // namespace tw
