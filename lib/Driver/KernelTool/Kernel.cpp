// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_kernel_*: a hand-written kernel, opened and printed.
#include "Driver/KernelTool/CompiledKernel.h"
#include "Driver/KernelTool/KernelSource.h"
#include "Driver/KernelTool/OpenKernel.h"
#include "Driver/Model/ConfigurationFile.h"
#include "Driver/Targets.h"
#include "IO/OutputFile.h"
#include "Import/Text/Kernels.h"
#include "Interpreter/Interpreter.h"
#include "Language/Source/Source.h"
#include "Tile/Binding/Signature.h"
#include "Tile/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tw;

namespace tw {

/// "f32[M, N]".
static std::string typeText(const KernelArgument &argument) {
  std::string text(info(argument.dtype).name);
  for (size_t d = 0; d < argument.sizes.size(); ++d)
    text += (d ? ", " : "[") + argument.sizes[d].str();
  return argument.sizes.empty() ? text : text + "]";
}

/// NAME=VALUE, ...
static Result<Size::Values> parseSettings(ArrayRef<const char *> settings) {
  Size::Values values;
  for (StringRef text : settings) {
    auto [name, digits] = text.split('=');
    int64_t value;
    if (name.empty() || digits.getAsInteger(10, value))
      return Diagnostic{Code::DRIVER_1,
                        fmt::format("the setting \"{}\" is not NAME=VALUE", text.str()),
                        {},
                        {},
                        "name a symbol or parameter of the kernel, and an integer"};
    values[name.str()] = value;
  }
  return values;
}

static Status open(tilewright_kernel &kernel, const tilewright_kernel_options &options,
                   Session &session) {
  std::string path = options.path ? options.path : "", name = options.kernel ? options.kernel : "";
  TW_ASSIGN(Size::Values values, parseSettings(ArrayRef(options.settings, options.setting_count)));
  KernelParameters configured;
  if (options.configurations) {
    TW_ASSIGN(ConfigurationFile file, readConfigurations(options.configurations));
    configured = std::move(file.kernels);
  }
  KernelText text{options.text ? options.text : "", "kernel text"};
  if (!options.text) {
    TW_ASSIGN(text, readKernel(path, name, values, configured));
  }
  if (options.configurations)
    TW_TRY(checkKernelNames(configured, options.configurations, text.configurable));
  FileUses files;
  for (const std::string &file : text.included)
    files.reads(file);
  for (const char *file : ArrayRef(options.written, options.written_count))
    TW_TRY(files.writes(file));
  TW_ASSIGN(kernel.module, importKernelString(&kernel.context, text.text, text.name));
  TW_ASSIGN(Operation * found, findKernel(*kernel.module, name, text.name));
  kernel.kernel = cast<tile::KernelOp>(found);
  auto handler = session.handler(kernel.context);
  if ((options.text || StringRef(path).ends_with(".mlir")) &&
      failed(tile::specialize(kernel.kernel, values)))
    return {}; // the session has been told
  kernel.signature = tile::signatureOf(kernel.kernel);
  for (const KernelArgument &argument : kernel.signature.arguments)
    kernel.types.push_back(typeText(argument));
  for (auto [argument, type] : llvm::zip(kernel.signature.arguments, kernel.types))
    kernel.arguments.push_back({argument.name.c_str(), type.c_str(),
                                static_cast<tw_dtype>(argument.dtype), argument.isGiven(),
                                argument.isResult()});
  return {};
}

static Result<std::string> printed(tile::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << *kernel << "\n";
  return text;
}

void misuse(Session &session, const char *function) {
  session.error({Code::DRIVER_1,
                 fmt::format("{}: an argument is NULL or of another version", function),
                 {},
                 {},
                 "set options.struct_size and what is required"});
}

} // namespace tw

extern "C" tilewright_outcome tilewright_kernel_open(const tilewright_kernel_options *options,
                                                     const tilewright_sink *sink, void *user,
                                                     tilewright_kernel **kernel) {
  return Session::perform(sink, user, [&](Session &session) {
    if (!options || options->struct_size != sizeof(*options) || !options->path == !options->text ||
        !kernel)
      return misuse(session, "tilewright_kernel_open");
    auto opened = std::make_unique<tilewright_kernel>();
    auto status = tw::open(*opened, *options, session);
    if (session.isCancelled())
      return;
    if (!status)
      session.error(status.error());
    if (session.outcome() == TILEWRIGHT_FINE)
      *kernel = opened.release();
  });
}

extern "C" void tilewright_kernel_close(tilewright_kernel *kernel) { delete kernel; }

extern "C" const tilewright_kernel_argument *
tilewright_kernel_get_argument(const tilewright_kernel *kernel, size_t index) {
  return index < kernel->arguments.size() ? &kernel->arguments[index] : nullptr;
}

/// Prints a simplified copy of the kernel, as `write` does.
static void print(tilewright_kernel &kernel, Session &session,
                  Result<std::string> (*write)(tile::KernelOp)) {
  OwningOpRef<tile::KernelOp> copy(cast<tile::KernelOp>(kernel.kernel->clone()));
  auto handler = session.handler(kernel.context);
  PassManager passes(&kernel.context, tile::KernelOp::getOperationName());
  passes.addPass(tile::createSimplify());
  bool ok = succeeded(passes.run(*copy));
  if (session.isCancelled())
    return;
  if (!ok)
    return session.failStage("simplify");
  auto text = write(*copy);
  if (session.isCancelled())
    return;
  if (text)
    session.report(*text);
  else
    session.error(text.error());
}

static Result<std::string> sourceOf(tile::KernelOp kernel) { return source::printSource(kernel); }

extern "C" tilewright_outcome tilewright_kernel_print(tilewright_kernel *kernel,
                                                      const tilewright_sink *sink, void *user) {
  return Session::perform(sink, user, [&](Session &session) {
    kernel ? print(*kernel, session, printed) : misuse(session, "tilewright_kernel_print");
  });
}

/// What `target` makes of a kernel by itself.
static Result<std::string> codeOf(tile::KernelOp kernel, const std::string &level,
                                  const std::string &target, const Cancellation &cancellation) {
  TW_TRY(CompiledKernel::codeTargetNamed(target));
  TW_ASSIGN(std::string text, CompiledKernel::print(kernel, level, target, &cancellation));
  if (text.empty())
    return tw::Diagnostic{Code::DRIVER_3,
                          fmt::format("{} makes no {} of a kernel", target, level),
                          {},
                          {},
                          "--as=loops, llvm and assembly, in Python as_=\"loops\" and so on, "
                          "show what becomes of it"};
  return text;
}

extern "C" tilewright_outcome tilewright_kernel_print_code(tilewright_kernel *kernel,
                                                           const char *level, const char *target,
                                                           const tilewright_sink *sink,
                                                           void *user) {
  return Session::perform(sink, user, [&](Session &session) {
    if (!kernel || !level)
      return misuse(session, "tilewright_kernel_print_code");
    if (StringRef(level) == "source")
      return print(*kernel, session, sourceOf);
    auto text = codeOf(kernel->kernel, level, target ? target : "cpu", session.cancellation());
    if (text)
      session.report(*text);
    else
      session.error(text.error());
  });
}
