// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/latencies.hpp>
#include <array>
#include <string>
#include <vector>

namespace demo {

/// The three kinds of clients, in the order in which they are shown.
enum class kind : std::uint8_t { blocking, coroutine, open_loop };
inline constexpr std::array kinds = {kind::blocking, kind::coroutine, kind::open_loop};

/// Figures of the clients of one kind. Many threads add to them.
struct tally {
  std::string name;
  latencies right;                        ///< correct answers, and how long they took
  std::atomic<std::uint64_t> in_time{0};  ///< correct answers that arrived while clients asked
  std::atomic<std::uint64_t> wrong{0}, failed{0}, under_way{0};
};

/// One interval of the run: what happened since the previous one.
struct moment {
  double at_s = 0;
  std::array<double, kinds.size()> answers_per_s{};
  double p50_s = 0, p99_s = 0;
};

/// Something that happened to the service while it ran, from its start to the end of its effect.
struct event {
  double from_s, to_s;
  std::string what;
  bool ours = true;  ///< caused by the demo itself
};

/// The final figures of the clients of one kind.
struct kind_record {
  std::string name;
  latency_counts right;
  std::uint64_t in_time = 0;  ///< of `right`: before the end of the run. Rates count only these
  std::uint64_t wrong = 0, failed = 0;
};

/// All results of a run that are shown, plotted or written.
struct run_record {
  double seconds = 0;            ///< how long clients asked
  double last_answer_s = 0;      ///< exceeds `seconds` if the service was overloaded
  std::string machine, service;  ///< for headings
  std::array<kind_record, kinds.size()> by_kind;
  std::vector<moment> moments;
  std::vector<event> events;
  std::uint64_t batches = 0, questions = 0;
  std::uint64_t repeated = 0;           ///< batches sent again after a fault
  std::uint64_t most_memory_bytes = 0;  ///< the maximum since the device was opened
  std::string first_failure;

  double questions_of_batch() const noexcept {
    return batches == 0 ? 0 : static_cast<double>(questions) / static_cast<double>(batches);
  }
  /// All kinds of clients combined.
  kind_record all() const {
    kind_record sum{.name = "all"};
    for (const kind_record& k : by_kind) {
      sum.right += k.right;
      sum.in_time += k.in_time, sum.wrong += k.wrong, sum.failed += k.failed;
    }
    return sum;
  }
  /// Right answers per second while clients asked.
  double per_s(const kind_record& k) const noexcept {
    return seconds > 0 ? static_cast<double>(k.in_time) / seconds : 0;
  }
};

}  // namespace demo
