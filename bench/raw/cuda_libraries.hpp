// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/raw/raw.hpp>

/// cuBLAS, cuBLASLt, cuFFT and cuDNN, called without Troupe.
namespace troupe::bench {

std::unique_ptr<raw_products> make_products(raw_number type, int n, int count, std::span<const std::byte> a,
                                            std::span<const std::byte> b);
std::unique_ptr<raw_matmuls> make_matmuls(const raw_matmul_problem& p, std::span<const std::byte> a,
                                          std::span<const std::byte> b, std::span<const std::byte> third);
std::unique_ptr<raw_groups> make_groups(std::span<const std::int32_t> sizes, int n, int k, std::span<const std::byte> a,
                                        std::span<const std::byte> b);
std::unique_ptr<raw_reads> make_reads(std::size_t bytes, int count);
std::unique_ptr<raw_transforms> make_transforms(std::span<const int> n, int batch, int count,
                                                std::span<const std::byte> one);

/// Throws `bad_result` if cuDNN is missing, or the plug-in was built without it.
std::unique_ptr<raw_dnn> make_dnn(int device);

}  // namespace troupe::bench
