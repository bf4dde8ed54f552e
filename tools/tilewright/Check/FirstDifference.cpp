// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FirstDifference.h"
#include "InterpretedDispatch.h"
#include "ValueStore.h"
#include "runtime/Observe.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Execute.h"
#include "tools/tilewright/Program/Program.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

namespace tw::cli {

namespace {

using Sizes = std::vector<int64_t>;

constexpr size_t mostElements = 10;

int64_t product(const Sizes &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// How many elements of a tensor of these sizes are the value's.
int64_t elementsOf(const rt::SourceValue &value, const Sizes &held) {
  return product(held) / value.part.whole * value.part.count;
}

/// The sizes of a value that a tensor of these sizes holds; nothing where they do not tell.
std::optional<Sizes> valueSizes(const rt::SourceValue &value, const Sizes &held) {
  Sizes sizes;
  std::vector<size_t> open;
  for (size_t d = 0; d < value.sizes.size(); ++d) {
    if (!value.sizes[d].fixed)
      open.push_back(d);
    sizes.push_back(value.sizes[d].fixed.value_or(1));
  }
  int64_t known = product(sizes), count = elementsOf(value, held);
  if (open.size() == 1 && known > 0) {
    sizes[open[0]] = count / known;
  } else if (!open.empty()) {
    if (held.size() != sizes.size())
      return std::nullopt;
    for (size_t i = 0; i < held.size(); ++i)
      sizes[value.order.empty() ? i : static_cast<size_t>(value.order[i])] = held[i];
  }
  return product(sizes) == count ? std::optional(sizes) : std::nullopt;
}

enum class Direction { ToValue, FromValue };

/// Copies between a value and as many elements that have its dimensions in `order`.
void copy(HostTensor &value, const std::vector<int> &order, std::byte *held, Direction direction) {
  if (order.empty()) {
    bool reads = direction == Direction::ToValue;
    std::memcpy(reads ? value.bytes().data() : held, reads ? held : value.bytes().data(),
                value.byteSize());
    return;
  }
  size_t width = static_cast<size_t>(info(value.dtype()).bytes), rank = order.size();
  Sizes strides(rank, 1), at(rank, 0);
  for (size_t d = rank; d-- > 1;)
    strides[d - 1] = strides[d] * value.sizes()[d];
  int64_t element = 0;
  for (int64_t i = 0; i < value.count(); ++i, held += width) {
    std::byte *own = value.bytes().data() + static_cast<size_t>(element) * width;
    std::memcpy(direction == Direction::ToValue ? own : held,
                direction == Direction::ToValue ? held : own, width);
    for (size_t place = rank; place-- > 0;) {
      size_t d = static_cast<size_t>(order[place]);
      element += strides[d];
      if (++at[d] < value.sizes()[d])
        break;
      element -= strides[d] * value.sizes()[d];
      at[d] = 0;
    }
  }
}

/// Copies between a value and the tensor that holds it.
void copy(HostTensor &value, const rt::SourceValue &known, void *memory, Direction direction) {
  auto *held = static_cast<std::byte *>(memory);
  auto [begin, count, whole] = known.part;
  if (count == whole)
    return copy(value, known.order, held, direction);
  size_t width = static_cast<size_t>(info(value.dtype()).bytes),
         bytes = static_cast<size_t>(count) * width, pitch = static_cast<size_t>(whole) * width;
  std::vector<std::byte> part(value.byteSize());
  if (direction == Direction::FromValue)
    copy(value, known.order, part.data(), direction);
  held += static_cast<size_t>(begin) * width;
  for (size_t at = 0; at < part.size(); at += bytes, held += pitch)
    std::memcpy(direction == Direction::ToValue ? part.data() + at : held,
                direction == Direction::ToValue ? held : part.data() + at, bytes);
  if (direction == Direction::ToValue)
    copy(value, known.order, part.data(), direction);
}

/// Counts how often each value has been computed in a call.
using Rounds = std::unordered_map<int64_t, int64_t>;

/// Keeps the values of the reference that are wanted.
class Recorder {
public:
  Recorder(const rt::Metadata &metadata, const std::set<int64_t> &wanted, ValueStore &store)
      : metadata(metadata), wanted(wanted), store(store) {}

  void observe(int32_t dispatch, bool begins, void *const *buffers, const int64_t *scalars) {
    const auto &all = metadata.dispatches[dispatch].buffers;
    for (size_t i = 0; i < all.size() && !begins && status; ++i)
      for (const rt::SourceValue &value : all[i].values)
        if (int64_t round = rounds[value.number]++; wanted.contains(value.number) && status)
          status = keep({value.number, round}, all[i], value, buffers[i], scalars, dispatch);
  }

  void beginCall() { rounds.clear(); }
  Status status;

private:
  Status keep(ValueStore::Key key, const rt::CallBuffer &buffer, const rt::SourceValue &value,
              void *memory, const int64_t *scalars, int32_t dispatch) {
    auto held = sizesOf(buffer, scalars);
    auto sizes = held ? valueSizes(value, *held) : std::nullopt;
    if (!sizes)
      return {};
    TW_ASSIGN(HostTensor tensor, HostTensor::create(buffer.dtype, *sizes));
    copy(tensor, value, memory, Direction::ToValue);
    return store.put(key, tensor, dispatch);
  }

  const rt::Metadata &metadata;
  const std::set<int64_t> &wanted;
  ValueStore &store;
  Rounds rounds;
};

/// Compares the results of each dispatch with the reference's, which then take their place.
class Judge {
public:
  /// `interpreter` may be null.
  Judge(const rt::Metadata &metadata, const ValueStore &store, ToleranceChoice choice,
        DispatchInterpreter *interpreter)
      : metadata(metadata), store(store), choice(choice), interpreter(interpreter) {}

  void observe(int32_t dispatch, bool begins, void *const *buffers, const int64_t *scalars) {
    const auto &all = metadata.dispatches[dispatch].buffers;
    if (begins) {
      unknownInputs.clear();
      for (size_t i = 0; i < all.size(); ++i)
        if (auto known = unknown.find(buffers[i]); !all[i].isResult && known != unknown.end())
          unknownInputs.insert(known->second.begin(), known->second.end());
      if (interpreter && status)
        status = interpreter->begin(dispatch, buffers, scalars);
      return;
    }
    std::set<int32_t> behind = unknownInputs; // a result that is no value
    behind.insert(dispatch);
    // The reference's values will take their places.
    auto written = interpreter ? interpreter->written(dispatch, buffers)
                               : Result<std::vector<HostTensor>>(std::vector<HostTensor>());
    bool isCompared = false, wasFound = found.first.has_value();
    for (size_t i = 0; i < all.size() && status; ++i) {
      if (!all[i].isResult)
        continue;
      auto compared = judge(dispatch, all[i], buffers[i], scalars);
      if (!compared)
        status = compared.error();
      else if (*compared)
        unknown.erase(buffers[i]);
      else
        unknown[buffers[i]] = behind;
      isCompared |= compared && *compared;
    }
    if (isCompared)
      compared.insert(dispatch), within.insert(unknownInputs.begin(), unknownInputs.end());
    else
      found.unknown.emplace(dispatch, whyUnknown(all));
    ++runs[dispatch];
    bool isFirst = !wasFound && found.first;
    if (interpreter && status &&
        (isFirst || interpreted.insert(metadata.dispatches[dispatch].kernel).second))
      status = written ? interpret(dispatch, *written, isFirst) : Status(written.error());
  }

  void beginCall(size_t number) {
    call = number;
    rounds.clear(), runs.clear(), unknown.clear();
  }
  DispatchComparison result() && {
    std::erase_if(within, [&](int32_t each) { return compared.contains(each); });
    std::erase_if(found.unknown, [&](auto &each) {
      return compared.contains(each.first) || within.contains(each.first);
    });
    found.compared.assign(compared.begin(), compared.end());
    found.within.assign(within.begin(), within.end());
    differing.erase(found.first ? found.first->dispatch : -1);
    found.others.assign(differing.begin(), differing.end());
    return std::move(found);
  }
  Status status;

private:
  /// Whether a result was compared with anything: with one value, or one for each of its parts.
  Result<bool> judge(int32_t dispatch, const rt::CallBuffer &buffer, void *memory,
                     const int64_t *scalars) {
    std::map<int64_t, std::pair<const rt::SourceValue *, ValueStore::Key>> parts; // by begin
    auto held = sizesOf(buffer, scalars);
    for (const rt::SourceValue &value : buffer.values) {
      ValueStore::Key own{value.number, rounds[value.number]++};
      if (store.has(own) && isLike(value, store.sizesOf(own), held))
        parts.try_emplace(value.part.begin, &value, own);
    }
    for (auto &[begin, part] : parts)
      TW_TRY(judge(dispatch, buffer.dtype, memory, *part.first, part.second));
    return !parts.empty();
  }

  Status judge(int32_t dispatch, DType dtype, void *memory, const rt::SourceValue &known,
               ValueStore::Key key) {
    TW_ASSIGN(HostTensor expected, store.get(key));
    TW_ASSIGN(HostTensor actual, HostTensor::create(dtype, expected.sizes()));
    copy(actual, known, memory, Direction::ToValue);
    TW_ASSIGN(Comparison comparison,
              compare(actual, expected, metadata.dispatches[dispatch].name, choice));
    if (!comparison.same()) {
      differing.insert(dispatch);
      if (!found.first)
        found.first =
            DispatchDifference{call,
                               dispatch,
                               runs[dispatch],
                               store.dispatchOf(key),
                               comparison,
                               worstElements(actual, expected, comparison.tolerance, mostElements),
                               {unknownInputs.begin(), unknownInputs.end()},
                               {}};
    }
    if (expected.dtype() == dtype)
      copy(expected, known, memory, Direction::FromValue);
    return {};
  }

  static const char *whyUnknown(const std::vector<rt::CallBuffer> &buffers) {
    bool isValue =
        std::ranges::any_of(buffers, [](const rt::CallBuffer &b) { return !b.values.empty(); });
    return isValue
               ? "the reference target computes no such value in this call"
               : "it computes no value of the model, but a part of one, or one laid out otherwise";
  }

  /// Compares what a dispatch has written with what the interpreter makes of its kernel.
  Status interpret(int32_t dispatch, std::span<const HostTensor> written, bool isFirst) {
    std::string why;
    auto wanted = interpreter->interpret(dispatch, why);
    if (!wanted || wanted->size() != written.size()) {
      found.notInterpreted.emplace_back(dispatch, why);
      return {};
    }
    bool same = true;
    for (size_t i = 0; i < written.size(); ++i) {
      TW_ASSIGN(Comparison comparison,
                compare(written[i], (*wanted)[i], metadata.dispatches[dispatch].name, choice));
      if (!comparison.same())
        found.kernels.push_back(
            {dispatch, i, comparison,
             worstElements(written[i], (*wanted)[i], comparison.tolerance, mostElements)});
      same &= comparison.same();
    }
    ++found.interpreted;
    if (isFirst)
      found.first->isAsInterpreted = same;
    return {};
  }

  /// Whether a value of these sizes can be what a tensor holds.
  static bool isLike(const rt::SourceValue &value, const Sizes &sizes,
                     const std::optional<Sizes> &held) {
    bool isLarge =
        held ? elementsOf(value, *held) == product(sizes) : value.part.count == value.part.whole;
    return isLarge && (value.order.empty() || value.order.size() == sizes.size());
  }

  const rt::Metadata &metadata;
  const ValueStore &store;
  ToleranceChoice choice;
  DispatchInterpreter *interpreter;
  std::set<std::string> interpreted; // kernels
  size_t call = 0;
  Rounds rounds;
  std::unordered_map<int32_t, int64_t> runs; // of each dispatch in this call
  // Memory with a result that was not compared: of which dispatches it comes.
  std::unordered_map<void *, std::set<int32_t>> unknown;
  std::set<int32_t> unknownInputs, compared, within, differing;
  DispatchComparison found;
};

/// State of one instance as another one has it: of the same model.
Status copyState(const tw_program *program, tw_instance *from, tw_instance *to) {
  for (int i = 0; i < tw_program_describe(program)->state_count; ++i) {
    const tw_value_info *state = tw_program_state(program, i);
    TW_ASSIGN(HostTensor value, HostTensor::create(static_cast<DType>(state->dtype),
                                                   {state->sizes, state->sizes + state->rank}));
    auto bytes = static_cast<int64_t>(value.byteSize());
    TW_TRY(fromRuntime(tw_instance_state_get(from, state->name, value.bytes().data(), bytes)));
    TW_TRY(fromRuntime(tw_instance_state_set(to, state->name, value.bytes().data(), bytes)));
  }
  return {};
}

Status runOnce(const tw_program *program, tw_instance *instance, const Call &call) {
  TW_ASSIGN(std::vector<HostTensor> inputs, readInputs(interfaceOf(program), call.inputs));
  return execute(instance, inputs);
}

/// The numbers of the values that dispatches of a program compute.
std::set<int64_t> valuesOf(const rt::Metadata &metadata) {
  std::set<int64_t> numbers;
  for (const rt::DispatchInfo &dispatch : metadata.dispatches)
    for (const rt::CallBuffer &buffer : dispatch.buffers)
      for (const rt::SourceValue &value : buffer.values)
        numbers.insert(value.number);
  return numbers;
}

} // namespace

Result<DispatchComparison> compareDispatches(const CheckedProgram &compiled,
                                             const CheckedProgram &reference,
                                             std::span<const Call> calls, ToleranceChoice choice,
                                             int threads, bool interprets) {
  TW_ASSIGN(ValueStore store, ValueStore::create());
  std::set<int64_t> wanted = valuesOf(compiled.metadata);
  Recorder recorder(reference.metadata, wanted, store);
  DispatchInterpreter interpreter(compiled.metadata);
  Judge judge(compiled.metadata, store, choice, interprets ? &interpreter : nullptr);
  TW_ASSIGN(InstancePtr truth, createInstance(reference.program, threads));
  TW_ASSIGN(InstancePtr checked, createInstance(compiled.program, threads));
  TW_TRY(rt::observe(truth.get(), [&](auto... what) { recorder.observe(what...); }));
  TW_TRY(rt::observe(checked.get(), [&](auto... what) { judge.observe(what...); }));
  for (size_t i = 0; i < calls.size(); ++i) {
    TW_TRY(copyState(reference.program, truth.get(), checked.get()));
    store.clear();
    recorder.beginCall();
    judge.beginCall(i);
    TW_TRY(runOnce(reference.program, truth.get(), calls[i]));
    TW_TRY(recorder.status);
    TW_TRY(runOnce(compiled.program, checked.get(), calls[i]));
    TW_TRY(judge.status);
  }
  return std::move(judge).result();
}

} // namespace tw::cli
