// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loaded artifact as Python sees it: the program, and instances of it for as many calls as go on
// at the same time.
#pragma once
#include "Arguments.h"
#include "Results.h"
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tw::python {

/// What profiling saw of one dispatch of one run; times in ns of a monotonic clock.
struct Event {
  int32_t dispatch;
  int64_t begin, end;
};

class Program {
public:
  /// Loads the artifact at `path`. With a `descriptor`, the artifact is that file in memory; it is
  /// owned, and closed after the program. `threads`: of each instance, 0 for all cores, -1 for as
  /// many as PyTorch uses in calls with its tensors, and all in others. `device`: "cpu", "cuda:N",
  /// or empty for the one that the artifact was compiled for. Throws.
  Program(const std::string &path, int descriptor, int threads, const std::string &library,
          const std::string &device);
  Program(const Program &) = delete;
  ~Program();

  /// Runs once on an instance that nobody uses; a program with state has only one (RUNTIME_16 when
  /// it runs). Releases the GIL meanwhile. Throws. `threads`: 0 for those of the constructor.
  /// Inputs are where results go (Results::where). On a device work is put on the current stream,
  /// and waited for when kernels check what they are given, such as indices.
  void run(std::span<const tw_tensor> inputs, Results &results, int threads = 0);

  const tw_program *c() const { return program; }
  const std::vector<tw_value_info> &inputs() const { return inputInfos; }
  const std::vector<tw_value_info> &outputs() const { return outputInfos; }
  /// Results that are the same in every call, by their positions among all results.
  const std::vector<std::pair<size_t, nanobind::object>> &fixedOutputs() const {
    return fixedResults;
  }
  bool writesInputs() const { return hasWrites; }
  Callee callee() const { return ownCallee; }
  dlpack::Device device() const { return ownDevice; }
  /// Of results where no argument is a tensor: "torch" or "numpy".
  Library defaultLibrary() const { return library; }
  bool followsTorch() const { return isFollower; }
  int descriptor() const { return file; }
  const std::string &path() const { return artifactPath; }
  /// As messages speak of it: its path, or that of a file in memory, which has none, what the model
  /// is called.
  std::string name() const;

  // State; see tw_instance_state_get. Throw (RUNTIME_15 and 14).
  nanobind::object getState(nanobind::handle name);
  void setState(nanobind::handle name, nanobind::handle value);
  void resetState(nanobind::handle name); // None: all

  tw_memory_info memory();
  /// Starts or ends collecting events; ended, it gives them.
  void startProfile();
  std::vector<Event> stopProfile();

private:
  class Borrowed;
  const tw_value_info &stateInfo(nanobind::handle name) const;
  static void observe(void *self, int32_t dispatch, int64_t begin, int64_t end);

  std::string artifactPath;
  int file;
  int threads;
  bool isFollower;
  Library library;
  tw_program *program = nullptr;
  Callee ownCallee;
  dlpack::Device ownDevice;
  std::vector<tw_value_info> inputInfos, outputInfos;
  std::vector<std::pair<size_t, nanobind::object>> fixedResults;
  bool hasWrites = false, hasState = false;
  std::map<int, std::vector<tw_instance *>> idle; // by threads; under the GIL
  int lent = 0;                                   // of a program with state: in use

  std::mutex eventsMutex;
  std::vector<Event> events;
  bool isProfiling = false;
};

/// Adds _native.Program.
void defineProgram(nanobind::module_ &module);

} // namespace tw::python
