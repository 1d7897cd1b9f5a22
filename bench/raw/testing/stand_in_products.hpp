// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/raw/raw_matmul.hpp>

namespace troupe::bench {

/// Whether the first and the second result have one wrong element.
struct wrong_results {
  bool first, second;
};
/// Make products that are computed by their definition in double when a result is downloaded.
std::unique_ptr<raw_matmuls> make_matmuls_stand_in(const raw_matmul_problem& p, std::span<const std::byte> a,
                                                   std::span<const std::byte> b, std::span<const std::byte> third,
                                                   const wrong_results& wrong);
std::unique_ptr<raw_groups> make_groups_stand_in(std::span<const std::int32_t> sizes, int n, int k,
                                                 std::span<const std::byte> a, std::span<const std::byte> b,
                                                 bool is_wrong);
std::unique_ptr<raw_reads> make_reads_stand_in();

}  // namespace troupe::bench
