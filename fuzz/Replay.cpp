// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main program of a fuzz target where libFuzzer is not: gives it every file of a folder, every
// file cut off at a few places, and every file with random damage, the same at each run.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

using Bytes = std::vector<uint8_t>;

static constexpr int damagedCopies = 200;

/// Overwrites, removes or repeats a few short pieces.
static Bytes damage(Bytes bytes, std::mt19937 &random) {
  for (int edits = 1 + random() % 4; edits > 0 && !bytes.empty(); --edits) {
    size_t at = random() % bytes.size();
    size_t length = std::min<size_t>(1 + random() % 16, bytes.size() - at);
    auto begin = bytes.begin() + at;
    switch (random() % 4) {
    case 0:
      *begin = static_cast<uint8_t>(random());
      break;
    case 1: // another digit keeps text well-formed and makes numbers lie
      *begin = static_cast<uint8_t>('0' + random() % 10);
      break;
    case 2:
      bytes.erase(begin, begin + length);
      break;
    default: {
      Bytes piece(begin, begin + length);
      bytes.insert(begin, piece.begin(), piece.end());
    }
    }
  }
  return bytes;
}

/// Gives the target a copy of exactly that size, so that sanitizers see reads beyond it.
static void give(const Bytes &bytes, size_t size) {
  Bytes input(bytes.begin(), bytes.begin() + size);
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

int main(int argc, char **argv) {
  size_t files = 0;
  std::mt19937 random(1);
  for (int i = 1; i < argc; ++i)
    for (const auto &entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      Bytes bytes(std::istreambuf_iterator<char>(file), {});
      for (size_t eighths = 0; eighths <= 8; ++eighths)
        give(bytes, bytes.size() * eighths / 8);
      for (int copy = 0; copy < damagedCopies; ++copy) {
        Bytes damaged = damage(bytes, random);
        give(damaged, damaged.size());
      }
      ++files;
    }
  std::printf("%zu files\n", files);
  return files == 0; // an empty corpus means a wrong path
}
