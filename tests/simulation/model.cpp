// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

namespace troupe::simulation {

void model_buffer::expect(std::uint32_t order, std::uint32_t begin, std::uint32_t count) {
  writes_.push_back({order, begin, count, content::pending, {}});
}

void model_buffer::settle(std::uint32_t order, content state, const std::vector<word>& values) {
  for (auto w = writes_.rbegin(); w != writes_.rend(); ++w)
    if (w->order == order) {
      w->state = state;
      w->values = values;
    }
}

void model_buffer::lose() {
  if (seal.done) return;
  first_ = content::lost;
  for (write& w : writes_)
    if (w.state != content::pending && w.state != content::doubtful) w.state = content::lost;
}

void model_buffer::doubt() {
  for (write& w : writes_)
    if (w.state == content::known) w.state = content::any;
}

model_buffer::cell model_buffer::before(std::uint32_t order, std::uint32_t index) const {
  for (auto w = writes_.rbegin(); w != writes_.rend(); ++w)
    if (w->order < order && index >= w->begin && index < w->begin + w->count)
      return {w->state, w->state == content::known ? w->values[index - w->begin] : 0};
  return {first_, 0};
}

bool model_buffer::may_be_lost(std::uint32_t order, std::uint32_t index) const {
  for (auto w = writes_.rbegin(); w != writes_.rend(); ++w) {
    if (w->order >= order || index < w->begin || index >= w->begin + w->count) continue;
    if (w->state != content::pending) return w->state == content::lost || w->state == content::doubtful;
  }
  return first_ == content::lost;
}

}  // namespace troupe::simulation
