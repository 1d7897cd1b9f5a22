// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything of matmul, and the language of epilogues.
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/matmul/multiplication.hpp>
#include <troupe/matmul/plans.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::matmul {

using all_requests = request_list<multiplication, prepare, read_statistics>;

}  // namespace troupe::matmul
