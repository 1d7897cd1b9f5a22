// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/own_stream.hpp>
#include <troupe/cuda/scratch.hpp>
#include <troupe/cutlass/templates/arguments.hpp>
#include <troupe/plan/recent.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::cutlass {

struct execution_plan;

/// The description of a matrix for the tensor memory accelerator. Has no padding: it is compared byte by byte.
struct matrix_map {
  std::uint64_t address = 0;
  std::uint64_t inner = 0, outer = 0, batch = 0;     ///< extents in elements
  std::uint64_t outer_stride = 0, batch_stride = 0;  ///< in bytes
  std::uint32_t inner_box = 0, outer_box = 0, type = 0, swizzle = 0;
};

/// The state of one lane of the worker. Used by one thread at a time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make() { return std::make_unique<lane>(); }
  result<void> use(const call&) noexcept { return {}; }
  /// The memory that kernels need beside their operands.
  struct workspace {
    std::optional<cuda::scratch> scratch;
    std::uint64_t arrivals = 0;  ///< address of counters that are 0 before and after each kernel
    std::uint64_t memory() const noexcept { return scratch ? scratch->address() : 0; }
  };
  result<workspace> take(std::uint64_t bytes, std::uint32_t counters, call& c);

  /// Writes the accelerator's descriptor of a matrix. The lane keeps descriptors: requests often have the same
  /// operands.
  result<void> map(const matrix_map& m, kernels::tensor_map& to);

  /// Returns the call's stream. On the lane of a helper thread, the call has none: then returns the lane's own stream.
  result<CUstream> stream_of(const call& c) { return own_.of(c, "cutlass"); }
  /// Keeps an object that a graph refers to.
  void keep(std::shared_ptr<const void> r) {
    if (kept_.empty() || kept_.back() != r) kept_.push_back(std::move(r));
  }

  troupe::plan::recent<execution_plan> recent;

 private:
  result<std::uint64_t> arrivals(std::uint32_t count, const call& c);

  static constexpr std::size_t most_maps = 64;
  struct known_map {
    matrix_map matrix;
    kernels::tensor_map map;
  };
  cuda::kept_scratch scratch_;
  std::array<known_map, most_maps> maps_{};
  cuda::own_stream own_;
  cuda::device_memory arrivals_;
  std::uint32_t arrivals_count_ = 0;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace troupe::cutlass
