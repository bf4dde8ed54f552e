// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops and branches of kernels. Bodies are functions from values to values: nothing is assigned,
// what a loop carries is given and returned. Included by tilewright/Kernel.h.
#ifndef TILEWRIGHT_KERNEL_CONTROL_H
#define TILEWRIGHT_KERNEL_CONTROL_H

#include "tilewright/kernel/Values.h"

#include <functional>
#include <tuple>
#include <utility>

namespace tw::kernel {
namespace detail {

using Refs = std::vector<Ref>;
using Body = std::function<Refs(const Refs &)>;

/// How the states of two parts of a loop become one, if there is a way.
struct Merge {
  Body combine = nullptr;
  bool isCommutative = false;
};

/// The core of forLoop: the body takes the loop variable and the carried values.
Refs forLoop(const Index &begin, const Index &end, const Index &step, const Refs &inits,
             const Body &body, const Merge &merge, Here here);
Refs ifThenElse(const Scalar &condition, const Body &then, const Body &otherwise, Here here);
/// An element, or nothing where there is none (after an error).
Ref at(const Refs &refs, size_t index);
/// A number that is carried as an index is not carried as i64.
Ref carriedRef(const Index &index);
inline Ref carriedRef(const Handle &value) { return value.ref(); }

template <class T>
concept Carried = std::same_as<T, Tile> || std::same_as<T, Index> || std::same_as<T, Scalar>;

/// What a value given to carry() is carried as: sizes and integers are indices.
template <class T>
using CarriedAs =
    std::conditional_t<Carried<T>, T,
                       std::conditional_t<std::is_convertible_v<T, Index>, Index, Scalar>>;

/// What is carried, but is no handle yet.
template <class T>
concept Carriable = !Carried<T> && std::is_convertible_v<T, CarriedAs<T>>;

template <class T>
Refs pack(const T &value) {
  return {carriedRef(value)};
}
template <class... T>
Refs pack(const std::tuple<T...> &values) {
  return std::apply([](const T &...value) { return Refs{carriedRef(value)...}; }, values);
}

/// Calls f with leading arguments and the values of refs from `from` on.
template <class... T, class F, class... Lead>
auto applyTo(const F &f, const Refs &refs, size_t from, const Lead &...lead) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return f(lead..., T(at(refs, from + I))...);
  }(std::index_sequence_for<T...>());
}

template <class State>
struct StateOf; // how a state (one value, or a tuple) meets functions of its values

template <Carried T>
struct StateOf<T> {
  static T unpack(const Refs &refs) { return T(at(refs, 0)); }
  template <class F>
  static Refs body(const F &f, const Refs &refs) {
    constexpr bool fits = std::is_invocable_r_v<T, F, Index, T>;
    static_assert(fits, "the body of forLoop takes (Index, carried value) and returns that value");
    if constexpr (fits)
      return pack(T(applyTo<T>(f, refs, 1, Index(at(refs, 0)))));
    else
      return {};
  }
  template <class F>
  static Refs combine(const F &f, const Refs &refs) {
    constexpr bool fits = std::is_invocable_r_v<T, F, T, T>;
    static_assert(fits, "combine takes two carried values and returns one");
    if constexpr (fits)
      return pack(T(applyTo<T, T>(f, refs, 0)));
    else
      return {};
  }
};

template <Carried... T>
struct StateOf<std::tuple<T...>> {
  using State = std::tuple<T...>;
  static State unpack(const Refs &refs) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return State(T(at(refs, I))...);
    }(std::index_sequence_for<T...>());
  }
  template <class F>
  static Refs body(const F &f, const Refs &refs) {
    constexpr bool fits = std::is_invocable_r_v<State, F, Index, T...>;
    static_assert(fits, "the body of forLoop takes (Index, carried values...) and returns "
                        "carry(...) of as many values");
    if constexpr (fits)
      return pack(State(applyTo<T...>(f, refs, 1, Index(at(refs, 0)))));
    else
      return {};
  }
  template <class F>
  static Refs combine(const F &f, const Refs &refs) {
    constexpr bool fits = std::is_invocable_r_v<State, F, T..., T...>;
    static_assert(fits, "combine takes the values of two states, one after the other, and returns "
                        "carry(...) of one");
    if constexpr (fits)
      return pack(State(applyTo<T..., T...>(f, refs, 0)));
    else
      return {};
  }
};

/// What a branch gives back for what its body returns.
template <class T>
struct ResultAs {
  using Type = CarriedAs<T>;
};
template <class... T>
struct ResultAs<std::tuple<T...>> {
  using Type = std::tuple<T...>;
};

struct NoCombine {};

/// What commutative() gives.
template <class Combine>
struct Commutative {
  Combine combine;
};

