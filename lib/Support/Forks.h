// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forks of a process in which threads compile. A child has its parent's memory and none of its
// other threads: what one of them had begun stays begun, a static variable of LLVM's or lld's state
// among it, and the child waits for it for ever. So a fork waits until each thread that compiles is
// between two parts of its work, which goes on once the process is forked. Before glibc 2.36 such a
// fork keeps others from registering and removing handlers: a thread rests where it closes a
// library.
#pragma once

namespace tw {

/// While it lives, the process is not forked, but by this thread or where it rests. Made on a
/// thread that does not compile yet.
class Compiling {
public:
  /// Without effect if `isSo` is false: for threads that do what another one does.
  explicit Compiling(bool isSo = true);
  ~Compiling();
  Compiling(const Compiling &) = delete;
  Compiling &operator=(const Compiling &) = delete;

private:
  const bool isSo;
};

/// Whether this thread has a Compiling and does not rest.
bool isCompiling();

/// While it lives, a thread that compiles does not: it waits for others, runs what was compiled, or
/// calls what is not ours. Without effect on a thread that does not compile.
class Resting {
public:
  Resting();
  ~Resting();
  Resting(const Resting &) = delete;
  Resting &operator=(const Resting &) = delete;

private:
  bool wasCompiling;
};

/// Rests for as long as a fork is under way. The caller holds no lock.
void restForForks();

} // namespace tw
