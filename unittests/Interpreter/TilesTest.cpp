// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on whole tiles: one operation, one input of the given shape, one result.
#include "RunKernel.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// The shape and dtype of "2x3xf32" as a buffer: "[2, 3], f32".
std::string buffer(std::string type) {
  size_t last = type.rfind('x');
  std::string sizes = last == type.npos ? "" : type.substr(0, last), dtype = type.substr(last + 1);
  for (size_t at = 0; (at = sizes.find('x', at)) != sizes.npos;)
    sizes.replace(at, 1, ", ");
  return "!tile.buffer<[" + sizes + "], " + dtype + ">";
}

std::string zeros(const std::string &type) {
  std::string text;
  for (char c : type)
    if (c == 'x')
      text += text.empty() ? "%c0" : ", %c0";
  return "[" + text + "]";
}

/// Loads x (of type `from`), applies `op` to it and stores the result, of type `to`.
std::string apply(const std::string &op, const std::string &from, const std::string &to,
                  const std::string &input) {
  return runBody("in %x: " + buffer(from) + ", out %y: " + buffer(to),
                 "%a = tile.load %x" + zeros(from) + " : " + buffer(from) + " -> tensor<" + from +
                     ">\n%r = tile." + op + " : tensor<" + from + ">" +
                     (op.starts_with("scan") ? "" : " -> tensor<" + to + ">") +
                     "\ntile.store %r, %y" + zeros(to) + " : tensor<" + to + ">, " + buffer(to),
                 {input});
}

struct Row {
  const char *op, *from, *to, *input, *result;
};

void check(const std::vector<Row> &rows) {
  for (const Row &row : rows)
    EXPECT_EQ(apply(row.op, row.from, row.to, row.input), std::string(row.to) + "=" + row.result)
        << row.op << " " << row.from;
}

TEST(Tiles, Rearranged) {
  check({
      {"transpose %a [1, 0]", "2x3xi32", "3x2xi32", "2x3xi32=1,2,3,4,5,6", "1,4,2,5,3,6"},
      {"transpose %a [2, 0, 1]", "2x1x2xi32", "2x2x1xi32", "2x1x2xi32=1,2,3,4", "1,3,2,4"},
      {"reshape %a", "2x3xi32", "3x2xi32", "2x3xi32=1,2,3,4,5,6", "1,2,3,4,5,6"},
      {"broadcast %a", "2x1xi32", "2x3xi32", "2x1xi32=1,2", "1,1,1,2,2,2"},
      {"broadcast %a", "1x2xi32", "2x2xi32", "1x2xi32=1,2", "1,2,1,2"},
      {"broadcast %a", "1xi32", "0xi32", "1xi32=1", ""},
      {"slice %a offsets [5] strides [-2]", "7xi32", "3xi32", "7xi32=0,1,2,3,4,5,6", "5,3,1"},
      {"slice %a offsets [1, 0] strides [1, 2]", "2x3xi32", "1x2xi32", "2x3xi32=1,2,3,4,5,6",
       "4,6"},
  });
}

