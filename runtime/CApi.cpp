// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions of tilewright.h over the C++ of this folder: argument checks, statuses, and the
// place where exceptions (only the C++ library's own, such as bad_alloc) end.
#include "runtime/Instance/Instance.h"
#include "runtime/LoadedProgram.h"
#include "runtime/Observe.h"
#include "runtime/ProgramInfo.h"
#include "tilewright/tilewright.h"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <new>

using namespace tw;
using namespace tw::rt;

struct tw_status {
  Code code;
  std::string name, message, text; // all empty in outOfMemory, which must not allocate
};

struct tw_program {
  explicit tw_program(std::shared_ptr<const LoadedProgram> program)
      : loaded(std::move(program)), info(loaded->metadata()) {}
  std::shared_ptr<const LoadedProgram> loaded;
  ProgramInfo info;
};

struct tw_instance {
  std::unique_ptr<Instance> instance;
};

// --- Status
// ----------------------------------------------------------------------------------------

/// What is returned when not even a status can be allocated. Never written to.
static tw_status *outOfMemory() {
  static const char marker = 0;
  return reinterpret_cast<tw_status *>(const_cast<char *>(&marker));
}

static Diagnostic invalid(std::string what) { return {Code::RUNTIME_18, std::move(what)}; }

/// Runs `function`, which returns Status; nothing escapes.
template <typename Function>
static tw_status *guarded(Function function) noexcept {
  try {
    Status status = function();
    if (status)
      return nullptr;
    const Diagnostic &error = status.error();
    return new tw_status{error.code, codeName(error.code), error.message, error.render()};
  } catch (...) {
    return outOfMemory();
  }
}

static constexpr const char *memoryMessage = "there is not enough memory";
/// Made when there still is some.
static const std::string memoryText = Diagnostic{Code::RUNTIME_17, memoryMessage}.render();

const char *tw_status_code(const tw_status *status) {
  if (!status)
    return "";
  return status == outOfMemory() ? "TW-RUNTIME-0017" : status->name.c_str();
}

const char *tw_status_message(const tw_status *status) {
  if (!status)
    return "";
  return status == outOfMemory() ? memoryMessage : status->message.c_str();
}

const char *tw_status_text(const tw_status *status) {
  if (!status)
    return "";
  return status == outOfMemory() ? memoryText.c_str() : status->text.c_str();
}

int32_t tw_status_category(const tw_status *status) {
  if (!status)
    return 0;
  Code code = status == outOfMemory() ? Code::RUNTIME_17 : status->code;
  return static_cast<int32_t>(info(code).category);
}

void tw_status_free(tw_status *status) {
  if (status != outOfMemory())
    delete status;
}

// --- Data types
// ------------------------------------------------------------------------------------

static_assert(static_cast<int>(DType::Bool) == TW_BOOL && static_cast<int>(DType::F16) == TW_F16);

static bool isDType(tw_dtype dtype) {
  int value = static_cast<int>(dtype);
  return value >= TW_F16 && value <= TW_BOOL;
}

const char *tw_dtype_name(tw_dtype dtype) {
  return isDType(dtype) ? info(static_cast<DType>(dtype)).name.data() : nullptr;
}

int64_t tw_dtype_bytes(tw_dtype dtype) {
  return isDType(dtype) ? info(static_cast<DType>(dtype)).bytes : 0;
}

// --- Programs
// --------------------------------------------------------------------------------------

/// The caller's options, or those that NULL stands for: of a structure of an older, shorter version
/// what it has. `least` is the size of the first version.
template <typename Options>
static Result<Options> readOptions(const Options *given, size_t least, const char *name) {
  Options options{};
  if (!given)
    return options;
  if (given->struct_size < least)
    return invalid(fmt::format("{}.struct_size is {}, but sizeof({}) is {}", name,
                               given->struct_size, name, sizeof(Options)));
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(Options)));
  return options;
}

tw_status *tw_program_load(const char *path, const tw_load_options *options, tw_program **program) {
  return guarded([&]() -> Status {
    if (!program)
      return invalid("tw_program_load: program is NULL");
    *program = nullptr;
    if (!path)
      return invalid("tw_program_load: path is NULL");
    constexpr size_t least = offsetof(tw_load_options, verify);
    TW_ASSIGN(tw_load_options wanted, readOptions(options, least, "tw_load_options"));
    TW_ASSIGN(auto loaded, LoadedProgram::load(path, wanted.device ? wanted.device : "",
                                               {wanted.verify != 0, wanted.copy_weights != 0}));
    *program = new tw_program(std::move(loaded));
    return {};
  });
}

