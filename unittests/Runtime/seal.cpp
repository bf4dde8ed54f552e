// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// seal FILE...: gives artifacts that were written or changed by hand the hashes that they should
// have: those of the weights where the metadata has room for them, and the seal.
#include "TestArtifact.h"
#include <cstdio>
#include <fstream>
#include <iterator>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!tw::testing::seal(bytes)) {
      std::fprintf(stderr, "%s: there is no metadata\n", argv[i]);
      return 1;
    }
    std::ofstream(argv[i], std::ios::binary) << bytes;
  }
  return 0;
}
