// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of a model's dispatches say beside their computation. The compiler writes it,
// and so does who edits a kernel that it has printed (docs/kernel-source.md). Included by
// tilewright/Kernel.h.
#ifndef TILEWRIGHT_KERNEL_DISPATCH_H
#define TILEWRIGHT_KERNEL_DISPATCH_H

#include "tilewright/kernel/Values.h"

#include <initializer_list>
#include <utility>

namespace tw::kernel {

/// Calls bring memory for the outputs, so the outputs' sizes bind symbols as the inputs' do
/// (attribute `tile.destinations`).
void outputsBindSymbols();

/// The buffer `destination`, which is read and written, is a copy of the input `source` before any
/// program runs.
void beginsAs(const Buffer &destination, const Buffer &source, Here here = Here::current());

/// All calls give the input the same elements, and nothing writes to them: it is a weight of the
/// model (`constant` in tile programs).
void isConstant(const Buffer &input, Here here = Here::current());

/// This kernel stands for the one that the compiler made and calls `name`, in the model that it is
/// given with.
void replaces(const std::string &name, Here here = Here::current());

/// A field of a configuration: a number, true or false, or a list of numbers.
class ConfigurationField {
public:
  ConfigurationField(const char *name, bool flag);
  template <std::integral T>
  ConfigurationField(const char *name, T number) : ConfigurationField(name, Number{number}) {}
  ConfigurationField(const char *name, std::initializer_list<int64_t> list);
  const std::string &name() const { return name_; }
  /// As the kernel's text has it.
  const std::string &text() const { return text_; }

private:
  struct Number {
    int64_t value;
  };
  ConfigurationField(const char *name, Number number);
  std::string name_, text_;
};
using ConfigurationFields = std::vector<ConfigurationField>;

/// How the compiler made the kernel (docs/configurations.md): the kind of configuration with its
/// fields, and those that only `target` knows of.
void configuration(const std::string &kind, const ConfigurationFields &fields,
                   const std::string &target = "", const ConfigurationFields &targetFields = {},
                   Here here = Here::current());

} // namespace tw::kernel

#endif // TILEWRIGHT_KERNEL_DISPATCH_H
