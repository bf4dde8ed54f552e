// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/StridedCopy.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tw;

/// `missing`: so many of the last elements lie behind the end of memory, and are zeros.
template <typename T>
static void expectSameAsElementwise(std::vector<int64_t> sizes, std::vector<int64_t> strides,
                                    int64_t pieceBytes, int64_t missing = 0) {
  int64_t last = 0, total = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    last += (sizes[d] - 1) * strides[d];
    total *= sizes[d];
  }
  // One byte off, as in a file.
  int64_t end = (total ? last + 1 : 1) - missing;
  std::vector<std::byte> storage(1 + end * sizeof(T));
  for (size_t i = 0; i < storage.size(); ++i)
    storage[i] = static_cast<std::byte>(i * 7 + i / 256);
  std::vector<std::byte> expected;
  for (int64_t n = 0; n < total; ++n) {
    int64_t element = 0, rest = n;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d])
      element += rest % sizes[d] * strides[d];
    const std::byte *at = storage.data() + 1 + element * sizeof(T);
    if (element < end)
      expected.insert(expected.end(), at, at + sizeof(T));
    else
      expected.insert(expected.end(), sizeof(T), std::byte(0));
  }
  DenseView view({storage.data() + 1, sizes, strides, sizeof(T), end});
  std::vector<std::byte> got(expected.size());
  auto bytes = static_cast<int64_t>(got.size());
  for (int64_t at = 0; at < bytes; at += pieceBytes)
    view.copy(at, std::min(pieceBytes, bytes - at), got.data() + at);
  EXPECT_EQ(got, expected);
}

TEST(StridedCopy, MatchesElementwiseReading) {
  for (int64_t pieceBytes : {1, 100, 1001, 1 << 20}) {
    expectSameAsElementwise<uint32_t>({37, 50}, {1, 37}, pieceBytes);            // transposed
    expectSameAsElementwise<uint16_t>({3, 3, 5, 20}, {3, 1, 9, 45}, pieceBytes); // permuted
    expectSameAsElementwise<uint64_t>({4, 6}, {0, 2}, pieceBytes);               // expanded
    expectSameAsElementwise<uint8_t>({2, 17, 33}, {1000, 40, 1}, pieceBytes);    // sliced
    expectSameAsElementwise<uint32_t>({19}, {3}, pieceBytes);                    // one dimension
    expectSameAsElementwise<uint32_t>({}, {}, pieceBytes);                       // a scalar
    expectSameAsElementwise<uint32_t>({4, 0, 3}, {3, 3, 1}, pieceBytes);         // nothing
  }
}

TEST(StridedCopy, ZerosBehindTheEnd) {
  for (int64_t pieceBytes : {1, 100, 1001, 1 << 20}) {
    // Panels of 16 columns, of 43: rows of 20, and their transpose.
    expectSameAsElementwise<uint32_t>({3, 20, 16}, {320, 1, 20}, pieceBytes, 5 * 20);
    expectSameAsElementwise<uint16_t>({3, 20, 16}, {16, 43, 1}, pieceBytes, 5);
    expectSameAsElementwise<uint8_t>({3, 1, 16}, {16, 43, 1}, pieceBytes, 5);
  }
}

TEST(StridedCopy, PairsAndQuadsStayTogether) {
  for (int64_t pieceBytes : {1, 100, 1001, 1 << 20}) {
    // Panels of 16 columns whose pairs along rows are interleaved; an odd end, and an odd stride.
    expectSameAsElementwise<uint16_t>({3, 10, 16, 2}, {320, 2, 20, 1}, pieceBytes);
    expectSameAsElementwise<uint16_t>({3, 10, 16, 2}, {320, 2, 20, 1}, pieceBytes, 5 * 20);
    expectSameAsElementwise<uint16_t>({3, 10, 16, 2}, {320, 2, 20, 1}, pieceBytes, 7);
    expectSameAsElementwise<uint16_t>({3, 10, 16, 2}, {336, 2, 21, 1}, pieceBytes);
    expectSameAsElementwise<uint8_t>({10, 16, 4}, {4, 40, 1}, pieceBytes);
  }
}
