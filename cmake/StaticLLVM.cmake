# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# With TW_STATIC_LLVM the compiler holds the LLVM that it needs, for machines that have none: the
# archives of LLVM's packages, code for this architecture alone. lld asks for all architectures, and
# the packages for a plugin: what would bring them along is answered by empty functions.
option(TW_STATIC_LLVM "Link LLVM and MLIR into the compiler" OFF)

# What libraries that use MLIR are linked with. Static, it is known to what is loaded alone: with it in
# each library CMake takes minutes.
if(NOT TW_STATIC_LLVM)
  set(TW_MLIR_LIBRARIES MLIR LLVM)
  return()
endif()

set(tw_unwanted "// Made by cmake/StaticLLVM.cmake\n")
foreach(architecture ${LLVM_TARGETS_TO_BUILD})
  if(NOT architecture STREQUAL LLVM_NATIVE_ARCH AND NOT architecture STREQUAL NVPTX)
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND tw_unwanted "extern \"C\" void LLVMInitialize${architecture}${part}() {}\n")
    endforeach()
  endif()
endforeach()
string(APPEND tw_unwanted [[
#include "llvm/Plugins/PassPlugin.h"
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "", [](llvm::PassBuilder &) {}, nullptr};
}
]])
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/UnwantedLLVM.cpp CONTENT "${tw_unwanted}" @ONLY)
add_library(tw_unwanted_llvm OBJECT ${CMAKE_BINARY_DIR}/UnwantedLLVM.cpp)
target_include_directories(tw_unwanted_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})

# glibc has arc4random since 2.36, and nothing else that LLVM or libstdc++.a asks for is so new.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/OldGlibc.c CONTENT [[
#include <stdint.h>
#include <sys/random.h>
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}
]] @ONLY)
add_library(tw_old_glibc OBJECT ${CMAKE_BINARY_DIR}/OldGlibc.c)

# Of an archive only what is asked for is linked, in whichever order they come.
file(GLOB tw_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
set(TW_MLIR_LIBRARIES)
add_link_options(-static-libstdc++)

# tw_hold_llvm(NAME): a library that holds LLVM.
function(tw_hold_llvm name)
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:tw_unwanted_llvm> $<TARGET_OBJECTS:tw_old_glibc>)
  # libgcc.a before libgcc_s.so, whose conversions of f16 are newer than the C library asked for.
  target_link_libraries(${name} PRIVATE ${tw_archives} zstd z gcc)
  target_link_options(${name} PRIVATE -Wl,--gc-sections -Wl,-z,defs)
endfunction()