template <class State>
Merge mergeOf(const NoCombine &) {
  return {};
}
template <class State, class Combine>
Merge mergeOf(const Combine &combine) {
  return {[&](const Refs &refs) { return StateOf<State>::combine(combine, refs); }};
}
template <class State, class Combine>
Merge mergeOf(const Commutative<Combine> &merge) {
  return {mergeOf<State>(merge.combine).combine, true};
}

template <class State, class F, class Combine>
State loop(const Index &begin, const Index &end, const Index &step, const State &inits,
           const F &body, const Combine &combine, Here here) {
  return StateOf<State>::unpack(forLoop(
      begin, end, step, pack(inits),
      [&](const Refs &refs) { return StateOf<State>::body(body, refs); }, mergeOf<State>(combine),
      here));
}

} // namespace detail

/// Several values as one: what forLoop and ifThenElse are given and give back.
template <class... T>
std::tuple<detail::CarriedAs<T>...> carry(const T &...values) {
  return {detail::CarriedAs<T>(values)...};
}

/// Runs body(i) for i = begin, begin + step, ... before end (after it, for a negative step).
template <class Body>
  requires std::is_invocable_v<Body, Index>
void forLoop(const Index &begin, const Index &end, const Index &step, const Body &body,
             Here here = Here::current()) {
  auto run = [&](const detail::Refs &refs) {
    body(Index(detail::at(refs, 0)));
    return detail::Refs();
  };
  detail::forLoop(begin, end, step, {}, run, {}, here);
}

/// A combine that gives the same in whatever order it is handed the parts of a range:
///   forLoop(0, K, 1, init, body, commutative([](Tile a, Tile b) { return a + b; }))
template <class Combine>
detail::Commutative<Combine> commutative(const Combine &combine) {
  return {combine};
}

/// The same with a value that is carried from one iteration to the next, beginning with `init`:
///   Tile sum = forLoop(0, K, 1, zeros({M}, f32), [&](Index k, Tile sum) { return sum + ...; });
/// `combine(a, b)`, optional, says that the range may be cut in parts, each begun with `init`, and
/// that their results combine so, in order, or in any where it is commutative(...). Then workers
/// may share the loop.
template <detail::Carried T, class Body, class Combine = detail::NoCombine>
T forLoop(const Index &begin, const Index &end, const Index &step, const T &init, const Body &body,
          const Combine &combine = {}, Here here = Here::current()) {
  return detail::loop(begin, end, step, init, body, combine, here);
}

/// The same with a number: integers and sizes are carried as Index, others as Scalar.
template <detail::Carriable T, class Body, class Combine = detail::NoCombine>
detail::CarriedAs<T> forLoop(const Index &begin, const Index &end, const Index &step, const T &init,
                             const Body &body, const Combine &combine = {},
                             Here here = Here::current()) {
  return detail::loop(begin, end, step, detail::CarriedAs<T>(init), body, combine, here);
}

/// The same with several values:
///   auto [a, b] = forLoop(0, K, 1, carry(a0, b0),
///                         [&](Index k, Tile a, Tile b) { return carry(a + ..., b * ...); });
/// combine takes the values of both states: combine(a1, b1, a2, b2).
template <detail::Carried... T, class Body, class Combine = detail::NoCombine>
std::tuple<T...> forLoop(const Index &begin, const Index &end, const Index &step,
                         const std::tuple<T...> &inits, const Body &body,
                         const Combine &combine = {}, Here here = Here::current()) {
  return detail::loop(begin, end, step, inits, body, combine, here);
}

/// Runs one of two bodies; both give the same: nothing, a value, or carry(...) of some.
template <class Then, class Else>
auto ifThenElse(const Scalar &condition, const Then &then, const Else &otherwise,
                Here here = Here::current()) {
  using Result = std::invoke_result_t<Then>;
  constexpr bool same = std::is_same_v<Result, std::invoke_result_t<Else>>;
  static_assert(same, "both branches of ifThenElse return the same type");
  if constexpr (!same) {
    return Result();
  } else if constexpr (std::is_void_v<Result>) {
    auto run = [](const auto &body) {
      return [&](const detail::Refs &) { return body(), detail::Refs(); };
    };
    detail::ifThenElse(condition, run(then), run(otherwise), here);
  } else {
    using State = typename detail::ResultAs<Result>::Type;
    auto run = [](const auto &body) {
      return [&](const detail::Refs &) { return detail::pack(State(body())); };
    };
    return detail::StateOf<State>::unpack(
        detail::ifThenElse(condition, run(then), run(otherwise), here));
  }
}

/// Runs a body, which stores something, where a condition holds.
template <class Then>
void ifThen(const Scalar &condition, const Then &then, Here here = Here::current()) {
  ifThenElse(condition, [&] { then(); }, [] {}, here);
}

} // namespace tw::kernel

#endif // TILEWRIGHT_KERNEL_CONTROL_H
