// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Code/Ptxas.h"
#include "Support/Programs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <thread>
#include <tuple>

namespace tw::target::nvidia {

using llvm::StringRef;

const std::optional<std::string> &ptxasPath() {
  static const std::optional<std::string> path = []() -> std::optional<std::string> {
    std::string chosen = choosePtxas().path;
    return chosen.empty() ? std::nullopt : std::optional(std::move(chosen));
  }();
  return path;
}

std::string ptxasFacts() {
  const std::optional<std::string> &ptxas = ptxasPath();
  llvm::sys::fs::file_status facts;
  if (!ptxas || llvm::sys::fs::status(*ptxas, facts))
    return {};
  return fmt::format("{} {} {}", *ptxas, facts.getSize(),
                     facts.getLastModificationTime().time_since_epoch().count());
}

namespace {

/// A file that goes when this does.
class ScratchFile {
public:
  explicit ScratchFile(StringRef ending) {
    if (std::error_code problem =
            llvm::sys::fs::createTemporaryFile("tilewright", ending, descriptor, name))
      error = problem.message();
  }
  ScratchFile(const ScratchFile &) = delete;
  ~ScratchFile() {
    if (error.empty())
      std::ignore = llvm::sys::fs::remove(name);
  }

  /// The text in it; empty where it cannot be read.
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(name);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

  llvm::SmallString<128> name;
  int descriptor = -1;
  std::string error;
};

/// The number before `what` in a line: "Used 32 registers, 16 bytes smem".
int64_t numberBefore(StringRef line, StringRef what) {
  size_t at = line.find(what);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  int64_t number = 0;
  StringRef digits = before.take_back(before.size() - before.find_last_not_of("0123456789") - 1);
  return digits.getAsInteger(10, number) ? 0 : number;
}

/// What `ptxas -v` says of each kernel, below a line with its name.
void readResources(StringRef text, std::vector<DeviceCode::Entry> &entries) {
  DeviceCode::Entry *current = nullptr;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    for (StringRef begin : {"Compiling entry function '", "Function properties for "})
      if (size_t at = line.find(begin); at != StringRef::npos) {
        StringRef name = line.drop_front(at + begin.size()).split('\'').first.trim();
        auto found = llvm::find_if(entries, [&](const auto &entry) { return entry.name == name; });
        current = found == entries.end() ? nullptr : &*found;
      }
    if (!current)
      continue;
    current->spillBytes += numberBefore(line, " bytes spill stores");
    current->registers = std::max(current->registers, numberBefore(line, " registers"));
    current->staticSharedBytes =
        std::max(current->staticSharedBytes, numberBefore(line, " bytes smem"));
  }
}

/// The note in which ptxas says that it makes products wait for each other, or ignores what was
/// asked of registers (C7508 to C7519): a fault of ours, which costs most of the speed.
std::string serialized(StringRef text) {
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (size_t at = line.find("(C75"); at != StringRef::npos) {
      int64_t number = 0;
      if (!line.substr(at + 2, 4).getAsInteger(10, number) && number >= 7508 && number <= 7519)
        return line.trim().str();
    }
  return {};
}

/// What ptxas makes of PTX, and says of it.
struct Assembled {
  std::string cubin, said;

