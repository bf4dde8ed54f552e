// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/MappedFile.h"
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

std::optional<MappedFile> MappedFile::map(int fd, uint64_t bytes) {
  MappedFile mapped;
  if (bytes == 0)
    return mapped;
  void *base = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (base == MAP_FAILED)
    return std::nullopt;
  mapped.contents = {static_cast<const uint8_t *>(base), bytes};
  return mapped;
}

OpenFile::~OpenFile() {
  if (fd >= 0)
    close(fd);
}

Diagnostic OpenFile::refuse(int error) const {
  Diagnostic problem = refusal;
  problem.message += std::strerror(error);
  if (error == ENOMEM)
    problem.help = "raise the limit of memory (ulimit -v), or use a machine with more";
  return problem;
}

Result<OpenFile> OpenFile::open(const std::string &path, Code code, const char *what) {
  Diagnostic refusal{code, fmt::format("cannot read the {} {}: ", what, path), path};
  // O_NONBLOCK: a pipe of that name must not block the open.
  OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), 0, refusal);
  if (file.fd < 0)
    return file.refuse(errno);
  struct stat facts;
  if (fstat(file.fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    refusal.message += "it is not a regular file";
    return refusal;
  }
  file.size = uint64_t(facts.st_size);
  return std::move(file);
}

Status OpenFile::read(uint64_t at, std::span<uint8_t> to) const {
  while (!to.empty()) {
    ssize_t count = pread(fd, to.data(), to.size(), off_t(at));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return refuse(errno);
    if (count == 0) {
      Diagnostic problem = refusal;
      problem.message += "it has become shorter while it was read";
      return problem;
    }
    to = to.subspan(size_t(count));
    at += uint64_t(count);
  }
  return {};
}

Result<MappedFile> OpenFile::map() const {
  auto mapped = MappedFile::map(fd, size);
  if (!mapped)
    return refuse(errno);
  return *std::move(mapped);
}

} // namespace tw::rt
