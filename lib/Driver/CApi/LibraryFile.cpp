// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/CApi/LibraryFile.h"
#include "tilewright/Compiler.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace tw {

std::string libraryFile() {
  Dl_info self = {};
  dladdr(reinterpret_cast<void *>(&tilewright_compiler_api_version), &self);
  return self.dli_fname ? self.dli_fname : "";
}

std::string libraryBuild() {
  struct stat facts = {};
  if (stat(libraryFile().c_str(), &facts) != 0)
    return {};
  return fmt::format("{} {} {}", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

} // namespace tw