void tw_program_free(tw_program *program) { delete program; }

const tw_program_info *tw_program_describe(const tw_program *program) {
  return program ? &program->info.program : nullptr;
}

const char *tw_program_device(const tw_program *program) {
  return program ? program->loaded->device().name().c_str() : nullptr;
}

template <typename T>
static const T *element(const std::vector<T> &list, int32_t index) {
  return index >= 0 && static_cast<size_t>(index) < list.size() ? &list[index] : nullptr;
}

const tw_value_info *tw_program_input(const tw_program *program, int32_t index) {
  return program ? element(program->info.inputs, index) : nullptr;
}
const tw_value_info *tw_program_output(const tw_program *program, int32_t index) {
  return program ? element(program->info.outputs, index) : nullptr;
}
const tw_fixed_output *tw_program_fixed_output(const tw_program *program, int32_t index) {
  return program ? element(program->info.fixedOutputs, index) : nullptr;
}
const tw_value_info *tw_program_state(const tw_program *program, int32_t index) {
  return program ? element(program->info.state, index) : nullptr;
}
const tw_symbol_info *tw_program_symbol(const tw_program *program, int32_t index) {
  return program ? element(program->info.symbols, index) : nullptr;
}
const tw_dispatch_info *tw_program_dispatch(const tw_program *program, int32_t index) {
  return program ? element(program->info.dispatches, index) : nullptr;
}

int32_t tw_program_find_input(const tw_program *program, const char *name) {
  return program && name ? findByName(program->info.inputs, name) : -1;
}
int32_t tw_program_find_output(const tw_program *program, const char *name) {
  return program && name ? findByName(program->info.outputs, name) : -1;
}
int32_t tw_program_find_state(const tw_program *program, const char *name) {
  return program && name ? findByName(program->info.state, name) : -1;
}

/// `count` elements at `data`, checked.
static Result<std::span<const tw_tensor>> tensors(const char *function, const char *what,
                                                  const tw_tensor *data, int32_t count) {
  if (count < 0 || (count > 0 && !data))
    return invalid(
        fmt::format("{}: {} {} at {}", function, count, what, data ? "a valid address" : "NULL"));
  return std::span<const tw_tensor>(data, count);
}

tw_status *tw_program_output_sizes(const tw_program *program, const tw_tensor *inputs,
                                   int32_t inputCount, int32_t output, int64_t *sizes,
                                   int32_t rank) {
  return guarded([&]() -> Status {
    const char *name = "tw_program_output_sizes";
    if (!program)
      return invalid(fmt::format("{}: program is NULL", name));
    const tw_value_info *value = tw_program_output(program, output);
    if (!value)
      return invalid(fmt::format("{}: there is no output {}, the program has {}", name, output,
                                 program->info.outputs.size()));
    if (rank != value->rank || (rank > 0 && !sizes))
      return invalid(fmt::format("{}: output \"{}\" has {} sizes, but there is room for {} at {}",
                                 name, value->name, value->rank, rank,
                                 sizes ? "a valid address" : "NULL"));
    TW_ASSIGN(auto given, tensors(name, "inputs", inputs, inputCount));
    TW_ASSIGN(auto all, Instance::outputSizesFor(program->loaded, given));
    std::copy(all[output].begin(), all[output].end(), sizes);
    return {};
  });
}

tw_status *tw_program_work(const tw_program *program, const tw_tensor *inputs, int32_t inputCount,
                           tw_dispatch_work *work, int32_t count) {
  return guarded([&]() -> Status {
    const char *name = "tw_program_work";
    if (!program)
      return invalid(fmt::format("{}: program is NULL", name));
    TW_ASSIGN(auto given, tensors(name, "inputs", inputs, inputCount));
    const Metadata &metadata = program->loaded->metadata();
    if (count != static_cast<int32_t>(metadata.dispatches.size()) || (count > 0 && !work))
      return invalid(
          fmt::format("{}: the program has {} dispatches, but there is room for {} at {}", name,
                      metadata.dispatches.size(), count, work ? "a valid address" : "NULL"));
    SymbolValues symbols;
    TW_TRY(checkInputs(metadata, given, symbols, InputUse::Sizes));
    auto value = [&](const rt::Size &size) { return size.in(symbols).value_or(-1); };
    for (int32_t i = 0; i < count; ++i) {
      const DispatchWork &of = metadata.dispatches[i].work;
      work[i] = {value(of.flops), value(of.weightBytes), value(of.readBytes),
                 value(of.writtenBytes)};
    }
    return {};
  });
}

