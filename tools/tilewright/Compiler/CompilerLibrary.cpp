// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompilerLibrary.h"
#include "Support/Limits.h"
#include <cerrno>
#include <climits>
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
  // Lazy: libMLIR calls 26,000 functions of others, and to look all of them up takes 17 ms of 53.
  void *handle = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_LOCAL);
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
      !find(library.configurationSpaces, "tilewright_configuration_spaces") ||
      !find(library.inspectModel, "tilewright_inspect_model") ||
      !find(library.linkTuningSpecs, "tilewright_link_tuning_specs") ||
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

} // namespace tw::cli
