// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/CApi/CompilerOutput.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include <optional>

namespace tw {

namespace {

/// What authors who know C++, but not yet this language, write; the pattern is looked for in all
/// that a compiler says about one error, with its quotes as '.
struct Advice {
  const char *pattern, *text;
};
constexpr Advice advices[] = {
    {"('|identifier ')tw('| is| has)|tilewright/[A-Za-z.]*(: No such|' file not found)",
     "the source of kernels begins with #include <tilewright/Kernel.h>"},
    {"(scope|type name '[A-Za-z]+'); did you mean 'tw::kernel::",
     "write using namespace tw::kernel; behind the #include"},
    {"valid preprocessing token", "names of kernels have no quotes: TILEWRIGHT_KERNEL(name, \"what "
                                  "it does\")"},
    {"(Scalar|Tile|Index)' (is not contextually convertible )?to 'bool'",
     "it is known only when the kernel runs, and C++'s if, ?:, for and while run while it is "
     "traced: write ifThen, ifThenElse, select or forLoop"},
    {"(reference of type|list>' to|list argument to) 'const (tw::kernel::)?Shape",
     "extents are numbers and sizes: a program's Index is none, for tiles have the same shape in "
     "all programs; load a block of the largest extent, with a mask"},
    {"call to 'm(ax|in)'|kernel::m(ax|in)\\(|to '(tw::kernel::)?Axis'",
     "max, min and sum are along an axis, which is a number: max(tile, 1); of two values it is "
     "maximum and minimum"},
    {"'(const )?(tw::kernel::)?(Load|Store|Gather|Scatter)Options",
     "options come in the order strides, mask, pad (stores': strides, mask, drop, atomic): "
     "{.mask = tile of i1, .pad = -inf}"},
    {"(reference of type|to) 'const (tw::kernel::)?(Buffer|Positions)",
     "it is load(buffer, {positions}, {extents}) and store(buffer, {positions}, tile); a position "
     "is "
     "a number, a size, an Index or a tile of integers of rank 1"},
    {"types are '(double|float)' and '(tw::kernel::)?(Index|Size|Symbol)|'(double|float)' and "
     "'(Index|Size|Symbol)|(Index|Size|Symbol)'( \\(aka '[^']*'\\))? and '(double|float)'",
     "sizes and indices count with integers: cast(N, f32) makes a Scalar of one"},
    {"call to 'grid", "a grid is of sizes, which are known before any program runs"},
    {"call to 'ifThenElse", "without a second branch it is ifThen"},
    {"'operator\\[\\]'|subscript operator",
     "tiles and buffers are not indexed: load takes a box of a buffer, slice a part of a tile"},
    {"(types are |expression \\()'(tw::kernel::)?Buffer'",
     "load what you compute with: load(buffer, {positions}, {extents})"},
    {"'(const )?(tw::kernel::)?(Index|Size|Symbol|Scalar|Tile)' to (type )?'(const )?(unsigned "
     "|u?int|long|"
     "short|float|double|size_t)",
     "what the kernel computes with is no number while it is traced: keep it an Index, a Size, a "
     "Scalar or a Tile (auto does)"},
};

/// An error or note: "k.cpp:9:15: error: message".
struct Line {
  llvm::StringRef path, place, kind, message;
};

std::optional<Line> parseLine(llvm::StringRef text) {
  static const llvm::Regex form("^([^: ][^:]*):[0-9]+:[0-9]+: +(fatal error|error|note|required)"
                                "(: | from here)(.*)$");
  llvm::SmallVector<llvm::StringRef> parts;
  if (!form.match(text, &parts))
    return std::nullopt;
  size_t end = text.find(": ");
  return Line{parts[1], text.take_front(end), parts[2], parts[4]};
}

/// Names as the author writes them: of a type and what it is an alias of the shorter one, without
/// our namespace, and nothing in quotes that is long.
std::string shortened(std::string text) {
  static const llvm::Regex alias("('[^']*') [({]aka ('[^']*')[)}]");
  constexpr size_t longest = 100;
  constexpr std::string_view ours = "tw::kernel::";
  llvm::SmallVector<llvm::StringRef> parts;
  while (alias.match(text, &parts)) {
    std::string kept = (parts[1].size() < parts[2].size() ? parts[1] : parts[2]).str();
    text.replace(size_t(parts[0].data() - text.data()), parts[0].size(), kept);
  }
  bool isProposal = text.find("did you mean") != text.npos; // of the whole name
  for (size_t at; !isProposal && (at = text.find(ours)) != text.npos;)
    text.erase(at, ours.size());
  for (size_t open = text.find('\''); open != text.npos;) {
    size_t close = text.find('\'', open + 1);
    if (close == text.npos)
      break;
    if (close - open > longest) {
      text.replace(open + 1, close - open - 1, "...");
      close = open + 4;
    }
    open = text.find('\'', close + 1);
  }
  return text;
}

/// Our static_asserts as they were written.
std::string messageOf(llvm::StringRef text) {
  if (text.consume_front("static assertion failed") || text.consume_front("static_assert failed"))
    return text.substr(text.find(": ") == llvm::StringRef::npos ? 0 : text.find(": ") + 2).str();
  return shortened(text.str());
}

std::string adviceOn(const std::string &said) {
  for (const Advice &advice : advices) {
    llvm::Regex pattern(advice.pattern);
    if (pattern.match(said) || pattern.match(shortened(said)))
      return advice.text;
  }
  return "";
}

} // namespace

CompilerOutput readCompilerOutput(std::string_view text, std::string_view ours) {
  std::string plain; // some compilers' quotes are not ASCII
  for (llvm::StringRef rest(text.data(), text.size()); !rest.empty();)
    if (rest.consume_front("\xe2\x80\x98") || rest.consume_front("\xe2\x80\x99"))
      plain += '\'';
    else
      plain += rest.front(), rest = rest.drop_front();

  CompilerOutput output;
  std::string first;            // all that is said about the first error
  std::string_view lastAuthors; // the author's place that asks for what the next error is in
  bool hasReason = true;        // whether the last error says why a function does not fit
  auto isAuthors = [&](llvm::StringRef path) {
    return !path.starts_with(llvm::StringRef(ours.data(), ours.size())) &&
           !path.starts_with("/usr/") && !path.starts_with("<");
  };
  for (llvm::StringRef whole : llvm::split(llvm::StringRef(plain), '\n')) {
    std::optional<Line> line = parseLine(whole);
    bool isError = line && (line->kind == "error" || line->kind == "fatal error");
    if (isError) {
      CompilerError &error = output.errors.emplace_back();
      error.message = messageOf(line->message);
      hasReason = false;
      error.place = isAuthors(line->path) ? line->place.str() : std::string(lastAuthors);
      lastAuthors = {};
    } else if (line && isAuthors(line->path)) {
      // g++ says before an error in a header what asks for it, clang++ behind it.
      if (!output.errors.empty() && output.errors.back().place.empty())
        output.errors.back().place = line->place.str();
      else if (line->kind == "required")
        lastAuthors = {line->place.data(), line->place.size()};
    }
    if (line && line->kind == "note" && !hasReason && !output.errors.empty()) {
      auto [candidate, reason] = line->message.split("not viable: ");
      hasReason = !reason.empty();
      if (hasReason)
        output.errors.back().message += ": " + shortened(reason.str());
    }
    if (output.errors.size() <= 1)
      first += whole.str() + "\n";
  }
  if (!output.errors.empty())
    output.advice = adviceOn(first);
  return output;
}

} // namespace tw
