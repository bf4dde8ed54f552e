// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel is called with: symbols, parameters, buffers, scalars, the grid. And what only the
// whole of it shows.
#include "Language/Elements.h"
#include "Support/KernelLimits.h"
#include "Support/SolveSymbols.h"

#include <algorithm>

namespace tw::kernel::detail {
namespace {

std::string place(Here here) {
  return std::string(here.file()) + ":" + std::to_string(here.line());
}

bool isName(const std::string &name) {
  auto isLetter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  return !name.empty() && (isLetter(name[0]) || name[0] == '_') &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return isLetter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

} // namespace

std::optional<int64_t> Tracer::takeBinding(const std::string &name) {
  auto it = bindings.find(name);
  if (it == bindings.end())
    return std::nullopt;
  used.insert(name);
  return it->second;
}

void Tracer::checkName(Here here, const std::string &what, const std::string &name) {
  if (!isName(name))
    fail(here, "\"" + name + "\" cannot be the name of " + what,
         "names are letters, digits and _, and do not begin with a digit");
  if (auto [it, isNew] = names.try_emplace(name, here); !isNew)
    fail(here, "two arguments are called " + name, "the other one is at " + place(it->second));
}

tw::Size Tracer::declareSymbol(Here here, const std::string &name, SymbolRange range) {
  if (!tw::Size::isSymbolName(name))
    fail(here, "\"" + name + "\" cannot be the name of a symbol",
         "names are letters, digits and _, do not begin with a digit, and are none of floordiv, "
         "ceildiv, mod, symbols and grid");
  if (range.min < 0 || range.max < range.min || range.multiple < 1)
    fail(here,
         "symbol " + name + " cannot have min = " + std::to_string(range.min) + ", max = " +
             std::to_string(range.max) + ", multiple = " + std::to_string(range.multiple),
         "0 <= min <= max and multiple >= 1");
  auto other = std::find_if(result.symbols.begin(), result.symbols.end(),
                            [&](auto &symbol) { return symbol.name == name; });
  if (other != result.symbols.end())
    fail(here, "two symbols are called " + name, "the other one is at " + place(other->here));
  if (auto it = parameterPlaces.find(name); it != parameterPlaces.end())
    fail(here, "a symbol and a parameter are called " + name,
         "the parameter is at " + place(it->second));
  if (auto [it, isNew] = symbolsBound.try_emplace(name, here); !isNew)
    fail(here, "two symbols are called " + name, "the other one is at " + place(it->second));
  std::optional<int64_t> value = takeBinding(name);
  if (!value) {
    symbolsBound.erase(name);
    result.symbols.push_back({name, range, here});
    return tw::Size::symbol(name);
  }
  if (*value < range.min || *value > range.max || *value % range.multiple != 0)
    fail(here, "symbol " + name + " is bound to " + std::to_string(*value) + ", but must be from " +
                   std::to_string(range.min) + " to " + std::to_string(range.max) +
                   " and a multiple of " + std::to_string(range.multiple));
  return tw::Size(*value);
}

int64_t Tracer::declareParameter(Here here, const std::string &name, int64_t defaultValue) {
  if (!isName(name))
    fail(here, "\"" + name + "\" cannot be the name of a parameter",
         "names are letters, digits and _, and do not begin with a digit");
  if (auto [it, isNew] = parameterPlaces.try_emplace(name, here); !isNew)
    fail(here, "two parameters are called " + name, "the other one is at " + place(it->second));
  for (const DeclaredSymbol &symbol : result.symbols)
    if (symbol.name == name)
      fail(here, "a parameter and a symbol are called " + name,
           "the symbol is at " + place(symbol.here));
  if (auto it = symbolsBound.find(name); it != symbolsBound.end())
    fail(here, "a parameter and a symbol are called " + name,
         "the symbol is at " + place(it->second));
  asked.push_back({name, defaultValue});
  return takeBinding(name).value_or(defaultValue);
}

BufferPtr Tracer::declareBuffer(BufferInfo buffer) {
  checkName(buffer.here, "a buffer", buffer.name);
  if (buffer.dtype == DType::index)
    fail(buffer.here, "buffer " + buffer.name + " cannot have elements of type index", "use i64");
  buffer.trace = result.body.id;
  auto pointer = std::make_shared<const BufferInfo>(std::move(buffer));
  result.arguments.emplace_back(pointer);
  return pointer;
}

ValuePtr Tracer::declareScalar(Here here, const std::string &name, DType dtype,
                               const std::string &symbol) {
  checkName(here, "a scalar", name);
  auto value = std::make_shared<Value>(Value{result.body.id, Type{dtype}, here, name});
  value->isNonNegative = !symbol.empty();
  result.arguments.emplace_back(ScalarArgument{value, symbol});
  return value;
}

std::vector<Index> Tracer::declareGrid(Here here, const std::vector<Size> &sizes) {
  if (sizes.empty())
    fail(here, "the grid has no sizes", phrases.noGrid);
  if (gridPlace)
    fail(here, "the kernel has two grids", "the other one is at " + place(*gridPlace));
  gridPlace = here;
  result.grid = checkShape(here, sizes, "the grid");
  checkCount(here, "the grid ", result.grid, tw::mostPrograms, "programs");
  std::vector<Index> ids;
  for (size_t d = 0; d < sizes.size(); ++d) {
    auto id = std::make_shared<Value>(
        Value{result.body.id, Type{DType::index}, here, "pid" + std::to_string(d)});
    id->isNonNegative = true;
    Attributes attributes;
    attributes.axis = int64_t(d);
    // At the beginning, so that a grid made in a loop or a branch is no other than one before it.
    auto &ops = result.body.ops;
    ops.insert(ops.begin() + ptrdiff_t(d), Op{"tile.program_id", {}, {id}, attributes, {}, here});
    ids.emplace_back(Ref(ValuePtr(id)));
  }
  return gridIds = ids;
}

Index Tracer::programId(Here here, int64_t dim) {
  if (!gridPlace)
    fail(here,
         functionName(phrases, "programId") + "(" + std::to_string(dim) +
             ") stands before the grid",
         phrases.gridFirst);
  int64_t count = int64_t(gridIds.size());
  if (dim < 0 || dim >= count)
    fail(here,
         functionName(phrases, "programId") + "(" + std::to_string(dim) + "), but the grid is " +
             shapeText(result.grid),
         count == 1 ? "its only dimension is 0"
                    : "its dimensions are 0 to " + std::to_string(count - 1));
  return gridIds[size_t(dim)];
}

void Tracer::addHint(Here here, const std::string &name, const std::vector<int64_t> &values) {
  if (name != "tile.block")
    fail(here, "there is no hint called \"" + name + "\"", "the one hint is tile.block");
  for (int64_t value : values)
    if (value < 1)
      fail(here, "the hint " + name + " has " + std::to_string(value) + " programs",
           "give 1 or more for each dimension of the grid");
  if (auto [it, isNew] = hintPlaces.try_emplace(name, here); !isNew)
    fail(here, "the hint " + name + " is given twice", "the other one is at " + place(it->second));
  result.hints.emplace_back(name, values);
}

void Tracer::addAttribute(Here here, const std::string &name, std::string text) {
  if (auto [it, isNew] = hintPlaces.try_emplace(name, here); !isNew)
    fail(here, name + " is given twice", "the other one is at " + place(it->second));
  result.attributes.emplace_back(name, std::move(text));
}

void Tracer::addBegin(Here here, const BufferPtr &source, const BufferPtr &destination) {
  if (auto [it, isNew] = beginPlaces.try_emplace(destination->name, here); !isNew)
    fail(here, "beginsAs: " + destination->name + " is given twice",
         "the other one is at " + place(it->second));
  result.begins.push_back(int64_t(argumentNumber(source)));
  result.begins.push_back(int64_t(argumentNumber(destination)));
}

size_t Tracer::argumentNumber(const BufferPtr &buffer) const {
  size_t number = 0;
  for (const auto &argument : result.arguments) {
    auto *other = std::get_if<BufferPtr>(&argument);
    if (other && *other == buffer)
      break;
    ++number;
  }
  return number;
}

const BufferPtr &Tracer::checkBuffer(Here here, const Buffer &buffer, const char *what) {
  if (!buffer.impl())
    fail(here, std::string(what) + " got an empty Buffer",
         "buffers are made in the kernel, by input, output and inout");
  if (buffer.impl()->trace != result.body.id)
    fail(here, std::string(what) + ": buffer " + buffer.impl()->name + " belongs to another kernel",
         "make it in this kernel");
  return buffer.impl();
}

// ---- The whole kernel --------------------------------------------------------------------------

/// docs/tile-programs.md, "Binding".
void Tracer::checkBound() {
  std::set<std::string> known;
  std::vector<tw::Size> equations;
  for (auto &argument : result.arguments) {
    if (auto *scalar = std::get_if<ScalarArgument>(&argument); scalar && !scalar->symbol.empty())
      known.insert(scalar->symbol);
    auto *buffer = std::get_if<BufferPtr>(&argument);
    if (buffer && ((*buffer)->access != Access::out || result.outputsBind))
      equations.insert(equations.end(), (*buffer)->shape.begin(), (*buffer)->shape.end());
  }
  solveSymbols(equations, known);
  for (const DeclaredSymbol &symbol : result.symbols)
    if (!known.contains(symbol.name))
      fail(symbol.here,
           "symbol " + symbol.name +
               " follows neither from the size of an input nor from an "
               "argument",
           withName(phrases.unbound, symbol.name));
}

void Tracer::checkStored() {
  for (auto &argument : result.arguments) {
    auto *buffer = std::get_if<BufferPtr>(&argument);
    if (buffer && (*buffer)->access == Access::out && (*buffer)->init.index() == 0 &&
        !stored.contains((*buffer)->name))
      fail((*buffer)->here, "nothing is ever stored to output " + (*buffer)->name,
           phrases.unstored);
  }
}

void Tracer::finish() {
  if (!isName(result.name))
    fail(result.here, "\"" + result.name + "\" cannot be the name of a kernel",
         "names are letters, digits and _, and do not begin with a digit");
  if (!gridPlace)
    fail(result.here, "kernel " + result.name + " has no grid", phrases.noGrid);
  for (const auto &[name, values] : result.hints)
    if (values.size() != result.grid.size())
      fail(hintPlaces.at(name),
           "the hint " + name + " has " + std::to_string(values.size()) +
               " numbers, but the grid is " + shapeText(result.grid),
           "give one for each dimension of the grid");
  checkBound();
  for (auto &[name, value] : bindings) {
    if (used.contains(name))
      continue;
    std::string have;
    for (const Parameter &parameter : asked)
      have += (have.empty() ? "" : ", ") + parameter.name;
    for (const DeclaredSymbol &symbol : result.symbols)
      have += (have.empty() ? "" : ", ") + symbol.name;
    for (auto &[symbol, here] : symbolsBound)
      have += (have.empty() ? "" : ", ") + symbol;
    fail(result.here, "kernel " + result.name + " has no parameter and no symbol called " + name,
         have.empty() ? "it has none at all" : "it has " + have);
  }
  checkStored();
}

// ---- The public functions ----------------------------------------------------------------------

std::vector<Index> grid(const std::vector<Size> &sizes, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? tracer->declareGrid(here, sizes) : std::vector<Index>();
}

Index programId(int64_t dim, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? tracer->programId(here, dim) : Index();
}

namespace {
Buffer declare(const std::string &name, Access access, DType dtype, const Shape &shape,
               const Scalar &init, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  BufferInfo buffer{0,   name, access, dtype, tracer->checkShape(here, shape, "buffer " + name),
                    here};
  if (init.ref().index() != 0) {
    if (std::holds_alternative<ValuePtr>(init.ref()) || std::holds_alternative<SizePtr>(init.ref()))
      tracer->fail(here, "the init of " + name + " is known only when the kernel runs",
                   "give a number");
    checkLiteral(*tracer, init.ref(), dtype, "the init of " + name, here);
    buffer.init = init.ref();
  }
  return Buffer(tracer->declareBuffer(std::move(buffer)));
}
} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

Symbol::Symbol(const std::string &name, SymbolRange range, Here here) : name_(name) {
  Tracer *tracer = Tracer::current();
  tw::Size size = tracer                         ? tracer->declareSymbol(here, name, range)
                  : tw::Size::isSymbolName(name) ? tw::Size::symbol(name)
                                                 : tw::Size(0);
  Size::operator=(Size(std::make_shared<const SizeExpr>(std::move(size))));
}

Buffer input(const std::string &name, DType dtype, const Shape &shape, Here here) {
  return declare(name, Access::in, dtype, shape, {}, here);
}

Buffer output(const std::string &name, DType dtype, const Shape &shape, const Scalar &init,
              Here here) {
  return declare(name, Access::out, dtype, shape, init, here);
}

Buffer inout(const std::string &name, DType dtype, const Shape &shape, Here here) {
  return declare(name, Access::inout, dtype, shape, {}, here);
}

Scalar scalar(const std::string &name, DType dtype, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  if (dtype != f64 && dtype != i64 && dtype != i1 && dtype != DType::index)
    tracer->fail(here, "scalar " + name + " cannot be " + dtypeName(dtype),
                 "scalar arguments are f64, i64 or i1; used with a tile, they take its dtype");
  return Scalar(Ref(tracer->declareScalar(here, name, dtype, "")));
}

Index scalar(const Symbol &symbol, Here here) { return scalar(symbol.name(), symbol, here); }

Index scalar(const std::string &name, const Symbol &symbol, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  // A symbol that the request bound is a number here; the argument is still passed.
  bool isNumber = tracer->checkSize(here, symbol.expr()).constant().has_value();
  return Index(Ref(tracer->declareScalar(here, name, DType::index, isNumber ? "" : symbol.name())));
}

Index programId(Axis dim, Here here) { return detail::programId(dim.axis, here); }

void hint(const std::string &name, const std::vector<int64_t> &values, Here here) {
  if (Tracer *tracer = Tracer::current())
    tracer->addHint(here, name, values);
}

int64_t parameter(const std::string &name, int64_t defaultValue, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? tracer->declareParameter(here, name, defaultValue) : defaultValue;
}

DType Buffer::dtype(Here here) const {
  Tracer *tracer = Tracer::current();
  return tracer ? tracer->checkBuffer(here, *this, "dtype")->dtype : DType::f32;
}

Shape Buffer::shape(Here here) const {
  Tracer *tracer = Tracer::current();
  return tracer ? toShape(tracer->checkBuffer(here, *this, "shape")->shape) : Shape();
}

Size Buffer::size(Axis axis, Here here) const {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  const BufferPtr &buffer = tracer->checkBuffer(here, *this, "size");
  int64_t d = checkAxis(*tracer, axis, buffer->shape, "buffer " + buffer->name, here);
  return Size(std::make_shared<const SizeExpr>(buffer->shape[size_t(d)]));
}

} // namespace tw::kernel