// --- Instances
// -------------------------------------------------------------------------------------

tw_status *tw_instance_create(const tw_program *program, const tw_instance_options *options,
                              tw_instance **instance) {
  return guarded([&]() -> Status {
    if (!instance)
      return invalid("tw_instance_create: instance is NULL");
    *instance = nullptr;
    if (!program)
      return invalid("tw_instance_create: program is NULL");
    constexpr size_t least = offsetof(tw_instance_options, graphs);
    TW_ASSIGN(auto wanted, readOptions(options, least, "tw_instance_options"));
    auto graphs = static_cast<int32_t>(wanted.graphs);
    if (graphs != TW_GRAPHS_AUTO && graphs != TW_GRAPHS_OFF)
      return invalid(fmt::format("tw_instance_create: graphs is {}, but {} and {} are possible",
                                 graphs, static_cast<int32_t>(TW_GRAPHS_AUTO),
                                 static_cast<int32_t>(TW_GRAPHS_OFF)));
    TW_ASSIGN(auto created,
              Instance::create(program->loaded, wanted.threads, graphs == TW_GRAPHS_AUTO));
    *instance = new tw_instance{std::move(created)};
    return {};
  });
}

void tw_instance_free(tw_instance *instance) { delete instance; }

tw_status *tw_instance_run(tw_instance *instance, const tw_tensor *inputs, int32_t inputCount,
                           const tw_tensor *outputs, int32_t outputCount) {
  return guarded([&]() -> Status {
    const char *name = "tw_instance_run";
    if (!instance)
      return invalid("tw_instance_run: instance is NULL");
    TW_ASSIGN(auto given, tensors(name, "inputs", inputs, inputCount));
    TW_ASSIGN(auto wanted, tensors(name, "outputs", outputs, outputCount));
    return instance->instance->run(given, {.outputs = wanted});
  });
}

tw_status *tw_instance_run_allocating(tw_instance *instance, const tw_tensor *inputs,
                                      int32_t inputCount, tw_allocate_callback allocate,
                                      void *user) {
  return guarded([&]() -> Status {
    const char *name = "tw_instance_run_allocating";
    if (!instance || !allocate)
      return invalid(fmt::format("{}: {} is NULL", name, instance ? "allocate" : "instance"));
    TW_ASSIGN(auto given, tensors(name, "inputs", inputs, inputCount));
    return instance->instance->run(given, {.allocate = allocate, .user = user});
  });
}

tw_status *tw_instance_enqueue(tw_instance *instance, void *stream, const tw_tensor *inputs,
                               int32_t inputCount, const tw_tensor *outputs, int32_t outputCount) {
  return guarded([&]() -> Status {
    const char *name = "tw_instance_enqueue";
    if (!instance)
      return invalid(fmt::format("{}: instance is NULL", name));
    TW_ASSIGN(auto given, tensors(name, "inputs", inputs, inputCount));
    TW_ASSIGN(auto wanted, tensors(name, "outputs", outputs, outputCount));
    return instance->instance->enqueue(stream, given, {.outputs = wanted});
  });
}

tw_status *tw_instance_enqueue_allocating(tw_instance *instance, void *stream,
                                          const tw_tensor *inputs, int32_t inputCount,
                                          tw_allocate_callback allocate, void *user) {
  return guarded([&]() -> Status {
    const char *name = "tw_instance_enqueue_allocating";
    if (!instance || !allocate)
      return invalid(fmt::format("{}: {} is NULL", name, instance ? "allocate" : "instance"));
    TW_ASSIGN(auto given, tensors(name, "inputs", inputs, inputCount));
    return instance->instance->enqueue(stream, given, {.allocate = allocate, .user = user});
  });
}

