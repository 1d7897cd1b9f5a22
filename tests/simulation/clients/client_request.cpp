// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "client_request.hpp"

#include <algorithm>

namespace troupe::simulation {

void client_request::will_read(const client_buffer& from, std::uint32_t count) {
  reads.push_back({from.model, from.first, count});
  memory.push_back({from.handle.memory().address, count * sizeof(word)});
  for (std::uint32_t i = from.first; i < from.first + count; ++i)
    input_was_lost |= from.model->before(number, i).state == model_buffer::content::lost;
}

void client_request::will_write(const client_buffer& to, std::uint32_t count) {
  const bool closed = to.handle.memory().owner->seal.load() != seal_state::open;
  const model_buffer::sealing& s = to.model->seal;
  if (kind != request_kind::unseal && (s.under_way != 0 ? closed : s.done)) {
    writes_sealed = true;
    sealed_target = to;
    sealed_count = count;
  } else {
    expect_write(to, count);
  }
}

void client_request::expect_write(const client_buffer& to, std::uint32_t count) {
  to.model->expect(number, to.first, count);
  writes = {to.model, to.first, count};
  memory.push_back({to.handle.memory().address, count * sizeof(word)});
}

std::vector<model_buffer::cell> client_request::inputs() const {
  std::vector<model_buffer::cell> all;
  for (const range& r : reads)
    for (std::uint32_t i = r.begin; i < r.begin + r.count; ++i) all.push_back(r.of->before(number, i));
  return all;
}

bool client_request::may_miss_input() const {
  for (const range& r : reads)
    for (std::uint32_t i = r.begin; i < r.begin + r.count; ++i)
      if (r.of->may_be_lost(number, i)) return true;
  return false;
}

}  // namespace troupe::simulation
