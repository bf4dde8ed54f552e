// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/MappedFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw::rt {

MappedFile::~MappedFile() {
  if (!contents.empty())
    munmap(const_cast<uint8_t *>(contents.data()), contents.size());
}

Result<MappedFile> MappedFile::open(const std::string &path, Code code, const char *what) {
  auto refuse = [&](const char *why) {
    return Diagnostic{code, fmt::format("cannot read the {} {}: {}", what, path, why), path};
  };
  // O_NONBLOCK: a pipe of that name must not block the open.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return refuse(std::strerror(errno));
  struct stat facts;
  MappedFile mapped;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(file);
    return refuse("it is not a regular file");
  }
  if (facts.st_size > 0) {
    void *base = mmap(nullptr, facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (base == MAP_FAILED) {
      int error = errno;
      close(file);
      return refuse(std::strerror(error));
    }
    mapped.contents = {static_cast<const uint8_t *>(base), static_cast<size_t>(facts.st_size)};
  }
  close(file);
  return mapped;
}

} // namespace tw::rt
