// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops and branches: what python/tilewright/kernel/_control.py makes `for`, `with` and functions
// of.
#include "Language/Operations/Control.h"
#include "Values.h"
#include <nanobind/stl/string.h>
#include <optional>

namespace nb = nanobind;
using namespace tw::kernel::detail;

namespace tw::python::kernel {

namespace {

Refs carriedRefs(nb::handle values) {
  Refs refs;
  for (nb::handle value : values)
    refs.push_back(carriedOf(value));
  return refs;
}

nb::tuple wrapAll(const Refs &refs) {
  nb::list values;
  for (const Ref &ref : refs)
    values.append(wrap(ref));
  return nb::tuple(values);
}

/// A function of Python from values to a tuple of values.
Body bodyOf(const nb::object &function) {
  return [function](const Refs &refs) { return carriedRefs(function(*wrapAll(refs))); };
}

/// A loop or branch that is being traced, and has to end in the same trace.
template <typename Open>
class Construct {
public:
  Construct() : place(here()) {}

  void begin(Tracer &tracer, Open begun) {
    if (open && trace == tracer.program().body.id)
      tracer.fail(here(), "a branch begins inside of itself",
                  "make one for each: `with tk.when(condition):`");
    open.emplace(std::move(begun));
    trace = tracer.program().body.id;
    depth = tracer.depth();
  }

  /// What is open, if nothing within it is; gone after that.
  Open take(Tracer &tracer) {
    if (!open || trace != tracer.program().body.id)
      tracer.fail(place, "a loop or branch is ended in another kernel than it began in",
                  "use it where it is made");
    if (depth != tracer.depth())
      tracer.fail(tracer.deepest().here,
                  tracer.deepest().what + " has not ended, but what is around it ends",
                  "loops of the program are `for k in tk.loop(n)`, and nothing else takes their "
                  "next element");
    Open taken = std::move(*open);
    open.reset();
    return taken;
  }

  /// When the author's code leaves it on another way than by its end. Tells nobody yet: the next
  /// function of the language does, and the end of the kernel.
  void leaveEarly(const char *message, const char *help) {
    ActiveTrace *active = activeTrace();
    if (!open || !active || active->tracer->program().body.id != trace || active->tracer->error())
      return;
    try {
      active->tracer->fail(place, message, help);
    } catch (const Failed &) {
      open.reset();
    }
  }

  Here place;

private:
  std::optional<Open> open;
  uint64_t trace = 0;
  size_t depth = 0;
};

class Loop : public Construct<OpenLoop> {
public:
  ~Loop() {
    leaveEarly("break, return or an exception leaves a loop while it is traced",
               "a loop runs all its iterations: its bounds say when it ends, and tk.select what an "
               "iteration gives");
  }
  Loop() = default;
  Loop(const Loop &) = delete;
};

/// The loop variable, and what is carried.
nb::tuple enterLoop(Loop &loop, nb::handle begin, nb::handle end, nb::handle step, nb::handle inits,
                    bool splits) {
  return traced("loop", [&](Tracer &tracer) {
    auto bound = [&](nb::handle value, const char *what) {
      return indexOf(tracer, value, what, loop.place).ref();
    };
    OpenLoop::Range range{bound(begin, "the begin of the loop"), bound(end, "the end of the loop"),
                          bound(step, "the step of the loop")};
    OpenLoop open(tracer, range, carriedRefs(inits), splits, loop.place);
    nb::tuple values = wrapAll(open.arguments());
    loop.begin(tracer, std::move(open));
    return values;
  });
}

nb::tuple leaveLoop(Loop &loop, nb::handle yields, nb::handle combine, bool isCommutative) {
  return traced("loop", [&](Tracer &tracer) {
    OpenLoop open = loop.take(tracer);
    Merge merge{combine.is_none() ? Body() : bodyOf(nb::borrow(combine)), isCommutative};
    return wrapAll(open.finish(carriedRefs(yields), merge));
  });
}

using When = Construct<OpenBranch>;

void enterWhen(When &when, nb::handle condition) {
  traced("when", [&](Tracer &tracer) {
    Scalar test = scalarOf(tracer, condition, "when", when.place);
    when.begin(tracer, OpenBranch(tracer, test.ref(), when.place));
  });
}

void leaveWhen(When &when) {
  traced("when", [&](Tracer &tracer) {
    OpenBranch open = when.take(tracer);
    open.otherwise({});
    open.finish({});
  });
}

nb::tuple branch(nb::handle condition, nb::handle then, nb::handle otherwise) {
  return traced("branch", [&](Tracer &tracer) {
    Scalar test = scalarOf(tracer, condition, "branch", here());
    return wrapAll(
        ifThenElse(test, bodyOf(nb::borrow(then)), bodyOf(nb::borrow(otherwise)), here()));
  });
}

} // namespace

void defineControl(nb::module_ &module) {
  nb::class_<Loop>(module, "_Loop")
      .def(nb::init<>())
      .def("enter", &enterLoop, nb::arg("begin").none(), nb::arg("end").none(),
           nb::arg("step").none(), nb::arg("inits"), nb::arg("splits"))
      .def("leave", &leaveLoop, nb::arg("yields"), nb::arg("combine").none(),
           nb::arg("commutative"))
      .def("fail", [](Loop &loop, const nb::str &message, const nb::str &help) {
        traced("loop",
               [&](Tracer &tracer) { tracer.fail(loop.place, escaped(message), escaped(help)); });
      });
  nb::class_<When>(module, "_When")
      .def(nb::init<>())
      .def("enter", &enterWhen, nb::arg("condition").none())
      .def("leave", &leaveWhen)
      .def("leave_early", [](When &when) {
        when.leaveEarly("an exception leaves a branch while it is traced",
                        "the body of tk.when is traced once, to its end");
      });
  module.def("_branch", &branch, nb::arg("condition").none(), nb::arg("then"),
             nb::arg("otherwise"));
}

} // namespace tw::python::kernel
