// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exists so that the precompiled header has a target to be built in.
