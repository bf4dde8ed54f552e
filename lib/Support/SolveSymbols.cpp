// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/SolveSymbols.h"

namespace tw {

std::vector<SolvedSymbol> solveSymbols(std::span<const Size> sizes, std::set<std::string> &known) {
  std::vector<SolvedSymbol> solved;
  size_t before = 0;
  do {
    before = solved.size();
    for (size_t i = 0; i < sizes.size(); ++i)
      if (auto line = sizes[i].linear(known)) {
        known.insert(line->symbol);
        solved.push_back({i, std::move(line->symbol), std::move(line->factor),
                          std::move(line->offset)});
      }
  } while (solved.size() > before);
  return solved;
}

} // namespace tw
