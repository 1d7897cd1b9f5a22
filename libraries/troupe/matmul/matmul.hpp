// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Includes everything of matmul, the expressions of epilogues, and the element types.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/matmul/multiplication.hpp>
#include <troupe/matmul/plans.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::matmul {

using all_requests = request_list<multiplication, prepare<multiplication>, read_statistics>;

}  // namespace troupe::matmul
