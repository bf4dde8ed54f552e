// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of a library's kernels and its C entry. Every kernel's registration refers to this file,
// which is what brings it into a kernel library.
#include "Language/Trace.h"
#include "tilewright/KernelLibrary.h"

#include <algorithm>
#include <map>

namespace tw::kernel::detail {
namespace {

struct Entry {
  std::string doc;
  void (*kernel)();
  Here here;
  std::vector<Here> others; // definitions of the same name
};

/// Filled while the library is loaded, then only read.
std::map<std::string, Entry> &registry() {
  static std::map<std::string, Entry> entries;
  return entries;
}

struct List {
  tw_kernel_list view; // first: the address that callers have
  std::vector<tw_kernel_description> kernels;
  std::vector<std::vector<Parameter>> parameters;
  std::vector<std::vector<tw_kernel_parameter>> views;
};

struct Trace {
  tw_kernel_trace view; // first: the address that callers have
  TraceResult result;
};

const tw_kernel_list *makeList() {
  auto list = std::make_unique<List>();
  for (auto &[name, entry] : registry())
    list->parameters.push_back(trace(name, entry.kernel, {}, entry.here).parameters);
  for (auto &parameters : list->parameters) {
    auto &view = list->views.emplace_back();
    for (const Parameter &parameter : parameters)
      view.push_back({parameter.name.c_str(), parameter.defaultValue});
  }
  for (auto &[name, entry] : registry()) {
    auto &view = list->views[list->kernels.size()];
    list->kernels.push_back({name.c_str(), entry.doc.c_str(), view.data(), view.size(),
                             entry.here.file(), entry.here.line(), entry.here.column()});
  }
  list->view = {list->kernels.data(), list->kernels.size()};
  return &list.release()->view;
}

TraceResult traceNamed(const std::string &name, const std::vector<Binding> &bindings) {
  auto it = registry().find(name);
  if (it == registry().end()) {
    std::string have;
    for (auto &[other, entry] : registry())
      have += (have.empty() ? "" : ", ") + other;
    return {"", TraceError{"there is no kernel " + name, "there are: " + have, "", 0, 0}, {}};
  }
  const Entry &entry = it->second;
  if (!entry.others.empty())
    return {"",
            TraceError{"two kernels are called " + name,
                       "the other one is at " + std::string(entry.others[0].file()) + ":" +
                           std::to_string(entry.others[0].line()),
                       entry.here.file(), entry.here.line(), entry.here.column()},
            {}};
  return trace(name, entry.kernel, bindings, entry.here);
}

const tw_kernel_trace *makeTrace(const char *name, const tw_kernel_binding *bindings,
                                 size_t count) {
  std::vector<Binding> list;
  for (size_t i = 0; bindings && i < count; ++i)
    list.push_back({bindings[i].name ? bindings[i].name : "", bindings[i].value});
  auto made = std::make_unique<Trace>();
  made->result = traceNamed(name ? name : "", list);
  if (const auto &error = made->result.error)
    made->view = {nullptr,     error->message.c_str(), error->help.c_str(), error->file.c_str(),
                  error->line, error->column};
  else
    made->view = {made->result.text.c_str(), nullptr, "", "", 0, 0};
  return &made.release()->view;
}

/// Exceptions end here: what is left is that memory ran out.
const tw_kernel_list *list() {
  try {
    return makeList();
  } catch (...) {
    return nullptr;
  }
}

const tw_kernel_trace *traceKernel(const char *name, const tw_kernel_binding *bindings,
                                   size_t count) {
  try {
    return makeTrace(name, bindings, count);
  } catch (...) {
    return nullptr;
  }
}

void freeList(const tw_kernel_list *list) {
  static_assert(offsetof(List, view) == 0);
  delete reinterpret_cast<const List *>(list);
}

void freeTrace(const tw_kernel_trace *trace) { delete reinterpret_cast<const Trace *>(trace); }

} // namespace

Registration::Registration(const char *name, void (*kernel)(), const char *doc, Here here) {
  auto [it, isNew] = registry().try_emplace(name, Entry{doc ? doc : "", kernel, here, {}});
  if (!isNew)
    it->second.others.push_back(here);
}

} // namespace tw::kernel::detail

extern "C" __attribute__((visibility("default"))) const tw_kernel_library *
tilewright_kernel_library(void) {
  using namespace tw::kernel::detail;
  static const tw_kernel_library library = {TW_KERNEL_LIBRARY_VERSION, list, freeList, traceKernel,
                                            freeTrace};
  return &library;
}
