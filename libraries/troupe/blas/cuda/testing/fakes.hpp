// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/testing/fake_driver.hpp>

/// A driver and a cuBLAS without a GPU, to test the engine with: they compute at once, by the definitions, on the
/// processor, and stop the test where a GPU would go wrong.
namespace troupe::blas::testing {

using cuda::testing::driver;

/// Stops the test: the engine did what a GPU would not forgive.
[[noreturn]] void wrong(const char* what);
bool is_on_this_stack(const void* address);
/// That the GPU can read `list`, which the engine passes as memory of its own.
void must_be_pinned(const void* list);

}  // namespace troupe::blas::testing
