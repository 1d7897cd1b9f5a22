// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/simulation/random.hpp>
#include "client_request.hpp"

namespace troupe::simulation {

/// The clients' buffers, and the models of all buffers that have ever existed.
class client_buffers {
 public:
  const client_buffer& add(buffer<word> b, std::uint64_t generation, bool sealable);
  void drop_any(random_bits& r) { held_.erase(held_.begin() + r.below(held_.size())); }
  void clear() { held_.clear(); }

  const std::vector<client_buffer>& all() const noexcept { return held_; }
  std::size_t size() const noexcept { return held_.size(); }
  const client_buffer& any(random_bits& r) const { return held_[r.below(held_.size())]; }
  /// Returns any buffer, or a part of one.
  client_buffer any_part(random_bits& r) const;
  /// Returns any buffer that can be sealed; null if there is none.
  const client_buffer* any_sealable(random_bits& r) const;
  /// Returns the device memory of a buffer, preferably a sealed one; empty if clients have none.
  std::pair<std::uint64_t, std::uint64_t> any_memory(random_bits& r) const;

  /// Marks the content of everything allocated before `generation` as lost.
  void lose_before(std::uint64_t generation);
  /// Marks the content of everything that is not sealed as possibly overwritten.
  void doubt_unsealed();

 private:
  std::vector<client_buffer> held_;
  std::vector<std::shared_ptr<model_buffer>> models_;
};

}  // namespace troupe::simulation
