// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/worker/engine.hpp>

#include "requests.hpp"

namespace dsp {

class host_engine {
 public:
  static troupe::result<std::unique_ptr<host_engine>> make(const troupe::engine_context&) {
    return std::make_unique<host_engine>();
  }
  const char* version() const { return "1.0"; }

  template <class T>
  troupe::result<void> run(const smooth<T>& r, troupe::call&) {
    const T* in = r.input.data();
    const std::int64_t n = r.samples.value(), reach = r.window.value() / 2;
    T sum = 0;
    std::int64_t begin = 0, end = 0;  // of the window
    for (std::int64_t i = 0; i < n; ++i) {
      while (end < std::min(n, i + reach + 1)) sum += in[end++];
      while (begin < i - reach) sum -= in[begin++];
      r.output.data()[i] = sum / static_cast<T>(end - begin);
    }
    return {};
  }

  template <class T>
  troupe::result<typename peak<T>::found> run(const peak<T>& r, troupe::call&) {
    const T* in = r.input.data();
    const T* at = std::max_element(in, in + r.samples.value());
    if (*at != *at) return troupe::error(troupe::reaction::caller_bug, "dsp", "the first sample is not a number");
    return typename peak<T>::found{at - in, *at};
  }

  template <class T>
  troupe::result<void> run(const amplify<T>& r, troupe::call&) {
    const T gain = r.gain.load();
    for (const auto& signal : r.signals)
      for (std::uint64_t i = 0; i < signal.size(); ++i) signal.data()[i] *= gain;
    return {};
  }

  // Short signals that wait at the same time are smoothed by one call if they have the same window.
  template <class T>
  static std::uint64_t group_of(const smooth<T>& r) {
    return r.samples <= 1024 ? static_cast<std::uint64_t>(r.window.value()) : 0;
  }
  template <class T>
  troupe::result<void> run_group(const troupe::group<smooth<T>>& all, troupe::call& c) {
    for (std::size_t i = 0; i < all.size(); ++i) (void)run(all[i], c);  // smoothing cannot fail
    return {};
  }
};

}  // namespace dsp

using namespace dsp;
TROUPE_ENGINE(host_engine, "dsp", "host", smooth<float>, smooth<double>, peak<float>, peak<double>, amplify<float>,
              amplify<double>)
