// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of candidates that are compiled on one machine and measured on another, which needs no
// compiler: bundle.json, the model's inputs, and artifacts; measured.sqlite comes where it is
// measured. docs/tuning.md.
#pragma once
#include "Tune/Database.h"
#include <map>
#include <string>
#include <vector>

namespace tw::cli {

/// A kernel of a program, and the configuration that it has there; or, without a name and a
/// configuration, other decisions about operators, which are measured by the whole call.
struct BundledKernel {
  std::string name;              // as dispatches of the program name it
  tune::MeasuredKernel measured; // but for the machine
  tune::Point point;
};

struct BundledProgram {
  std::string artifact; // a file of the folder
  std::vector<BundledKernel> kernels;
};

struct Bundle {
  std::string model, reference; // for people: the file, and the target whose results are right
  std::string target;           // that its programs are compiled for, as --target has it
  int threads = 0, pairs = 0;
  /// Of the call, what variants of kernels are told apart by (TunedCall).
  std::map<std::string, int64_t> sizes;
  std::vector<std::string> inputs; // .npy files of the folder, or SPECs with random values
  std::vector<BundledProgram> programs;
};

/// The program that times are in terms of, and the one that says what is right.
constexpr const char *bundledStart = "start.so", *bundledReference = "reference.so";
/// What was measured, and the machine that did.
constexpr const char *bundledDatabase = "measured.sqlite", *bundledMachine = "machine.txt";

/// Of the file with a bundle's program, counted from 1.
std::string bundledProgramName(size_t number);

/// Until the next writeBundle the folder is no bundle, for programs are other ones than it says.
/// Errors: IO_2.
Status takeApartBundle(const std::string &folder);
/// Removes programs of an earlier round that are none of this one's. Errors: IO_2.
Status writeBundle(const std::string &folder, const Bundle &bundle);
/// Errors: IO_1; TUNE_6 for what is no bundle.
Result<Bundle> readBundle(const std::string &folder);

} // namespace tw::cli
