// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores, gathers, scatters and checks.
#include "Docs.h"
#include "Function.h"
#include <fmt/format.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace tw::kernel::detail;
using tw::kernel::Atomic;
using tw::kernel::Buffer;

namespace tw::python::kernel {

namespace {

Buffer bufferOf(Tracer &tracer, nb::handle object, const char *what, Here place) {
  if (!nb::isinstance<Buffer>(object))
    tracer.fail(place, fmt::format("{} got {}", what, described(object)),
                "it takes an argument of the kernel whose annotation is tk.In, tk.Out or tk.InOut");
  return nb::cast<const Buffer &>(object);
}

/// An option that may be left out: an empty handle then.
template <typename Read>
auto optional(nb::handle object, Read read) -> decltype(read(object)) {
  return object.is_none() ? decltype(read(object)){} : read(object);
}

Atomic atomicOf(Tracer &tracer, Given<std::string> given, const char *what, Here place) {
  static constexpr std::pair<std::string_view, Atomic> kinds[] = {
      {"add", Atomic::add}, {"min", Atomic::min}, {"max", Atomic::max}, {"any", Atomic::any}};
  if (given.object.is_none())
    return Atomic::none;
  std::string name = taken(given, "atomic", place);
  for (const auto &[known, kind] : kinds)
    if (name == known)
      return kind;
  tracer.fail(place, fmt::format("{}: there is no atomic \"{}\"", what, name),
              "there are add, min, max and, for scatter, any");
}

Tile load(nb::handle buffer, nb::handle positions, nb::handle extents, nb::handle strides,
          nb::handle mask, nb::handle pad) {
  return traced("load", [&](Tracer &tracer) {
    Here place = here();
    Buffer from = bufferOf(tracer, buffer, "load", place);
    Positions at = positionsOf(tracer, positions, "load", place);
    Shape shape = shapeOf(tracer, extents, "load", place);
    return tw::kernel::load(
        from, at, shape,
        {optional(strides, [&](nb::handle o) { return integersOf(tracer, o, "load", place); }),
         optional(mask, [&](nb::handle o) { return tileOf(tracer, o, "the mask of load", place); }),
         optional(pad,
                  [&](nb::handle o) { return scalarOf(tracer, o, "the pad of load", place); })},
        place);
  });
}

void store(nb::handle buffer, nb::handle positions, nb::handle value, nb::handle strides,
           nb::handle mask, Given<bool> drop, Given<std::string> atomic) {
  traced("store", [&](Tracer &tracer) {
    Here place = here();
    Buffer to = bufferOf(tracer, buffer, "store", place);
    Positions at = positionsOf(tracer, positions, "store", place);
    Tile tile = tileOf(tracer, value, "store", place);
    tw::kernel::store(
        to, at, tile,
        {optional(strides, [&](nb::handle o) { return integersOf(tracer, o, "store", place); }),
         optional(mask,
                  [&](nb::handle o) { return tileOf(tracer, o, "the mask of store", place); }),
         taken(drop, "drop", place), atomicOf(tracer, atomic, "store", place)},
        place);
  });
}

Tile gather(nb::handle buffer, nb::handle positions, nb::handle mask, nb::handle pad) {
  return traced("gather", [&](Tracer &tracer) {
    Here place = here();
    return tw::kernel::gather(
        bufferOf(tracer, buffer, "gather", place), positionsOf(tracer, positions, "gather", place),
        {optional(mask,
                  [&](nb::handle o) { return tileOf(tracer, o, "the mask of gather", place); }),
         optional(pad,
                  [&](nb::handle o) { return scalarOf(tracer, o, "the pad of gather", place); })},
        place);
  });
}

void scatter(nb::handle buffer, nb::handle positions, nb::handle value, nb::handle mask,
             Given<bool> drop, Given<std::string> atomic) {
  traced("scatter", [&](Tracer &tracer) {
    Here place = here();
    tw::kernel::scatter(
        bufferOf(tracer, buffer, "scatter", place),
        positionsOf(tracer, positions, "scatter", place), tileOf(tracer, value, "scatter", place),
        {optional(mask,
                  [&](nb::handle o) { return tileOf(tracer, o, "the mask of scatter", place); }),
         taken(drop, "drop", place), atomicOf(tracer, atomic, "scatter", place)},
        place);
  });
}

nb::object check(nb::handle positions, nb::handle size, Given<std::string> given, nb::handle mask) {
  return traced("check", [&](Tracer &tracer) -> nb::object {
    Here place = here();
    std::string message = taken(given, "the message of check", place);
    Index bound = indexOf(tracer, size, "check", place);
    if (kindOf(positions) != Kind::Tile)
      return nb::cast(
          tw::kernel::check(scalarOf(tracer, positions, "check", place), bound, message, place));
    Tile test =
        optional(mask, [&](nb::handle o) { return tileOf(tracer, o, "the mask of check", place); });
    return nb::cast(
        tw::kernel::check(tileOf(tracer, positions, "check", place), bound, message, test, place));
  });
}

} // namespace

void defineMemoryOperations(nb::module_ &module) {
  Parameter buffer{.name = "buffer", .type = "Buffer"}, value{.name = "value", .type = "Tile"},
      strides{"strides", nb::none(), true}, mask{"mask", nb::none(), true},
      pad{"pad", nb::none(), true}, drop{"drop", nb::bool_(false), true},
      atomic{"atomic", nb::none(), true};
  define(module, "load", &load, {buffer, {"positions"}, {"extents"}, strides, mask, pad},
         docOf("load"));
  define(module, "store", &store, {buffer, {"positions"}, value, strides, mask, drop, atomic},
         docOf("store"));
  define(module, "gather", &gather, {buffer, {"positions"}, mask, pad}, docOf("gather"));
  define(module, "scatter", &scatter, {buffer, {"positions"}, value, mask, drop, atomic},
         docOf("scatter"));
  define(module, "check", &check, {{"positions"}, {"size"}, {"message"}, {"mask", nb::none()}},
         docOf("check"));
}

} // namespace tw::python::kernel
