// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"
#include "DTypes.h"
#include "Errors.h"
#include "Unlocked.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace nb = nanobind;

namespace tw::python {

Program::Program(const std::string &path, int descriptor, int threads,
                 const std::string &libraryName, const std::string &device)
    : artifactPath(path), file(descriptor), threads(std::max(threads, 0)), isFollower(threads < 0),
      library(libraryName == "torch" ? Library::Torch : Library::NumPy) {
  tw_load_options options{};
  options.struct_size = sizeof options;
  options.device = device.empty() ? nullptr : device.c_str();
  tw_status *status = tw_program_load(path.c_str(), &options, &program);
  if (status && file >= 0)
    close(file);
  check(status);
  ownDevice = deviceOf(program);
  const tw_program_info &info = *tw_program_describe(program);
  if (info.is_kernel)
    ownCallee.kernel = info.model;
  for (int32_t i = 0; i < info.input_count; ++i) {
    inputInfos.push_back(*tw_program_input(program, i));
    hasWrites |= inputInfos.back().mutated != 0;
  }
  for (int32_t i = 0; i < info.output_count; ++i)
    outputInfos.push_back(*tw_program_output(program, i));
  for (int32_t i = 0; const tw_fixed_output *fixed = tw_program_fixed_output(program, i); ++i)
    fixedResults.emplace_back(fixed->position, fixed->text ? nb::object(nb::str(fixed->text))
                                                           : nb::object(nb::none()));
  hasState = info.state_count > 0;
}

std::string Program::name() const {
  return file < 0 ? artifactPath
                  : std::string("the program ") + tw_program_describe(program)->model;
}

Program::~Program() {
  for (auto &[threads, instances] : idle)
    for (tw_instance *instance : instances)
      tw_instance_free(instance);
  tw_program_free(program);
  if (file >= 0)
    close(file);
}

/// Whether a handler of signals, such as that of Ctrl-C, has raised an error. Handlers run in the
/// main thread alone: another would wait for the GIL in vain.
static int32_t isInterrupted(void *) {
  if (gettid() != getpid())
    return 0;
  nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

/// An instance for one call. Made, ended and counted under the GIL.
class Program::Borrowed {
public:
  Borrowed(Program &program, int wanted)
      : program(program), threads(program.hasState || !wanted ? program.threads : wanted) {
    auto &free = program.idle[threads];
    if (!free.empty()) {
      instance = free.back();
      free.pop_back();
    } else if (program.hasState && program.lent > 0) {
      raise(Diagnostic{
          Code::RUNTIME_16,
          fmt::format("a call of {} begins while another one runs", program.name()),
          {},
          {fmt::format("it has state, \"{}\", which calls at one time would mix up",
                       tw_program_state(program.program, 0)->name)},
          "let calls of one program with state follow each other, under a lock, or give each "
          "thread "
          "a program of its own: program.save(path), and tilewright.load(path) in each"});
    } else {
      tw_instance_options options{sizeof options, threads, 0, TW_GRAPHS_AUTO};
      check(tw_instance_create(program.program, &options, &instance));
      check(tw_instance_set_cancel(instance, isInterrupted, nullptr));
    }
    ++program.lent;
    if (program.isProfiling)
      check(tw_instance_set_trace(instance, observe, &program));
    isObserved = program.isProfiling;
  }
  Borrowed(const Borrowed &) = delete;
  ~Borrowed() {
    if (isObserved)
      tw_status_free(tw_instance_set_trace(instance, nullptr, nullptr));
    --program.lent;
    program.idle[threads].push_back(instance);
  }
  tw_instance *get() { return instance; }

private:
  Program &program;
  int threads;
  tw_instance *instance = nullptr;
  bool isObserved = false;
};

void Program::run(std::span<const tw_tensor> inputs, Results &results, int wantedThreads) {
  Borrowed instance(*this, wantedThreads);
  auto count = static_cast<int32_t>(inputs.size());
  bool isEnqueued = results.where().type != dlpack::cpu;
  void *stream = isEnqueued ? currentStream(results.where()) : nullptr;
  tw_status *status;
  {
    Unlocked unlocked;
    status = isEnqueued ? tw_instance_enqueue_allocating(instance.get(), stream, inputs.data(),
                                                         count, Results::allocate, &results)
                        : tw_instance_run_allocating(instance.get(), inputs.data(), count,
                                                     Results::allocate, &results);
    if (isEnqueued && !status && tw_program_describe(program)->device_check_count > 0)
      status = tw_instance_wait(instance.get());
  }
  if (status && PyErr_Occurred()) { // that of a handler of signals
    tw_status_free(status);
    throw nb::python_error();
  }
  if (status)
    results.checkAllocations();
  check(status);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

const tw_value_info &Program::stateInfo(nb::handle name) const {
  const char *text = asName(name);
  int32_t index = text ? tw_program_find_state(program, text) : -1;
  if (index >= 0)
    return *tw_program_state(program, index);
  std::string names;
  for (int32_t i = 0; const tw_value_info *info = tw_program_state(program, i); ++i)
    names += (i ? ", " : "") + std::string(info->name);
  raise(Diagnostic{Code::RUNTIME_15,
                   fmt::format("the program has no state named {}", shownName(name)),
                   {},
                   {names.empty() ? "it has no state" : "it has: " + names},
                   {}});
}

nb::object Program::getState(nb::handle name) {
  const tw_value_info &info = stateInfo(name);
  Borrowed instance(*this, 0);
  OwnedTensor value = allocateTensor(info.dtype, {info.sizes, static_cast<size_t>(info.rank)});
  if (!value)
    throw std::bad_alloc();
  check(tw_instance_state_get(instance.get(), info.name, value->tensor.data, info.bytes));
  const dlpack::ExchangeApi *torch = library == Library::Torch ? importedTorchApi() : nullptr;
  return torch ? torchTensor(*torch, std::move(value)) : numpyArray(std::move(value));
}

void Program::setState(nb::handle name, nb::handle value) {
  tw_value_info info = stateInfo(name);
  info.kind = TW_KIND_TENSOR;
  info.mutated = 0;
  Arguments arguments(1);
  arguments.add({info, stateRole}, value);
  const tw_tensor &given = arguments.tensors()[0];
  bool fits = given.dtype == info.dtype && given.rank == info.rank &&
              std::memcmp(given.sizes, info.sizes, info.rank * sizeof(int64_t)) == 0;
  if (!fits) {
    std::string sizes;
    for (int32_t d = 0; d < given.rank; ++d)
      sizes += (d ? ", " : "") + std::to_string(given.sizes[d]);
    raise(Diagnostic{Code::RUNTIME_14,
                     fmt::format("state \"{}\" is {}, but {}[{}] is given", info.name,
                                 shapeText(info), tw_dtype_name(given.dtype), sizes),
                     {},
                     {},
                     "give an array of that dtype and those sizes"});
  }
  Borrowed instance(*this, 0);
  check(tw_instance_state_set(instance.get(), info.name, given.data, given.bytes));
}

void Program::resetState(nb::handle name) {
  const char *known = name.is_none() ? nullptr : stateInfo(name).name;
  Borrowed instance(*this, 0);
  check(tw_instance_state_reset(instance.get(), known));
}

tw_memory_info Program::memory() {
  Borrowed instance(*this, 0);
  return tw_instance_memory(instance.get());
}

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

void Program::observe(void *self, int32_t dispatch, int64_t begin, int64_t end) {
  auto &program = *static_cast<Program *>(self);
  std::lock_guard lock(program.eventsMutex);
  program.events.push_back({dispatch, begin, end});
}

void Program::startProfile() {
  events.clear();
  isProfiling = true;
}

std::vector<Event> Program::stopProfile() {
  isProfiling = false;
  std::lock_guard lock(eventsMutex);
  return std::exchange(events, {});
}

} // namespace tw::python
