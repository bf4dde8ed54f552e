// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/SafeTensors.h"
#include "IO/File.h"
#include <gtest/gtest.h>

using namespace tw;

static std::string file(const std::string &header, size_t dataBytes) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + std::string(dataBytes, '\0');
}

static Result<SafeTensors> parse(const std::string &bytes) {
  return parseSafeTensors(asBytes(bytes), "m");
}

static std::string tensor(const char *dtype, const char *shape, const char *offsets) {
  return std::string(R"({"dtype": ")") + dtype + R"(", "shape": )" + shape +
         R"(, "data_offsets": )" + offsets + "}";
}

static std::string message(const std::string &header, size_t dataBytes) {
  auto result = parse(file(header, dataBytes));
  return result ? "fine" : result.error().message;
}

TEST(SafeTensors, ReadsTensorsInFileOrder) {
  std::string header = R"({"__metadata__": {"format": "pt"}, "b": )" +
                       tensor("BF16", "[2]", "[8, 12]") + R"(, "a": )" +
                       tensor("F32", "[2, 1]", "[0, 8]") + R"(, "e": )" +
                       tensor("U8", "[0]", "[12, 12]") + "}   ";
  auto result = parse(file(header, 12));
  ASSERT_TRUE(result.ok()) << result.error().render();
  EXPECT_EQ(result->tensors[0].name, "a");
  EXPECT_EQ(result->find("a")->sizes, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(result->find("b")->dtype, DType::BF16);
  EXPECT_EQ(result->find("b")->offset, int64_t(8 + header.size() + 8));
  EXPECT_EQ(result->find("e")->bytes, 0);
  EXPECT_EQ(result->find("c"), nullptr);
  EXPECT_EQ(result->metadata.at("format"), "pt");
}

TEST(SafeTensors, RefusesLyingHeaders) {
  EXPECT_EQ(parse("abc").error().message, "m: the file has 3 bytes, too few for a header length");
  EXPECT_EQ(parse(std::string(8, '\xff')).error().message,
            "m: the header says it has 18446744073709551615 bytes; the file has 0 more, and "
            "100000000 is the limit");
  EXPECT_EQ(message("[]", 0), "m: the header does not start with {");
  EXPECT_EQ(message("{", 0).substr(0, 9), "m: header");
  EXPECT_EQ(message("{}", 1), "m: the tensors have 0 bytes, the file has 1");
}

TEST(SafeTensors, RefusesTensorsThatDoNotFit) {
  auto a = [](const std::string &t) { return R"({"a": )" + t + "}"; };
  EXPECT_EQ(message(a(tensor("F32", "[2]", "[0, 8]")), 4),
            "m: tensor a is not at a range inside the 4 bytes of data");
  EXPECT_EQ(message(a(tensor("F32", "[2]", "[0, 4]")), 4),
            "m: tensor a is 2xf32, 8 bytes, but its range has 4");
  EXPECT_EQ(message(a(tensor("F64", "[4294967296, 4294967296]", "[0, 4]")), 4),
            "m: tensor a is 4294967296x4294967296xf64, more than 2^63 bytes, but its range has 4");
  EXPECT_EQ(message(a(tensor("C64", "[1]", "[0, 8]")), 8),
            "m: tensor a has dtype C64, which is not supported");
  EXPECT_EQ(message(a(tensor("F32", "[1]", "[4, 8]")), 8),
            "m: tensor a starts at byte 4 of the data, the one before it ends at 0");
  EXPECT_EQ(message(R"({"a": )" + tensor("U8", "[2]", "[0, 2]") + R"(, "b": )" +
                        tensor("U8", "[2]", "[1, 3]") + "}",
                    3),
            "m: tensor b starts at byte 1 of the data, the one before it ends at 2");
  EXPECT_EQ(message(R"({"a": )" + tensor("U8", "[0]", "[0, 0]") + R"(, "a": )" +
                        tensor("U8", "[0]", "[0, 0]") + "}",
                    0),
            "m: a is there twice");
  EXPECT_NE(message(R"({"a": {"dtype": "F32"}})", 0), "fine");
  EXPECT_NE(message(R"({"a": 3})", 0), "fine");
}

TEST(SafeTensors, AnIndexNamesFilesBesideIt) {
  auto index = parseSafeTensorsIndex(R"({"weight_map": {"a": "m-1.safetensors"}})", "i", "/d");
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->at("a"), "/d/m-1.safetensors");
  for (const char *bad : {"../x", "/etc/x", "..", "", "a\\\\b", "x\\u0000"})
    EXPECT_FALSE(
        parseSafeTensorsIndex(std::string(R"({"weight_map": {"a": ")") + bad + "\"}}", "i", "/d")
            .ok())
        << bad;
}
