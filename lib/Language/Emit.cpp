// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With Text.cpp the one place that knows the text of tile programs (lib/IR/Tile/Ops.td,
// docs/tile-programs.md).
#include "Language/Emit.h"
#include "Language/Elements.h"
#include "Language/Text.h"

#include <algorithm>
#include <unordered_map>

namespace tw::kernel::detail {
namespace {

class Printer {
public:
  std::string run(const Program &program) {
    text = "tile.kernel @" + program.name + "(";
    for (size_t i = 0; i < program.arguments.size(); ++i) {
      text += i ? ",\n    " : "";
      std::visit([&](auto &argument) { printArgument(argument, program); }, program.arguments[i]);
    }
    text += ")\n    ";
    printSymbols(program.symbols);
    text += "grid " + shapeText(program.grid) + attributesText(program) + " {\n";
    printOps(program.body);
    text += "}";
    printLocation(program.here);
    return text;
  }

private:
  // ---- The head
  static std::string attributesText(const Program &program) {
    std::string text = program.outputsBind ? " attributes {tile.destinations" : "";
    auto lists = program.hints;
    if (!program.begins.empty())
      lists.emplace_back("tile.begins", program.begins);
    for (const auto &[name, values] : lists) {
      text += (text.empty() ? " attributes {" : ", ") + name + " = array<i64";
      for (size_t i = 0; i < values.size(); ++i)
        text += (i ? ", " : ": ") + std::to_string(values[i]);
      text += ">";
    }
    for (const auto &[name, value] : program.attributes)
      text.append(text.empty() ? " attributes {" : ", ").append(name).append(" = ").append(value);
    return text.empty() ? text : text + "}";
  }

  void printArgument(const BufferPtr &buffer, const Program &program) {
    static constexpr const char *words[] = {"in", "out", "inout"};
    taken[buffer->name] = 1;
    text += std::string(words[size_t(buffer->access)]) + " %" + buffer->name + ": " +
            bufferType(*buffer);
    if (program.constants.contains(buffer->name))
      text += " constant";
    if (buffer->init.index() == 0)
      return;
    std::string value = literalText(buffer->init, buffer->dtype);
    text += " init " + value;
    if (buffer->dtype != DType::i1)
      text += " : " + elementText(buffer->dtype);
  }

  void printArgument(const ScalarArgument &argument, const Program &) {
    text += define(argument.value) + ": " + mlirType(argument.value->type);
    if (!argument.symbol.empty())
      text += " as " + argument.symbol;
  }

  void printSymbols(const std::vector<DeclaredSymbol> &symbols) {
    if (symbols.empty())
      return;
    text += "symbols [";
    for (const DeclaredSymbol &symbol : symbols) {
      std::string limits;
      auto limit = [&](const char *name, int64_t value, int64_t usual) {
        if (value != usual)
          limits +=
              (limits.empty() ? "" : ", ") + std::string(name) + " = " + std::to_string(value);
      };
      limit("min", symbol.range.min, 0);
      limit("max", symbol.range.max, INT64_MAX);
      limit("multiple", symbol.range.multiple, 1);
      text += (&symbol == symbols.data() ? "" : ", ") + symbol.name;
      text += limits.empty() ? "" : " {" + limits + "}";
    }
    text += "] ";
  }

  // ---- Names
  std::string define(const ValuePtr &value) {
    std::string name = value->name;
    if (name.empty()) {
      name = std::to_string(nextNumber++);
    } else if (int &count = taken[name]; count++ > 0) {
      while (taken.contains(name + "_" + std::to_string(count)))
        ++count;
      name += "_" + std::to_string(count);
      taken[name] = 1;
    }
    return names[value.get()] = "%" + name;
  }

  std::string use(ValuePtr value) {
    while (value->alias)
      value = value->alias;
    return names[value.get()];
  }

  std::string uses(const Op &op, size_t from, size_t to) {
    std::string list;
    for (size_t i = from; i < to; ++i)
      list += (i > from ? ", " : "") + use(op.operands[i]);
    return list;
  }

  static std::string typeOf(const ValuePtr &value) { return mlirType(value->type); }

  static std::string types(const Values &values) {
    std::string list;
    for (const ValuePtr &value : values)
      list += (list.empty() ? "" : ", ") + typeOf(value);
    return list;
  }

  // ---- Operations
  void printOps(const Region &region) {
    depth += 2;
    for (const Op &op : region.ops)
      printOp(op);
    depth -= 2;
  }

  void printLocation(Here here) {
    text += " loc(" + quoted(here.file()) + ":" + std::to_string(here.line()) + ":" +
            std::to_string(here.column()) + ")\n";
  }

