// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loading refuses, with counter.so changed in one place.
#include "TestArtifact.h"
#include "runtime/CpuFeatures.h"
#include "tilewright/Runtime.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
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
  /// The same with the seal of what it has become.
  std::string sealedWith(std::string from, std::string to) {
    std::string changed = with(std::move(from), std::move(to));
    EXPECT_TRUE(tw::testing::seal(changed));
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
  EXPECT_EQ(
      error("cuda:0"),
      "TW-RUNTIME-0008 the artifact was compiled for cpu, which device \"cuda:0\" cannot run");
  EXPECT_EQ(errorOf(sealedWith("\"target\": \"cpu\"", "\"target\": \"gpu\"")),
            "TW-RUNTIME-0008 the artifact was compiled for gpu, which this runtime has no device "
            "for");
  EXPECT_EQ(errorOf(sealedWith("\"sse2\"", "\"sse9\"")),
            "TW-RUNTIME-0005 the artifact needs CPU features that this machine lacks: sse9");
  EXPECT_EQ(errorOf(sealedWith("\"abi\": 2", "\"abi\": 6")),
            "TW-RUNTIME-0004 the artifact has format 4 and ABI 6, but this runtime reads format 4 "
            "and ABIs 2 to 5");
}

TEST_F(Load, RefusesDamagedFiles) {
  EXPECT_EQ(errorOf("").substr(0, 15), "TW-RUNTIME-0002");
  for (size_t size : {size_t(10), size_t(1000), bytes.size() / 2, bytes.size() - 1})
    EXPECT_EQ(errorOf(bytes.substr(0, size)).substr(0, 15), "TW-RUNTIME-0003") << size;
  EXPECT_EQ(errorOf(sealedWith("tilewright_program", "tilewright_prograX")),
            "TW-RUNTIME-0007 cannot load the artifact's code: it does not export "
            "tilewright_program");
}

/// What is left of an artifact whose weights are in a file of their own, and that file.
struct Pair {
  std::string artifact, weights;
};

class LoadPair : public Load {
protected:
  /// counter.so with these weights (72 bytes) next to it.
  Pair pairOf(const std::string &payload) const {
    auto blocks = tw::rt::hashBlocks(tw::testing::asBytes(payload));
    uint64_t content[] = {tw::rt::contentHash(blocks)};
    Pair pair{bytes.substr(0, 65536), ""};
    auto replace = [&](const std::string &from, std::string to) {
      pair.artifact.replace(pair.artifact.find(from), from.size(), to);
    };
    replace("\"where\": \"embedded\", \"offset\": 65536",
            "\"where\": \"external\", \"offset\": 4096 ");
    tw::testing::setDigits(pair.artifact, "\"hash\": \"", tw::rt::hashText(content));
    tw::testing::setDigits(pair.artifact, "\"blocks\": \"", tw::rt::hashText(blocks));
    tw::testing::seal(pair.artifact);
    tw::rt::MetadataPrefix prefix;
    std::memcpy(&prefix, pair.artifact.data() + pair.artifact.find(tw::rt::metadataMagic),
                sizeof prefix);
    auto header = tw::rt::weightsHeader(payload.size(), content[0], prefix.seal);
    pair.weights = std::string(header.begin(), header.end()) + payload;
    return pair;
  }
  std::string payload() const { return bytes.substr(65536); }
  fs::path weights() const { return path.string() + ".weights"; }
  std::string message(const std::string &rest) const {
    return "TW-RUNTIME-0006 " + weights().string() + " " + rest;
  }
};

TEST_F(LoadPair, WeightsMustBeThoseOfTheArtifact) {
  Pair pair = pairOf(payload());
  EXPECT_EQ(errorOf(pair.artifact), "TW-RUNTIME-0006 cannot read the artifact's weights " +
                                        weights().string() + ": No such file or directory");
  write(weights(), pair.weights + "x");
  EXPECT_EQ(error(), message("has 4169 bytes, but with the artifact's weights it would have 4168"));
  write(weights(), std::string(4168, 'x'));
  EXPECT_EQ(error(), message("is no file of weights, or its first page is damaged"));
  write(weights(), pair.weights);
  EXPECT_EQ(error(), "");
  Program program(path.string());
  std::vector<float> x(4, 1), cache(4);
  auto y = Instance(program).run({Tensor::of(x, {4}), Tensor::of(cache, {4})});
  EXPECT_EQ(y[1].bytes(), 8);
}

TEST_F(LoadPair, MixedPairsAreRefusedWhateverDiffers) {
  Pair one = pairOf(payload());
  std::string other = payload();
  other[40] = 'x';
  Pair two = pairOf(other); // other weights of the same size
  write(path, one.artifact);
  write(weights(), two.weights);
  EXPECT_NE(error().find("belongs to the artifact"), std::string::npos) << error();
  // The same weights, other code.
  Pair three = one;
  three.artifact[three.artifact.find("counter")] = 'C';
  tw::testing::seal(three.artifact);
  write(path, three.artifact);
  write(weights(), one.weights);
  EXPECT_NE(error().find("belongs to the artifact"), std::string::npos) << error();
}

TEST_F(LoadPair, IsFoundThroughASymbolicLink) {
  Pair pair = pairOf(payload());
  write(folder / "real.so", pair.artifact);
  write(folder / "real.so.weights", pair.weights);
  fs::create_symlink("real.so", path);
  EXPECT_EQ(error(), "");
}

