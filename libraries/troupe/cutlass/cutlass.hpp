// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything of cutlass, and the language of epilogues.
#include <troupe/cutlass/gemm.hpp>
#include <troupe/cutlass/gemm_batched.hpp>
#include <troupe/cutlass/gemm_grouped.hpp>
#include <troupe/cutlass/prepare.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::cutlass {

using all_requests =
    request_list<gemm, gemm_batched, gemm_grouped, prepare, prepare_batched, prepare_grouped, read_statistics>;

}  // namespace troupe::cutlass
