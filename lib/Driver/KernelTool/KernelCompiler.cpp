// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the C++ source of kernels to a library that can be loaded, once for each content.
#include "Driver/CApi/CompilerOutput.h"
#include "Driver/CApi/LibraryFile.h"
#include "Driver/Cache/CompileCache.h"
#include "Driver/KernelTool/KernelSource.h"
#include "IO/File.h"
#include "IO/TemporaryFolder.h"
#include "Support/Limits.h"
#include "Support/MemoryFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tw {

namespace {

Diagnostic noCompiler(std::string message) {
  return {Code::KERNEL_4,
          std::move(message),
          {},
          {},
          "set CXX to a C++20 compiler, or build the kernel library yourself (docs/kernels.md) and "
          "give the .so"};
}

/// What kernels are compiled and linked with.
struct Parts {
  std::vector<std::string> compiler; // its path and first arguments
  std::string include, archive;
};

Result<Parts> findParts() {
  Parts parts;
  const char *given = std::getenv("CXX");
  for (llvm::StringRef word : llvm::split(given && *given ? given : "c++", ' '))
    if (!word.empty())
      parts.compiler.push_back(word.str());
  auto found = llvm::sys::findProgramByName(parts.compiler.empty() ? "" : parts.compiler.front());
  if (!found)
    return noCompiler(
        fmt::format("there is no C++ compiler \"{}\"", given && *given ? given : "c++"));
  parts.compiler.front() = *found;
  std::error_code error;
  fs::path library = fs::absolute(libraryFile(), error).parent_path();
  parts.archive = library / "libtilewright_kernel.a";
  for (const fs::path &folder : {library / ".." / "include", fs::path(TW_SOURCE_INCLUDE)})
    if (parts.include.empty() && fs::exists(folder / "tilewright" / "Kernel.h", error))
      parts.include = folder;
  if (parts.include.empty() || !fs::exists(parts.archive, error))
    return noCompiler(fmt::format("tilewright/Kernel.h and {} are not installed", parts.archive));
  return parts;
}

std::string contents(const std::string &path) {
  auto file = MappedFile::open(path);
  return file ? std::string(file->text()) : "";
}

/// A line of a file, with its number; "" if there is none. `place` is "file:line:column".
std::string sourceLine(llvm::StringRef place) {
  auto [rest, column] = place.rsplit(':');
  auto [path, number] = rest.rsplit(':');
  size_t wanted = 0;
  if (number.getAsInteger(10, wanted) || wanted == 0)
    return "";
  std::string text = contents(path.str());
  for (llvm::StringRef line : llvm::split(llvm::StringRef(text), '\n'))
    if (--wanted == 0)
      return line.trim().empty() ? "" : fmt::format("line {}: {}", number.str(), line.trim().str());
  return "";
}

/// KERNEL_1: the first error, and where others are.
Diagnostic refused(const Parts &parts, const std::string &source, const std::string &said,
                   const CompilerOutput &output) {
  constexpr size_t mostOthers = 3;
  std::string compiler =
      fmt::format("the compiler was {}; set CXX to use another", parts.compiler.front());
  Diagnostic problem{Code::KERNEL_1, fmt::format("{} cannot be compiled", source)};
  if (output.errors.empty()) {
    for (llvm::StringRef line : llvm::split(llvm::StringRef(said).rtrim(), '\n'))
      problem.notes.push_back(line.empty() ? "the compiler says nothing" : line.str());
    problem.help = compiler;
    return problem;
  }
  problem.message += ": " + output.errors[0].message;
  problem.location = output.errors[0].place;
  if (std::string line = sourceLine(problem.location); !line.empty())
    problem.notes.push_back(line);
  size_t others = 0;
  for (const CompilerError &error : output.errors)
    if (error.place != problem.location && ++others <= mostOthers)
      problem.notes.push_back(fmt::format("also at {}: {}", error.place, error.message));
  if (others > mostOthers)
    problem.notes.push_back(fmt::format("and {} more", others - mostOthers));
  if (!output.advice.empty())
    problem.notes.push_back(compiler);
  problem.help = output.advice.empty() ? compiler : output.advice;
  return problem;
}

/// Whether a compiler says, in a line that is about no place of a source, that the program it
/// started was ended by this signal. g++: "Killed signal terminated program cc1plus".
bool saysEndedBy(const std::string &said, int signal) {
  std::string name = strsignal(signal);
  return said.find(name + " signal terminated program") != said.npos ||
         said.find("unable to execute command: " + name) != said.npos;
}

/// The environment's fault in what a compiler said, which has found no error in the source: a limit
/// that it, the assembler or the linker met, or a signal to one of them.
std::optional<Diagnostic> environmentsFaultIn(const std::string &said, const std::string &doing) {
  for (int error : {ENOSPC, EDQUOT, ENOMEM, EMFILE, ENFILE, EFBIG, EAGAIN})
    if (said.find(std::strerror(error)) != said.npos)
      return limitReached(error, doing);
  if (said.find("out of memory") != said.npos) // g++
    return limitReached(ENOMEM, doing);
  for (int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGXCPU})
    if (saysEndedBy(said, signal))
      return environmentsFault({.signal = signal}, doing);
  rlimit limit;
  bool isLimited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (said.find("when writing output to") != said.npos) // g++, with a reason that may be wrong
    return limitReached(isLimited ? EFBIG : ENOSPC, doing);
  return said.empty() && isLimited ? limitReached(EFBIG, doing) : std::nullopt;
}

