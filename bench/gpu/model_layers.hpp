// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <iterator>
#include <span>

namespace troupe::bench {

/// The extents of a product.
struct product_extents {
  int m, n, k;
};
/// Layers of Llama 3 (8B, 70B), Qwen 2 (7B), Mistral (7B), BERT (large) and GPT-3 (13B), for some numbers of tokens.
inline constexpr product_extents model_layers[] = {
    {4096, 6144, 4096},  {4096, 4096, 4096},  {4096, 28672, 4096}, {4096, 4096, 14336}, {512, 6144, 4096},
    {512, 4096, 4096},   {512, 28672, 4096},  {512, 4096, 14336},  {64, 6144, 4096},    {64, 4096, 14336},
    {128, 128256, 4096}, {2048, 10240, 8192}, {2048, 8192, 8192},  {2048, 57344, 8192}, {2048, 8192, 28672},
    {256, 10240, 8192},  {256, 8192, 28672},  {16, 8192, 8192},    {4096, 4608, 3584},  {4096, 37888, 3584},
    {4096, 3584, 18944}, {1024, 4608, 3584},  {1024, 3584, 18944}, {2048, 28672, 4096}, {8192, 3072, 1024},
    {8192, 1024, 1024},  {8192, 4096, 1024},  {8192, 1024, 4096},  {2048, 15360, 5120}, {2048, 5120, 20480}};
static_assert(std::size(model_layers) == 30);

/// Returns these layers; for the host engine, which tests use, two small ones.
inline std::span<const product_extents> layers_for(const settings& s) {
  static constexpr product_extents small[] = {{32, 48, 64}, {1, 24, 40}};
  if (s.engine == "host") return small;
  return model_layers;
}

}  // namespace troupe::bench
