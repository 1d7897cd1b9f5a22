// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/async/pending.hpp>
#include <troupe/device/options.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/request/extent.hpp>
#include <troupe/request/operands/any_operand.hpp>

namespace troupe {
class device;
}

namespace troupe::cutlass {

/// Storage options of weights.
struct weights_options {
  dtype type = dtype::bf16;  ///< f32, f16 or bf16; or, with scales, i8, f8e4m3, f8e5m2 or f4e2m1x2
  /// Number of terms of a column that share a scale: 16, 32, 64 ...; 0: all. Only for types with scales.
  std::int64_t block = 0;
  dtype scale_type = dtype::f32;  ///< f32 or bf16
  std::int64_t batch = 0;         ///< number of matrices; 0: one matrix without a batch axis
  memory_quota quota = {};        ///< quota that the memory counts against, if any
};

/// The weights as operands of one product, which keep their memory alive.
struct packed_weights {
  in_any b;
  std::optional<in_any> b_scales;
};

/// A factor B that can be replaced while products use it. Device memory holds two halves of packed weights, one of
/// which is in force. A refit packs new weights into the other half (see `pack`), which is then in force for later
/// products; no product reads a mixture. The half in force is sealed, so that it survives every fault of a worker; it
/// stays in force if a refit fails or is lost.
///
/// A handle: copies denote the same weights. Thread-safe.
///   const auto w = cutlass::weights::make(gpu, k, n, {.type = dtype::f8e4m3, .block = 128});
///   w->refit(gpu, matrix);
///   const auto now = w->in_force();
///   gpu.tell(cutlass::gemm{.a = a, .b = now.b, .d = d, .b_scales = now.b_scales});
class weights {
 public:
  /// Allocates both halves of `rows` x `columns` terms. Fails if the options are wrong or there is no memory.
  static result<weights> make(const device& gpu, extent rows, extent columns, const weights_options& o = {});

  /// Packs a matrix into the half that is not in force. Completes when that half is in force and sealed. The matrix is
  /// packed only after earlier refits are complete, so do not write to the matrix before this refit completes. Fails
  /// with the error of `pack`, for example if the matrix has other extents, or with `retry_later` if the mailbox is
  /// full when an earlier refit has completed and this one begins.
  pending<void> refit(const device& gpu, const in_any& matrix, const call_options& o = {}) const;

  /// Returns the weights in force. Call this before each product: after the next refit, the one that follows it
  /// overwrites this half. Before the first refit is complete, every use of the weights is refused with that reason.
  packed_weights in_force() const;
  /// Returns the number of completed refits.
  std::uint64_t refits() const noexcept;
  /// Returns the size of both halves in bytes.
  std::uint64_t bytes() const noexcept;

 private:
  struct state;
  explicit weights(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

}  // namespace troupe::cutlass
