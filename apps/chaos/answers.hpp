// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <troupe/troupe.hpp>

namespace chaos {

/// The outcomes of the requests that clients sent.
struct answer_counts {
  std::uint64_t asked = 0;
  std::uint64_t right = 0;  ///< correct answers
  /// errors that a fault explains: `context_lost`, or `retry_later` from the next worker
  std::uint64_t failed = 0;
  std::uint64_t wrong = 0;       ///< incorrect answers
  std::uint64_t unexpected = 0;  ///< errors that no fault explains
  std::uint64_t twice = 0;       ///< answered more than once
  std::uint64_t lost = 0;        ///< not answered at all

  bool good() const noexcept { return wrong == 0 && unexpected == 0 && twice == 0 && lost == 0; }
};

/// Collects answers and checks them. Thread-safe.
class answers {
 public:
  /// Makes a collector. An answer that takes longer than `time_limit` counts as lost. If the device `may_stop`, errors
  /// that say so count as explained by a fault.
  explicit answers(std::chrono::seconds time_limit, bool may_stop = false) noexcept
      : time_limit_(time_limit), may_stop_(may_stop) {}

  /// Counts a request, and how many times it is answered.
  template <class T>
  troupe::pending<T> watch(troupe::pending<T> p) {
    asked_.fetch_add(1, std::memory_order_relaxed);
    return std::move(p).then([this, seen = std::make_shared<std::atomic<int>>(0)](troupe::result<T> r) {
      if (seen->fetch_add(1) > 0) twice_.fetch_add(1);
      return r;
    });
  }

  /// Waits for the answer. `fault_of(value)`, or `fault_of()` if the answer has no value, returns what is wrong with
  /// it, or an empty text.
  template <class T, class F>
  void check(troupe::pending<T>& p, F&& fault_of) {
    const auto answer = p.get_for(time_limit_);
    if (!answer) return count_lost();
    if (!*answer) return check_error(answer->error());
    if constexpr (std::is_void_v<T>)
      check_text(fault_of());
    else
      check_text(fault_of(**answer));
  }

  answer_counts counts() const noexcept;
  std::uint64_t right() const noexcept { return right_.load(std::memory_order_relaxed); }
  /// Returns the first complaint, or an empty text.
  std::string first_complaint() const;

 private:
  void count_lost();
  void check_error(const troupe::error& e);
  void check_text(const std::string& fault);
  void note(const std::string& what);

  const std::chrono::seconds time_limit_;
  const bool may_stop_;
  std::atomic<std::uint64_t> asked_{0}, right_{0}, failed_{0}, wrong_{0}, unexpected_{0}, twice_{0}, lost_{0};
  mutable std::mutex lock_;
  std::string complaint_;
};

}  // namespace chaos
