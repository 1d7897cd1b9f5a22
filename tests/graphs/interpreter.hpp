// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <troupe/base/error.hpp>

#include "step.hpp"

namespace graph_test {

/// The outcome of a step as the program saw it.
struct outcome {
  std::uint64_t ticket = 0;             ///< its place in the mailbox; 0 if it was refused
  std::uint64_t before = 0, after = 0;  ///< when it was asked and answered, by a clock that all threads share
  bool answered = false;
  std::optional<troupe::error> why;  ///< the error, if the answer is one
  std::vector<std::byte> data;       ///< downloaded, or seen by look
  std::uint64_t reply = 0;           ///< of hash and ping; for look, whether the buffer was valid
};

/// The facts about a failure that identify it anywhere.
struct failure_id {
  std::string text, name;
  std::uint64_t ticket = 0;
  friend bool operator==(const failure_id&, const failure_id&) = default;
};

/// Executes one step after another on plain memory, and finds what a device has done differently.
///
/// The interpreter itself determines whether a step fails, as far as possible: a request that reads spoiled bytes fails
/// with the same failure and spoils what it writes; one that replaces bytes cleans them. Only what depends on time
/// (cancelled, timed out, mailbox full) is taken from the answer.
class interpreter {
 public:
  interpreter(const graph_plan& plan, bool may_be_full);

  std::vector<std::byte>& bytes(int buffer) { return buffers_[static_cast<std::size_t>(buffer)].bytes; }

  /// Executes the step. Returns what is wrong with the outcome; empty if nothing is.
  std::string run(const step& s, const outcome& o);

  /// A refused step of a program whose other threads write the same buffers: it was refused at some moment between two
  /// places in the mailbox, `begin_refusal` and `end_refusal`.
  int begin_refusal(const step& s, const outcome& o);
  std::string end_refusal(int refusal);

  enum class condition : std::uint8_t { clean, spoiled, unknown };
  /// Calls f(first, count, condition) for the runs of a buffer's bytes.
  template <class F>
  void runs(int buffer, F&& f) const {
    const memory& m = buffers_[static_cast<std::size_t>(buffer)];
    for (std::size_t i = 0, end; i < m.bytes.size(); i = end) {
      const condition c = condition_of(m.stains[i]);
      for (end = i + 1; end < m.bytes.size() && condition_of(m.stains[end]) == c;) ++end;
      f(i, end - i, c);
    }
  }
  /// Returns true if this is one of the failures that spoiled the place.
  bool explains(const place& p, const troupe::error& e) const;

 private:
  struct memory {
    std::vector<std::byte> bytes;
    std::vector<std::uint16_t> stains;  // 0 if clean; otherwise an index into stains_
    bool stained = false;               // true if any may be other than 0
    bool host = false;
  };
  // Why bytes are spoiled, or may be: one of these failures.
  struct stain {
    bool perhaps = false;
    std::vector<failure_id> causes;
  };
  struct refusal {
    step what;
    outcome came_to;
    bool justified;
    bool over = false;
    std::vector<place> written = {};  // by others, since it began
  };

  condition condition_of(std::uint16_t s) const {
    return s == 0 ? condition::clean : stains_[s].perhaps ? condition::unknown : condition::spoiled;
  }
  std::span<std::byte> at(const place& p) { return std::span(bytes(p.buffer)).subspan(p.first, p.bytes); }
  std::uint16_t new_stain(stain s);
  static stain with(stain old, const std::vector<failure_id>& more, bool perhaps);
  void set(const place& p, std::uint16_t stain);
  template <class F>
  void restain(const place& p, F&& change);
  void spoil_outputs(const step& s, stain why, bool accepted);
  void clean_outputs(const step& s);
  void tell_refusals(const place& written);
  void justify_refusals();
  stain stain_of(const std::vector<use>& uses, bool reads_only, bool& definite) const;
  bool own_failure(const step& s) const;
  failure_id own_failure_id(const step& s, const outcome& o) const;
  bool is_own_failure(const step& s, const outcome& o) const;
  bool is_matter_of_time(const step& s, const outcome& o) const;
  std::string propagated(const step& s, const outcome& o, const stain& found) const;
  std::string answer_of(const step& s, const outcome& o);
  void apply(const step& s);

  std::vector<memory> buffers_;
  std::vector<stain> stains_{{}};
  std::vector<refusal> refusals_;
  bool may_be_full_;
};

}  // namespace graph_test
