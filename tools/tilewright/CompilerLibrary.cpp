// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompilerLibrary.h"
#include "Failure.h"
#include "Support/ChildProcess.h"
#include "Support/Limits.h"
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

namespace tw::cli {

std::string CompilerLibrary::besideExecutable() {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  std::string folder(self, length > 0 ? length : 0);
  folder.resize(folder.find_last_of('/') == folder.npos ? 0 : folder.find_last_of('/'));
  return folder + "/../lib/libtilewright-compiler.so";
}

static Diagnostic notUsable(std::string_view reason) {
  return {Code::CLI_7,
          "the compiler cannot be loaded, which is needed for a model that is not compiled yet",
          {},
          {std::string(reason)},
          "compile the model where Tilewright is installed whole and run the artifact here, or "
          "set TILEWRIGHT_COMPILER to the path of libtilewright-compiler.so"};
}

Result<CompilerLibrary> CompilerLibrary::load(const std::string &path) {
  CompilerLibrary library;
  const char *given = std::getenv("TILEWRIGHT_COMPILER");
  library.path = given ? given : path;
  void *handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::string reason = dlerror();
    for (int error : {EMFILE, ENOMEM})
      if (reason.find(std::strerror(error)) != reason.npos)
        return *limitReached(error, "loading the compiler");
    if (reason.find("map segment") != reason.npos) // with no reason of its own
      return *limitReached(ENOMEM, "loading the compiler");
    return notUsable(reason);
  }
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  decltype(&tilewright_compiler_api_version) apiVersion = nullptr;
  if (!find(apiVersion, "tilewright_compiler_api_version") ||
      !find(library.compile, "tilewright_compile") ||
      !find(library.inspectModel, "tilewright_inspect_model") ||
      !find(library.version, "tilewright_compiler_version") ||
      !find(library.openKernel, "tilewright_kernel_open") ||
      !find(library.closeKernel, "tilewright_kernel_close") ||
      !find(library.kernelArgument, "tilewright_kernel_get_argument") ||
      !find(library.printKernel, "tilewright_kernel_print") ||
      !find(library.printKernelCode, "tilewright_kernel_print_code") ||
      !find(library.runKernel, "tilewright_kernel_run") ||
      !find(library.kernelOutput, "tilewright_kernel_get_output") ||
      !find(library.kernelTime, "tilewright_kernel_get_time"))
    return notUsable(fmt::format("{} is not a Tilewright compiler", library.path));
  if (apiVersion() != TILEWRIGHT_COMPILER_API_VERSION)
    return notUsable(fmt::format("{} has interface version {}, this tool needs {}", library.path,
                                 apiVersion(), TILEWRIGHT_COMPILER_API_VERSION));
  return library;
}

namespace {

/// An exit status, and whether results were printed.
constexpr size_t answerBytes = 2;

std::string actInChild(const std::function<int()> &action, const TemporaryFolder *folder) {
  guardChild();
  if (folder)
    setenv("TMPDIR", folder->path().c_str(), 1);
  int status = finish(action());
  return {static_cast<char>(status), static_cast<char>(hasPrinted())};
}

} // namespace

Result<int> runIsolated(const std::string &doing, const std::function<int()> &action,
                        const TemporaryFolder *folder) {
  DelayedSignals delayed; // until the folder is gone
  std::optional<TemporaryFolder> own;
  if (!folder)
    // Where none can be made, the child says so if it needs one.
    if (auto made = TemporaryFolder::create())
      own.emplace(*std::move(made));
  auto end = runInChild({}, [&] { return actInChild(action, own ? &*own : folder); });
  if (!end)
    return limitReached(errno, doing)
        .value_or(Diagnostic{Code::CLI_8,
                             fmt::format("cannot start the compiler: {}", std::strerror(errno))});
  if (end->answer && end->answer->size() == answerBytes) {
    if ((*end->answer)[1])
      setPrinted();
    return static_cast<unsigned char>((*end->answer)[0]);
  }
  if (end->signal == SIGPIPE) { // nobody reads any more: end like that
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  if (auto fault = environmentsFault(*end, doing))
    return *fault;
  return Diagnostic{Code::CLI_8,
                    fmt::format("the compiler ended without an answer: {}", end->text()),
                    {},
                    {},
                    "this is a mistake of Tilewright, not yours: please report it with the model"};
}

} // namespace tw::cli
