// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/worker/engine_abi.hpp>

/// The operations of a blas engine; each function is defined in the source of that name.
namespace troupe::blas {

using operations = std::span<const troupe_engine_operation>;
operations level1_operations() noexcept;
operations rotation_operations() noexcept;
operations level2_operations() noexcept;
operations triangular_operations() noexcept;
operations update_operations() noexcept;
operations gemm_operations() noexcept;
operations level3_operations() noexcept;
operations extension_operations() noexcept;
operations batched_operations() noexcept;
operations factorization_operations() noexcept;

}  // namespace troupe::blas
