// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-import MODEL.pt2 [--locations]: prints the torch text of an exported program. For
// tests and for looking at what an importer makes of a model.
#include "Import/Pt2/Pt2.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <string_view>

int main(int argc, char **argv) {
  bool locations = argc == 3 && std::string_view(argv[2]) == "--locations";
  if (argc != 2 && !locations) {
    std::fputs("usage: tilewright-import MODEL.pt2 [--locations]\n", stderr);
    return 2;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = tw::importPt2(&context, argv[1]);
  if (!module) {
    std::fputs(module.error().render().c_str(), stderr);
    return static_cast<int>(module.error().category());
  }
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations, /*prettyForm=*/false);
  (*module)->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
