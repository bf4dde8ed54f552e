// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/File.h"
#include "IO/OutputFile.h"
#include <filesystem>
#include <gtest/gtest.h>

using namespace tw;

static std::string temporary(const char *name) { return testing::TempDir() + "/tw_file_" + name; }

TEST(File, WritesPiecesAndMapsThem) {
  std::string path = temporary("pieces");
  std::span<const std::byte> pieces[] = {asBytes("ab"), {}, asBytes("cde")};
  ASSERT_TRUE(writeFile(path, pieces).ok());
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  MappedFile moved = *std::move(file);
  EXPECT_EQ(moved.text(), "abcde");
  EXPECT_EQ(moved.path(), path);
}

TEST(File, AnEmptyFileHasNoBytes) {
  std::string path = temporary("empty");
  ASSERT_TRUE(writeFile(path, {}).ok());
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
}

TEST(File, RefusesWhatIsNotARegularFile) {
  EXPECT_EQ(MappedFile::open("/nowhere/x").error().message,
            "cannot read /nowhere/x: No such file or directory");
  EXPECT_EQ(MappedFile::open("/tmp").error().message, "cannot read /tmp: it is a folder");
  EXPECT_EQ(MappedFile::open("/dev/null").error().message,
            "cannot read /dev/null: it is not a regular file");
}

TEST(File, SaysWhyAFileCannotBeWritten) {
  EXPECT_EQ(writeFile("/nowhere/x", {}).error().message,
            "cannot write /nowhere/x: No such file or directory");
  std::span<const std::byte> pieces[] = {asBytes("x")};
  EXPECT_EQ(writeFile("/dev/full", pieces).error().code, Code::SYSTEM_3);
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}
