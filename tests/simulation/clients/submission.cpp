// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "submission.hpp"

namespace troupe::simulation {

void submission::after_sending(client_request& q) {
  run_.record.note(q.ticket != 0 ? "sent" : "refused", q.number, static_cast<std::uint64_t>(q.kind));
  if (q.ticket != 0) log_.accept(q);
  if (const auto target = std::exchange(q.sealed_target, std::nullopt); target && q.ticket != 0) {
    if (target->handle.memory().owner->seal.load() != seal_state::open)
      run_.violated("a request was accepted although it writes sealed memory");
    q.writes_sealed = false;  // the seal failed, which became known during this call
    q.expect_write(*target, q.sealed_count);
  }
  if (q.ticket != 0 && q.input_was_lost) run_.violated("a request was accepted although an input is lost");
}

}  // namespace troupe::simulation
