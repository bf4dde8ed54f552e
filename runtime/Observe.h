// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tools that link the runtime's objects: what happens in a run, dispatch by dispatch.
#pragma once
#include "Support/Diagnostic.h"
#include "runtime/Trace.h"

namespace tw::rt {

/// Sets what watches the following runs of an instance; an empty observer removes it. It is called
/// on the thread that called run, and must not call into the instance. Errors: the instance is
/// running.
Status observe(tw_instance *instance, Observer observer);

} // namespace tw::rt