tw_status *tw_instance_wait(tw_instance *instance) {
  return guarded([&]() -> Status {
    if (!instance)
      return invalid("tw_instance_wait: instance is NULL");
    return instance->instance->wait();
  });
}

const tw_tensor *tw_instance_output(const tw_instance *instance, int32_t index) {
  return instance ? instance->instance->output(index) : nullptr;
}

static Status checkStateCall(const tw_instance *instance, const char *name, const void *data,
                             int64_t bytes) {
  if (!instance || !name)
    return invalid(fmt::format("{} is NULL", instance ? "the name" : "the instance"));
  if (bytes < 0 || (bytes > 0 && !data))
    return invalid(fmt::format("state \"{}\": {} bytes at {}", name, bytes,
                               data ? "a valid address" : "NULL"));
  return {};
}

tw_status *tw_instance_state_get(tw_instance *instance, const char *name, void *data,
                                 int64_t bytes) {
  return guarded([&]() -> Status {
    TW_TRY(checkStateCall(instance, name, data, bytes));
    return instance->instance->getState(name, data, bytes);
  });
}

tw_status *tw_instance_state_set(tw_instance *instance, const char *name, const void *data,
                                 int64_t bytes) {
  return guarded([&]() -> Status {
    TW_TRY(checkStateCall(instance, name, data, bytes));
    return instance->instance->setState(name, data, bytes);
  });
}

tw_status *tw_instance_state_reset(tw_instance *instance, const char *name) {
  return guarded([&]() -> Status {
    if (!instance)
      return invalid("tw_instance_state_reset: instance is NULL");
    return instance->instance->resetState(name ? std::optional<std::string_view>(name)
                                               : std::nullopt);
  });
}

int32_t tw_instance_threads(const tw_instance *instance) {
  return instance ? instance->instance->threads() : 0;
}

tw_memory_info tw_instance_memory(const tw_instance *instance) {
  return instance ? instance->instance->memory() : tw_memory_info{};
}

tw_graph_info tw_instance_graphs(const tw_instance *instance) {
  return instance ? instance->instance->graphs() : tw_graph_info{};
}

tw_status *tw_instance_set_cancel(tw_instance *instance, tw_cancel_callback is_cancelled,
                                  void *user) {
  return guarded([&]() -> Status {
    if (!instance)
      return invalid("tw_instance_set_cancel: instance is NULL");
    return instance->instance->setCancel(is_cancelled, user);
  });
}

// --- Tracing
// ---------------------------------------------------------------------------------------

tw_status *tw_instance_set_trace(tw_instance *instance, tw_trace_callback callback, void *user) {
  return guarded([&]() -> Status {
    if (!instance)
      return invalid("tw_instance_set_trace: instance is NULL");
    return instance->instance->setTrace(callback, user);
  });
}

Status tw::rt::watchDispatches(tw_instance *instance, bool on) {
  return instance->instance->watchDispatches(on);
}

Result<std::vector<Trace::Span>> tw::rt::takeSpans(tw_instance *instance) {
  return instance->instance->takeSpans();
}

Status tw::rt::watchThreads(tw_instance *instance, bool on) {
  return instance->instance->watchThreads(on);
}

Status tw::rt::repeatDispatches(tw_instance *instance, int64_t ns) {
  return instance->instance->repeatDispatches(ns);
}

Result<std::vector<std::vector<ThreadPool::Piece>>> tw::rt::takePieces(tw_instance *instance) {
  return instance->instance->takePieces();
}

const Metadata &tw::rt::metadataOf(const tw_program *program) {
  return program->loaded->metadata();
}

std::vector<int64_t> tw::rt::temporaryBytes(const tw_instance *instance) {
  return instance->instance->temporaryBytes();
}

Status tw::rt::observe(tw_instance *instance, Observer observer) {
  return instance->instance->observe(std::move(observer));
}

tw_status *tw_instance_record(tw_instance *instance, int32_t on) {
  return guarded([&]() -> Status {
    if (!instance)
      return invalid("tw_instance_record: instance is NULL");
    return instance->instance->record(on != 0);
  });
}

tw_dispatch_times tw_instance_recorded(const tw_instance *instance, int32_t dispatch) {
  return instance ? instance->instance->trace().times(dispatch) : tw_dispatch_times{};
}
