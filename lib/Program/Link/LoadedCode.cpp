// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Link/LoadedCode.h"
#include "Program/Link/Link.h"
#include "Support/Forks.h"
#include "Support/Limits.h"
#include <cerrno>
#include <dlfcn.h>
#include <span>

namespace tw {

Result<LoadedCode> LoadedCode::load(const std::vector<ObjectFile> &objects,
                                    const std::vector<std::string> &functions) {
  TW_ASSIGN(ObjectFile linked, linkLibrary(objects, functions));
  LoadedCode code;
  code.file = MemoryFile("tilewright-kernel");
  if (!code.file.ok() || !code.file.append(std::as_bytes(std::span(linked.data(), linked.size()))))
    return limitReached(errno, "the compiled kernel")
        .value_or(Diagnostic{Code::PROGRAM_7, "the compiled kernel cannot be kept in memory"});
  code.library = dlopen(code.file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!code.library)
    return Diagnostic{Code::PROGRAM_7, "the compiled kernel cannot be loaded", {}, {dlerror()}};
  for (const std::string &name : functions)
    if (!code.find(name))
      return Diagnostic{Code::PROGRAM_7, "the compiled kernel has no function " + name};
  return code;
}

LoadedCode::~LoadedCode() {
  if (!library)
    return;
  Resting resting; // Forks.h
  dlclose(library);
}

void *LoadedCode::find(const std::string &name) const { return dlsym(library, name.c_str()); }

} // namespace tw
