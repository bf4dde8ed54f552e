// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_kernel_*: a hand-written kernel, printed and run by the interpreter.
#include "Driver/KernelSource.h"
#include "Driver/Session.h"
#include "IO/JsonWriter.h"
#include "Import/Text/Kernels.h"
#include "Interpreter/Interpreter.h"
#include "Tile/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "tilewright/Compiler.h"
#include <cstring>
#include <fmt/format.h>

using namespace mlir;
using namespace tw;

struct tilewright_kernel {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  tile::KernelOp kernel;
  std::vector<std::string> types;
  KernelSignature signature; // holds the names
  std::vector<tilewright_kernel_argument> arguments;
  std::vector<HostTensor> outputs;
  std::vector<tw_tensor> outputViews;
};

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
  std::string path = options.path, name = options.kernel ? options.kernel : "";
  TW_ASSIGN(Size::Values values, parseSettings(ArrayRef(options.settings, options.setting_count)));
  TW_ASSIGN(KernelText text, readKernel(path, name, values));
  TW_ASSIGN(kernel.module, importKernelString(&kernel.context, text.text, text.name));
  TW_ASSIGN(Operation * found, findKernel(*kernel.module, name, text.name));
  kernel.kernel = cast<tile::KernelOp>(found);
  auto handler = session.handler(kernel.context);
  if (StringRef(path).ends_with(".mlir") && failed(tile::specialize(kernel.kernel, values)))
    return {}; // the session has been told
  kernel.signature = interpreter::signatureOf(kernel.kernel);
  for (const KernelArgument &argument : kernel.signature.arguments)
    kernel.types.push_back(typeText(argument));
  for (auto [argument, type] : llvm::zip(kernel.signature.arguments, kernel.types))
    kernel.arguments.push_back({argument.name.c_str(), type.c_str(),
                                static_cast<tw_dtype>(argument.dtype), argument.isGiven(),
                                argument.isResult()});
  return {};
}

static std::string printed(tile::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << *kernel << "\n";
  return text;
}

/// A copy of the caller's tensor.
static Result<HostTensor> copy(const tw_tensor &tensor) {
  bool isKnown = tensor.rank >= 0 && tensor.dtype >= TW_F16 && tensor.dtype <= TW_BOOL;
  std::vector<int64_t> sizes;
  if (isKnown)
    sizes.assign(tensor.sizes, tensor.sizes + tensor.rank);
  auto bytes = isKnown ? byteCount(static_cast<DType>(tensor.dtype), sizes) : std::nullopt;
  if (!bytes || *bytes > tensor.bytes)
    return Diagnostic{Code::DRIVER_1,
                      "tilewright_kernel_run: an input is malformed",
                      {},
                      {},
                      "give its dtype, its sizes, and as many bytes as they need"};
  TW_ASSIGN(HostTensor result, HostTensor::create(static_cast<DType>(tensor.dtype), sizes));
  if (*bytes)
    std::memcpy(result.bytes().data(), tensor.data, *bytes);
  return result;
}

static void writeNumbers(JsonWriter &json, std::string_view key, ArrayRef<int64_t> numbers) {
  json.key(key).beginArray();
  for (int64_t number : numbers)
    json.value(number);
  json.endArray();
}

static std::string describe(const interpreter::Run &run) {
  JsonWriter json;
  json.beginObject().key("findings").beginArray();
  for (const interpreter::Finding &finding : run.findings) {
    json.beginObject().member("code", codeName(finding.problem.code));
    json.member("message", finding.problem.message).member("place", finding.problem.location);
    writeNumbers(json, "program", finding.program);
    json.member("buffer", finding.buffer);
    writeNumbers(json, "element", finding.element);
    json.member("others", finding.others).endObject();
  }
  json.endArray().key("notes").beginArray();
  for (const std::string &note : run.notes)
    json.value(note);
  return json.endArray().endObject().text();
}

