// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/Npy.h"
#include "IO/Element.h"
#include "IO/File.h"
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tw;

/// The bytes of a version-1 file with this dict and data.
static std::string file(std::string dict, std::string data, char version = 1) {
  uint32_t length = dict.size();
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  text.append(reinterpret_cast<char *>(&length), version == 1 ? 2 : 4);
  return text + dict + data;
}

static Result<HostTensor> parse(const std::string &bytes, std::optional<DType> wanted = {}) {
  return parseNpy(asBytes(bytes), "x.npy", wanted);
}

static std::string message(const std::string &bytes) { return parse(bytes).error().message; }

static std::vector<double> values(const HostTensor &t) {
  std::vector<double> result;
  for (int64_t i = 0; i < t.count(); ++i)
    result.push_back(loadDouble(t.dtype(), &t.bytes()[i * info(t.dtype()).bytes]));
  return result;
}

TEST(Npy, RoundTripsEveryDtypeAndRank) {
  std::string path = testing::TempDir() + "/tw_npy.npy";
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8, DType::I16,
                      DType::I32, DType::I64, DType::U8, DType::Bool})
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{}, {0}, {3}, {2, 3}, {1, 2, 1, 2}}) {
      HostTensor t = *HostTensor::create(dtype, sizes);
      for (int64_t i = 0; i < t.count(); ++i)
        t.bytes()[i * info(dtype).bytes] = std::byte(i % 2);
      ASSERT_TRUE(writeNpy(path, t).ok());
      auto back = readNpy(path, dtype);
      ASSERT_TRUE(back.ok()) << back.error().render();
      EXPECT_EQ(back->typeText(), t.typeText());
      EXPECT_TRUE(std::ranges::equal(back->bytes(), t.bytes()));
      EXPECT_EQ((std::filesystem::file_size(path) - t.byteSize()) % 64, 0u);
    }
}

TEST(Npy, ReadsVersions2And3) {
  std::string dict = "{\"shape\":(2,),'descr':'<i2','fortran_order':False}";
  for (char version : {2, 3})
    EXPECT_EQ(values(*parse(file(dict, std::string("\1\0\2\0", 4), version))),
              (std::vector<double>{1, 2}));
}

TEST(Npy, TurnsFortranOrderAndBigEndian) {
  std::string dict = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  std::string data("\0\1\0\4\0\2\0\5\0\3\0\6", 12);
  EXPECT_EQ(values(*parse(file(dict, data))), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, BFloat16ComesAsF32OrBits) {
  float f[] = {1.00390625f, 3.0f}; // halfway between two bf16: to even
  std::string f32 = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                         std::string(reinterpret_cast<char *>(f), 8));
  EXPECT_EQ(values(*parse(f32, DType::BF16)), (std::vector<double>{1, 3}));
  EXPECT_EQ(parse(f32, DType::BF16)->dtype(), DType::BF16);
  EXPECT_EQ(parse(f32)->dtype(), DType::F32);
  std::string u16 = file("{'descr': '<u2', 'fortran_order': False, 'shape': (1,)}", "\x40\x40");
  EXPECT_EQ(values(*parse(u16, DType::BF16)), std::vector<double>{3});
  EXPECT_EQ(parse(u16).error().code, Code::IO_5);
}

TEST(Npy, BoolsBecomeZeroOrOne) {
  auto t = parse(file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\7\1"));
  EXPECT_EQ(values(*t), (std::vector<double>{1, 1}));
  EXPECT_EQ(t->bytes()[0], std::byte(1));
}

TEST(Npy, RefusesLyingSizesBeforeAllocating) {
  std::string huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}";
  EXPECT_EQ(message(file(huge, "abcd")), "x.npy: the shape 1000000x1000000xf32 needs "
                                         "4000000000000 bytes of data, the file has 4");
  std::string overflow =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000000000000,)}";
  EXPECT_EQ(message(file(overflow, "")), "x.npy: the shape 9000000000000000000xf32 needs more than "
                                         "2^63 bytes of data, the file has 0");
  EXPECT_EQ(message(file("{}", "").substr(0, 11)),
            "x.npy: the header says it has 2 bytes, the file has 1 more");
}

TEST(Npy, RefusesOtherHeaders) {
  EXPECT_EQ(message("PK"), "x.npy: this is not a .npy file (it does not start with \\x93NUMPY)");
  EXPECT_EQ(message("\x93NUMPY"), "x.npy: version 0 of the .npy format is not known (1 to 3 are)");
  EXPECT_EQ(message(std::string("\x93NUMPY\1\0", 8)),
            "x.npy: the file ends after 8 bytes, inside its header");
  EXPECT_EQ(message(file("{'descr': '<f4', 'shape': ()}", "")),
            "x.npy: the header has no fortran_order");
  for (const char *dict :
       {"", "{", "{'descr': '<f4'", "{'descr': 4}", "{'shape': (1,}", "{'shape': (-1,)}",
        "{'shape': (99999999999999999999,)}", "{'x': 1}", "{'descr': '<f4', 'descr': '<f4'}",
        "{} x", "{'descr': [[}", "{'fortran_order': Maybe}"})
    EXPECT_EQ(message(file(dict, "")),
              "x.npy: the header is not a dict of descr, fortran_order and shape")
        << dict;
}

TEST(Npy, RefusesDtypesByName) {
  for (std::string descr : {"|O", "<c8", "<U3", "<M8[ns]", "|V2", "<u4", "", "f4"}) {
    auto t = parse(file("{'descr': '" + descr + "', 'fortran_order': False, 'shape': ()}", ""));
    EXPECT_EQ(t.error().code, Code::IO_5);
    EXPECT_EQ(t.error().message, "x.npy: dtype '" + descr + "' is not supported");
  }
  auto t = parse(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", ""));
  EXPECT_EQ(t.error().message, "x.npy: dtype '[...]' is not supported");
}
