// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Link.h"
#include "lld/Common/Driver.h"
#include "runtime/ProgramABI.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <deque>
#include <link.h>
#include <mutex>
#include <span>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

namespace tw {
namespace {

/// A file in memory that lld can open by name.
class MemoryFile {
public:
  MemoryFile(const char *name, std::span<const char> bytes) : fd(memfd_create(name, MFD_CLOEXEC)) {
    while (fd >= 0 && !bytes.empty()) {
      ssize_t count = write(fd, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0) {
        close(fd);
        fd = -1;
        return;
      }
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (fd >= 0)
      close(fd);
  }
  bool ok() const { return fd >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd;
};

/// Where the system's libraries are: those this process has loaded.
std::vector<std::string> systemLibraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *out) {
        std::string_view path = info->dlpi_name;
        std::string_view name = path.substr(path.rfind('/') + 1);
        if (name == "libm.so.6" || name == "libc.so.6")
          static_cast<std::vector<std::string> *>(out)->emplace_back(path);
        return 0;
      },
      &paths);
  return paths;
}

} // namespace

Status linkLibrary(const std::vector<ObjectFile> &objects, const std::string &output,
                   const std::vector<std::string> &exports) {
  std::string map = "{ global: ";
  for (const std::string &name : exports)
    map += name + "; ";
  MemoryFile script("tilewright.map", map + "local: *; };\n");
  std::deque<MemoryFile> inputs;
  for (const ObjectFile &object : objects)
    inputs.emplace_back("tilewright.o", std::span(object.data(), object.size()));
  if (!script.ok() || !llvm::all_of(inputs, [](const MemoryFile &file) { return file.ok(); }))
    return Diagnostic{Code::PROGRAM_7, std::string("no memory for the program's object file: ") +
                                           std::strerror(errno)};
  std::vector<std::string> words{"ld.lld",
                                 "-shared",
                                 "-o",
                                 output,
                                 "--gc-sections",
                                 "--build-id=none",
                                 "--hash-style=gnu",
                                 "--no-undefined",
                                 "-z",
                                 "noexecstack",
                                 "--version-script=" + script.path(),
                                 "--as-needed"};
  for (const MemoryFile &input : inputs)
    words.push_back(input.path());
  for (std::string &path : systemLibraries())
    words.push_back(path);
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());

  static std::mutex mutex; // lld keeps its state in globals
  std::lock_guard lock(mutex);
  std::string said;
  llvm::raw_string_ostream stream(said);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return Diagnostic{Code::PROGRAM_7, "the program cannot be linked", {}, {said}};
  return {};
}

} // namespace tw
