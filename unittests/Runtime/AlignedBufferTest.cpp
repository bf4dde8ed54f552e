// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/AlignedBuffer.h"
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

using tw::rt::AlignedBuffer;

static bool isAligned(const AlignedBuffer &buffer, uintptr_t to) {
  return reinterpret_cast<uintptr_t>(buffer.data()) % to == 0;
}

/// The flags that the kernel has for the memory at `address`; "" where it does not say.
static std::string flagsOf(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  auto at = reinterpret_cast<uintptr_t>(address);
  bool isHere = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin, end;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      isHere = begin <= at && at < end;
    else if (isHere && line.starts_with("VmFlags:"))
      return line + " ";
  }
  return "";
}

TEST(AlignedBuffer, IsThereEvenWithoutBytes) {
  AlignedBuffer buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  ASSERT_TRUE(buffer.reserve(0));
  EXPECT_NE(buffer.data(), nullptr);
  EXPECT_GT(buffer.capacity(), 0);
  EXPECT_TRUE(isAligned(buffer, TW_ALIGNMENT));
}

TEST(AlignedBuffer, StaysAsItWasWhereMemoryIsShort) {
  AlignedBuffer buffer;
  ASSERT_TRUE(buffer.reserve(100));
  buffer.data()[99] = 7;
  uint8_t *before = buffer.data();
  EXPECT_FALSE(buffer.reserve(int64_t(1) << 60));
  EXPECT_EQ(buffer.data(), before);
  EXPECT_EQ(buffer.data()[99], 7);
  EXPECT_TRUE(buffer.reserve(50));
  EXPECT_EQ(buffer.data(), before);
}

TEST(AlignedBuffer, LargeOnesAskForLargePages) {
  AlignedBuffer buffer;
  ASSERT_TRUE(buffer.reserve((4 << 20) + 100));
  EXPECT_TRUE(isAligned(buffer, 2 << 20));
  buffer.data()[(4 << 20) + 99] = 1;
  std::string flags = flagsOf(buffer.data());
  if (flags.empty() || !std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "this system does not say how memory is mapped, or has no large pages";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}
