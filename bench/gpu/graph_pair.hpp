// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/case_list.hpp>
#include <bench/device_under_test.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/rounds.hpp>
#include <memory>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>
#include <troupe/dnn/dnn.hpp>

namespace troupe::bench {

inline device_options for_dnn() { return {.libraries = {"dnn"}, .wait = wait_policy::latency}; }

/// The measured device with the engine of dnn, and cuDNN called directly. Throws `bad_result` if there is no disk
/// cache, through which both sides share plans.
struct dnn_sides {
  explicit dnn_sides(const settings& s, const device_options& how = for_dnn());

  const device_under_test gpu;
  const raw_side side;
  const std::unique_ptr<raw_dnn> raw;
};

/// The number of calls by which the raw side computes a graph.
enum class raw_calls : std::uint8_t { one, three };

/// A request of dnn, and cuDNN called directly for the same graph and with the same data.
class graph_pair {
 public:
  /// Computes the request once, so that cuDNN's plan for it is on disk, where the raw side finds it. Throws
  /// `bad_result` if cuDNN does not compute the whole graph.
  graph_pair(const dnn_sides& on, dnn::computation request, raw_calls how = raw_calls::one);

  /// Returns the seconds of one run on each side.
  pair_of_medians seconds(int rounds);
  /// Returns how the results differ, or "".
  std::string difference() const;

 private:
  const device gpu_;
  const dnn::computation request_;
  std::unique_ptr<raw_graph> raw_;
};

/// Returns a buffer with random values from -1 to 1, which repeat.
template <class T>
buffer<T> random_buffer(const device& gpu, std::int64_t count, std::uint64_t seed);
extern template buffer<half> random_buffer<half>(const device&, std::int64_t, std::uint64_t);
extern template buffer<bfloat16> random_buffer<bfloat16>(const device&, std::int64_t, std::uint64_t);

/// Returns the values that such a buffer repeats.
std::vector<float> repeated_numbers(std::int64_t count, std::uint64_t seed);

/// Returns a tensor of images or filters with the channels last.
template <class T>
tensor<T> channels_last(const buffer<T>& b, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return tensor<T>(b, {n, c, h, w}, {c * h * w, 1, w * c, c});
}

/// Compares both sides, and adds the case to the list. `work` is the work of one run, which counts `count` times in the
/// sum.
void add_case(case_list& to, const std::string& name, double work, int count, const settings& s, const dnn_sides& on,
              const dnn::computation& request, raw_calls how = raw_calls::one);

}  // namespace troupe::bench