/// Whether something was found.
static Result<bool> run(tilewright_kernel &kernel, const tilewright_kernel_run_options &given,
                        Session &session, const tilewright_sink *sink, void *user) {
  kernel.outputs.clear();
  kernel.outputViews.clear();
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < given.input_count; ++i) {
    TW_ASSIGN(HostTensor tensor, copy(given.inputs[i]));
    inputs.push_back(std::move(tensor));
  }
  interpreter::Options options;
  options.f64 = given.f64 != 0;
  options.check = given.check != 0;
  if (given.operations > 0)
    options.mostOperations = given.operations;
  TW_ASSIGN(interpreter::Run done, interpreter::interpret(kernel.kernel, inputs, options));
  for (const interpreter::Finding &finding : done.findings)
    session.error(finding.problem);
  for (const std::string &note : done.notes)
    if (sink && sink->diagnostic)
      sink->diagnostic(user, ("note: " + note + "\n").c_str(), TILEWRIGHT_FINE);
  if (given.json)
    session.report(describe(done));
  kernel.outputs = std::move(done.results);
  for (HostTensor &tensor : kernel.outputs)
    kernel.outputViews.push_back({tensor.bytes().data(), int64_t(tensor.byteSize()),
                                  static_cast<tw_dtype>(tensor.dtype()),
                                  int32_t(tensor.sizes().size()), tensor.sizes().data()});
  return !done.findings.empty();
}

static tilewright_outcome misuse(Session &session, const char *function) {
  session.error({Code::DRIVER_1,
                 fmt::format("{}: an argument is NULL or of another version", function),
                 {},
                 {},
                 "set options.struct_size and what is required"});
  return session.outcome();
}

} // namespace tw

extern "C" tilewright_outcome tilewright_kernel_open(const tilewright_kernel_options *options,
                                                     const tilewright_sink *sink, void *user,
                                                     tilewright_kernel **kernel) {
  Session session(sink, user);
  if (!options || options->struct_size != sizeof(*options) || !options->path || !kernel)
    return misuse(session, "tilewright_kernel_open");
  auto opened = std::make_unique<tilewright_kernel>();
  if (auto status = tw::open(*opened, *options, session); !status)
    session.error(status.error());
  if (session.outcome() == TILEWRIGHT_FINE)
    *kernel = opened.release();
  return session.outcome();
}

extern "C" void tilewright_kernel_close(tilewright_kernel *kernel) { delete kernel; }

extern "C" const tilewright_kernel_argument *
tilewright_kernel_get_argument(const tilewright_kernel *kernel, size_t index) {
  return index < kernel->arguments.size() ? &kernel->arguments[index] : nullptr;
}

extern "C" const tw_tensor *tilewright_kernel_get_output(const tilewright_kernel *kernel,
                                                         size_t index) {
  return index < kernel->outputViews.size() ? &kernel->outputViews[index] : nullptr;
}

extern "C" tilewright_outcome tilewright_kernel_print(tilewright_kernel *kernel,
                                                      const tilewright_sink *sink, void *user) {
  Session session(sink, user);
  if (!kernel)
    return misuse(session, "tilewright_kernel_print");
  OwningOpRef<tile::KernelOp> copy(cast<tile::KernelOp>(kernel->kernel->clone()));
  auto handler = session.handler(kernel->context);
  PassManager passes(&kernel->context, tile::KernelOp::getOperationName());
  passes.addPass(tile::createSimplify());
  if (failed(passes.run(*copy)))
    session.failStage("simplify");
  else
    session.report(printed(*copy));
  return session.outcome();
}

extern "C" tilewright_outcome tilewright_kernel_run(tilewright_kernel *kernel,
                                                    const tilewright_kernel_run_options *options,
                                                    const tilewright_sink *sink, void *user) {
  Session session(sink, user);
  if (!kernel || !options || options->struct_size != sizeof(*options))
    return misuse(session, "tilewright_kernel_run");
  auto found = tw::run(*kernel, *options, session, sink, user);
  if (found)
    return *found ? TILEWRIGHT_RESULTS_DIFFER : TILEWRIGHT_FINE;
  session.error(found.error());
  return session.outcome();
}
