// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <troupe/base/enumeration.hpp>
#include <troupe/request/encoding/fields.hpp>

/// Options of requests that compute or plan a graph.
namespace troupe::dnn {

/// The least precision that products of f32 must have. An engine may be more precise; the host engine always is exact.
enum class precision : std::uint8_t {
  exact = 0,  ///< factors are used as f32
  tf32 = 1,   ///< factors may be rounded to 10 bits of mantissa
};
TROUPE_ENUM(precision, exact, tf32)

/// The repeatability of results. `always`: equal requests have equal results in every run of the same plan.
enum class repeatability : std::uint8_t {
  always = 0,
  not_needed = 1,  ///< sums may be added in a different order each time, where that is faster
};
TROUPE_ENUM(repeatability, always, not_needed)

/// What happens if an engine cannot compute a graph in one step.
enum class fusion : std::uint8_t {
  allowed = 0,   ///< the engine computes the graph in several steps
  required = 1,  ///< the request is refused
};
TROUPE_ENUM(fusion, allowed, required)

/// Which algorithm of a vendor's library computes convolutions and attention. Products take matmul's choice: the first
/// one that the library recommends, or the one that `matmul::prepare` has measured, if results need not be repeatable.
enum class choice : std::uint8_t {
  recommended = 0,  ///< the first one that the library recommends
  measured = 1,     ///< the fastest one; it is found by measurements when the graph is planned
};
TROUPE_ENUM(choice, recommended, measured)

/// A workspace without a limit.
inline constexpr std::uint64_t any_workspace = std::numeric_limits<std::uint64_t>::max();

/// The options of a computation, and of each ready request.
struct computation_options {
  dnn::precision precision = dnn::precision::exact;
  dnn::repeatability repeatability = dnn::repeatability::always;
  dnn::fusion fusion = dnn::fusion::allowed;
  dnn::choice choice = dnn::choice::recommended;
  /// The most bytes of workspace: memory beside the operands, for tensors between steps and for vendor kernels. Kernels
  /// on the host also allocate small buffers while they run: 2 MiB for a convolution, for example.
  std::uint64_t workspace = any_workspace;
  TROUPE_FIELDS(precision, repeatability, fusion, choice, workspace)
  friend bool operator==(const computation_options&, const computation_options&) = default;
};

}  // namespace troupe::dnn