  void printOp(const Op &op) {
    std::string start = std::string(depth, ' ');
    // Operands are named before results: a loop's body comes between them.
    std::string body = isRegionOp(op) ? "" : printPlain(op);
    std::string results;
    for (const ValuePtr &result : op.results)
      results += (results.empty() ? "" : ", ") + define(result);
    text += start + results + (results.empty() ? "" : " = ");
    if (op.name == "tile.for")
      printFor(op);
    else if (op.name == "scf.if")
      printIf(op);
    else
      text += op.name + body;
    printLocation(op.here);
  }

  static bool isRegionOp(const Op &op) { return op.name == "tile.for" || op.name == "scf.if"; }

  /// What stands behind the name of an operation without regions.
  std::string printPlain(const Op &op) {
    using Function = std::string (Printer::*)(const Op &);
    static const std::unordered_map<std::string, Function> table = {
        {"tile.program_id", &Printer::programId},
        {"tile.size", &Printer::size},
        {"tile.load", &Printer::load},
        {"tile.gather", &Printer::load},
        {"tile.store", &Printer::store},
        {"tile.scatter", &Printer::store},
        {"tile.check", &Printer::check},
        {"tile.full", &Printer::conversion},
        {"tile.iota", &Printer::iota},
        {"tile.dot", &Printer::dot},
        {"tile.reduce", &Printer::reduce},
        {"tile.scan", &Printer::scan},
        {"tile.sort", &Printer::sort},
        {"tile.broadcast", &Printer::conversion},
        {"tile.reshape", &Printer::conversion},
        {"tile.transpose", &Printer::transpose},
        {"tile.slice", &Printer::slice},
        {"tile.extract", &Printer::conversion},
        {"arith.constant", &Printer::constant},
        {"arith.cmpf", &Printer::compare},
        {"arith.cmpi", &Printer::compare},
        {"arith.select", &Printer::select}};
    auto row = table.find(op.name);
    return " " + (row == table.end() ? elementwise(op) : (this->*row->second)(op));
  }

  std::string programId(const Op &op) { return std::to_string(op.attributes.axis); }
  std::string size(const Op &op) { return op.attributes.size.str(); }

  std::string positions(const Op &op, size_t from) {
    std::string list;
    for (size_t i = from; i < from + op.attributes.positions; ++i) {
      const ValuePtr &position = op.operands[i];
      list += (i > from ? ", " : "") + use(position);
      if (position->type.isTile)
        list += " : " + typeOf(position);
    }
    std::string strides =
        op.attributes.strides.empty() ? "" : " strides " + numbers(op.attributes.strides);
    return "[" + list + "]" + strides;
  }

  std::string optional(const char *word, const ValuePtr &value) {
    return std::string(" ") + word + " " + use(value) + " : " + typeOf(value);
  }

  /// %b[%i, %j] strides [1, 2] mask %m : ... pad %v : f32 : buffer -> tile
  std::string load(const Op &op) {
    size_t next = op.attributes.positions;
    std::string result = "%" + op.attributes.buffer->name + positions(op, 0);
    if (op.attributes.hasMask)
      result += optional("mask", op.operands[next++]);
    if (op.attributes.hasPad)
      result += optional("pad", op.operands[next]);
    return result + " : " + bufferType(*op.attributes.buffer) + " -> " + typeOf(op.results[0]);
  }

  /// %t, %b[%i, %j] strides [1, 2] mask %m : ... drop atomic add : tile, buffer
  std::string store(const Op &op) {
    std::string result =
        use(op.operands[0]) + ", %" + op.attributes.buffer->name + positions(op, 1);
    if (op.attributes.hasMask)
      result += optional("mask", op.operands.back());
    result += op.attributes.flag ? " drop" : "";
    if (!op.attributes.word.empty())
      result += " atomic " + op.attributes.word;
    return result + " : " + typeOf(op.operands[0]) + ", " + bufferType(*op.attributes.buffer);
  }

  std::string check(const Op &op) {
    return use(op.operands[0]) + " in " + use(op.operands[1]) +
           (op.attributes.hasMask ? optional("mask", op.operands[2]) : "") + ", " +
           quoted(op.attributes.word) + " : " + typeOf(op.operands[0]);
  }

  std::string iota(const Op &op) {
    return std::to_string(op.attributes.axis) + " from " + use(op.operands[0]) + " : " +
           typeOf(op.results[0]);
  }

  std::string dot(const Op &op) { return uses(op, 0, 3) + " : " + types(op.operands); }

