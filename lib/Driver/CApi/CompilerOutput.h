// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a C++ compiler says about a kernel's source, in a few lines: the first error at the author's
// own place, and what to write instead where that is known.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// An error of a compiler. Types are shortened: Index, not std::tuple_element<...>::type.
struct CompilerError {
  std::string message;
  std::string place; ///< "k.cpp:9:15"; the author's, also of errors in our header, if it is known
};

/// What g++ or clang++ printed, read.
struct CompilerOutput {
  std::vector<CompilerError> errors; ///< all; none if the text has another form
  std::string advice; ///< what to write instead of what the first one is about, or ""
};

/// `ours` is the folder of our header: places in it, or in /usr, are not the author's.
CompilerOutput readCompilerOutput(std::string_view text, std::string_view ours);

} // namespace tw
