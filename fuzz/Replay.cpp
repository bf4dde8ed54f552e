// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main program of a fuzz target where libFuzzer is not: gives it every file of a folder, and
// every file cut off at a few places.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  size_t files = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto &entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
      for (size_t eighths = 0; eighths <= 8; ++eighths) {
        size_t size = bytes.size() * eighths / 8;
        // A copy of exactly that size, so that sanitizers see reads beyond it.
        std::vector<uint8_t> input(bytes.begin(), bytes.begin() + size);
        LLVMFuzzerTestOneInput(input.data(), input.size());
      }
      ++files;
    }
  std::printf("%zu files\n", files);
  return files == 0; // an empty corpus means a wrong path
}