TEST(Tiles, Reduced) {
  check({
      {"reduce sum %a axis 1", "2x3xf32", "2xf32", "2x3xf32=1,2,3,4,5,6", "6,15"},
      {"reduce sum %a axis 0", "2x3xf32", "3xf32", "2x3xf32=1,2,3,4,5,6", "5,7,9"},
      {"reduce sum %a axis 0", "5xf16", "f16", "5xf16=2048,1,1,1,1", "2052"},
      {"reduce sum %a axis 0", "2xi8", "i8", "2xi8=100,100", "-56"},
      {"reduce sum %a axis 0", "0x2xf32", "2xf32", "0x2xf32=", "0,0"},
      {"reduce prod %a axis 0", "3xi16", "i16", "3xi16=200,300,2", "-11072"},
      {"reduce prod %a axis 0", "0xf32", "f32", "0xf32=", "1"},
      {"reduce max %a axis 0", "3xf32", "f32", "3xf32=-3,-1,-2", "-1"},
      {"reduce max %a axis 0", "3xf32", "f32", "3xf32=1,nan,2", "nan"},
      {"reduce max %a axis 0", "0xf32", "f32", "0xf32=", "-inf"},
      {"reduce max %a axis 0", "0xi8", "i8", "0xi8=", "-128"},
      {"reduce max %a axis 0", "2xf32", "f32", "2xf32=-0,0", "0"},
      {"reduce min %a axis 0", "0xf32", "f32", "0xf32=", "inf"},
      {"reduce min %a axis 0", "3xi32", "i32", "3xi32=3,-1,2", "-1"},
      {"reduce umax %a axis 0", "3xi8", "i8", "3xi8=3,-1,2", "-1"},
      {"reduce umin %a axis 0", "3xi8", "i8", "3xi8=3,-1,2", "2"},
      {"reduce umin %a axis 0", "0xi8", "i8", "0xi8=", "-1"},
      {"reduce and %a axis 0", "2xi8", "i8", "2xi8=6,3", "2"},
      {"reduce or %a axis 0", "2xi8", "i8", "2xi8=6,3", "7"},
      {"reduce argmax %a axis 0", "4xf32", "i64", "4xf32=1,3,3,2", "1"},
      {"reduce argmax %a axis 0", "4xf32", "i64", "4xf32=1,nan,3,nan", "1"},
      {"reduce argmin %a axis 1", "2x2xi32", "2xi64", "2x2xi32=1,0,-5,3", "1,0"},
      {"reduce argmax %a axis 0", "0xf32", "i64", "0xf32=", "0"},
  });
}

TEST(Tiles, Scanned) {
  check({
      {"scan sum %a axis 0", "4xf32", "4xf32", "4xf32=1,2,3,4", "1,3,6,10"},
      {"scan sum %a axis 0 reverse", "4xf32", "4xf32", "4xf32=1,2,3,4", "10,9,7,4"},
      {"scan sum %a axis 0", "2x2xi8", "2x2xi8", "2x2xi8=100,1,100,2", "100,1,-56,3"},
      {"scan prod %a axis 1", "1x3xf32", "1x3xf32", "1x3xf32=2,3,4", "2,6,24"},
      {"scan max %a axis 0", "3xf32", "3xf32", "3xf32=1,nan,2", "1,nan,nan"},
      {"scan min %a axis 0", "3xi32", "3xi32", "3xi32=2,1,3", "2,1,1"},
  });
}

/// The values, or the positions.
std::string sorted(const std::string &flags, const std::string &from, const std::string &to,
                   bool isPositions, const std::string &input) {
  std::string values = "tensor<" + to + ">", shape = to.substr(0, to.rfind('x') + 1);
  std::string positions = "tensor<" + shape + "i64>";
  const std::string &type = isPositions ? shape + "i64" : to;
  return runBody("in %x: " + buffer(from) + ", out %y: " + buffer(type),
                 "%a = tile.load %x" + zeros(from) + " : " + buffer(from) + " -> tensor<" + from +
                     ">\n%v, %p = tile.sort %a " + flags + " : tensor<" + from + "> -> " + values +
                     ", " + positions + "\ntile.store %" + (isPositions ? "p" : "v") + ", %y" +
                     zeros(type) + " : tensor<" + type + ">, " + buffer(type),
                 {input});
}

