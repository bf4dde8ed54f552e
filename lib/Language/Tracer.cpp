// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/Elements.h"
#include "Language/Emit.h"
#include "Support/Checked.h"
#include "Support/KernelLimits.h"

#include <algorithm>
#include <atomic>
#include <exception>

namespace tw::kernel::detail {
namespace {

thread_local Tracer *innermost = nullptr;

/// Regions of all traces have different numbers, so that a value shows which trace it belongs to.
uint64_t nextRegion() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

std::string place(Here here) {
  return std::string(here.file()) + ":" + std::to_string(here.line());
}

} // namespace

Tracer::Tracer(std::string name, const std::vector<Binding> &given, Here here, const Phrases &say)
    : phrases(say), outer(innermost) {
  result.name = std::move(name);
  result.here = here;
  result.body.id = nextRegion();
  result.body.here = here;
  open.push_back(&result.body);
  for (const Binding &binding : given)
    bindings[binding.name] = binding.value;
  innermost = this;
}

Tracer::~Tracer() { innermost = outer; }

Tracer *Tracer::current() { return innermost && !innermost->failure ? innermost : nullptr; }

void Tracer::fail(Here here, std::string message, std::string help) {
  if (!failure)
    failure =
        TraceError{std::move(message), std::move(help), here.file(), here.line(), here.column()};
  throw Failed();
}

// ---- Operations and regions --------------------------------------------------------------------

bool Tracer::isOpen(uint64_t region) const {
  return std::any_of(open.begin(), open.end(), [&](Region *r) { return r->id == region; });
}

bool Tracer::isAround(uint64_t region) const { return isOpen(region) && open.back()->id != region; }

/// Refuses more than `most` elements, or programs; extents that depend on the call count as 1.
void Tracer::checkCount(Here here, const std::string &what, const Extents &shape, int64_t most,
                        const std::string &unit) {
  std::vector<int64_t> known;
  for (const tw::Size &extent : shape)
    known.push_back(extent.constant().value_or(1));
  auto count = tw::checkedProduct(known);
  if (!count || *count > most)
    fail(here, what + shapeText(shape) + " has more than " + std::to_string(most) + " " + unit,
         "let each program take a part, or take one part after another in a loop");
}

ValuePtr Tracer::newValue(Here here, Type type, std::string name) {
  // Every one, since operations make some that no author has given a shape: [N, 1] + [1, M].
  checkCount(here, "a tile of ", type.shape, tw::mostTileElements, "elements");
  return std::make_shared<Value>(Value{region(), std::move(type), here, std::move(name)});
}

void Tracer::countOperation(Here here) {
  if (++operations > mostOperations)
    failEndless(here, mostOperations, "operations");
}

void Tracer::failTooManyCalls(Here here) {
  failEndless(here, mostCalls, "calls of the kernel language");
}

void Tracer::failEndless(Here here, int64_t most, const char *what) {
  fail(here, "the kernel has more than " + std::to_string(most) + " " + what, phrases.unrolled);
}

Values Tracer::emit(Here here, std::string name, Values operands, std::vector<Type> types,
                    Attributes attributes, std::vector<Region> regions) {
  countOperation(here);
  Values results;
  for (Type &type : types)
    results.push_back(newValue(here, std::move(type)));
  open.back()->ops.push_back({std::move(name), std::move(operands), results, std::move(attributes),
                              std::move(regions), here});
  return results;
}

ValuePtr Tracer::emit1(Here here, std::string name, Values operands, Type type,
                       Attributes attributes) {
  return emit(here, std::move(name), std::move(operands), {std::move(type)},
              std::move(attributes))[0];
}

ValuePtr Tracer::cached(Here, const std::string &key, const std::function<ValuePtr()> &make) {
  for (Region *around : open)
    if (auto found = cache[around->id].find(key); found != cache[around->id].end())
      return found->second;
  ValuePtr value = make();
  cache[region()][key] = value;
  return value;
}

Refs Tracer::enter(Here here, std::string what, const std::vector<Type> &arguments,
                   const std::vector<std::string> &names) {
  if (depth() > mostNested)
    fail(here, "the kernel nests more than " + std::to_string(mostNested) + " loops and branches",
         phrases.unrolled);
  Region &region = *entered.emplace_back(std::make_unique<Region>());
  region.id = nextRegion();
  region.what = std::move(what);
  region.here = here;
  open.push_back(&region);
  Refs refs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    region.arguments.push_back(newValue(here, arguments[i], names[i]));
    refs.emplace_back(region.arguments.back());
  }
  return refs;
}

