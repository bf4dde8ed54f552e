// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_kernel_run: a hand-written kernel in the interpreter, compiled, or both.
#include "Driver/KernelTool/OpenKernel.h"
#include "Driver/Targets.h"
#include "IO/Compare.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/ElementDType.h"
#include "Interpreter/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cstring>
#include <fmt/format.h>

using namespace mlir;

namespace tw {

/// A copy of the caller's tensor.
static Result<HostTensor> copy(const tw_tensor &tensor) {
  bool isKnown = tensor.rank >= 0 && tensor.dtype >= TW_F16 && tensor.dtype <= TW_BOOL;
  std::vector<int64_t> sizes;
  if (isKnown)
    sizes.assign(tensor.sizes, tensor.sizes + tensor.rank);
  auto bytes = isKnown ? byteCount(static_cast<DType>(tensor.dtype), sizes) : std::nullopt;
  if (!bytes || *bytes > tensor.bytes || (*bytes && !tensor.data))
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

namespace {

/// One call of tilewright_kernel_run.
class KernelRun {
public:
  KernelRun(tilewright_kernel &kernel, const tilewright_kernel_run_options &given, Session &session,
            const tilewright_sink *sink, void *user)
      : kernel(kernel), given(given), session(session), sink(sink), user(user) {}

  /// Whether something was found.
  Result<bool> run() {
    TW_TRY(prepare());
    bool isGood = true;
    if (!isCompiled || given.check) {
      TW_ASSIGN(isGood, interpret());
    } else {
      TW_TRY(compile());
      TW_ASSIGN(kernel.outputs, kernel.compiled->run(inputs, given.threads));
    }
    if (session.cancellation().isRequested())
      return Cancellation::error();
    if (given.check && isCompiled && isGood) {
      TW_ASSIGN(isGood, compareWithCompiled());
    }
    if (given.repeat > 0 && kernel.compiled) {
      TW_ASSIGN(kernel.times, kernel.compiled->time(inputs, given.repeat, given.threads));
    }
    if (given.json)
      session.report(describe());
    for (HostTensor &tensor : kernel.outputs)
      kernel.outputViews.push_back({tensor.bytes().data(), int64_t(tensor.byteSize()),
                                    static_cast<tw_dtype>(tensor.dtype()),
                                    int32_t(tensor.sizes().size()), tensor.sizes().data()});
    return !isGood;
  }

private:
  Status prepare() {
    kernel.outputs.clear();
    kernel.outputViews.clear();
    kernel.times.clear();
    target = given.target ? given.target : "interpreter";
    isCompiled = target != "interpreter";
    if (isCompiled)
      TW_TRY(checkTarget());
    for (size_t i = 0; i < given.input_count; ++i) {
      TW_ASSIGN(HostTensor tensor, copy(given.inputs[i]));
      inputs.push_back(std::move(tensor));
    }
    return {};
  }

  Status checkTarget() const {
    auto found = CompiledKernel::targetNamed(target);
    if (found)
      return {};
    Diagnostic problem = found.error();
    problem.notes.emplace_back("a kernel by itself runs interpreted, too: --target=interpreter, in "
                               "Python target=\"interpreter\"");
    return problem;
  }

  /// Whether nothing was found.
  Result<bool> interpret() {
    interpreter::Options options;
    options.f64 = given.f64 != 0;
    options.check = given.check != 0;
    options.cancellation = &session.cancellation();
    if (given.operations > 0)
      options.mostOperations = given.operations;
    TW_ASSIGN(interpreted, interpreter::interpret(kernel.kernel, inputs, options));
    for (const interpreter::Finding &finding : interpreted.findings)
      session.error(finding.problem);
    for (const std::string &note : interpreted.notes)
      say("note: " + note);
    if (interpreted.results.empty())
      say(fmt::format("note: kernel {} has no output: it writes nothing", kernel.signature.name));
    kernel.outputs = std::move(interpreted.results);
    return interpreted.findings.empty();
  }

  Status compile() {
    if (kernel.compiled && kernel.compiledFor == target)
      return {};
    kernel.compiled.reset();
    TW_ASSIGN(CompiledKernel compiled,
              CompiledKernel::compile(kernel.kernel, target, &session.cancellation()));
    kernel.compiled.emplace(std::move(compiled));
    kernel.compiledFor = target;
    return {};
  }

  /// Whether two runs may give different results.
  bool mayDiffer() const {
    return kernel.kernel
        ->walk([](tile::ScatterOp op) {
          return op.getUpdate() == tile::Update::Any ? WalkResult::interrupt()
                                                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Whether the compiled kernel gives what the interpreter gave.
  Result<bool> compareWithCompiled() {
    if (mayDiffer()) {
      say("note: the compiled results are not compared, for a scatter with `any` may leave others");
      return true;
    }
    if (Status status = compile(); !status) {
      if (status.error().category() != Category::Unsupported)
        return status.error();
      std::string place = status.error().location;
      say(fmt::format("remark: only interpreted, for the cpu target does not take the kernel: {}{}",
                      status.error().message, place.empty() ? "" : ", at " + place));
      return true;
    }
    TW_ASSIGN(std::vector<HostTensor> results, kernel.compiled->run(inputs, given.threads));
    bool same = true;
    size_t next = 0;
    for (const KernelArgument &argument : kernel.signature.arguments) {
      if (!argument.isResult())
        continue;
      TW_ASSIGN(Comparison found,
                compare(results[next], kernel.outputs[next], argument.name,
                        {tolerance(given.rtol), tolerance(given.atol), computedIn()}));
      if (found.same())
        say(fmt::format("note: compiled for {}, {}: {}", target, argument.name, found.text()));
      else
        session.error(difference(argument.name, found));
      same &= found.same();
      comparisons.push_back({argument.name, std::move(found)});
      ++next;
    }
    return same;
  }

  /// The least exact dtype in which something is computed, not just read, converted or moved.
  std::optional<DType> computedIn() const {
    std::optional<DType> least;
    kernel.kernel->walk([&](Operation *op) {
      bool computes = isa<tile::DotOp, tile::ReduceOp, tile::ScanOp, arith::AddFOp, arith::SubFOp,
                          arith::MulFOp, arith::DivFOp>(op) ||
                      isa<math::MathDialect>(op->getDialect());
      auto dtype = computes ? dtypeOf(getElementTypeOrSelf(op->getResult(0))) : std::nullopt;
      if (dtype && info(*dtype).isFloat &&
          (!least || defaultTolerance(*dtype, 1).rtol > defaultTolerance(*least, 1).rtol))
        least = dtype;
    });
    return least;
  }

  static std::optional<double> tolerance(double given) {
    return given >= 0 ? std::optional(given) : std::nullopt;
  }

  Diagnostic difference(const std::string &output, const Comparison &found) const {
    return {
        Code::INTERPRETER_111,
        fmt::format("output \"{}\" of the compiled kernel differs from the interpreter's", output),
        fmt::format("kernel {}", kernel.signature.name),
        {found.text(), fmt::format("allowed is {:g} relative plus {:g} absolute",
                                   found.tolerance.rtol, found.tolerance.atol)},
        "sums in another order round differently: --rtol and --atol, in Python rtol= and atol=, "
        "say how much may be; anything else is a defect of Tilewright"};
  }

  void say(const std::string &text) const {
    if (!sink || !sink->diagnostic)
      return;
    Resting resting; // as where a session calls it
    sink->diagnostic(user, (text + "\n").c_str(), TILEWRIGHT_FINE);
  }

  static void writeNumbers(JsonWriter &json, std::string_view key, ArrayRef<int64_t> numbers) {
    json.key(key).beginArray();
    for (int64_t number : numbers)
      json.value(number);
    json.endArray();
  }

  std::string describe() const {
    JsonWriter json;
    json.beginObject().key("findings").beginArray();
    for (const interpreter::Finding &finding : interpreted.findings) {
      json.beginObject().member("code", codeName(finding.problem.code));
      json.member("message", finding.problem.message).member("place", finding.problem.location);
      writeNumbers(json, "program", finding.program);
      json.member("buffer", finding.buffer);
      writeNumbers(json, "element", finding.element);
      json.member("others", finding.others).endObject();
    }
    json.endArray().key("notes").beginArray();
    for (const std::string &note : interpreted.notes)
      json.value(note);
    json.endArray();
    if (!comparisons.empty())
      writeComparisons(json);
    return json.endObject().text();
  }

  void writeComparisons(JsonWriter &json) const {
    json.key("comparisons").beginArray();
    for (const auto &[output, found] : comparisons) {
      json.beginObject().member("output", output).member("same", found.same());
      json.member("elements", found.count).member("mismatches", found.mismatches);
      json.member("max_absolute_error", found.maxAbsolute);
      json.member("max_relative_error", found.maxRelative);
      if (!found.same())
        writeNumbers(json, "first_mismatch", found.firstIndex);
      json.endObject();
    }
    json.endArray();
  }

  tilewright_kernel &kernel;
  const tilewright_kernel_run_options &given;
  Session &session;
  const tilewright_sink *sink;
  void *user;
  std::string target;
  bool isCompiled = false;
  std::vector<HostTensor> inputs;
  interpreter::Run interpreted;
  std::vector<std::pair<std::string, Comparison>> comparisons;
};

} // namespace
} // namespace tw

extern "C" const tw_tensor *tilewright_kernel_get_output(const tilewright_kernel *kernel,
                                                         size_t index) {
  return index < kernel->outputViews.size() ? &kernel->outputViews[index] : nullptr;
}

extern "C" double tilewright_kernel_get_time(const tilewright_kernel *kernel, size_t index) {
  return index < kernel->times.size() ? kernel->times[index] : -1;
}

extern "C" tilewright_outcome tilewright_kernel_run(tilewright_kernel *kernel,
                                                    const tilewright_kernel_run_options *options,
                                                    const tilewright_sink *sink, void *user) {
  bool differs = false;
  tilewright_outcome outcome = tw::Session::perform(sink, user, [&](tw::Session &session) {
    if (!kernel || !options || options->struct_size != sizeof(*options))
      return tw::misuse(session, "tilewright_kernel_run");
    auto found = tw::KernelRun(*kernel, *options, session, sink, user).run();
    if (!found)
      return session.error(found.error());
    differs = *found;
  });
  return differs ? TILEWRIGHT_RESULTS_DIFFER : outcome;
}
