// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Link/Link.h"
#include "Program/Link/SystemLibraries.h"
#include "Support/Limits.h"
#include "Support/MemoryFile.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
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

/// Files in memory, for lld. Adding one fails, with errno set, where there is no room.
class InputFiles {
public:
  bool add(const char *name, std::string_view bytes) {
    MemoryFile &file = files.emplace_back(name);
    return file.ok() && file.append(std::as_bytes(std::span(bytes)));
  }
  bool add(const ObjectFile &object) { return add("tilewright.o", {object.data(), object.size()}); }
  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const MemoryFile &file : files)
      all.push_back(file.path());
    return all;
  }

private:
  std::deque<MemoryFile> files;
};

} // namespace

/// What lld says, as the user's limits see it if these are the reason.
static Diagnostic refused(const std::string &said) {
  for (int error : {EMFILE, ENOMEM, ENOSPC, EFBIG})
    if (said.find(std::strerror(error)) != said.npos)
      return *limitReached(error, "linking the program");
  return {Code::PROGRAM_7, "the program cannot be linked", {}, {said}};
}

static Diagnostic cannotKeepObjects() {
  std::string reason = std::strerror(errno);
  return limitReached(errno, "the program's object files")
      .value_or(
          Diagnostic{Code::PROGRAM_7, "the program's object files cannot be kept: " + reason});
}

/// What lld makes of its command line without the output; the caller is alone in using lld.
static Result<ObjectFile> runLinker(std::vector<std::string> words) {
  PipedOutput output;
  if (!output.ok())
    return cannotKeepObjects();
  words.insert(words.end(), {"-o", output.path()});
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  std::string said;
  llvm::raw_string_ostream stream(said);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return refused(said);
  return output.take();
}

/// How any library is linked. lld's threads live on, and are missed after a fork.
static std::vector<std::string> libraryWords() {
  return {"ld.lld", "-shared", "--threads=1", "--build-id=none", "--hash-style=gnu"};
}

/// Another architecture's system libraries, as far as linking takes them.
static Status addForeignLibraries(Architecture architecture, InputFiles &into) {
  TW_ASSIGN(auto libraries, systemLibrariesOf(architecture));
  for (const SystemLibrary &library : libraries) {
    InputFiles functions;
    if (!functions.add(library.functions))
      return cannotKeepObjects();
    std::vector<std::string> words = libraryWords();
    words.push_back("-soname=" + library.name);
    words.push_back(functions.paths().front());
    TW_ASSIGN(ObjectFile linked, runLinker(std::move(words)));
    if (!into.add(linked))
      return cannotKeepObjects();
  }
  return {};
}

/// lld keeps its state in globals, so one thread links at a time.
static std::mutex linking;

Result<ObjectFile> linkLibrary(const std::vector<ObjectFile> &objects,
                               const std::vector<std::string> &exports, Architecture architecture) {
  std::string map = "{ global: ";
  for (const std::string &name : exports)
    map += name + "; ";
  map += "local: *; };\n";
  InputFiles script, inputs;
  bool isFine = script.add("tilewright.map", map);
  for (const ObjectFile &object : objects)
    isFine = isFine && inputs.add(object);
  if (!isFine)
    return cannotKeepObjects();

  std::lock_guard lock(linking);
  std::vector<std::string> words = libraryWords();
  words.insert(words.end(), {"--gc-sections", "--no-undefined", "-z", "noexecstack",
                             "--version-script=" + script.paths().front(), "--as-needed"});
  std::vector<std::string> system;
  if (architecture == hostArchitecture)
    system = loadedSystemLibraries();
  else
    TW_TRY(addForeignLibraries(architecture, inputs));
  for (const auto &paths : {inputs.paths(), system})
    words.insert(words.end(), paths.begin(), paths.end());
  return runLinker(std::move(words));
}

} // namespace tw
