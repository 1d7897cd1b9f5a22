// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <troupe/matmul/multiplication.hpp>
#include <troupe/plan/plan_source.hpp>
#include <troupe/plan/requests.hpp>

/// Requests about the plans of products. A plan holds the algorithm of the vendor's library for one kind of product.
namespace troupe::matmul {

/// An algorithm of the vendor's library for one kind of product, as `prepare` writes it. It can be stored in a file and
/// given to `prepare` in another process with the same version of the library on the same kind of GPU.
struct choice {
  static constexpr std::size_t size = 10;
  std::array<std::uint64_t, size> words{};  ///< 8 words of the algorithm, its workspace in bytes, the library's version

  choice() noexcept = default;
  explicit choice(std::span<const std::uint64_t> written) noexcept {
    std::copy_n(written.begin(), std::min(size, written.size()), words.begin());
  }
  /// Returns the version of the library; 0 if there is no algorithm.
  std::uint64_t library() const noexcept { return words[9]; }
  friend bool operator==(const choice&, const choice&) = default;
};

using troupe::plan::plan_source;

/// The reply of `prepare`.
struct plan_info {
  double microseconds = 0;        ///< time of the fastest algorithm, if measured
  double first_microseconds = 0;  ///< time of the heuristic's first algorithm, if measured
  std::uint64_t workspace = 0;    ///< bytes of memory that the product uses beside its operands
  std::int32_t measured = 0;      ///< number of measured algorithms
  std::int32_t algorithm = 0, tile = 0, stages = 0, split_k = 0;  ///< as the vendor's library numbers them
  plan_source source = plan_source::none;
  bool fused = true;         ///< true if the epilogue is computed together with the product
  std::uint8_t unused[2]{};  ///< 0
};

/// The options of `prepare`, which makes the plan that later requests find with the same shapes, strides, types and
/// options, and an epilogue of the same structure.
///   const auto info = gpu.ask(matmul::prepare{request, 8}).get();
struct prepare_options {
  matmul::choice choice = {};                     ///< the algorithm to use, if set; then nothing is measured
  std::optional<out<std::uint64_t>> chosen = {};  ///< receives the choice: `choice::size` words
  TROUPE_FIELDS(choice, chosen)
  void check(checker& c, std::int32_t measure) const;
};
using troupe::plan::prepare;
/// Returns statistics of plans since the engine was opened.
using read_statistics = troupe::plan::read_statistics<"matmul">;

}  // namespace troupe::matmul
