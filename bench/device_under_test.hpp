// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <troupe/troupe.hpp>

namespace troupe::bench {

/// A device that is opened for one measure, ready to use. Throws `bad_result` if it does not become ready.
class device_under_test {
 public:
  explicit device_under_test(const settings& s, device_options options = {});
  const device* operator->() const noexcept { return &device_; }
  const device& operator*() const noexcept { return device_; }

 private:
  runtime runtime_;
  device device_;
};

/// Sends a request `times` times, and waits for the last answer.
template <class Request>
void run_queued(const device& gpu, const Request& request, int times) {
  for (int i = 1; i < times; ++i) gpu.tell(request);
  gpu.ask(request).get().value();
}

}  // namespace troupe::bench