/// Loads with options; "CODE message", or "".
static std::string loadWith(const std::string &path, tw_load_options options) {
  options.struct_size = sizeof options;
  tw_program *program = nullptr;
  tw_status *status = tw_program_load(path.c_str(), &options, &program);
  std::string text = std::string(tw_status_code(status)) + " " + tw_status_message(status);
  tw_status_free(status);
  tw_program_free(program);
  return text == " " ? "" : text;
}

TEST_F(LoadPair, VerifyingReadsAllWeights) {
  Pair pair = pairOf(payload());
  write(path, pair.artifact);
  pair.weights[4096 + 70] ^= 4;
  write(weights(), pair.weights);
  EXPECT_EQ(loadWith(path, {}), "");
  for (int copy : {0, 1})
    EXPECT_EQ(loadWith(path, {.verify = 1, .copy_weights = copy}),
              "TW-RUNTIME-0006 the weights are damaged: 1 of 1 blocks have another hash than the "
              "artifact says, first the one at 4096 in the file");
}

TEST_F(Load, OptionsOfAnOlderVersionAreRead) {
  write(path, bytes);
  tw_load_options options = {};
  options.struct_size = offsetof(tw_load_options, verify);
  options.verify = 1; // beyond the end of the structure as it was
  tw_program *program = nullptr;
  EXPECT_EQ(tw_program_load(path.c_str(), &options, &program), nullptr);
  tw_program_free(program);
  options.struct_size = 8;
  tw_status *status = tw_program_load(path.c_str(), &options, &program);
  EXPECT_STREQ(tw_status_code(status), "TW-RUNTIME-0018");
  tw_status_free(status);
}

// Of 1,000 random bit flips those in code and metadata are refused at load, those in weights when
// they are verified, and none crashes.
TEST_F(Load, RandomBitFlipsAreRefused) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string changed = bytes;
    size_t bit = random() % (bytes.size() * 8);
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    write(path, changed);
    EXPECT_NE(loadWith(path, {.verify = 1}), "") << bit;
    if (bit / 8 < 65536)
      EXPECT_NE(loadWith(path, {}), "") << bit;
  }
  for (size_t at = 65536; at < bytes.size(); ++at) { // the weights are a small part
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 16);
    write(path, changed);
    EXPECT_EQ(loadWith(path, {.verify = 1}).substr(0, 15), "TW-RUNTIME-0006") << at;
  }
}

static std::vector<float> runOnce(Instance &instance) {
  std::vector<float> x(4, 1), cache(4);
  auto y = instance.run({Tensor::of(x, {4}), Tensor::of(cache, {4})});
  auto values = y[0].values<float>();
  return {values.begin(), values.end()};
}

TEST_F(Load, ALoadedArtifactMayBeReplaced) {
  write(path, bytes);
  tw_load_options options = {};
  options.struct_size = sizeof options;
  options.copy_weights = 1;
  tw_program *program = nullptr;
  tw_status *status = tw_program_load(path.c_str(), &options, &program);
  ASSERT_EQ(status, nullptr);
  tw_instance *instance = nullptr;
  ASSERT_EQ(tw_instance_create(program, nullptr, &instance), nullptr);
  // In place, as cp does it.
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "short";
  float x[4] = {1, 1, 1, 1}, cache[4] = {};
  int64_t sizes[] = {4};
  tw_tensor inputs[] = {{x, 16, TW_F32, 1, sizes}, {cache, 16, TW_F32, 1, sizes}};
  ASSERT_EQ(tw_instance_run(instance, inputs, 2, nullptr, 0), nullptr);
  EXPECT_EQ(static_cast<float *>(tw_instance_output(instance, 0)->data)[3], 5);
  tw_instance_free(instance);
  tw_program_free(program);
  EXPECT_EQ(error().substr(0, 15), "TW-RUNTIME-0002");
}

TEST_F(Load, ANewVersionLoadsWhileTheOldOneRuns) {
  write(path, bytes);
  Program old(path.string());
  Instance before(old);
  std::string newer = bytes;
  float weights[4] = {10, 20, 30, 40};
  newer.replace(65536, sizeof weights, reinterpret_cast<char *>(weights), sizeof weights);
  tw::testing::seal(newer);
  write(path, newer);
  Program current(path.string());
  Instance after(current);
  EXPECT_EQ(runOnce(before), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(runOnce(after), (std::vector<float>{11, 21, 31, 41}));
}

TEST(CpuFeatures, NamesAllThatIsMissing) {
  EXPECT_TRUE(tw::rt::hasCpuFeature("sse2"));
  EXPECT_EQ(tw::rt::hasCpuFeature("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(tw::rt::hasCpuFeature("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(tw::rt::hasCpuFeature("fma"), bool(__builtin_cpu_supports("fma")));
  auto status = tw::rt::requireInstructionSet({tw::hostArchitecture, {"sse2", "warp", "weft"}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("lacks: warp, weft"), std::string::npos);
}

TEST(CpuFeatures, RefusesOtherArchitectures) {
  auto status = tw::rt::requireInstructionSet({tw::Architecture::AArch64, {}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "the code is for aarch64, but this machine is x86-64");
}
