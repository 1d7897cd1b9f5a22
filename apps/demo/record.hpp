// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/latencies.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace demo {

inline double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

/// The three kinds of clients, in the order in which they are shown.
enum class kind : std::uint8_t { blocking, coroutine, open_loop };
inline constexpr std::array kinds = {kind::blocking, kind::coroutine, kind::open_loop};

/// Counts of the clients of one kind. Many threads add to them.
struct tally {
  std::string name;
  latencies right;                        ///< times of the correct answers
  std::atomic<std::uint64_t> in_time{0};  ///< correct answers that arrived while clients were asking
  std::atomic<std::uint64_t> wrong{0}, failed{0}, under_way{0};
};

/// One interval of a run: what happened since the end of the previous one.
struct moment {
  double at_s = 0;
  std::array<double, kinds.size()> answers_per_s{};
  double p50_s = 0, p99_s = 0;
};

/// Something that happened to the service, from its begin to the end of its effect.
struct event {
  double from_s, to_s;
  std::string what;
  bool ours = true;  ///< whether the demo itself caused it
};

/// The final counts of the clients of one kind.
struct kind_record {
  std::string name;
  latency_counts right;
  std::uint64_t in_time = 0;  ///< answers among `right` that arrived before the end of the run. Rates count only these
  std::uint64_t wrong = 0, failed = 0;
};

/// All results of a run that are shown, plotted or written.
struct run_record {
  double seconds = 0;            ///< how long clients asked
  double last_answer_s = 0;      ///< when the last answer arrived; exceeds `seconds` if the service was overloaded
  std::string machine, service;  ///< for headings
  std::array<kind_record, kinds.size()> by_kind;
  std::vector<moment> moments;
  std::vector<event> events;
  std::uint64_t batches = 0, questions = 0;
  std::uint64_t repeated = 0;           ///< batches that were sent again after a fault
  std::uint64_t most_memory_bytes = 0;  ///< the most device memory in use at any time
  std::string first_failure;

  double questions_of_batch() const noexcept {
    return batches == 0 ? 0 : static_cast<double>(questions) / static_cast<double>(batches);
  }
  /// Returns the counts of all kinds of clients together.
  kind_record all() const {
    kind_record sum{.name = "all"};
    for (const kind_record& k : by_kind) {
      sum.right += k.right;
      sum.in_time += k.in_time, sum.wrong += k.wrong, sum.failed += k.failed;
    }
    return sum;
  }
  /// Returns the correct answers per second while clients were asking.
  double per_s(const kind_record& k) const noexcept {
    return seconds > 0 ? static_cast<double>(k.in_time) / seconds : 0;
  }
};

}  // namespace demo
