// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/CacheFolder.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tw {
namespace {

constexpr char help[] = "set TILEWRIGHT_CACHE to a folder that you alone can write to";

Diagnostic refused(std::string message) { return {Code::IO_2, std::move(message), {}, {}, help}; }

/// This user's group, if nobody else is in it: where each user has one, folders are made writable
/// for it.
std::optional<gid_t> privateGroup() {
  const passwd *user = getpwuid(geteuid());
  if (!user)
    return std::nullopt;
  std::string name = user->pw_name;
  const group *own = getgrgid(user->pw_gid);
  if (!own || name != own->gr_name)
    return std::nullopt;
  for (char **member = own->gr_mem; *member; ++member)
    if (name != *member)
      return std::nullopt;
  return own->gr_gid;
}

/// Whether others may write to it; above the cache a sticky bit keeps them from exchanging what is
/// not theirs.
bool isShared(const struct stat &facts, bool isAbove) {
  static const std::optional<gid_t> own = privateGroup();
  mode_t others = isAbove && own == facts.st_gid ? S_IWOTH : S_IWGRP | S_IWOTH;
  bool isOwners = facts.st_uid == geteuid() || (isAbove && facts.st_uid == 0);
  return !isOwners || ((facts.st_mode & others) && !(isAbove && (facts.st_mode & S_ISVTX)));
}

} // namespace

Result<std::string> cachePath() {
  auto given = [](const char *name) -> std::string_view {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  if (std::string_view own = given("TILEWRIGHT_CACHE"); !own.empty())
    return std::string(own);
  std::string_view caches = given("XDG_CACHE_HOME"), home = given("HOME");
  std::error_code error;
  fs::path above = !caches.empty() ? fs::path(caches)
                   : !home.empty() ? fs::path(home) / ".cache"
                                   : fs::temp_directory_path(error);
  if (error)
    return refused(
        fmt::format("there is no folder to keep what is compiled in: {}", error.message()));
  return (above / "tilewright").string();
}

Result<std::string> cacheFolder() {
  TW_ASSIGN(std::string path, cachePath());
  fs::path folder = std::move(path);
  std::error_code error;
  bool isNew = fs::create_directories(folder, error);
  if (error)
    return refused(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  if (isNew)
    fs::permissions(folder, fs::perms::owner_all, error);
  fs::path real = fs::canonical(folder, error);
  if (error)
    return refused(fmt::format("{}: {}", folder.string(), error.message()));
  for (fs::path at = real;; at = at.parent_path()) {
    struct stat facts;
    if (lstat(at.c_str(), &facts) != 0)
      return refused(fmt::format("{}: {}", at.string(), std::strerror(errno)));
    if (isShared(facts, /*isAbove=*/at != real))
      return refused(fmt::format("the cache {} is not used: others may write to {}",
                                 folder.string(), at == real ? "it" : at.string()));
    if (at == at.root_path())
      return real.string();
  }
}

} // namespace tw
