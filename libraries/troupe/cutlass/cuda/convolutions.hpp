// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/convolution_choices.hpp>
#include <troupe/cutlass/cuda/choices_on_disk.hpp>
#include <troupe/cutlass/cuda/request_options.hpp>
#include <troupe/cutlass/cuda/route.hpp>

namespace troupe::cutlass {

/// How convolutions of one form and one size are computed.
struct convolution_route {
  plan_info info;
  convolution_way way;
  std::optional<vendor_way> vendors;                   ///< a kernel of CUTLASS; then there is nothing of the rest
  std::vector<std::shared_ptr<const route>> products;  ///< for each launch
  std::shared_ptr<const route> pass;
  std::shared_ptr<const cell> copies[4];  ///< of elements of 1, 2, 4 and 8 bytes
  std::uint64_t own_bytes = 0;            ///< of memory, of the launches that need the most

  std::uint64_t scratch_bytes() const noexcept { return vendors ? vendors->bytes : way.bytes + own_bytes; }
};

/// The convolutions of an engine. Thread-safe, but for the lanes.
class convolutions {
 public:
  convolutions(cell_store& cells, const chip& on, choices_on_disk& disk) : cells_(cells), chip_(on), disk_(disk) {}

  bool knows(const convolution_problem& p, const request_options& o) const;
  result<void> compute(const convolution_problem& p, const request_options& o, lane& on, call& c);
  /// Measures up to `measure` ways, if that is more than one. Waits for the GPU.
  result<plan_info> prepare(const convolution_problem& p, const request_options& o, int measure, lane& on, call& c,
                            std::string& log);

 private:
  // A measured way.
  struct stored_choice {
    convolution_choice copies;
    cutlass::plan plan;
    float microseconds = 0;
  };
  result<void> compute_without_images(const convolution_problem& p, const request_options& o, lane& on, call& c);
  static void write_key_of(std::string& key, const convolution_problem& p, const request_options& o);
  std::string key_on_disk(const convolution_problem& p, const request_options& o) const;
  result<std::shared_ptr<convolution_route>> route_for(const convolution_problem& p, const convolution_way& w,
                                                       const request_options& o);
  result<std::shared_ptr<convolution_route>> best_route(const convolution_problem& p, const request_options& o);
  result<std::shared_ptr<const route>> route_of_pass(const problem& p, compiling how);

  cell_store& cells_;
  const chip& chip_;
  choices_on_disk& disk_;
  troupe::plan::cache<convolution_route> routes_{{.most = 1024}};
};

/// Launches all that a convolution consists of. `memory` has the route's scratch_bytes(). `overlaps`: kernels may be
/// launched before those that they wait for have ended.
result<void> enqueue(const convolution_problem& p, const convolution_route& way, const chip& chip, lane& on,
                     std::uint64_t memory, std::uint64_t arrivals, bool overlaps, CUstream stream);
/// How many counters that are 0 its launches need.
std::uint32_t arrivals_of(const convolution_route& way) noexcept;

}  // namespace troupe::cutlass
