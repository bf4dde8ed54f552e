// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact.h"
#include "TestArtifact.h"
#include "runtime/PayloadHash.h"
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::rt;
using namespace tw::testing;

static Result<Metadata> parse(const std::string &bytes) {
  // A copy of exactly that size, so that the address sanitizer sees reads beyond it.
  std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  return parseArtifact(exact);
}

static Code codeOf(const std::string &bytes) {
  auto metadata = parse(bytes);
  EXPECT_FALSE(metadata.ok());
  return metadata.ok() ? Code::CLI_1 : metadata.error().code;
}

static const char minimal[] = R"({"format": 1, "abi": 1, "target": "cpu", "model": "m"})";

TEST(Artifact, ReadsTheMetadataSection) {
  auto metadata = parse(artifactOf(minimal));
  ASSERT_TRUE(metadata.ok()) << metadata.error().render();
  EXPECT_EQ(metadata->model, "m");
}

TEST(Artifact, RefusesOtherFiles) {
  EXPECT_EQ(codeOf(""), Code::RUNTIME_2);
  EXPECT_EQ(codeOf("PK\3\4 this is a zip"), Code::RUNTIME_2);
  EXPECT_EQ(codeOf("\177ELF"), Code::RUNTIME_3);
  std::string other = artifactOf(minimal);
  other.replace(other.find(".tilewright\0", 0, 12), 11, ".tilewrighs");
  EXPECT_EQ(codeOf(other), Code::RUNTIME_2);
  std::string executable = artifactOf(minimal);
  executable[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
  EXPECT_EQ(codeOf(executable), Code::RUNTIME_2);
  std::string machine = artifactOf(minimal);
  machine[offsetof(Elf64_Ehdr, e_machine)] = 1;
  EXPECT_EQ(codeOf(machine), Code::RUNTIME_2);
}

TEST(Artifact, RefusesABadPrefix) {
  EXPECT_EQ(codeOf(elfAround("")), Code::RUNTIME_3);
  EXPECT_EQ(codeOf(elfAround("TWPROG0112345678")), Code::RUNTIME_3);
  std::string section = sectionOf(minimal);
  section[8] += 1; // one byte more than there is
  EXPECT_EQ(codeOf(elfAround(section)), Code::RUNTIME_3);
  section = sectionOf(minimal);
  section[0] = 'X';
  EXPECT_EQ(codeOf(elfAround(section)), Code::RUNTIME_3);
}

TEST(Artifact, EveryTruncationIsAnError) {
  std::string whole = artifactOf(minimal);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse(whole.substr(0, size)).ok()) << size;
}

TEST(Artifact, NoChangedByteCrashes) {
  std::string whole = artifactOf(minimal);
  for (size_t at = 0; at < whole.size(); ++at)
    for (int value : {0, 1, 0x7F, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      (void)parse(changed).ok();
    }
}

static std::string withWeights(int64_t offset, int64_t bytes) {
  return artifactOf(R"({"format": 1, "abi": 1, "target": "cpu", "weights": {"where": "inside", )"
                    "\"offset\": " +
                    std::to_string(offset) + ", \"bytes\": " + std::to_string(bytes) + "}}");
}

TEST(Artifact, ChecksWhereTheWeightsLie) {
  auto padded = [](std::string bytes) {
    bytes.resize(4096 + 100);
    return bytes;
  };
  EXPECT_TRUE(parse(padded(withWeights(4096, 100))).ok());
  EXPECT_TRUE(parse(withWeights(0, 0)).ok());
  EXPECT_EQ(codeOf(padded(withWeights(4096, 101))), Code::RUNTIME_3);
  EXPECT_EQ(codeOf(padded(withWeights(4096, INT64_MAX))), Code::RUNTIME_3);
  EXPECT_EQ(codeOf(padded(withWeights(4160, 1))), Code::RUNTIME_3); // not at a page
  EXPECT_EQ(codeOf(padded(withWeights(0, 100))), Code::RUNTIME_3);  // over the code
  EXPECT_EQ(codeOf(padded(withWeights(int64_t(1) << 62, 1))), Code::RUNTIME_3);
}

TEST(PayloadHash, SeesTheFirstAndTheLastMiB) {
  std::vector<uint8_t> payload(3 << 20);
  std::string hash = payloadHash(payload);
  EXPECT_EQ(hash.size(), 16u);
  for (size_t at : {size_t(0), payload.size() - 1}) {
    payload[at] = 1;
    EXPECT_NE(payloadHash(payload), hash);
    payload[at] = 0;
  }
  payload[(1 << 20) + 5] = 1; // in the middle, which is not read
  EXPECT_EQ(payloadHash(payload), hash);
  EXPECT_EQ(payloadHash({}), "2d06800538d394c2"); // XXH3-64 of nothing
}
