// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A service for many clients: one deadline and one stop token for all requests of a client, a full mailbox that blocks
// no thread, and a refused request that costs no data.
#include <cstdio>
#include <stop_token>
#include <troupe/blas/blas.hpp>
#include <troupe/device/keep_content.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using namespace std::chrono_literals;

int failed(const char* what) { return std::fprintf(stderr, "clients: %s\n", what), 1; }

// [scope]
result<std::vector<float>> serve(const device& gpu, std::stop_token client, const buffer<float>& x) {
  const device mine = gpu.within({.timeout = 5s, .stop = client});
  mine.tell(blas::scal<float>{.x = x, .n = x.size(), .alpha = 2});
  return mine.download(x).get();
}
// [scope]

// [room]
task<void> send_all(device gpu, buffer<float> x, int times) {
  for (int i = 0; i < times; ++i) {
    if (auto room = co_await gpu.room(); !room) co_return;  // the device no longer accepts requests
    gpu.tell(blas::scal<float>{.x = x, .n = x.size(), .alpha = 1});
  }
}
// [room]

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device();
  auto x = gpu.alloc<float>(4);
  gpu.upload(x, {{1, 2, 3, 4}});

  std::stop_source client;
  const auto doubled = serve(gpu, client.get_token(), x);
  if (!doubled) return failed(doubled.error().to_string().c_str());
  std::printf("%g %g %g %g\n", (*doubled)[0], (*doubled)[1], (*doubled)[2], (*doubled)[3]);

  client.request_stop();
  const auto gone = serve(gpu, client.get_token(), x);
  if (gone) return failed("a client that had gone was served");
  std::printf("%s\n", gone.error().to_string().c_str());

  // Neither request ran, so x can be used as it is.
  if (auto kept = keep_content(gpu, x); !kept) return failed(kept.error().to_string().c_str());
  if (auto sent = sync_wait(send_all(gpu, x, 5000)); !sent) return failed("the requests were not sent");
  const auto same = gpu.download(x).get();
  if (!same || *same != *doubled) return failed("x has changed");
}
