// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/MemoryFile.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tw {

MemoryFile::MemoryFile(const char *name)
    : fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {}

MemoryFile::~MemoryFile() {
  if (fd >= 0)
    close(fd);
}

bool MemoryFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes = bytes.subspan(size_t(count));
  }
  return true;
}

bool MemoryFile::seal() {
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
}

} // namespace tw
