// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How messages spell what authors write: in C++ unless a trace is given other phrases. What is
// wrong is said in the same words everywhere; only names and advice differ.
#ifndef TILEWRIGHT_LANGUAGE_PHRASES_H
#define TILEWRIGHT_LANGUAGE_PHRASES_H

#include <string>

namespace tw::kernel {

/// `{}` stands for the name that the message is about.
struct Phrases {
  /// Whether names of functions are spelled `round_even` instead of `roundEven`.
  bool isSnakeCase = false;
  const char *branch = "ifThenElse";
  const char *floorDiv = "floorDiv", *ceilDiv = "ceilDiv", *mod = "mod";
  const char *atomicAny = "Atomic::any";

  const char *noGrid = "say how many programs run: auto [m] = grid(M);";
  const char *gridFirst = "say how many programs run first: grid(M);";
  const char *undeclared = "declare it in the kernel: Symbol {}(\"{}\");";
  const char *unbound = "use it as the size of an input or inout buffer, or give it as an "
                        "argument: scalar({})";
  const char *unstored = "store to it, or give it a value that it is filled with: output(name, "
                         "dtype, shape, 0)";
  const char *unknownSize = "ask isConstant() first, or bind its symbols in the request";
  const char *noQuotient = "write floorDiv(a, b) or ceilDiv(a, b), which say how they round";
  const char *noRemainder = "write mod(a, b): what floorDiv leaves, of the divisor's sign";
  const char *unrolled = "loops in C++ are unrolled while the kernel is traced: does this one end? "
                         "Loops of the program are forLoop";
  const char *ended = "return it from there: forLoop and ifThenElse give back what their bodies "
                      "return";
};

namespace detail {

/// The name of a function, given as C++ has it, as the author writes it.
inline std::string functionName(const Phrases &say, const std::string &name) {
  if (!say.isSnakeCase)
    return name;
  std::string spelled;
  for (char c : name) {
    bool isUpper = c >= 'A' && c <= 'Z';
    if (isUpper)
      spelled += '_';
    spelled += isUpper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return spelled;
}

/// A phrase about `name`.
inline std::string withName(std::string phrase, const std::string &name) {
  for (size_t at = phrase.find("{}"); at != std::string::npos;
       at = phrase.find("{}", at + name.size()))
    phrase.replace(at, 2, name);
  return phrase;
}

} // namespace detail

} // namespace tw::kernel

#endif // TILEWRIGHT_LANGUAGE_PHRASES_H
