// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/SchemaTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tw::torch {

static TypeKind kindOf(StringRef name) {
  static const StringMap<TypeKind> kinds = {
      {"Tensor", TypeKind::Tensor},   {"int", TypeKind::Int},
      {"SymInt", TypeKind::Int},      {"ScalarType", TypeKind::Int},
      {"Layout", TypeKind::Int},      {"MemoryFormat", TypeKind::Int},
      {"float", TypeKind::Float},     {"bool", TypeKind::Bool},
      {"SymBool", TypeKind::Bool},    {"Scalar", TypeKind::Number},
      {"complex", TypeKind::Complex}, {"str", TypeKind::Str},
      {"Device", TypeKind::Device},   {"Generator", TypeKind::Generator},
      {"NoneType", TypeKind::None},   {"Any", TypeKind::Any},
      {"Dict", TypeKind::Dict},       {"tVal", TypeKind::Variable}};
  if (auto known = kinds.find(name); known != kinds.end())
    return known->second;
  return name.size() <= 2 ? TypeKind::Variable : TypeKind::Opaque; // "t", "t1"
}

/// Splits at the semicolons outside string literals.
static SmallVector<StringRef> splitArguments(StringRef text) {
  SmallVector<StringRef> pieces;
  char quote = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote && c == '\\')
      ++i;
    else if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == ';') {
      pieces.push_back(text.slice(begin, i));
      begin = i + 1;
    }
  }
  if (begin < text.size())
    pieces.push_back(text.substr(begin));
  return pieces;
}

const TypePattern *SchemaParser::intern(TypeKind kind, StringRef spelled,
                                        ArrayRef<const TypePattern *> elements) {
  const TypePattern *&pattern = patterns[spelled];
  if (!pattern)
    pattern = new (arena.Allocate<TypePattern>()) TypePattern{kind, keep(spelled), keep(elements)};
  return pattern;
}

/// A name, a tuple "(int, Tensor)" or a generic "Dict(str, t)", without suffixes.
const TypePattern *SchemaParser::parseBaseType(StringRef &text) {
  StringRef name = text.take_while([](char c) { return isAlnum(c) || c == '_' || c == '.'; });
  text = text.drop_front(name.size());
  bool isGeneric = name == "Dict" || name == "Future" || name == "RRef" || name == "Await";
  if (!name.empty() && !isGeneric)
    return intern(kindOf(name), name, {});

  SmallVector<const TypePattern *> elements;
  std::string spelled = name.str();
  if (text.consume_front("(")) {
    spelled += "(";
    while (!text.empty() && !text.consume_front(")")) {
      StringRef alias;
      elements.push_back(parseType(text, alias));
      spelled += (elements.size() > 1 ? ", " : "") + elements.back()->spelled.str();
      text.consume_front(",");
      text = text.ltrim();
    }
    spelled += ")";
  }
  return intern(name.empty() ? TypeKind::Tuple : kindOf(name), spelled, elements);
}

/// Takes a type off the front of `text`. Of nested alias sets the one that is written wins.
const TypePattern *SchemaParser::parseType(StringRef &text, StringRef &alias) {
  const TypePattern *type = parseBaseType(text);
  while (!text.empty()) {
    if (text.front() == '(') {
      size_t end = text.find(')');
      StringRef set = text.slice(1, end);
      if (alias.empty() || set.contains('!'))
        alias = set;
      text = text.substr(end + 1);
    } else if (text.front() == '[') {
      StringRef brackets = text.take_front(text.find(']') + 1);
      text = text.drop_front(brackets.size());
      type = intern(TypeKind::List, (type->spelled + brackets).str(), {type});
    } else if (text.consume_front("?")) {
      type = intern(TypeKind::Optional, (type->spelled + "?").str(), {type});
    } else {
      break;
    }
  }
  return type;
}

Argument SchemaParser::parseArgument(StringRef text) {
  Argument argument;
  argument.type = parseType(text, argument.alias);
  argument.isWritten = argument.alias.contains('!');
  text = text.ltrim();
  size_t equal = text.find('=');
  argument.name = text.take_front(equal);
  if (equal != StringRef::npos)
    argument.defaultText = text.substr(equal + 1);
  return argument;
}

ArrayRef<Argument> SchemaParser::parseArguments(StringRef text) {
  SmallVector<Argument> arguments;
  bool isKeywordOnly = false;
  for (StringRef piece : splitArguments(text)) {
    if (piece == "*") {
      isKeywordOnly = true;
    } else if (piece != "...") {
      arguments.push_back(parseArgument(piece));
      arguments.back().isKeywordOnly = isKeywordOnly;
    }
  }
  return keep<Argument>(arguments);
}

} // namespace tw::torch
