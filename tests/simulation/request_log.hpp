// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>

#include <tests/simulation/clients/client_request.hpp>

namespace troupe::simulation {

/// All requests of a run, in the order in which they were sent.
class request_log {
 public:
  client_request& begin(request_kind kind);
  /// Makes the request available to `find`.
  void accept(client_request& q) { by_ticket_[q.ticket] = &q; }
  /// Returns null if no request has the ticket.
  client_request* find(std::uint64_t ticket) const;

  const std::deque<client_request>& all() const noexcept { return requests_; }
  std::deque<client_request>& all() noexcept { return requests_; }
  /// Calls f for each request from the oldest open one on, including those that f adds.
  template <class F>
  void for_each_open(F&& f) {
    for (std::size_t i = first_open_; i < requests_.size(); ++i) f(requests_[i]);
  }
  /// Returns true if every answer has been checked.
  bool all_judged() const;
  /// Returns true if `skip_judged` has left no request.
  bool none_open() const noexcept { return first_open_ == requests_.size(); }
  void skip_judged();
  void clear();

  std::uint32_t next_number() const noexcept { return numbers_ + 1; }
  /// The device's generation as far as the rules have followed it.
  std::uint64_t generation() const noexcept { return generation_; }
  void begin_generation(std::uint64_t generation) noexcept { generation_ = generation; }

 private:
  std::deque<client_request> requests_;
  std::size_t first_open_ = 0;  // all before have been checked, or get no answer
  std::uint32_t numbers_ = 0;
  std::uint64_t generation_ = 1;
  std::map<std::uint64_t, client_request*> by_ticket_;
};

}  // namespace troupe::simulation
