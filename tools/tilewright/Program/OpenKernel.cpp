// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpenKernel.h"
#include "Values.h"
#include "tools/tilewright/Failure.h"

namespace tw::cli {

OpenKernel::~OpenKernel() {
  if (kernel)
    library.closeKernel(kernel);
}

int OpenKernel::open(tilewright_kernel_options request) {
  auto loaded = CompilerLibrary::load();
  TW_TRY_CLI(loaded);
  library = *loaded;
  source = request.path ? request.path : ""; // a text has none
  request.struct_size = sizeof request;
  return library.openKernel(&request, &sink, &listener, &kernel);
}

int OpenKernel::print(const std::string &level, const std::string &target) {
  if (level == "tile")
    return library.printKernel(kernel, &sink, &listener);
  return library.printKernelCode(kernel, level.c_str(), target.c_str(), &sink, &listener);
}

/// What follows "tile.kernel @" in the text of a kernel.
static std::string kernelName(const std::string &text) {
  constexpr std::string_view head = "tile.kernel @";
  size_t begin = text.find(head);
  if (begin == text.npos)
    return "";
  begin += head.size();
  bool isQuoted = text[begin] == '"';
  begin += isQuoted;
  return text.substr(begin, text.find(isQuoted ? '"' : '(', begin) - begin);
}

int OpenKernel::compile(const std::string &target, const std::string &output, int report) {
  if (int status = print("tile", target))
    return status;
  std::string text = std::exchange(listener.report, {}), name = kernelName(text);
  tilewright_kernel_text kernelText = {source.c_str(), text.c_str()};
  tilewright_compile_options request = {};
  request.struct_size = sizeof request;
  request.kernel = name.c_str();
  request.kernel_texts = &kernelText;
  request.kernel_text_count = 1;
  request.target = target.c_str();
  request.output = output.c_str();
  request.report = report;
  int status = library.compile(&request, &sink, &listener);
  listener.progress.clear();
  return status;
}

int OpenKernel::run(std::vector<HostTensor> &inputs, tilewright_kernel_run_options request) {
  std::vector<tw_tensor> tensors;
  for (HostTensor &input : inputs)
    tensors.push_back(toRuntime(input));
  request.struct_size = sizeof request;
  request.inputs = tensors.data();
  request.input_count = tensors.size();
  return library.runKernel(kernel, &request, &sink, &listener);
}

Interface OpenKernel::interface() const {
  Interface callee{"kernel", {}, {}};
  for (size_t i = 0; const auto *each = argument(i); ++i) {
    if (each->is_input)
      callee.inputs.push_back({each->name, each->type, static_cast<DType>(each->dtype)});
    if (each->is_output)
      callee.outputs.emplace_back(each->name);
  }
  return callee;
}

Result<std::vector<HostTensor>> OpenKernel::outputs() const {
  std::vector<HostTensor> tensors;
  for (size_t i = 0; const tw_tensor *output = library.kernelOutput(kernel, i); ++i) {
    TW_ASSIGN(HostTensor tensor, fromRuntime(*output));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<double> OpenKernel::times() const {
  std::vector<double> all;
  for (double time; (time = library.kernelTime(kernel, all.size())) >= 0;)
    all.push_back(time);
  return all;
}

} // namespace tw::cli
