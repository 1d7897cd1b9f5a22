// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <troupe/base/error.hpp>

namespace graph_test {

/// Asks again while the answer is that there is no room yet.
template <class Ask>
auto retry_while_full(Ask&& ask) {
  auto answer = ask().get();
  for (; !answer && answer.error().reaction() == troupe::reaction::retry_later; answer = ask().get())
    std::this_thread::yield();
  return answer;
}

}  // namespace graph_test
