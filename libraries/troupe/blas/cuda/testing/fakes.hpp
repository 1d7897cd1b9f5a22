// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/testing/fake_driver.hpp>

/// A driver and a cuBLAS without a GPU, for tests of the engine: they compute at once on the processor, by the
/// definitions, and abort the test where a GPU would fail.
namespace troupe::blas::testing {

using cuda::testing::driver;

/// Aborts the test: a GPU would not tolerate what the engine did.
[[noreturn]] void wrong(const char* what);
bool is_on_this_stack(const void* address);
/// Checks that the GPU can read `list`, which the engine passes as pinned memory.
void must_be_pinned(const void* list);

}  // namespace troupe::blas::testing
