// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace tw::python {

/// Lets go of Python's lock while it lives. When Python has ended, a thread that asks for the lock
/// is ended by pthread_exit (before Python 3.14), which unwinds its frames: through destructors and
/// nanobind, which end the process then. So such a thread stays here for as long as there is one.
class Unlocked {
public:
  Unlocked() : state(PyEval_SaveThread()) {}
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state);
    } catch (abi::__forced_unwind &) {
      while (true)
        pause();
    }
  }

private:
  PyThreadState *state;
};

} // namespace tw::python