Region Tracer::leave(Here here, const Refs &yields) {
  if (failure)
    throw Failed(); // the author's code caught what fail() threw
  Region &region = *open.back();
  for (const Ref &ref : yields)
    region.yields.push_back(valueOf(*this, ref, here));
  for (const ValuePtr &value : region.yields)
    checkUsable(here, value);
  Region done = std::move(region);
  abandon(depth() - 1);
  ended[done.id] = {done.what, done.here};
  return done;
}

void Tracer::abandon(size_t depth) {
  while (open.size() > depth) {
    ended[open.back()->id] = {open.back()->what, open.back()->here};
    open.pop_back();
    entered.pop_back();
  }
}

Region Tracer::trace(Here here, std::string what, const std::vector<Type> &arguments,
                     const std::vector<std::string> &names, const Body &body) {
  struct Close { // also when the body leaves by an exception
    Tracer &tracer;
    size_t depth;
    ~Close() { tracer.abandon(depth); }
  };
  Close close{*this, depth()};
  return leave(here, body(enter(here, std::move(what), arguments, names)));
}

void Tracer::checkUsable(Here here, const ValuePtr &value) {
  if (isOpen(value->region))
    return;
  std::string what = value->type.isTile ? "tile " : "scalar ";
  what += typeText(value->type) + " of " + place(value->here);
  if (auto it = ended.find(value->region); it != ended.end())
    fail(here,
         what + " belongs to " + it->second.what + " at " + place(it->second.here) +
             ", which has ended",
         phrases.ended);
  fail(here, what + " belongs to another kernel", "make it in this kernel");
}

void Tracer::failAssignment(const Value *value) {
  const Region &region = *open.back();
  fail(value ? value->here : region.here,
       "a variable from outside of " + region.what + " is assigned in it",
       "the body runs many times or not at all, but is traced once: return the value from it (a "
       "loop takes it as a carried value)");
}

void Tracer::failSymbol(Here here, const tw::Size &size, const std::string &name) {
  fail(here, "size " + size.str() + " has the symbol " + name + ", which is not of this kernel",
       withName(phrases.undeclared, name));
}

const tw::Size &Tracer::checkSize(Here here, const SizePtr &size) {
  if (!size || !size->valid())
    fail(here, "a size overflows 64 bits, divides by 0 or is too long");
  for (const std::string &name : size->symbols())
    if (std::none_of(result.symbols.begin(), result.symbols.end(),
                     [&](auto &symbol) { return symbol.name == name; }))
      failSymbol(here, *size, name);
  return *size;
}

Extents Tracer::checkShape(Here here, const Shape &shape, const std::string &what) {
  Extents extents;
  for (size_t d = 0; d < shape.size(); ++d) {
    extents.push_back(checkSize(here, shape[d].expr()));
    if (auto value = extents[d].constant(); value && *value < 0)
      fail(here, "extent " + std::to_string(d) + " of " + what + " is " + std::to_string(*value),
           "extents are 0 or more");
  }
  return extents;
}

// ---- Loops that can be split -------------------------------------------------------------------

static constexpr const char *splitRule =
    "a loop with combine may be run in parts: it stands outside of other loops and branches, one "
    "in a kernel, with no store, scatter or check before or in it";

void Tracer::noteEffect(Here here, const std::string &what) {
  for (Region *region : open)
    if (region->what == "combine" || region->what == splitBody)
      fail(here, what + " in a loop with combine", splitRule);
  if (!effectPlace)
    effectPlace = here;
}

void Tracer::checkSplit(Here here) {
  if (open.size() > 1)
    fail(here, "this loop has a combine, but stands in " + open.back()->what, splitRule);
  if (splitPlace)
    fail(here, "this loop has a combine, as the one at " + place(*splitPlace) + " has", splitRule);
  if (effectPlace)
    fail(here,
         "this loop has a combine, but memory is written or a check made at " + place(*effectPlace),
         splitRule);
  splitPlace = here;
}

} // namespace tw::kernel::detail

namespace tw::kernel {

TraceResult trace(const std::string &name, const std::function<void()> &kernel,
                  const std::vector<Binding> &bindings, Here here, const Phrases &say) {
  detail::Tracer tracer(name, bindings, here, say);
  auto leave = [&](const std::string &message) {
    try {
      tracer.fail(here, message);
    } catch (const detail::Failed &) {
    }
  };
  try {
    kernel();
    if (!tracer.error())
      tracer.finish();
  } catch (const detail::Failed &) {
    // The error is recorded.
  } catch (const std::exception &exception) {
    leave("kernel " + name + " threw an exception: " + exception.what());
  } catch (...) {
    leave("kernel " + name + " threw an exception");
  }
  TraceResult result{"", tracer.error(), tracer.parameters()};
  if (!result.error)
    result.text = detail::print(tracer.program());
  return result;
}

} // namespace tw::kernel
