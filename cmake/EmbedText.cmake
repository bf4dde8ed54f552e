# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run as a script: cmake -DIN=table.tsv -DOUT=table.inc -P EmbedText.cmake
# Writes the text of IN as one C++ raw string literal, to be #included as an initializer.
file(READ ${IN} text)
file(WRITE ${OUT} "R\"tw(${text})tw\"\n")
