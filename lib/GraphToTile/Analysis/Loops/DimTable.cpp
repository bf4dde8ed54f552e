// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Loops/DimTable.h"
#include <algorithm>

namespace tw::conversion {

int DimTable::make(std::optional<int64_t> size) {
  entries.push_back({int(entries.size()), size});
  return int(entries.size()) - 1;
}

int DimTable::find(int dim) const {
  while (entries[dim].same != dim)
    dim = entries[dim].same;
  return dim;
}

void DimTable::resolve(int dim, std::vector<int> &out) const {
  const Entry &entry = entries[find(dim)];
  if (entry.parts.empty() && entry.size != 1)
    out.push_back(find(dim));
  for (int part : entry.parts)
    resolve(part, out);
}

std::vector<int> DimTable::atoms(const std::vector<int> &dims) const {
  std::vector<int> out;
  for (int dim : dims)
    resolve(dim, out);
  return out;
}

int DimTable::split(int whole, int outer) {
  int rest = make(*entries[whole].size / *entries[outer].size);
  entries[whole].parts = {outer, rest};
  return rest;
}

bool DimTable::setParts(int whole, std::vector<int> parts) {
  if (std::find(parts.begin(), parts.end(), whole) != parts.end())
    return false; // a part of itself
  entries[whole].parts = std::move(parts);
  return true;
}

bool DimTable::unify(std::vector<int> a, std::vector<int> b) {
  a = atoms(a), b = atoms(b);
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    int &x = a[i], &y = b[j];
    const auto &m = entries[x].size, &n = entries[y].size;
    bool lastX = i + 1 == a.size(), lastY = j + 1 == b.size();
    if (lastX && !lastY && !m)
      return setParts(x, {b.begin() + int64_t(j), b.end()});
    if (lastY && !lastX && !n)
      return setParts(y, {a.begin() + int64_t(i), a.end()});
    // Two unknown sizes may differ, unless nothing else is left.
    if (x == y || (m && m == n) || (lastX && lastY)) {
      // A size that one side knows is known to both.
      if (m && n && m != n)
        return false;
      if (m && !n)
        entries[y].size = m;
      if (x != y)
        entries[x].size = entries[y].size, entries[x].same = y;
      ++i, ++j;
    } else if (m && n && *m < *n && *m > 0 && *n % *m == 0) {
      y = split(y, x), ++i;
    } else if (m && n && *n < *m && *n > 0 && *m % *n == 0) {
      x = split(x, y), ++j;
    } else {
      return false;
    }
  }
  return i == a.size() && j == b.size();
}

} // namespace tw::conversion
