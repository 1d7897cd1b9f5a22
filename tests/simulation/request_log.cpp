// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "request_log.hpp"

#include <algorithm>

namespace troupe::simulation {
namespace {

bool is_closed(const client_request& q) { return q.is_checked || !q.answer; }

}  // namespace

client_request& request_log::begin(request_kind kind) {
  client_request& q = requests_.emplace_back();
  q.kind = kind;
  q.number = ++numbers_;
  q.generation = generation_;
  return q;
}

client_request* request_log::find(std::uint64_t ticket) const {
  const auto found = by_ticket_.find(ticket);
  return found == by_ticket_.end() ? nullptr : found->second;
}

bool request_log::all_judged() const {
  return std::all_of(requests_.begin() + static_cast<std::ptrdiff_t>(first_open_), requests_.end(), is_closed);
}

void request_log::skip_judged() {
  while (first_open_ < requests_.size() && is_closed(requests_[first_open_])) ++first_open_;
}

void request_log::clear() {
  by_ticket_.clear();
  requests_.clear();
  first_open_ = 0;
}

}  // namespace troupe::simulation