/// The environment, in English.
std::vector<llvm::StringRef> englishEnvironment() {
  std::vector<llvm::StringRef> environment;
  for (char **variable = environ; *variable; ++variable)
    if (!llvm::StringRef(*variable).starts_with("LC_ALL="))
      environment.push_back(*variable);
  environment.push_back("LC_ALL=C");
  return environment;
}

/// Runs the compiler on `source`. KERNEL_1 with what it says, or the environment's errors.
Status runCompiler(const Parts &parts, std::vector<std::string> arguments,
                   const std::string &source, const KernelTime &time) {
  std::vector<std::string> command = parts.compiler;
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::string doing = fmt::format("compiling {}", source);
  MemoryFile said("compiler-output"); // on a full disk, too
  if (!said.ok())
    return limitReached(errno, doing)
        .value_or(Diagnostic{Code::IO_3, fmt::format("{}: {}", doing, std::strerror(errno))});
  // In a process of its own: what the compiler starts ends with it.
  auto run = [&]() -> Fields {
    std::vector<llvm::StringRef> words(command.begin(), command.end());
    std::string path = said.path(), problem;
    std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), path, path};
    int status = llvm::sys::ExecuteAndWait(command.front(), words, englishEnvironment(), redirects,
                                           /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
    return {std::to_string(status), problem};
  };
  TW_ASSIGN(Fields fields, runApart(doing, time, run));
  int status = -1;
  llvm::StringRef(fields[0]).getAsInteger(10, status);
  if (status == 0)
    return {};
  if (status < 0)
    return noCompiler(fmt::format("cannot run {}: {}", command.front(), fields[1]));
  std::string words = contents(said.path());
  CompilerOutput output = readCompilerOutput(words, parts.include);
  if (output.errors.empty())
    if (auto fault = environmentsFaultIn(words, doing))
      return *fault;
  return refused(parts, source, words, output);
}

/// The name of what comes of a preprocessed source.
std::string libraryKey(const Parts &parts, const std::string &preprocessed) {
  std::vector<std::string> all = {contents(preprocessed), contents(parts.archive)};
  all.insert(all.end(), parts.compiler.begin(), parts.compiler.end());
  std::error_code error; // the version of a compiler: a new one is another file
  all.push_back(std::to_string(fs::file_size(parts.compiler.front(), error)));
  auto time = fs::last_write_time(parts.compiler.front(), error);
  all.push_back(std::to_string(time.time_since_epoch().count()));
  return cacheKey(all);
}

/// The files that a preprocessed source is made of, without those of the system, from its lines
/// '# NUMBER "FILE" FLAGS'.
std::vector<std::string> filesOf(const std::string &preprocessed) {
  constexpr llvm::StringRef isSystems = "3"; // a flag
  std::set<std::string> files;
  std::string all = contents(preprocessed);
  for (llvm::StringRef line : llvm::split(llvm::StringRef(all), '\n')) {
    auto [mark, quoted] = line.split(" \"");
    auto [file, flags] = quoted.rsplit('"');
    if (!mark.starts_with("# ") || file.starts_with("<") ||
        llvm::is_contained(llvm::split(flags, ' '), isSystems))
      continue;
    std::string name; // without its backslashes
    for (size_t i = 0; i < file.size(); ++i)
      name += file[i] == '\\' && i + 1 < file.size() ? file[++i] : file[i];
    files.insert(name);
  }
  return {files.begin(), files.end()};
}

} // namespace

Result<CompiledLibrary> compileKernelLibrary(const std::string &source, const KernelTime &time) {
  TW_ASSIGN(Parts parts, findParts());
  TW_ASSIGN(CompileCache cache, CompileCache::open());
  TW_ASSIGN(TemporaryFolder folder, TemporaryFolder::create());
  std::string preprocessed = folder.path() + "/kernel.ii", made = folder.path() + "/kernel.so";
  std::vector<std::string> common = {"-std=c++20", "-fPIC", "-fvisibility=hidden", "-O1",
                                     "-I" + parts.include};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  TW_TRY(runCompiler(parts, with({"-E", source, "-o", preprocessed}), source, time));
  std::string key = libraryKey(parts, preprocessed);
  if (std::optional<std::string> kept = cache.find(key))
    return CompiledLibrary{*kept, filesOf(preprocessed)};
  TW_TRY(runCompiler(parts, with({"-shared", source, parts.archive, "-o", made}), source, time));
  TW_ASSIGN(std::string library, cache.keep(key, made));
  return CompiledLibrary{std::move(library), filesOf(preprocessed)};
}

} // namespace tw
