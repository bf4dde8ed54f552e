// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Programs.h"
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

bool canBeRun(const std::string &path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::string findInPath(const std::string &name) {
  const char *folders = std::getenv("PATH");
  std::string_view rest = folders ? folders : "";
  while (!rest.empty()) {
    size_t end = std::min(rest.find(':'), rest.size());
    std::string path = std::string(rest.substr(0, end)) + "/" + name;
    if (end > 0 && canBeRun(path))
      return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

PtxasChoice choosePtxas() {
  if (const char *given = std::getenv("TILEWRIGHT_PTXAS"))
    return {given, true};
  return {findInPath("ptxas"), false};
}

} // namespace tw