  std::string reduce(const Op &op) {
    return op.attributes.word + " " + use(op.operands[0]) + " axis " +
           std::to_string(op.attributes.axis) + " : " + typeOf(op.operands[0]) + " -> " +
           typeOf(op.results[0]);
  }

  std::string scan(const Op &op) {
    return op.attributes.word + " " + use(op.operands[0]) + " axis " +
           std::to_string(op.attributes.axis) + (op.attributes.flag ? " reverse" : "") + " : " +
           typeOf(op.operands[0]);
  }

  /// %x axis 1 descending unsigned : tile -> values, positions
  std::string sort(const Op &op) {
    return use(op.operands[0]) + " axis " + std::to_string(op.attributes.axis) +
           (op.attributes.flag ? " descending" : "") + op.attributes.word + " : " +
           typeOf(op.operands[0]) + " -> " + types(op.results);
  }

  std::string transpose(const Op &op) {
    return use(op.operands[0]) + " " + numbers(op.attributes.numbers) + " : " +
           typeOf(op.operands[0]) + " -> " + typeOf(op.results[0]);
  }

  std::string slice(const Op &op) {
    return use(op.operands[0]) + " offsets " + numbers(op.attributes.numbers) + " strides " +
           numbers(op.attributes.strides) + " : " + typeOf(op.operands[0]) + " -> " +
           typeOf(op.results[0]);
  }

  std::string conversion(const Op &op) {
    return use(op.operands[0]) + " : " + typeOf(op.operands[0]) + " -> " + typeOf(op.results[0]);
  }

  std::string constant(const Op &op) {
    std::string type = typeOf(op.results[0]);
    return op.attributes.word + (type == "i1" ? "" : " : " + type);
  }

  std::string compare(const Op &op) {
    return op.attributes.word + ", " + uses(op, 0, 2) + " : " + typeOf(op.operands[0]);
  }

  std::string select(const Op &op) {
    std::string condition = op.operands[0]->type.isTile ? typeOf(op.operands[0]) + ", " : "";
    return uses(op, 0, 3) + " : " + condition + typeOf(op.results[0]);
  }

  std::string elementwise(const Op &op) {
    std::string result = uses(op, 0, op.operands.size()) + " : " + typeOf(op.operands[0]);
    bool converts = typeOf(op.operands[0]) != typeOf(op.results[0]);
    return result + (converts ? " to " + typeOf(op.results[0]) : "");
  }

  // ---- Regions
  void printRegion(const Region &region, const char *terminator) {
    text += "{\n";
    printOps(region);
    if (!region.yields.empty()) {
      std::string list;
      for (const ValuePtr &value : region.yields)
        list += (list.empty() ? "" : ", ") + use(value);
      text += std::string(depth + 2, ' ') + terminator + " " + list + " : " + types(region.yields);
      printLocation(region.here);
    }
    text += std::string(depth, ' ') + "}";
  }

  /// %i = %begin to %end step %step carry (%x = %init : type) { ... } combine commutative (...) {
  /// ... }
  void printFor(const Op &op) {
    const Region &body = op.regions[0];
    text += "tile.for " + define(body.arguments[0]) + " = " + use(op.operands[0]) + " to " +
            use(op.operands[1]) + " step " + use(op.operands[2]) + " ";
    for (size_t i = 1; i < body.arguments.size(); ++i)
      text += (i == 1 ? "carry (" : ", ") + define(body.arguments[i]) + " = " +
              use(op.operands[i + 2]) + " : " + typeOf(body.arguments[i]);
    text += body.arguments.size() > 1 ? ") " : "";
    printRegion(body, "tile.yield");
    if (op.regions.size() < 2)
      return;
    const Region &combine = op.regions[1];
    text += op.attributes.flag ? " combine commutative (" : " combine (";
    for (const ValuePtr &state : combine.arguments)
      text += (state == combine.arguments[0] ? "" : ", ") + define(state) + " : " + typeOf(state);
    text += ") ";
    printRegion(combine, "tile.yield");
  }

  void printIf(const Op &op) {
    text += "scf.if " + use(op.operands[0]) + " ";
    if (!op.results.empty())
      text += "-> (" + types(op.results) + ") ";
    printRegion(op.regions[0], "scf.yield");
    if (op.results.empty() && op.regions[1].ops.empty())
      return;
    text += " else ";
    printRegion(op.regions[1], "scf.yield");
  }

  std::string text;
  size_t depth = 0;
  int nextNumber = 0;
  std::unordered_map<const Value *, std::string> names;
  std::unordered_map<std::string, int> taken;
};

} // namespace

std::string print(const Program &program) { return Printer().run(program); }

} // namespace tw::kernel::detail
