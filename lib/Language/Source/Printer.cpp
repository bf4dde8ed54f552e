// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as a file: what it is called with, and its body.
#include "Language/Source/Printer.h"
#include "IR/ModelLocation.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::source {

Expression Printer::fail(Operation *op, const std::string &what) {
  if (!failure)
    failure = {Code::DRIVER_3,
               fmt::format("the kernel language cannot say {}", what),
               describePlace(op->getLoc()),
               {},
               "print it as text: with --as=tile, in Python without as_"};
  return {};
}

/// The last place to break a line so that no more than `most` stand on it: behind a comma, outside
/// of string literals. The whole line where there is none.
static size_t breakOf(StringRef line, size_t most) {
  size_t found = line.size();
  bool isQuoted = false;
  for (size_t i = 0; i + 1 < line.size() && (i < most || found == line.size()); ++i) {
    if (line[i] == '"')
      isQuoted = !isQuoted;
    else if (line[i] == '\\')
      ++i;
    else if (line[i] == ',' && line[i + 1] == ' ' && !isQuoted)
      found = i + 1;
  }
  return found;
}

void Printer::line(std::string what) {
  constexpr size_t longest = 100;
  std::string margin = indent;
  while (margin.size() + what.size() > longest) {
    size_t end = breakOf(what, longest - margin.size());
    if (end == what.size())
      break;
    text += margin + what.substr(0, end) + "\n";
    what.erase(0, end + 1);
    margin = indent + "    ";
  }
  text += margin + what + "\n";
}

Result<std::string> Printer::run(const std::string &doc) {
  std::string name = identifier(kernel.getSymName());
  text = "#include <tilewright/Kernel.h>\nusing namespace tw::kernel;\n\n";
  text += "TILEWRIGHT_KERNEL(" + (name.empty() ? "kernel" : name) +
          (doc.empty() ? "" : ", " + quotedText(doc)) + ") {\n";
  indent = "  ";
  printHead();
  printBlock(kernel.getBody().front());
  if (failure)
    return *failure;
  return text + "}\n";
}

void Printer::printHead() {
  printNodes();
  printSymbols();
  for (unsigned i = 0; i < kernel.getArguments().size(); ++i)
    printArgument(i);
  printAttributes();
  printGrid();
  text += "\n";
}

void Printer::printSymbols() {
  std::vector<std::string> parts;
  for (auto symbol : kernel.getSymbols().getAsRange<tile::SymbolAttr>()) {
    std::string name = names.take(symbol.getName());
    symbols[symbol.getName().str()] = name;
    std::vector<std::string> range;
    if (symbol.getMin() != 0)
      range.push_back(fmt::format(".min = {}", symbol.getMin()));
    if (symbol.getMax() != INT64_MAX)
      range.push_back(fmt::format(".max = {}", symbol.getMax()));
    if (symbol.getMultiple() != 1)
      range.push_back(fmt::format(".multiple = {}", symbol.getMultiple()));
    std::string limits = range.empty() ? "" : ", {" + joined(range) + "}";
    parts.push_back(fmt::format("{}({}{})", name, quotedText(symbol.getName()), limits));
  }
  if (!parts.empty())
    line("Symbol " + joined(parts) + ";");
}

void Printer::printArgument(unsigned number) {
  tile::ArgumentAttr argument = kernel.getArgument(number);
  BlockArgument value = kernel.getBlockArgument(number);
  std::string given = identifier(argument.getName()), name = names.take(argument.getName());
  if (given.empty())
    given = name;
  auto buffer = dyn_cast<tile::BufferType>(value.getType());
  if (!buffer) {
    DType dtype = dtypeOf(value.getType());
    std::string symbol = argument.getSymbol() ? symbols[argument.getSymbol().str()] : "";
    line(symbol.empty() ? fmt::format("{} {} = scalar(\"{}\", {});",
                                      dtype == DType::index ? "Index" : "Scalar", name, given,
                                      dtypeText(dtype))
                        : fmt::format("Index {} = scalar(\"{}\", {});", name, given, symbol));
    variables.insert(value);
    values[value] = {name, dtype == DType::index ? Handle::Index : Handle::Scalar, dtype};
    return;
  }
  static constexpr const char *functions[] = {"input", "output", "inout"};
  DType dtype = dtypeOf(buffer.getElementType());
  std::string init = argument.getInit() ? ", " + numberText(argument.getInit(), dtype) : "";
  buffers[value] = name;
  line(fmt::format("Buffer {} = {}(\"{}\", {}, {}{});", name,
                   functions[size_t(argument.getAccess())], given, dtypeText(dtype),
                   shape(tile::sizesOf(buffer)), init));
}

