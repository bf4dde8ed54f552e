# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The functions every CMakeLists.txt here uses. Plain add_library is on purpose: Debian's
# MLIRConfig would otherwise link MLIR's static archives beside libMLIR.so and duplicate its state.

# -fPIC for executables too: they share the libraries' precompiled header.
add_compile_options(-fPIC -Wall -Wextra -Wno-unused-parameter -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Lets ccache hit although a precompiled header is used.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  add_link_options(-fuse-ld=lld)
endif()
if(TW_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
# The repository itself is for "runtime/ProgramABI.h" and "runtime/Planner.h", which the compiler
# shares with the runtime.
include_directories(${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/lib ${CMAKE_BINARY_DIR}/lib
                    ${CMAKE_SOURCE_DIR})

# tw_add_library(NAME file.cpp ... [LINK lib ...]): a library without MLIR.
function(tw_add_library name)
  cmake_parse_arguments(A "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${A_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${A_LINK})
endfunction()

# tw_add_mlir_library(NAME file.cpp ... [LINK lib ...]): a library that uses MLIR, with the shared
# precompiled header. All link the two shared libraries MLIR and LLVM, or with TW_STATIC_LLVM archives.
function(tw_add_mlir_library name)
  cmake_parse_arguments(A "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${A_UNPARSED_ARGUMENTS})
  tw_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${A_LINK})
endfunction()

function(tw_use_mlir name)
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC ${TW_MLIR_LIBRARIES})
  if(TARGET tw_pch AND NOT name STREQUAL tw_pch)
    set(pch ${CMAKE_BINARY_DIR}/lib/IR/CMakeFiles/tw_pch.dir/PCH/Mlir.h.o)
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${pch} -Winvalid-pch>")
    get_target_property(sources ${name} SOURCES)
    set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${pch})
  endif()
endfunction()

# tw_tablegen(TARGET Foo.td out.inc -gen-x ...): runs mlir-tblgen; call add_dependencies on TARGET.
function(tw_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args out)
    set(flags)
    while(args)
      list(GET args 0 next)
      if(NOT next MATCHES "^-")
        break()
      endif()
      list(POP_FRONT args)
      list(APPEND flags ${next})
    endwhile()
    mlir_tablegen(${out} ${flags} EXTRA_INCLUDES ${MLIR_INCLUDE_DIRS} ${CMAKE_SOURCE_DIR}/lib)
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

# tw_add_unittest(NAME file.cpp ... LINK lib ...): a GoogleTest program, registered with ctest.
function(tw_add_unittest name)
  cmake_parse_arguments(A "" "" "LINK" ${ARGN})
  add_executable(${name} ${A_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${A_LINK} GTest::gtest GTest::gtest_main)
  add_test(NAME unit.${name} COMMAND ${name})
endfunction()

# tw_embed_text(TARGET IN.tsv out.inc): makes out.inc in the build folder, a C++ string literal with
# the text of IN.tsv, whenever that changes; call add_dependencies on TARGET.
function(tw_embed_text target in out)
  set(in ${CMAKE_CURRENT_SOURCE_DIR}/${in})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${out})
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${in} -DOUT=${out} -P ${CMAKE_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${in} ${CMAKE_SOURCE_DIR}/cmake/EmbedText.cmake)
  add_custom_target(${target} DEPENDS ${out})
endfunction()
