// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON in pages that need nothing else.
#pragma once
#include <string>
#include <string_view>

namespace tw::cli {

/// Puts JSON in the place of `mark`, as it can stand in a script: no "</script>" and no "<!--".
inline void putJson(std::string &page, std::string_view mark, std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != json.npos; at += 6)
    json.replace(at, 1, "\\u003c");
  page.replace(page.find(mark), mark.size(), json);
}

} // namespace tw::cli
