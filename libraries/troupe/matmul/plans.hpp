// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <troupe/matmul/multiplication.hpp>
#include <troupe/plan/statistics.hpp>

/// Requests about the plans of products. A plan has the algorithm of the vendor's library for one kind of product.
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
  /// Returns the version of the library; 0 if this holds no algorithm.
  std::uint64_t library() const noexcept { return words[9]; }
  friend bool operator==(const choice&, const choice&) = default;
};

/// The origin of a plan's algorithm.
enum class plan_source : std::uint8_t {
  none = 0,      ///< the engine has one algorithm only
  searched = 1,  ///< the first choice of the library's heuristic
  stored = 2,    ///< read from the disk cache, where an earlier process stored the plan
  measured = 3,  ///< the fastest of the measured algorithms
  given = 4,     ///< named by the request
};

/// The reply of `prepare`.
struct plan_info {
  double microseconds = 0;        ///< time of the fastest algorithm, if measured
  double first_microseconds = 0;  ///< time of the heuristic's first algorithm, if measured
  std::uint64_t workspace = 0;    ///< bytes of memory that the product uses beside its operands
  std::int32_t measured = 0;      ///< number of measured algorithms
  std::int32_t algorithm = 0, tile = 0, stages = 0, split_k = 0;  ///< the library's numbers
  plan_source source = plan_source::none;
  bool fused = true;         ///< true if the epilogue is computed together with the product
  std::uint8_t unused[2]{};  ///< 0
};

/// Makes the plan of a product, which later requests with the same shapes, strides, types and options, and an epilogue
/// of the same structure, find. Nothing is written to the operands.
///   const auto info = gpu.ask(matmul::prepare::of(request, 8)).get();
struct prepare {
  in_any a, b, d;
  epilogue::expression epilogue;
  std::optional<in_any> a_scales = {}, b_scales = {};
  product_options options = {};
  std::int32_t measure = 0;    ///< number of algorithms to measure, on the operands; 0: use the heuristic's first
  matmul::choice choice = {};  ///< the algorithm to use, if set
  std::optional<out<std::uint64_t>> chosen = {};  ///< receives the choice: `choice::size` words
  using reply = plan_info;
  TROUPE_REQUEST("matmul.prepare", a, b, d, epilogue, a_scales, b_scales, options, measure, choice, chosen)
  /// Returns the request that prepares the product `r`.
  static prepare of(const multiplication& r, std::int32_t measure = 0);
  /// Returns the product that this prepares. For engines only.
  multiplication product() const;
  void check(checker&) const;
};

/// Returns statistics of plans since the engine was opened.
struct read_statistics {
  bool start_anew = false;  ///< true: count from 0 afterwards
  using reply = plan::statistics;
  TROUPE_REQUEST("matmul.read_statistics", start_anew)
  void check(checker&) const {}
};

}  // namespace troupe::matmul
