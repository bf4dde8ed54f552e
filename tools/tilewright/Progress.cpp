// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Progress.h"
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tw::cli {

static constexpr std::chrono::milliseconds patience{500}, period{50};

Progress::Progress() : terminal(isatty(STDERR_FILENO)), next(Clock::now() + patience) {}

void Progress::at(std::string_view stage, double fraction) {
  if (!terminal || Clock::now() < next)
    return;
  winsize size = {};
  size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
  std::fputs(("\r\x1b[K" + progressText(stage, fraction, width - 1)).c_str(), stderr);
  std::fflush(stderr);
  shown = true;
  next = Clock::now() + period;
}

void Progress::clear() {
  if (shown)
    std::fputs("\r\x1b[K", stderr);
  shown = false;
}

std::string timeLeftText(double secondsSpent, double fraction) {
  constexpr double tooLittle = 0.01; // to say how long the rest takes
  if (fraction < tooLittle)
    return "";
  auto left = int64_t(secondsSpent * std::max(0.0, 1 - fraction) / fraction);
  return left < 3600 ? fmt::format(", {}:{:02} left", left / 60, left % 60)
                     : fmt::format(", {}:{:02}:{:02} left", left / 3600, left / 60 % 60, left % 60);
}

std::string progressText(std::string_view stage, double fraction, size_t width) {
  std::string text =
      fraction < 0 ? std::string(stage)
                   : fmt::format("[{:3.0f}%] {}", 100 * std::clamp(fraction, 0.0, 1.0), stage);
  for (char &c : text) // one line, no control characters
    if (static_cast<unsigned char>(c) < 0x20)
      c = ' ';
  return text.substr(0, width);
}

} // namespace tw::cli
