// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client_request.hpp"
#include "random.hpp"

namespace troupe::simulation {

/// The buffers that clients have, and the models of all that there ever were.
class client_buffers {
 public:
  const client_buffer& add(buffer<word> b, std::uint64_t generation, bool sealable);
  void drop_any(random_bits& r) { held_.erase(held_.begin() + r.below(held_.size())); }
  void clear() { held_.clear(); }

  const std::vector<client_buffer>& all() const noexcept { return held_; }
  std::size_t size() const noexcept { return held_.size(); }
  const client_buffer& any(random_bits& r) const { return held_[r.below(held_.size())]; }
  /// Any buffer, or a part of one.
  client_buffer any_part(random_bits& r) const;
  /// Any of those that can be sealed; null where none can.
  const client_buffer* any_sealable(random_bits& r) const;
  /// The device memory of some buffer, preferably a sealed one; empty where clients have none.
  std::pair<std::uint64_t, std::uint64_t> any_memory(random_bits& r) const;

  /// The content of all that was allocated before `generation` is lost.
  void lose_before(std::uint64_t generation);
  /// The content of all that is not sealed may have been overwritten.
  void doubt_unsealed();

 private:
  std::vector<client_buffer> held_;
  std::vector<std::shared_ptr<model_buffer>> models_;
};

}  // namespace troupe::simulation
