// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loading refuses, with counter.so changed in one place.
#include "runtime/CpuFeatures.h"
#include "runtime/PayloadHash.h"
#include "tilewright/Runtime.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace tw::runtime;
namespace fs = std::filesystem;

static std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of its own with a copy of counter.so.
class Load : public ::testing::Test {
protected:
  Load() {
    folder = fs::temp_directory_path() /
             ("tw-load-" + std::to_string(getpid()) + "-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder);
    path = folder / "a.so";
    bytes = readFile(std::string(TW_FAKE_ARTIFACTS) + "counter.so");
  }
  ~Load() override { fs::remove_all(folder); }

  void write(const fs::path &to, const std::string &contents) {
    fs::remove(to); // never in place: the old one may be mapped
    std::ofstream(to, std::ios::binary) << contents;
  }
  /// The bytes with every `from` changed to `to`, which must be as long.
  std::string with(std::string from, std::string to) {
    EXPECT_EQ(from.size(), to.size());
    std::string changed = bytes;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    for (; at != std::string::npos; at = changed.find(from, at + 1))
      changed.replace(at, to.size(), to);
    return changed;
  }
  /// "CODE message" of loading the path, "" when it loads.
  std::string error(const char *device = "cpu") {
    try {
      Program program(path.string(), device);
    } catch (const Error &error) {
      return error.code() + " " + error.what();
    }
    return "";
  }
  std::string errorOf(const std::string &contents) {
    write(path, contents);
    return error();
  }

  fs::path folder, path;
  std::string bytes;
};

TEST_F(Load, ReadsOnlyRegularFiles) {
  EXPECT_EQ(error(), "TW-RUNTIME-0001 cannot read the artifact " + path.string() +
                         ": No such file or directory");
  fs::create_directory(path);
  EXPECT_EQ(error(), "TW-RUNTIME-0001 cannot read the artifact " + path.string() +
                         ": it is not a regular file");
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(error().substr(0, 15), "TW-RUNTIME-0001");
}

TEST_F(Load, RefusesWhatCannotRunHere) {
  EXPECT_EQ(errorOf(bytes), "");
  EXPECT_EQ(error("cuda:0"),
            "TW-RUNTIME-0008 device \"cuda:0\" is not available; this runtime has \"cpu\"");
  EXPECT_EQ(errorOf(with("\"target\": \"cpu\"", "\"target\": \"gpu\"")),
            "TW-RUNTIME-0008 the artifact was compiled for gpu, which device \"cpu\" cannot run");
  EXPECT_EQ(errorOf(with("\"sse2\"", "\"sse9\"")),
            "TW-RUNTIME-0005 the artifact needs CPU features that this machine lacks: sse9");
  EXPECT_EQ(errorOf(with("\"abi\": 1", "\"abi\": 3")),
            "TW-RUNTIME-0004 the artifact has format 1 and ABI 3, but this runtime reads format 1 "
            "and ABI 1");
}

TEST_F(Load, RefusesDamagedFiles) {
  EXPECT_EQ(errorOf("").substr(0, 15), "TW-RUNTIME-0002");
  for (size_t size : {size_t(10), size_t(1000), bytes.size() / 2, bytes.size() - 1})
    EXPECT_EQ(errorOf(bytes.substr(0, size)).substr(0, 15), "TW-RUNTIME-0003") << size;
  EXPECT_EQ(errorOf(with("tilewright_program", "tilewright_prograX")),
            "TW-RUNTIME-0007 cannot load the artifact's code: it does not export "
            "tilewright_program");
}

TEST_F(Load, WeightsBesideMustBeThoseOfTheArtifact) {
  std::string json = R"("weights": {"where": "inside", "offset": 65536, "bytes": 72})";
  std::string beside = R"("weights": {"where": "beside", "offset": 0, "bytes": 72})";
  beside.insert(beside.size() - 1, json.size() - beside.size(), ' ');
  fs::path weights = path.string() + ".weights";
  std::string artifact = with(json, beside).substr(0, 65536), payload = bytes.substr(65536);
  EXPECT_EQ(errorOf(artifact), "TW-RUNTIME-0006 cannot read the artifact's weights " +
                                   weights.string() + ": No such file or directory");
  write(weights, payload + "x");
  EXPECT_EQ(error(), "TW-RUNTIME-0006 " + weights.string() +
                         " has 73 bytes, but the artifact's weights have 72");
  write(weights, payload);
  EXPECT_EQ(error(), "");
  Program program(path.string());
  std::vector<float> x(4, 1), cache(4);
  auto y = Instance(program).run({Tensor::of(x, {4}), Tensor::of(cache, {4})});
  EXPECT_EQ(y[1].bytes(), 8);
}

TEST_F(Load, ChecksTheHashOfTheWeights) {
  std::span payload(reinterpret_cast<const uint8_t *>(bytes.data()) + 65536, 72);
  // Room for the hash is made by dropping the dispatches.
  size_t begin = bytes.find("\"dispatches\""), end = bytes.find("\"weights\"");
  auto hashed = [&](const std::string &hash) {
    std::string weights =
        R"("weights": {"where": "inside", "offset": 65536, "bytes": 72, "hash": ")" + hash + "\"}";
    size_t length = bytes.find("}}", end) + 1 - begin;
    weights.insert(weights.size() - 1, length - weights.size(), ' ');
    std::string changed = bytes;
    return changed.replace(begin, length, weights);
  };
  EXPECT_EQ(errorOf(hashed(tw::rt::payloadHash(payload))), "");
  EXPECT_EQ(errorOf(hashed("0123456789abcdef")).substr(0, 15), "TW-RUNTIME-0006");
}

// dlopen gives what it has under a path, even when the file was replaced; that must not go unseen.
TEST_F(Load, SeesThatAnOlderVersionIsLoaded) {
  ASSERT_EQ(errorOf(bytes), "");
  auto program = std::make_unique<Program>(path.string());
  std::string newer = bytes;
  newer[newer.find("tilewright_program")] = 'T';
  write(path, newer);
  EXPECT_EQ(error(), "TW-RUNTIME-0007 an older version of this artifact is still loaded in this "
                     "process");
  program.reset();
  EXPECT_NE(error().find("does not export"), std::string::npos);
}

TEST(CpuFeatures, NamesAllThatIsMissing) {
  EXPECT_TRUE(tw::rt::hasCpuFeature("sse2"));
  EXPECT_EQ(tw::rt::hasCpuFeature("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(tw::rt::hasCpuFeature("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(tw::rt::hasCpuFeature("fma"), bool(__builtin_cpu_supports("fma")));
  std::vector<std::string> names = {"sse2", "warp", "weft"};
  auto status = tw::rt::requireCpuFeatures(names);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("lacks: warp, weft"), std::string::npos);
}