TEST(Tiles, Sorted) {
  const std::string x = "6xf32=3,nan,-1,3,-inf,0";
  EXPECT_EQ(sorted("axis 0", "6xf32", "6xf32", false, x), "6xf32=-inf,-1,0,3,3,nan");
  EXPECT_EQ(sorted("axis 0", "6xf32", "6xf32", true, x), "6xi64=4,2,5,0,3,1");
  EXPECT_EQ(sorted("axis 0 descending", "6xf32", "3xf32", false, x), "3xf32=nan,3,3");
  EXPECT_EQ(sorted("axis 0 descending", "6xf32", "3xf32", true, x), "3xi64=1,0,3");
  EXPECT_EQ(sorted("axis 0", "2x2xi8", "2x2xi8", false, "2x2xi8=5,-1,-7,2"), "2x2xi8=-7,-1,5,2");
  EXPECT_EQ(sorted("axis 1 unsigned", "2x2xi8", "2x2xi8", false, "2x2xi8=-1,5,-7,2"),
            "2x2xi8=5,-1,2,-7");
  EXPECT_EQ(sorted("axis 0", "4xi1", "4xi1", true, "4xbool=1,0,1,0"), "4xi64=1,3,0,2");
  EXPECT_EQ(sorted("axis 0", "0xf32", "0xf32", true, "0xf32="), "0xi64=");
}

std::string dot(const std::string &a, const std::string &b, const std::string &c,
                const Specs &inputs) {
  return runBody("in %x: " + buffer(a) + ", in %y: " + buffer(b) + ", in %z: " + buffer(c) +
                     ", out %r: " + buffer(c),
                 "%a = tile.load %x" + zeros(a) + " : " + buffer(a) + " -> tensor<" + a +
                     ">\n%b = tile.load %y" + zeros(b) + " : " + buffer(b) + " -> tensor<" + b +
                     ">\n%c = tile.load %z" + zeros(c) + " : " + buffer(c) + " -> tensor<" + c +
                     ">\n%d = tile.dot %a, %b, %c : tensor<" + a + ">, tensor<" + b + ">, tensor<" +
                     c + ">\ntile.store %d, %r" + zeros(c) + " : tensor<" + c + ">, " + buffer(c),
                 inputs);
}

TEST(Tiles, Dot) {
  EXPECT_EQ(dot("2x3xf32", "3x1xf32", "2x1xf32",
                {"2x3xf32=1,2,3,4,5,6", "3x1xf32=1,0,2", "2x1xf32=10,20"}),
            "2x1xf32=17,36");
  EXPECT_EQ(dot("2x1x2xi8", "2x2x1xi8", "2x1x1xi8",
                {"2x1x2xi8=100,1,2,3", "2x2x1xi8=2,1,5,6", "2x1x1xi8=0"}),
            "2x1x1xi8=-55,28");
  EXPECT_EQ(dot("1x2xbf16", "2x1xbf16", "1x1xf32", {"1x2xbf16=256,1", "2x1xbf16=1,1", "1x1xf32=0"}),
            "1x1xf32=257");
  EXPECT_EQ(dot("1x0xf32", "0x2xf32", "1x2xf32", {"1x0xf32=", "0x2xf32=", "1x2xf32=3,4"}),
            "1x2xf32=3,4");
}

TEST(Tiles, ExtentsAreLimited) {
  auto rows = [](const std::string &count) {
    return runKernel("tile.kernel @k(%n: index as N) symbols [N] grid [1] {\n"
                     "%z = arith.constant 0.0 : f32 "
                     "%t = tile.full %z : f32 -> tensor<?x4xf32, #tile.dims<[N]>>\n}",
                     {"i64=" + count});
  };
  EXPECT_EQ(rows("4611686018427387904"), "error 3: symbol N is 4611686018427387904 by argument "
                                         "\"n\", but must be at most 1099511627775");
  EXPECT_EQ(rows("1099511627775"),
            "error 2: a tile, [1099511627775, 4], has more than 68719476736 elements");
  EXPECT_EQ(rows("134217728"),
            "error 4: a tile of [134217728, 4] has more than 268435456 elements");
  EXPECT_EQ(runKernel("tile.kernel @k(%n: index as N) symbols [N] grid [1] {\n"
                      "%z = arith.constant 0.0 : f32 "
                      "%t = tile.full %z : f32 -> tensor<?xf32, #tile.dims<[N - 4]>>\n}",
                      {"i64=3"}),
            "error 2: an extent of a tile, N - 4, is -1, which is negative");
}

} // namespace
} // namespace tw
