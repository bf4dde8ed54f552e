// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/OutputFile.h"
#include "IO/File.h"
#include "IO/TemporaryFolder.h"
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tw;
namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
protected:
  std::string path(const std::string &name) const { return folder->path() + "/" + name; }
  static void put(const std::string &path, std::string_view text) { std::ofstream(path) << text; }
  static std::string get(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Status write(const std::string &path, std::string_view text) const {
    std::span<const std::byte> pieces[] = {asBytes(text)};
    return writeFile(path, pieces);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto &entry : fs::directory_iterator(folder->path()))
      all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }

  Result<TemporaryFolder> folder = TemporaryFolder::create();
};

TEST_F(OutputFileTest, TakesItsPlaceOnlyWhenCommitted) {
  put(path("a"), "old");
  {
    auto file = OutputFile::create(path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(asBytes("new")).ok());
    EXPECT_EQ(get(path("a")), "old");
  }
  EXPECT_EQ(get(path("a")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
  ASSERT_TRUE(write(path("a"), "new").ok());
  EXPECT_EQ(get(path("a")), "new");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(OutputFileTest, CopiesWholeFiles) {
  for (size_t bytes : {0, 1, (20 << 20) + 3}) { // several steps of a copy
    std::string text(bytes, 'x');
    for (size_t i = 0; i < bytes; i += 1000)
      text[i] = char('a' + i / 1000 % 26);
    put(path("a"), text);
    {
      auto file = OutputFile::create(path("b"));
      ASSERT_TRUE(file.ok());
      ASSERT_TRUE(file->write(asBytes("begin ")).ok());
      ASSERT_TRUE(file->copy(path("a")).ok());
      ASSERT_TRUE(file->write(asBytes(" end")).ok());
      ASSERT_TRUE(file->commit().ok());
    }
    EXPECT_TRUE(get(path("b")) == "begin " + text + " end") << bytes;
  }
  auto full = OutputFile::create("/dev/full");
  ASSERT_TRUE(full.ok());
  Status status = full->copy(path("a"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::SYSTEM_3);
  EXPECT_EQ(full->copy(path("none")).error().code, Code::IO_1);
}

TEST_F(OutputFileTest, FollowsLinksAndLeavesOtherNamesAlone) {
  put(path("real"), "old");
  fs::create_symlink("real", path("link"));
  fs::create_symlink("link", path("link2"));
  ASSERT_TRUE(write(path("link2"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(path("link2")) && fs::is_symlink(path("link")));
  EXPECT_EQ(get(path("real")), "new");
  fs::create_hard_link(path("real"), path("other"));
  ASSERT_TRUE(write(path("real"), "newer").ok());
  EXPECT_EQ(get(path("other")), "new");
  fs::create_symlink("nowhere", path("dangling"));
  ASSERT_TRUE(write(path("dangling"), "made").ok());
  EXPECT_EQ(get(path("nowhere")), "made");
  fs::create_symlink("round", path("round"));
  EXPECT_EQ(write(path("round"), "x").error().code, Code::IO_2);
}

TEST_F(OutputFileTest, KeepsPermissions) {
  put(path("a"), "old");
  chmod(path("a").c_str(), 0640);
  ASSERT_TRUE(write(path("a"), "new").ok());
  struct stat facts;
  ASSERT_EQ(stat(path("a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0640u);
}

TEST_F(OutputFileTest, RemovesWhatAKilledProcessLeft) {
  pid_t process = fork();
  if (process == 0) {
    auto file = OutputFile::create(path("a"));
    (void)file->write(asBytes("half"));
    (void)file->prepare().ok(); // between its two steps it has a name
    raise(SIGKILL);
  }
  int status;
  waitpid(process, &status, 0);
  EXPECT_EQ(names(), std::vector<std::string>{".a.tilewright"});
  ASSERT_TRUE(write(path("a"), "whole").ok());
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
  EXPECT_EQ(get(path("a")), "whole");
}

TEST_F(OutputFileTest, DevicesAndStreamsAreWrittenDirectly) {
  EXPECT_TRUE(write("/dev/null", "x").ok());
  EXPECT_EQ(write("/dev/full", "x").error().code, Code::SYSTEM_3);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  int file = open(path("out").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  struct stat before, after;
  fstat(file, &before);
  ASSERT_TRUE(write("/proc/self/fd/" + std::to_string(file), "text").ok());
  ASSERT_EQ(stat(path("out").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino); // a redirection goes on to work
  EXPECT_EQ(get(path("out")), "text");
  close(file);
}

TEST_F(OutputFileTest, NoFileIsBothReadAndWritten) {
  put(path("model"), "m");
  fs::create_hard_link(path("model"), path("hard"));
  fs::create_symlink("model", path("soft"));
  fs::create_directory(path("folder"));
  FileUses files;
  files.reads(path("model"));
  for (const char *name : {"model", "hard", "soft", "folder/../model"})
    EXPECT_EQ(files.writes(path(name)).error().code, Code::IO_18) << name;
  EXPECT_TRUE(files.writes(path("new")).ok());
  EXPECT_EQ(files.writes(path("folder/../new")).error().message,
            "cannot write " + path("folder/../new") +
                ": another output of this command goes to the same file");
  fs::create_symlink("newer", path("dangling"));
  EXPECT_TRUE(files.writes(path("dangling")).ok());
  EXPECT_FALSE(files.writes(path("newer")).ok());
  fs::path before = fs::current_path();
  fs::current_path(path("folder"));
  EXPECT_TRUE(files.writes("later/new").ok());
  fs::create_directory("later"); // by this command, before it writes the second one
  EXPECT_EQ(files.writes(path("folder/later/new")).error().code, Code::IO_18);
  fs::current_path(before);
  EXPECT_TRUE(files.writes("/dev/null").ok());
  EXPECT_TRUE(files.writes("/dev/null").ok());
}

/// Runs a test in a process of its own, since a process looks for others' folders once; gives its
/// status.
int runApart(const std::string &temporary, const char *test) {
  pid_t process = fork();
  if (process == 0) {
    setenv("TMPDIR", temporary.c_str(), 1);
    execl("/proc/self/exe", "io_test", "--gtest_also_run_disabled_tests", test, nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

TEST(TemporaryFolder, GoesAndAKilledProcessesTooLater) {
  auto base = TemporaryFolder::create();
  ASSERT_TRUE(base.ok());
  auto inBase = [&] {
    return std::count_if(fs::directory_iterator(base->path()), fs::directory_iterator(),
                         [](auto &entry) { return entry.is_directory(); });
  };
  EXPECT_EQ(
      WTERMSIG(runApart(base->path(), "--gtest_filter=TemporaryFolder.DISABLED_DiesWithAFolder")),
      SIGKILL);
  EXPECT_EQ(inBase(), 1);
  EXPECT_EQ(runApart(base->path(), "--gtest_filter=TemporaryFolder.DISABLED_HasAFolder"), 0);
  EXPECT_EQ(inBase(), 0);
}

TEST(TemporaryFolder, AUsersFolderStays) {
  auto base = TemporaryFolder::create();
  ASSERT_TRUE(base.ok());
  const char *names[] = {"tilewright-models", "tilewright-tmp-models", "tilewright-tmp-mine12"};
  for (const char *name : names) {
    fs::create_directory(base->path() + "/" + name);
    std::ofstream(base->path() + "/" + name + "/file") << "mine";
  }
  EXPECT_EQ(runApart(base->path(), "--gtest_filter=TemporaryFolder.DISABLED_HasAFolder"), 0);
  for (const char *name : names)
    EXPECT_TRUE(fs::exists(base->path() + "/" + name + "/file")) << name;
}

TEST(TemporaryFolder, DISABLED_DiesWithAFolder) {
  auto folder = TemporaryFolder::create();
  std::ofstream(folder->path() + "/file") << "x";
  raise(SIGKILL);
}

TEST(TemporaryFolder, DISABLED_HasAFolder) {
  auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(fs::exists(folder->path()));
}

TEST(TemporaryFolder, SaysWhereNoneCanBeMade) {
  setenv("TMPDIR", "/nowhere", 1);
  auto folder = TemporaryFolder::create();
  unsetenv("TMPDIR");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message,
            "no folder for temporary files can be made in /nowhere: No such file or directory");
}