  /// In the cache: how long `said` is, and both.
  std::string asText() const { return fmt::format("{}\n{}{}", said.size(), said, cubin); }
  static std::optional<Assembled> from(StringRef text) {
    auto [digits, rest] = text.split('\n');
    size_t length = 0;
    if (digits.getAsInteger(10, length) || length > rest.size())
      return std::nullopt;
    return Assembled{rest.drop_front(length).str(), rest.take_front(length).str()};
  }
};

/// The exit status of a program that has been started; it is killed where that is cancelled.
int waitFor(const llvm::sys::ProcessInfo &program, const Cancellation *cancellation,
            std::string &message) {
  using namespace std::chrono_literals;
  for (auto pause = 1ms; cancellation; pause = std::min(2 * pause, 32ms)) {
    llvm::sys::ProcessInfo ended = llvm::sys::Wait(program, /*SecondsToWait=*/0, &message);
    if (ended.Pid != llvm::sys::ProcessInfo::InvalidPid)
      return ended.ReturnCode;
    if (cancellation->isRequested()) {
      kill(program.Pid, SIGKILL);
      break;
    }
    std::this_thread::sleep_for(pause);
  }
  return llvm::sys::Wait(program, std::nullopt, &message).ReturnCode;
}

/// Of a program that is no ptxas.
Diagnostic isNoPtxas(StringRef program, const char *why) {
  return {Code::PROGRAM_9,
          fmt::format("{} {}, which {}",
                      choosePtxas().isGiven ? "TILEWRIGHT_PTXAS names" : "ptxas in the PATH is",
                      std::string_view(program), why),
          {},
          {},
          "the wheel nvidia-cuda-nvcc has ptxas; give its path, leave TILEWRIGHT_PTXAS out for the "
          "first one in the PATH, or empty it to have PTX, which the GPU's driver compiles"};
}

/// Also one whose note says that it cannot be used.
Result<Assembled> runPtxas(StringRef ptx, StringRef architecture,
                           const Cancellation *cancellation) {
  ScratchFile source("ptx"), cubin("cubin"), log("log");
  for (const ScratchFile *file : {&source, &cubin, &log})
    if (!file->error.empty())
      return Diagnostic{Code::SYSTEM_3, fmt::format("no file for ptxas: {}", file->error)};
  {
    llvm::raw_fd_ostream out(source.descriptor, /*shouldClose=*/true);
    out << ptx;
  }
  std::string option = ("-arch=" + architecture).str(), message;
  StringRef program = *ptxasPath();
  if (!canBeRun(*ptxasPath()))
    return isNoPtxas(program, "cannot be run");
  StringRef arguments[] = {program, "-v", option, source.name, "-o", cubin.name};
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log.name), StringRef(log.name)};
  bool isMissing = false;
  llvm::sys::ProcessInfo started = llvm::sys::ExecuteNoWait(
      program, arguments, std::nullopt, redirects, /*MemoryLimit=*/0, &message, &isMissing);
  int status = isMissing ? -1 : waitFor(started, cancellation, message);
  if (isCancelled(cancellation))
    return Cancellation::error();
  std::string said = log.read();
  if (status != 0)
    return Diagnostic{Code::TARGET_3,
                      fmt::format("{} ends with status {}: {}", std::string_view(program), status,
                                  message.empty() ? said : message)};
  std::string code = cubin.read();
  if (code.empty())
    return isNoPtxas(program, "ends without an error and has made no code");
  return Assembled{std::move(code), std::move(said)};
}

Result<Assembled> findOrRun(StringRef ptx, StringRef architecture, CodeCache *cache,
                            const Cancellation *cancellation) {
  if (!cache)
    return runPtxas(ptx, architecture, cancellation);
  const std::string parts[] = {"cubin", ptxasFacts(), architecture.str(), ptx.str()};
  if (std::optional<std::string> kept = cache->find(parts))
    if (std::optional<Assembled> made = Assembled::from(*kept))
      return *std::move(made);
  TW_ASSIGN(Assembled made, runPtxas(ptx, architecture, cancellation));
  cache->keep(parts, made.asText());
  return made;
}

} // namespace

Result<std::string> assemble(StringRef ptx, StringRef architecture,
                             std::vector<DeviceCode::Entry> &entries, CodeCache *cache,
                             const Cancellation *cancellation) {
  TW_ASSIGN(Assembled made, findOrRun(ptx, architecture, cache, cancellation));
  if (std::string note = serialized(made.said); !note.empty())
    return Diagnostic{Code::TARGET_3,
                      fmt::format("{} cannot overlap products: {}", *ptxasPath(), note)};
  readResources(made.said, entries);
  return std::move(made.cubin);
}

} // namespace tw::target::nvidia
