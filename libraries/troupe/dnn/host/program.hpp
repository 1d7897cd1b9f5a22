// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/dnn/host/places.hpp>
#include <vector>

namespace troupe::dnn::host {

/// How a graph is computed: made once for each structure, and used for all graphs that have it. Thread-safe.
class program {
 public:
  static result<std::shared_ptr<program>> make(const seen_graph& g);
  /// Memory beside the operands. It must be 64-byte aligned.
  std::uint64_t scratch_bytes() const noexcept { return scratch_bytes_; }
  /// `g` has the structure that this was made for; its addresses are used.
  void run(const seen_graph& g, std::byte* scratch, thread_team& team) const;

 private:
  template <class N>
  friend class planner;
  std::vector<std::function<void(const workspace&)>> steps_;
  std::vector<std::uint64_t> buffers_;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace troupe::dnn::host
