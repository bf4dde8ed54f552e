// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tools that link the runtime's objects: what happens in a run, dispatch by dispatch.
#pragma once
#include "Support/Diagnostic.h"
#include "runtime/Artifact/Metadata.h"
#include "runtime/ThreadPool.h"
#include "runtime/Trace.h"

namespace tw::rt {

/// Sets what watches the following runs of an instance; an empty observer removes it. It is called
/// on the thread that called run, and must not call into the instance. Errors: the instance is
/// running.
Status observe(tw_instance *instance, Observer observer);

/// Begins to note when the dispatches of an instance run, or stops. Errors: the instance is
/// running.
Status watchDispatches(tw_instance *instance, bool on);
/// What has been noted since and kept, in order; it is forgotten. Errors: the instance is running.
Result<std::vector<Trace::Span>> takeSpans(tw_instance *instance);

/// Begins to note what the threads of an instance do in parallel loops that several take part in,
/// or stops. Errors: the instance is running.
Status watchThreads(tw_instance *instance, bool on);
/// What has been noted since, by thread, the caller's first; it is forgotten. Errors: the instance
/// is running.
Result<std::vector<std::vector<ThreadPool::Piece>>> takePieces(tw_instance *instance);

/// In the following recorded runs on a GPU each dispatch whose last one took less than `ns` is done
/// again, up to 64 times behind itself and without what it waits for the host, until it takes about
/// as long; a mean is recorded. So results are of no use where a dispatch reads what it writes. 0:
/// never. Errors: the instance is running.
Status repeatDispatches(tw_instance *instance, int64_t ns);

/// Lives as long as the program.
const Metadata &metadataOf(const tw_program *program);
/// Of each temporary of the metadata its bytes in the last run; 0 before it.
std::vector<int64_t> temporaryBytes(const tw_instance *instance);

} // namespace tw::rt
