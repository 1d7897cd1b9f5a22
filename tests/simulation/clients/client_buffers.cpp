// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "client_buffers.hpp"

namespace troupe::simulation {

const client_buffer& client_buffers::add(buffer<word> b, std::uint64_t generation, bool sealable) {
  models_.push_back(std::make_shared<model_buffer>(static_cast<std::uint32_t>(b.size().value()), generation));
  models_.back()->seal.possible = sealable;
  return held_.emplace_back(client_buffer{std::move(b), models_.back(), 0});
}

client_buffer client_buffers::any_part(random_bits& r) const {
  const client_buffer& whole = any(r);
  if (r.percent(60)) return whole;
  const std::uint32_t first = r.below(whole.size()), count = r.between(1, whole.size() - first);
  return {whole.handle.slice(first, count), whole.model, whole.first + first};
}

const client_buffer* client_buffers::any_sealable(random_bits& r) const {
  std::vector<const client_buffer*> able;
  for (const client_buffer& b : held_)
    if (b.model->seal.possible) able.push_back(&b);
  return able.empty() ? nullptr : able[r.below(able.size())];
}

std::pair<std::uint64_t, std::uint64_t> client_buffers::any_memory(random_bits& r) const {
  if (held_.empty()) return {};
  std::size_t which = r.below(held_.size());
  for (std::size_t i = 0; i < held_.size() && !held_[which].model->seal.done; ++i) which = (which + 1) % held_.size();
  const memory_range m = held_[which].handle.memory();
  return {m.address, m.bytes};
}

void client_buffers::lose_before(std::uint64_t generation) {
  for (const auto& m : models_)
    if (m->generation < generation) m->lose();
}

void client_buffers::doubt_unsealed() {
  for (const auto& m : models_)
    if (!m->seal.done) m->doubt();
}

}  // namespace troupe::simulation
