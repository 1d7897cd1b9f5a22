// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Two devices: results of one go to the other and back, with requests in place.
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/device/peers.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

task<result<int>> there_and_back(device first, device second) {
  const int n = 3000;
  int wrong = 0;
  co_await first.started();
  co_await second.started();
  const peer_info seen = co_await peer(first, second);
  wrong += !seen.access || seen.link != peer_link::memory;
  const auto groups = co_await islands({first, second});
  wrong += groups.size() != 1 || groups.front().size() != 2;
  co_await enable_peer(second, first);

  auto x = first.alloc<double>(n), back = first.alloc<double>(n);
  auto y = second.alloc<double>(n);
  for (int round = 0; round < 50; ++round) {
    first.fill(x, round);
    copy_between(second, y, first, x);
    first.fill(x, -1);  // after the copy
    second.tell(blas::scal<double>{.x = y, .n = n, .alpha = 2});
    co_await copy_between(first, back, second, y);
    wrong += co_await first.download(back) != std::vector<double>(n, 2.0 * round);
    wrong += co_await first.ask(blas::asum<double>{.x = x, .n = n}) != n;
  }
  // A part of one buffer to a part of the other.
  second.fill(y, 0);
  co_await copy_between(second, y.slice(100, 10), first, x.slice(0, 10));
  wrong += co_await second.ask(blas::asum<double>{.x = y, .n = n}) != 10;

  // Data that fails on one device is stale on the other.
  first.tell(blas::scal<double>{.x = x.slice(2000, 2000), .n = 2000, .alpha = 1});
  const auto foreign = co_await as_result(first.ask(blas::asum<double>{.x = y, .n = n}));
  wrong += foreign || foreign.error().reaction() != reaction::caller_bug;
  first.tell(blas::scal<double>{.x = back, .n = n + 1, .alpha = 1});
  const auto stale = co_await as_result(copy_between(second, y, first, back));
  wrong += stale || y.readable() || stale.error().text().find("blas.scal") == std::string::npos;
  wrong += second.statistics().peers.size() != 1 || second.statistics().peers.front().copies != 51;
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(there_and_back(rt.open_device({.name = "first"}), rt.open_device({.name = "second"})));
  if (!wrong) return std::fprintf(stderr, "two_devices: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
