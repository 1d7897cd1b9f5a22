// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/testing/fake_driver.hpp>

/// A driver and a cuBLAS without a GPU, for tests of the engine. They compute at once on the processor, by the
/// definitions, and abort the test if a call would fail on a GPU.
namespace troupe::blas::testing {

using cuda::testing::driver;

/// Aborts the test because of a call that would fail on a GPU; `what` says why.
[[noreturn]] void wrong(const char* what);
bool is_on_this_stack(const void* address);
/// Checks that the GPU can read `list`, which must be in pinned memory.
void must_be_pinned(const void* list);

}  // namespace troupe::blas::testing
