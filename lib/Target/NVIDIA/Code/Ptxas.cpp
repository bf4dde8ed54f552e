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

/// What ptxas is asked for beside the PTX.
struct Asked {
  StringRef architecture;
  int64_t blocks = 0; // of threads that a multiprocessor has room for at least; 0: as ptxas likes

  std::vector<std::string> options() const {
    std::vector<std::string> all = {("-arch=" + architecture).str()};
    if (blocks > 0)
      all.push_back(fmt::format("-minnctapersm={}", blocks));
    return all;
  }
};

/// Also one whose note says that it cannot be used.
Result<Assembled> runPtxas(StringRef ptx, const Asked &asked, const Cancellation *cancellation) {
  ScratchFile source("ptx"), cubin("cubin"), log("log");
  for (const ScratchFile *file : {&source, &cubin, &log})
    if (!file->error.empty())
      return Diagnostic{Code::SYSTEM_3, fmt::format("no file for ptxas: {}", file->error)};
  {
    llvm::raw_fd_ostream out(source.descriptor, /*shouldClose=*/true);
    out << ptx;
  }
  std::vector<std::string> options = asked.options();
  std::string message;
  StringRef program = *ptxasPath();
  if (!canBeRun(*ptxasPath()))
    return isNoPtxas(program, "cannot be run");
  std::vector<StringRef> arguments = {program, "-v"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {source.name, "-o", cubin.name});
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

Result<Assembled> findOrRun(StringRef ptx, const Asked &asked, CodeCache *cache,
                            const Cancellation *cancellation) {
  if (!cache)
    return runPtxas(ptx, asked, cancellation);
  std::vector<std::string> parts = {"cubin", ptxasFacts()};
  llvm::append_range(parts, asked.options());
  parts.push_back(ptx.str());
  if (std::optional<std::string> kept = cache->find(parts))
    if (std::optional<Assembled> made = Assembled::from(*kept))
      return *std::move(made);
  TW_ASSIGN(Assembled made, runPtxas(ptx, asked, cancellation));
  cache->keep(parts, made.asText());
  return made;
}

//===--- spills ----------------------------------------------------------===//

using Entries = std::vector<DeviceCode::Entry>;

/// What ptxas said of kernels of which nothing was known yet.
Entries described(const Assembled &made, Entries entries) {
  readResources(made.said, entries);
  return entries;
}

bool spills(const DeviceCode::Entry &entry) { return entry.spillBytes > 0; }

/// Of each block of an entry, as PTX says; 0 where it does not.
int64_t threadsOf(StringRef ptx, StringRef entry) {
  StringRef text = ptx.split((".entry " + entry + "(").str()).second.split('{').first;
  int64_t threads = 0;
  text.split(".reqntid").second.ltrim().consumeInteger(10, threads);
  return threads;
}

/// Where ptxas keeps values in memory only because more blocks of threads fit on a multiprocessor
/// then: what it makes with eight warps fewer, or a block, and again, until no kernel spills,
/// as long as so many are left as hide what each waits for (PlainCost.cpp). Else, and of PTX that
/// says how many blocks it wants, `first`. Nothing is known of `entries` yet.
Result<Assembled> withoutSpills(StringRef ptx, const GpuArchitecture &architecture,
                                const Entries &entries, Assembled first, CodeCache *cache,
                                const Cancellation *cancellation) {
  constexpr int64_t leastThreads = 24 * 32, threadsLess = 8 * 32;
  Entries known = described(first, entries);
  auto spilling = llvm::find_if(known, spills);
  int64_t threads = spilling == known.end() ? 0 : threadsOf(ptx, spilling->name);
  if (threads == 0 || spilling->registers == 0 || ptx.contains(".minnctapersm"))
    return first;
  int64_t step = std::max<int64_t>(1, threadsLess / threads);
  int64_t most = std::min({registersOfMultiprocessor / (spilling->registers * threads),
                           architecture.residentThreads / threads, architecture.residentBlocks});
  for (int64_t blocks = most - step; blocks * threads >= leastThreads; blocks -= step) {
    auto made = findOrRun(ptx, {architecture.name, blocks}, cache, cancellation);
    if (isCancelled(cancellation))
      return Cancellation::error();
    if (!made) // a ptxas that does not know the option
      return first;
    if (llvm::none_of(described(*made, entries), spills))
      return made;
  }
  return first;
}

} // namespace

Result<std::string> assemble(StringRef ptx, const GpuArchitecture &architecture, Entries &entries,
                             CodeCache *cache, const Cancellation *cancellation) {
  TW_ASSIGN(Assembled made, findOrRun(ptx, {architecture.name}, cache, cancellation));
  if (std::string note = serialized(made.said); !note.empty())
    return Diagnostic{Code::TARGET_3,
                      fmt::format("{} cannot overlap products: {}", *ptxasPath(), note)};
  TW_ASSIGN(made, withoutSpills(ptx, architecture, entries, std::move(made), cache, cancellation));
  entries = described(made, std::move(entries));
  return std::move(made.cubin);
}

} // namespace tw::target::nvidia
