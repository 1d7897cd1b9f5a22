// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A driver and a cuBLAS without a GPU, to test the engine with: they compute at once, by the definitions, on the
/// processor, and stop the test where a GPU would go wrong.
namespace troupe::blas::testing {

/// Stops the test: the engine did what a GPU would not forgive.
[[noreturn]] void wrong(const char* what);
/// Whether the GPU can read `address`, which the engine passes as memory of its own.
bool is_pinned(const void* address);
bool is_on_this_stack(const void* address);

/// What the next copy of cuBLAS answers, once, and what the driver says of the stream from then on: 0 is success.
inline int next_answer = 0, stream_state = 0;
/// Whether the stream records, as a CUstreamCaptureStatus.
inline int capture_status = 0;

}  // namespace troupe::blas::testing
