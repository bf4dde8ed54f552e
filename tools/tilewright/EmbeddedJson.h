// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON in pages that need nothing else.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

namespace tw::cli {

struct EmbeddedJson {
  std::string_view mark; // "{{report}}"
  std::string json;
};

/// A page with JSON in the places of marks, in their order, as it can stand in a script: no
/// "</script>" and no "<!--". What has been put into it is not searched: data may look like a mark.
inline std::string pageWith(std::string_view rest, std::initializer_list<EmbeddedJson> parts) {
  std::string page;
  for (const EmbeddedJson &part : parts) {
    size_t at = rest.find(part.mark);
    page += rest.substr(0, at);
    rest.remove_prefix(at + part.mark.size());
    for (char c : part.json)
      c == '<' ? page += "\\u003c" : page += c;
  }
  return page.append(rest);
}

} // namespace tw::cli
