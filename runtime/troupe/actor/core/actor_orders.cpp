// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/core/actor_orders.hpp>

namespace troupe::detail {

bool actor_orders::stop(bool shutdown) noexcept {
  const std::uint32_t order = stop_bit | (shutdown ? shutdown_bit : 0);
  std::uint32_t seen = word_.load();
  do {
    if (seen & (stop_bit | ended_bit)) return false;
  } while (!word_.compare_exchange_weak(seen, seen | order));
  return true;
}

kill_outcome actor_orders::kill() noexcept {
  std::uint32_t seen = word_.load(), wanted;
  do {
    if (seen & (kill_bit | ended_bit)) return kill_outcome::nothing;
    wanted = seen | kill_bit | (seen & running_bit ? abandoned_bit : 0);
  } while (!word_.compare_exchange_weak(seen, wanted));
  return wanted & abandoned_bit ? kill_outcome::handler_abandoned : kill_outcome::ordered;
}

}  // namespace troupe::detail