/// {{"rows", 6}, {"block", {32, 0}}}
static std::string fieldsText(tile::ConfigurationAttr configuration) {
  std::vector<std::string> fields;
  for (NamedAttribute field : configuration.getFields()) {
    std::string value;
    if (auto list = dyn_cast<DenseI64ArrayAttr>(field.getValue()))
      value = fmt::format("{{{}}}", fmt::join(list.asArrayRef(), ", "));
    else if (auto flag = dyn_cast<BoolAttr>(field.getValue()))
      value = flag.getValue() ? "true" : "false";
    else
      value = std::to_string(cast<IntegerAttr>(field.getValue()).getInt());
    fields.push_back("{" + quotedText(field.getName().getValue()) + ", " + value + "}");
  }
  return "{" + joined(fields) + "}";
}

void Printer::printAttributes() {
  for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                          kernel.getArguments().getAsRange<tile::ArgumentAttr>()))
    if (argument.getConstant())
      line(fmt::format("isConstant({});", buffers[value]));
  for (NamedAttribute attribute : kernel->getDiscardableAttrs()) {
    StringRef name = attribute.getName().getValue();
    auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (name == tile::TileDialect::destinationsName) {
      line("outputsBindSymbols();");
    } else if (name == tile::TileDialect::replacesName) {
      line("replaces(" + quotedText(cast<StringAttr>(attribute.getValue())) + ");");
    } else if (name == tile::TileDialect::beginsName) {
      for (int64_t i = 0; i < list.size(); i += 2)
        line(fmt::format("beginsAs({}, {});", buffers[kernel.getBlockArgument(list[i + 1])],
                         buffers[kernel.getBlockArgument(list[i])]));
    } else if (auto made = dyn_cast<tile::ConfigurationAttr>(attribute.getValue())) {
      std::string target = made.getTarget() ? ", " + quotedText(made.getTarget().getKind()) + ", " +
                                                  fieldsText(made.getTarget())
                                            : "";
      line("configuration(" + quotedText(made.getKind()) + ", " + fieldsText(made) + target + ");");
    } else if (name.starts_with("tile.") && list) {
      line(fmt::format("hint({}, {{{}}});", quotedText(name), fmt::join(list.asArrayRef(), ", ")));
    } else {
      fail(kernel, "the attribute " + name.str());
    }
  }
}

/// The coordinates are variables where the body asks for them.
void Printer::printGrid() {
  auto sizes = kernel.getGrid().getAsRange<tile::SizeAttr>();
  size_t rank = kernel.getGrid().size();
  static constexpr const char *few[3][3] = {{"m"}, {"m", "n"}, {"b", "m", "n"}};
  std::vector<std::string> extents;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    extents.push_back(sizeExpression(size.getSize(), symbols).text);
    programIds.push_back(names.take(rank <= 3 ? few[rank - 1][d] : "p" + std::to_string(d)));
  }
  bool isAsked = false;
  kernel.getBody().walk([&](tile::ProgramIdOp) { isAsked = true; });
  line((isAsked ? "auto [" + joined(programIds) + "] = " : "") + "grid(" + joined(extents) + ");");
}

Result<std::string> printSource(tile::KernelOp kernel, const std::string &doc) {
  return Printer(kernel).run(doc);
}

} // namespace tw::source
