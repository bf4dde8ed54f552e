// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are written whole or not at all, and the files of a command kept apart.
#pragma once
#include "Support/Diagnostic.h"
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tw {

/// A new file that takes its place only when all of it is on the disk: until commit() what was
/// there before stays, and a process that dies leaves nothing. A symbolic link as a path is
/// followed, a file that is replaced keeps its permissions. Devices, pipes and the standard streams
/// have no place to take: they are written directly.
///
/// The bytes go to an unnamed file in the same folder (O_TMPFILE); where a file system has none, to
/// the hidden file ".NAME.tilewright", which the next one for that path removes.
class OutputFile {
public:
  /// Errors: IO_2, SYSTEM_3 and SYSTEM_4, with `path` as the caller knows it.
  static Result<OutputFile> create(const std::string &path, mode_t mode = 0666);

  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  /// Without commit() the file never was.
  ~OutputFile();

  /// Open for reading and writing.
  int descriptor() const { return fd; }
  /// Whether there is a place to take; else it is a device, a pipe or a stream.
  bool isRegular() const { return !target.empty(); }
  const std::string &path() const { return given; }
  /// The path that it will have, behind symbolic links.
  const std::string &place() const { return target; }

  /// Appends. Errors: IO_2, SYSTEM_3.
  Status write(std::span<const std::byte> bytes);
  /// Appends a whole file, which the kernel copies where it can. Errors: those of MappedFile::open,
  /// IO_2, SYSTEM_3.
  Status copy(const std::string &from);
  /// Puts the bytes on the disk and the file in its place. Errors: IO_2, SYSTEM_3.
  Status commit();
  /// In two steps, for files that belong together: everything that may take time or fail for want
  /// of space, then the replacement itself.
  Status prepare();
  Status replace();

private:
  OutputFile(std::string given, std::string target, int fd)
      : given(std::move(given)), target(std::move(target)), fd(fd) {}
  std::string hiddenName() const;
  bool removeStale() const;

  std::string given;  // as the user wrote it
  std::string target; // behind symbolic links; empty: written directly
  int fd = -1;
  bool isNamed = false; // the hidden name exists and is this file's
};

/// Where symbolic links lead, also to a file that does not exist yet; empty with errno when they
/// lead nowhere.
std::string followLinks(std::string path);

/// What to say about an output that cannot be written: SYSTEM_3 with the space there is when it
/// does not suffice, SYSTEM_4 of descriptors, else IO_2.
Diagnostic cannotWrite(const std::string &path, int error);

/// Begins to put bytes of a file on the disk, which else does nothing until all are written, and is
/// waited for then.
void startWriteback(int descriptor, int64_t at, int64_t bytes);

/// Writes `pieces` one after the other to `path` through an OutputFile.
Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> pieces);

/// The files of one command: none that is read may be written, and none may be written twice,
/// whatever names and links lead to it, and whether it exists yet or not. Devices and pipes are
/// nobody's.
class FileUses {
public:
  void reads(const std::string &path);
  /// Errors: IO_18.
  Status writes(const std::string &path);

private:
  std::set<std::string> read, written; // identities
};

} // namespace tw
