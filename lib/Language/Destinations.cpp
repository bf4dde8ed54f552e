// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels of dispatches say beside their computation (tilewright/kernel/Dispatch.h).
#include "Language/Destinations.h"
#include "Language/Elements.h"
#include "Language/Text.h"

#include <algorithm>

namespace tw::kernel {
using namespace detail;

void outputsBindSymbols() {
  if (Tracer *tracer = Tracer::current())
    tracer->letOutputsBind();
}

std::vector<Index> gridOf(const std::vector<Size> &sizes, Here here) {
  return detail::grid(sizes, here);
}

void beginsAs(const Buffer &destination, const Buffer &source, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return;
  const BufferPtr &to = tracer->checkBuffer(here, destination, "beginsAs");
  const BufferPtr &from = tracer->checkBuffer(here, source, "beginsAs");
  if (to->access != Access::inout || from->access != Access::in)
    tracer->fail(here, "beginsAs: " + to->name + " cannot begin as a copy of " + from->name,
                 "what begins as a copy is declared with inout, and what is copied with input");
  if (to->dtype != from->dtype || !(to->shape == from->shape))
    tracer->fail(here, "beginsAs: " + to->name + " is " + dtypeName(to->dtype) +
                           shapeText(to->shape) + ", but " + from->name + " is " +
                           dtypeName(from->dtype) + shapeText(from->shape));
  tracer->addBegin(here, from, to);
}

void isConstant(const Buffer &input, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return;
  const BufferPtr &buffer = tracer->checkBuffer(here, input, "isConstant");
  if (buffer->access != Access::in)
    tracer->fail(here, "isConstant: " + buffer->name + " is written, so it is not constant",
                 "what is constant is declared with input");
  tracer->addConstant(buffer);
}

void replaces(const std::string &name, Here here) {
  if (Tracer *tracer = Tracer::current())
    tracer->addAttribute(here, "tile.replaces", quoted(name));
}

ConfigurationField::ConfigurationField(const char *name, bool flag)
    : name_(name), text_(flag ? "true" : "false") {}
ConfigurationField::ConfigurationField(const char *name, Number number)
    : name_(name), text_(std::to_string(number.value) + " : i64") {}
ConfigurationField::ConfigurationField(const char *name, std::initializer_list<int64_t> list)
    : name_(name), text_("array<i64") {
  for (const int64_t &number : list)
    text_ += (&number == list.begin() ? ": " : ", ") + std::to_string(number);
  text_ += ">";
}

/// #tile.config<"loops" {block = array<i64: 32>}>
static std::string configurationText(const std::string &kind, const ConfigurationFields &fields) {
  std::string text;
  for (const ConfigurationField &field : fields)
    text += (text.empty() ? "" : ", ") + quoted(field.name()) + " = " + field.text();
  return quoted(kind) + " {" + text + "}";
}

void configuration(const std::string &kind, const ConfigurationFields &fields,
                   const std::string &target, const ConfigurationFields &targetFields, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return;
  std::string text = configurationText(kind, fields);
  if (!target.empty())
    text += " on <" + configurationText(target, targetFields) + ">";
  tracer->addAttribute(here, "tile.configuration", "#tile.config<" + text + ">");
}

} // namespace tw::kernel
