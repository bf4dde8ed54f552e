// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mistake in a kernel, and what its author is told.
#pragma once
#include "Language/Trace.h"
#include <gtest/gtest.h>

namespace tw::kernel {

struct Mistake {
  uint32_t line;
  void (*kernel)();
  const char *message;
  const char *help = "";
};

/// Two buffers, so that a mistake needs only its own lines.
struct Buffers {
  Symbol M{"M"}, N{"N"};
  Buffer x = input("x", f32, {M, N}), y = output("y", f32, {M, N});
  Buffer ids = input("ids", i64, {M});
  Index m = grid(M)[0];
  Tile row = load(x, {m, 0}, {1, N});
};

/// Places of this file are written without their folder and line.
inline std::string withoutLines(std::string text, const std::string &file) {
  for (size_t at; (at = text.find(file)) != std::string::npos;) {
    size_t end = text.find_first_not_of("0123456789", at + file.size() + 1);
    text.replace(at, end == std::string::npos ? std::string::npos : end - at, "FILE:LINE");
  }
  return text;
}

template <size_t N>
void expectAll(const Mistake (&mistakes)[N], const std::string &file) {
  for (const Mistake &mistake : mistakes) {
    TraceResult result = trace("k", mistake.kernel);
    ASSERT_TRUE(result.error) << "line " << mistake.line << " traces to\n" << result.text;
    EXPECT_EQ(withoutLines(result.error->message, file), mistake.message)
        << "line " << mistake.line;
    EXPECT_EQ(withoutLines(result.error->help, file), mistake.help) << "line " << mistake.line;
    EXPECT_EQ(result.text, "");
    bool isGlobal = result.error->message.starts_with("kernel k ");
    EXPECT_TRUE(isGlobal || (result.error->file == file && result.error->line >= mistake.line &&
                             result.error->line <= mistake.line + 15))
        << "line " << mistake.line << ": reported at " << result.error->line;
  }
}

} // namespace tw::kernel
