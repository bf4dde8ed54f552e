// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What g++ 12 and clang++ 22 say about mistakes in kernels, and what is made of it.
#include "Driver/CApi/CompilerOutput.h"
#include <gtest/gtest.h>

using namespace tw;

namespace {

constexpr const char *ours = "/opt/tilewright/include";

struct Case {
  const char *said, *place, *message, *advice; // the advice's beginning
};

constexpr Case cases[] = {
    // if (m == 0) ...
    {"k.cpp: In function 'void tilewrightKernel_k_4()':\n"
     "k.cpp:9:9: error: could not convert 'tw::kernel::operator==(const Index::Operand&, const "
     "Index::Operand&)(tw::kernel::Index::Operand(0, "
     "tw::kernel::Here::current(std::source_location::current())), m)' from "
     "'tw::kernel::Scalar' to 'bool'\n"
     "    9 |   if (m == 0) store(y, {m, 0}, load(x, {m, 0}, {1, N}));\n",
     "k.cpp:9:9", "could not convert '...' from 'Scalar' to 'bool'", "it is known only when"},
    {"k.cpp:9:7: error: value of type 'Scalar' is not contextually convertible to 'bool'\n"
     "    9 |   if (m == 0) store(y, {m, 0}, load(x, {m, 0}, {1, N}));\n"
     "1 error generated.\n",
     "k.cpp:9:7", "value of type 'Scalar' is not contextually convertible to 'bool'",
     "it is known only when"},
    // load(x, {m, 0}, {1, m})
    {"k.cpp:9:24: error: invalid initialization of reference of type 'const tw::kernel::Shape&' "
     "{aka 'const std::vector<tw::kernel::Size>&'} from expression of type "
     "'<brace-enclosed initializer list>'\n"
     "/opt/tilewright/include/tilewright/kernel/Operations.h:101:74: note: in passing argument 3 "
     "of "
     "'tw::kernel::Tile tw::kernel::load(const Buffer&, const Positions&, const Shape&)'\n",
     "k.cpp:9:24",
     "invalid initialization of reference of type 'const Shape&' from expression of type "
     "'<brace-enclosed initializer list>'",
     "extents are numbers and sizes"},
    {"k.cpp:9:20: error: no matching function for call to 'load'\n"
     "/opt/tilewright/include/tilewright/kernel/Operations.h:101:6: note: candidate function not "
     "viable: cannot convert initializer list argument to 'const Shape' (aka 'const "
     "std::vector<Size>')\n",
     "k.cpp:9:20",
     "no matching function for call to 'load': cannot convert initializer list argument to 'const "
     "Shape'",
     "extents are numbers and sizes"},
    // int i = m;
    {"k.cpp:9:11: error: cannot convert 'std::tuple_element<0, std::array<tw::kernel::Index, 1> "
     ">::type' {aka 'tw::kernel::Index'} to 'int' in initialization\n",
     "k.cpp:9:11", "cannot convert 'Index' to 'int' in initialization",
     "what the kernel computes with"},
    // A body with other arguments: the error is in our header.
    {"In file included from k.cpp:1:\n"
     "/opt/tilewright/include/tilewright/kernel/Control.h:136:58:   required from 'State loop()'\n"
     "k.cpp:9:19:   required from here\n"
     "/opt/tilewright/include/tilewright/kernel/Control.h:69:19: error: static assertion failed: "
     "the body of forLoop takes (Index, carried value)\n",
     "k.cpp:9:19", "the body of forLoop takes (Index, carried value)", ""},
    {"In file included from k.cpp:1:\n"
     "/opt/tilewright/include/tilewright/kernel/Control.h:69:19: error: static assertion failed "
     "due "
     "to requirement 'fits': the body of forLoop takes (Index, carried value)\n"
     "/opt/tilewright/include/tilewright/kernel/Control.h:136:54: note: in instantiation of "
     "'body'\n"
     "k.cpp:9:12: note: in instantiation of 'forLoop' requested here\n",
     "k.cpp:9:12", "the body of forLoop takes (Index, carried value)", ""},
    // Quotes that are not ASCII, whatever LC_ALL says.
    {"k.cpp:2:17: error: \xe2\x80\x98tw\xe2\x80\x99 has not been declared\n", "k.cpp:2:17",
     "'tw' has not been declared", "the source of kernels begins with #include"},
    {"k.cpp:1:10: fatal error: 'tilewright/Kernels.h' file not found\n", "k.cpp:1:10",
     "'tilewright/Kernels.h' file not found", "the source of kernels begins with #include"},
    {"k.cpp:1:10: fatal error: mine.h: No such file or directory\n", "k.cpp:1:10",
     "mine.h: No such file or directory", ""},
    {"k.cpp:5:3: error: unknown type name 'Symbol'; did you mean 'tw::kernel::Symbol'?\n",
     "k.cpp:5:3", "unknown type name 'Symbol'; did you mean 'tw::kernel::Symbol'?",
     "write using namespace tw::kernel;"},
    {"k.cpp:9:61: error: could not convert '0.0' from 'double' to 'tw::kernel::Axis'\n",
     "k.cpp:9:61", "could not convert '0.0' from 'double' to 'Axis'", "max, min and sum"},
    {"k.cpp:9:22: error: no match for 'operator+' (operand types are 'tw::kernel::Buffer' and "
     "'int')\n",
     "k.cpp:9:22", "no match for 'operator+' (operand types are 'Buffer' and 'int')",
     "load what you compute with"},
    // 1.0 / N, m * 0.5
    {"k.cpp:9:51: error: no match for 'operator/' (operand types are 'double' and "
     "'tw::kernel::Symbol')\n",
     "k.cpp:9:51", "no match for 'operator/' (operand types are 'double' and 'Symbol')",
     "sizes and indices count with integers"},
    {"k.cpp:9:15: error: invalid operands to binary expression "
     "('std::tuple_element<0UL, std::array<Index, 1 + sizeof...(More)>>::type' (aka "
     "'tw::kernel::Index') and 'double')\n",
     "k.cpp:9:15", "invalid operands to binary expression ('Index' and 'double')",
     "sizes and indices count with integers"},
    // store(y, tile, {m, 0})
    {"k.cpp:9:16: error: invalid initialization of reference of type 'const "
     "tw::kernel::Positions&' "
     "{aka 'const std::vector<tw::kernel::Position>&'} from expression of type "
     "'tw::kernel::Tile'\n",
     "k.cpp:9:16",
     "invalid initialization of reference of type 'const Positions&' from expression of type "
     "'Tile'",
     "it is load(buffer, {positions}, {extents})"},
    {"k.cpp:9:3: error: no matching function for call to 'store'\n"
     "/opt/tilewright/include/tilewright/kernel/Operations.h:105:6: note: candidate function not "
     "viable: no known conversion from 'Tile' to 'const Buffer' for 1st argument\n",
     "k.cpp:9:3",
     "no matching function for call to 'store': no known conversion from 'Tile' to 'const Buffer' "
     "for 1st argument",
     "it is load(buffer, {positions}, {extents})"},
    {"k.cpp:9:24: error: invalid initialization of reference of type 'const "
     "tw::kernel::LoadOptions&' "
     "from expression of type '<brace-enclosed initializer list>'\n",
     "k.cpp:9:24",
     "invalid initialization of reference of type 'const LoadOptions&' from expression of type "
     "'<brace-enclosed initializer list>'",
     "options come in the order"},
    {"/opt/tilewright/include/tilewright/Kernel.h:49:15: error: pasting \"k_\" and \"\"a\"\" does "
     "not give a valid preprocessing token\n"
     "k.cpp:4:1: note: in expansion of macro 'TILEWRIGHT_KERNEL'\n",
     "k.cpp:4:1", "pasting \"k_\" and \"\"a\"\" does not give a valid preprocessing token",
     "names of kernels have no quotes"},
};

TEST(CompilerOutput, FirstError) {
  for (const Case &wanted : cases) {
    CompilerOutput output = readCompilerOutput(wanted.said, ours);
    ASSERT_EQ(output.errors.size(), 1u) << wanted.said;
    EXPECT_EQ(output.errors[0].place, wanted.place);
    EXPECT_EQ(output.errors[0].message, wanted.message);
    EXPECT_TRUE(output.advice.starts_with(wanted.advice)) << output.advice;
    EXPECT_EQ(output.advice.empty(), *wanted.advice == 0) << wanted.said << output.advice;
  }
}

TEST(CompilerOutput, SeveralErrors) {
  CompilerOutput output = readCompilerOutput("k.cpp:9:3: error: one\nk.cpp:9:3: note: because\n"
                                             "/usr/include/c++/12/vector:7:1: error: two\n"
                                             "k.cpp:11:5: note: asked for here\n"
                                             "k.cpp:12:1: error: 'tw' has not been declared\n",
                                             ours);
  ASSERT_EQ(output.errors.size(), 3u);
  EXPECT_EQ(output.errors[1].place, "k.cpp:11:5");
  EXPECT_EQ(output.errors[2].place, "k.cpp:12:1");
  EXPECT_EQ(output.advice, ""); // it is about the first one
}

TEST(CompilerOutput, OtherText) {
  for (const char *said : {"", "\n", "ld: cannot find -lm", "error: no input files", "::: error: x",
                           "k.cpp:9:9: error: '", "k.cpp:1:1: error: 'a {aka '"})
    EXPECT_EQ(readCompilerOutput(said, ours).advice, "") << said;
  EXPECT_TRUE(readCompilerOutput("collect2: error: ld returned 1", ours).errors.empty());
}

} // namespace
