// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Artifact.h"
#include "TestArtifact.h"
#include "runtime/Artifact/Seal.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::rt;
using namespace tw::testing;

static Result<SealedMetadata> parse(const std::string &bytes) {
  // A copy of exactly that size, so that the address sanitizer sees reads beyond it.
  std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  return parseArtifact(exact, exact.size());
}

static Code codeOf(const std::string &bytes) {
  auto metadata = parse(bytes);
  EXPECT_FALSE(metadata.ok());
  return metadata.ok() ? Code::CLI_1 : metadata.error().code;
}

static const char minimal[] = R"({"format": 4, "abi": 2, "target": "cpu", "model": "m"})";

TEST(Artifact, ReadsTheMetadataSection) {
  auto metadata = parse(artifactOf(minimal));
  ASSERT_TRUE(metadata.ok()) << metadata.error().render();
  EXPECT_EQ(metadata->model, "m");
}

/// Mutations of what is refused at its first bytes find nothing.
TEST(Artifact, AcceptsWhatFuzzingBeginsWith) {
  for (const auto &entry : std::filesystem::directory_iterator(TW_FUZZ_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::string problem;
    if (bytes.starts_with("\177ELF")) {
      if (auto metadata = parse(bytes); !metadata.ok())
        problem = metadata.error().render();
    } else if (auto metadata = parseMetadata(bytes); !metadata.ok()) {
      problem = metadata.error().render();
    }
    EXPECT_EQ(problem, "") << entry.path();
  }
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
  EXPECT_EQ(codeOf(elfAround("TWPROG0212345678")), Code::RUNTIME_3);
  std::string section = sectionOf(minimal);
  section[8] += 1; // one byte more than there is
  EXPECT_EQ(codeOf(elfAround(section)), Code::RUNTIME_3);
  section = sectionOf(minimal);
  section[7] = '1'; // what earlier versions wrote
  EXPECT_EQ(codeOf(elfAround(section)), Code::RUNTIME_4);
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

TEST(Artifact, EveryFlippedBitIsRefused) {
  std::string whole = artifactOf(minimal);
  ASSERT_TRUE(parse(whole).ok());
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(parse(changed).ok()) << bit;
  }
  EXPECT_EQ(codeOf(whole + '\0'), Code::RUNTIME_3);
}

/// With `bytes` of weights said to be at `offset`, in a file of `fileBytes`.
static std::string withWeights(int64_t offset, int64_t bytes, size_t fileBytes) {
  std::vector<uint64_t> blocks(bytes < 1 << 20 ? rt::blockCount(bytes) : 1);
  uint64_t content[] = {rt::contentHash(blocks)};
  std::string file = elfAround(sectionOf(
      R"({"format": 4, "abi": 2, "target": "cpu", "weights": {"where": "embedded", "block_bytes": 1048576, )"
      "\"offset\": " +
      std::to_string(offset) + ", \"bytes\": " + std::to_string(bytes) + ", \"hash\": \"" +
      rt::hashText(content) + "\", \"blocks\": \"" + rt::hashText(blocks) + "\"}}"));
  file.resize(std::max(file.size(), fileBytes));
  seal(file);
  return file;
}

TEST(Artifact, ChecksWhereTheWeightsLie) {
  EXPECT_TRUE(parse(withWeights(4096, 100, 4196)).ok());
  EXPECT_TRUE(parse(withWeights(0, 0, 0)).ok());
  EXPECT_EQ(codeOf(withWeights(4096, 101, 4196)), Code::RUNTIME_3);
  EXPECT_EQ(codeOf(withWeights(4096, 99, 4196)), Code::RUNTIME_3); // something behind them
  EXPECT_EQ(codeOf(withWeights(4096, INT64_MAX, 4196)), Code::RUNTIME_3);
  EXPECT_EQ(codeOf(withWeights(4160, 1, 4196)), Code::RUNTIME_3); // not at a page
  EXPECT_EQ(codeOf(withWeights(0, 100, 4196)), Code::RUNTIME_3);  // over the code
  EXPECT_EQ(codeOf(withWeights(int64_t(1) << 62, 1, 4196)), Code::RUNTIME_3);
}

TEST(Seal, EachBlockOfTheWeightsHasAHash) {
  std::vector<uint8_t> payload(3 * weightBlockBytes + 5);
  std::vector<uint64_t> hashes = hashBlocks(payload);
  ASSERT_EQ(hashes.size(), 4u);
  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_NE(hashes[2], hashes[3]);
  payload[2 * weightBlockBytes + 7] = 1;
  std::vector<uint64_t> changed = hashBlocks(payload);
  EXPECT_NE(contentHash(changed), contentHash(hashes));
  changed[2] = hashes[2];
  EXPECT_EQ(changed, hashes);
  EXPECT_EQ(hashBlocks({}).size(), 0u);
}

TEST(Seal, HashesAreText) {
  uint64_t hashes[] = {0x0123456789abcdef, hashOf({})};
  EXPECT_EQ(hashText(hashes), "0123456789abcdef2d06800538d394c2"); // XXH3-64 of nothing
  auto parsed = parseHashes(hashText(hashes));
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)[1], hashes[1]);
  EXPECT_FALSE(parseHashes("0123456789abcde"));
  EXPECT_FALSE(parseHashes("0123456789abcdeG"));
}

TEST(Seal, EveryFlippedBitOfAWeightsHeaderIsSeen) {
  std::vector<uint8_t> page = weightsHeader(100, 7, 8);
  auto header = parseWeightsHeader(page);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->payloadBytes, 100u);
  EXPECT_EQ(header->payload, 7u);
  EXPECT_EQ(header->artifact, 8u);
  for (size_t bit = 0; bit < page.size() * 8; ++bit) {
    page[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(parseWeightsHeader(page)) << bit;
    page[bit / 8] ^= 1 << bit % 8;
  }
}
