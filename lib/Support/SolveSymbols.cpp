// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/SolveSymbols.h"

namespace tw {

std::vector<SolvedSymbol> solveSymbols(std::span<const Size> sizes, std::set<std::string> &known) {
  std::vector<SolvedSymbol> solved;
  auto take = [&](size_t equation, Size::Linear line) {
    known.insert(line.symbol);
    solved.push_back(
        {equation, std::move(line.symbol), std::move(line.factor), std::move(line.offset)});
  };
  while (true) {
    size_t before = solved.size();
    std::optional<size_t> unsure; // the first whose factor may be 0
    for (size_t i = 0; i < sizes.size(); ++i) {
      auto line = sizes[i].linear(known);
      if (line && line->factor.constant())
        take(i, *std::move(line));
      else if (line && !unsure)
        unsure = i;
    }
    if (solved.size() > before)
      continue;
    if (!unsure)
      return solved;
    take(*unsure, *sizes[*unsure].linear(known));
  }
}

} // namespace tw
