// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/Zip.h"
#include "ZipWriter.h"
#include <gtest/gtest.h>

using namespace tw;
using tw::test::ZipWriter;

namespace {

std::string codeOf(const std::string &archive) {
  auto zip = ZipDirectory::read(ZipWriter::bytes(archive), "a.zip");
  return zip ? "" : codeName(zip.error().code);
}

TEST(Zip, StoredEntriesAreReadInPlace) {
  ZipWriter writer;
  writer.add("m/a", "hello");
  writer.add("m/empty", "");
  std::string archive = writer.finish();
  auto zip = ZipDirectory::read(ZipWriter::bytes(archive), "a.zip");
  ASSERT_TRUE(zip.ok()) << zip.error().render();
  EXPECT_EQ(zip->entries().size(), 2u);
  EXPECT_EQ(zip->find("m/a")->offset % 64, 0);
  auto content = zip->content("m/a");
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(reinterpret_cast<const char *>(content->data()), archive.data() + 64);
  EXPECT_EQ(content->size(), 5u);
  EXPECT_EQ(codeName(zip->content("m/b").error().code), "TW-IO-0014");
}

TEST(Zip, EveryTruncationIsRefused) {
  ZipWriter writer;
  writer.add("m/a", "hello");
  writer.add("m/b", "world");
  std::string archive = writer.finish();
  for (size_t size = 0; size < archive.size(); ++size)
    EXPECT_NE(codeOf(archive.substr(0, size)), "") << size;
}

TEST(Zip, CompressedEntriesAreListedButNotRead) {
  ZipWriter writer;
  writer.add("m/a", "hello", {.method = 8});
  std::string archive = writer.finish();
  auto zip = ZipDirectory::read(ZipWriter::bytes(archive), "a.zip");
  ASSERT_TRUE(zip.ok()) << zip.error().render();
  EXPECT_EQ(codeName(zip->content("m/a").error().code), "TW-IO-0015");
}

TEST(Zip, LiesAreFound) {
  struct Case {
    const char *name, *code;
    ZipWriter::Lies lies;
    int64_t claimed = -1;
  } cases[] = {
      {"m/b", "TW-IO-0012", {.directoryBytes = 1000}},
      {"m/b", "TW-IO-0012", {.directoryBytes = 0xfffffff0}},
      {"m/b", "TW-IO-0012", {.headerOffset = 1}},
      {"m/b", "TW-IO-0012", {.headerOffset = 0}},
      {"m/b", "TW-IO-0013", {.flags = 1}},
      {"m/a", "TW-IO-0012", {}},
      {"../b", "TW-IO-0012", {}},
      {"/b", "TW-IO-0012", {}},
      {"m/b", "TW-IO-0012", {}, 3},
      {"m/b", "TW-IO-0012", {}, 0xfffe},
  };
  for (const Case &c : cases) {
    ZipWriter writer;
    writer.add("m/a", "hello");
    writer.add(c.name, "world", c.lies);
    EXPECT_EQ(codeOf(writer.finish(c.claimed)), c.code) << &c - cases;
  }
}

TEST(Zip, RandomDamageNeverCrashes) {
  ZipWriter writer;
  writer.add("m/a", "hello");
  writer.add("m/b", "world");
  const std::string archive = writer.finish();
  for (size_t at = 0; at < archive.size(); ++at)
    for (int value : {0, 1, 0x7f, 0xff}) {
      std::string damaged = archive;
      damaged[at] = static_cast<char>(value);
      auto zip = ZipDirectory::read(ZipWriter::bytes(damaged), "a.zip");
      if (zip)
        for (auto &[name, entry] : zip->entries())
          EXPECT_LE(entry.offset + entry.bytes, static_cast<int64_t>(damaged.size()));
    }
}

} // namespace
