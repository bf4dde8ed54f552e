// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/InputSpec.h"
#include "IO/Element.h"
#include "IO/File.h"
#include "IO/Formats/Npy.h"
#include "IO/OutputFile.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tw;

static Result<HostTensor> make(std::string_view text) {
  TW_ASSIGN(InputSpec spec, parseInputSpec(text));
  return readInput(spec);
}

static std::vector<double> values(std::string_view text) {
  auto t = make(text);
  if (!t) {
    ADD_FAILURE() << t.error().render();
    return {};
  }
  std::vector<double> result;
  for (int64_t i = 0; i < t->count(); ++i)
    result.push_back(loadDouble(t->dtype(), &t->bytes()[i * info(t->dtype()).bytes]));
  return result;
}

static std::string message(std::string_view text) { return make(text).error().message; }

TEST(InputSpec, ListsSplatsAndScalars) {
  EXPECT_EQ(values("2x3xf32=1,2,3,4,5,6"), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(make("2x3xf32=1,2,3,4,5,6")->typeText(), "2x3xf32");
  EXPECT_EQ(values("2x2xi64=7"), (std::vector<double>{7, 7, 7, 7}));
  EXPECT_EQ(values("f32=3"), std::vector<double>{3});
  EXPECT_EQ(make("i64=5")->typeText(), "i64");
  EXPECT_EQ(make("0x4xf32=")->typeText(), "0x4xf32");
  EXPECT_EQ(make("0x4xf32=3")->count(), 0);
  EXPECT_EQ(values("3xbool=true, 0 ,1"), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(values("4xf16=+1,-2.5,1e-2,inf")[3], INFINITY);
  EXPECT_TRUE(std::isnan(values("f64=nan")[0]));
}

TEST(InputSpec, NamesStandBeforeTheType) {
  auto named = parseInputSpec("x.y=2xf32=1,2");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->name, "x.y");
  EXPECT_EQ(parseInputSpec("f32=1")->name, "");
  EXPECT_EQ(parseInputSpec("@a=b.npy")->name, "");
  EXPECT_EQ(std::get<InputSpec::NpyFile>(parseInputSpec("x=@a=b.npy")->source).path, "a=b.npy");
  EXPECT_EQ(std::get<InputSpec::RawFile>(parseInputSpec("x=2xf32=@r.bin")->source).path, "r.bin");
}

TEST(InputSpec, RandomIsWhatTheHeaderSays) {
  EXPECT_EQ(values("4xf32=random:7"), values("4xf32=random:7"));
  EXPECT_NE(values("4xf32=random:7"), values("4xf32=random:8"));
  // mix(0x9e3779b97f4a7c15) = 0xe220a8397b1dcdaf, the well-known first output for seed 0.
  EXPECT_EQ(values("f64=random:0")[0], double(0xe220a8397b1dcdaf >> 11) * 0x1p-52 - 1);
  EXPECT_EQ(values("i64=random:0")[0], double((0xe220a8397b1dcdaf >> 33) % 10));
  EXPECT_EQ(values("bool=random:0")[0], 1);
  for (double v : values("1000xf16=random:3"))
    EXPECT_LE(std::abs(v), 1);
  for (double v : values("1000xu8=random:3"))
    EXPECT_LE(v, 9);
}

TEST(InputSpec, ReadsFiles) {
  std::string raw = testing::TempDir() + "/tw_spec.raw", npy = testing::TempDir() + "/tw_spec.npy";
  std::span<const std::byte> pieces[] = {asBytes(std::string_view("\1\0\2\0", 4))};
  ASSERT_TRUE(writeFile(raw, pieces).ok());
  EXPECT_EQ(values("2xi16=@" + raw), (std::vector<double>{1, 2}));
  EXPECT_EQ(message("3xi16=@" + raw),
            "input \"3xi16=@" + raw + "\": 3xi16 needs 6 bytes, " + raw + " has 4");
  ASSERT_TRUE(writeNpy(npy, *make("2xf32=1,2")).ok());
  EXPECT_EQ(values("x=@" + npy), (std::vector<double>{1, 2}));
  EXPECT_EQ(readInput(*parseInputSpec("@" + npy), DType::BF16)->dtype(), DType::BF16);
}

TEST(InputSpec, SaysWhatIsWrong) {
  struct {
    const char *spec, *what;
  } cases[] = {
      {"2x3xf32=1,2", "2x3xf32 has 6 elements, but 2 values are given"},
      {"2xf32=", "2xf32 has 2 elements, but 0 values are given"},
      {"2xf32", "no = and values follow the type"},
      {"2xf32=@", "no file name follows @"},
      {"x=@", "no file name follows @"},
      {"=2xf32=1", "nothing stands before the ="},
      {"2xf32=random:", "\"\" is not a seed"},
      {"2xf32=random:-1", "\"-1\" is not a seed"},
      {"9000000000000000000xf64=1", "the number of bytes of this tensor does not fit 63 bits"},
      {"u8=256", "\"256\" is not a value of u8"},
      {"i64=1.5", "\"1.5\" is not a value of i64"},
      {"f16=70000", "\"70000\" is not a value of f16"},
      {"f64=1e999", "\"1e999\" is not a value of f64"},
      {"2xf32=1,", "\"\" is not a value of f32"},
      {"bool=2", "\"2\" is not a value of bool"},
  };
  for (auto &c : cases)
    EXPECT_EQ(message(c.spec), "input \"" + std::string(c.spec) + "\": " + c.what);
  for (const char *spec : {"", "x", "2x3xf33=1", "x=2x3xf33=1", "-1xf32=1", "x=y=z", "2 xf32=1"})
    EXPECT_NE(message(spec).find("is not a type like 2x3xf32"), std::string::npos) << spec;
  EXPECT_NE(message("2x3xf33=1").find("\"2x3xf33\" is not"), std::string::npos);
}
