// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Fields.h"

namespace tw::kernels {

Numbers Fields::symbols() const {
  Numbers all = numbers;
  for (const auto &[name, list] : lists)
    for (size_t i = 0; i < list.size(); ++i)
      all[ListElement{name, i}.symbol()] = list[i];
  return all;
}

SymbolTexts Fields::texts() const {
  SymbolTexts texts;
  for (const auto &[name, list] : lists)
    for (size_t i = 0; i < list.size(); ++i) {
      ListElement element{name, i};
      texts.emplace(element.symbol(), element.text());
    }
  return texts;
}

void Fields::update(const Numbers &symbols) {
  auto take = [&](const std::string &symbol, int64_t &value) {
    if (auto found = symbols.find(symbol); found != symbols.end())
      value = found->second;
  };
  for (auto &[name, value] : numbers)
    take(name, value);
  for (auto &[name, list] : lists)
    for (size_t i = 0; i < list.size(); ++i)
      take(ListElement{name, i}.symbol(), list[i]);
}

} // namespace tw::kernels
