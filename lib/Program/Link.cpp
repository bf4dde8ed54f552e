// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Link.h"
#include "Support/Limits.h"
#include "Support/MemoryFile.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <link.h>
#include <mutex>
#include <span>
#include <thread>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

namespace tw {
namespace {

/// What is written to a path, taken from a pipe: lld then neither maps its output, which a full
/// disk would end, nor leaves a half-written file.
class PipedOutput {
public:
  PipedOutput() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      ends[0] = ends[1] = -1;
    else
      reader = std::thread([this] { readAll(); });
  }
  PipedOutput(const PipedOutput &) = delete;
  ~PipedOutput() { (void)take(); }

  bool ok() const { return ends[0] >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends[1]); }

  /// All that was written; no more can be.
  ObjectFile take() {
    if (reader.joinable()) {
      close(ends[1]);
      reader.join();
      close(ends[0]);
    }
    return std::move(bytes);
  }

private:
  void readAll() {
    char part[1 << 16];
    for (ssize_t count; (count = read(ends[0], part, sizeof part)) != 0;)
      if (count > 0)
        bytes.append(part, part + count);
      else if (errno != EINTR)
        return;
  }

  int ends[2];
  ObjectFile bytes;
  std::thread reader;
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

/// What lld says, as the user's limits see it if these are the reason.
static Diagnostic refused(const std::string &said) {
  for (int error : {EMFILE, ENOMEM, ENOSPC, EFBIG})
    if (said.find(std::strerror(error)) != said.npos)
      return *limitReached(error, "linking the program");
  return {Code::PROGRAM_7, "the program cannot be linked", {}, {said}};
}

Result<ObjectFile> linkLibrary(const std::vector<ObjectFile> &objects,
                               const std::vector<std::string> &exports) {
  std::string map = "{ global: ";
  for (const std::string &name : exports)
    map += name + "; ";
  map += "local: *; };\n";
  MemoryFile script("tilewright.map");
  bool isFine = script.ok() && script.append(std::as_bytes(std::span(map)));
  std::deque<MemoryFile> inputs;
  for (const ObjectFile &object : objects) {
    MemoryFile &file = inputs.emplace_back("tilewright.o");
    isFine =
        isFine && file.ok() && file.append(std::as_bytes(std::span(object.data(), object.size())));
  }
  PipedOutput output;
  if (!isFine || !output.ok()) {
    std::string reason = std::strerror(errno);
    return limitReached(errno, "the program's object files")
        .value_or(
            Diagnostic{Code::PROGRAM_7, "the program's object files cannot be kept: " + reason});
  }
  std::vector<std::string> words{
      "ld.lld",
      "-shared",
      "--threads=1", // lld's threads live on, and are missed after a fork
      "-o",
      output.path(),
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
    return refused(said);
  return output.take();
}

} // namespace tw
