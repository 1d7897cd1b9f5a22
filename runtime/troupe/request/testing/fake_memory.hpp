// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/request/checker.hpp>

namespace troupe::testing {

/// A block of fake memory for tests of requests that are checked and never run.
class fake_memory final : public memory_owner {
 public:
  explicit fake_memory(std::uint64_t bytes) {
    block_.owner = this;
    block_.address = 0x1000;
    block_.bytes = bytes;
    block_.generation = 1;
    block_.references = 1;
  }

  /// Converts to an operand of any kind: elements [first, first + count) of the block.
  template <class T>
  struct elements {
    memory_range range;
    template <access_mode M>
    operator operand<T, M>() const {
      return operand<T, M>(range);
    }
  };
  template <class T>
  elements<T> at(std::uint64_t first, std::uint64_t count) {
    ++block_.references;
    return {{block_ref(&block_), block_.address + first * sizeof(T), count * sizeof(T)}};
  }

  /// Makes the whole block stale.
  void spoil() { block_.stale_marks = 1; }

  /// Returns why `r` is refused; empty if it is valid.
  template <request R>
  std::string refusal(const R& r) const {
    checker c(r, this, block_.generation);
    r.check(c);
    const auto& e = c.finish();
    return e ? e->text() : "";
  }
  template <ready_request R>
  std::string refusal(const R& r) const {
    const auto sent = r.to_request();
    const detail::ready_and_sent<R> both{r, sent};
    checker c(both, this, block_.generation);
    both.checked().check(c);
    const auto& e = c.finish();
    return e ? e->text() : "";
  }
  /// Returns the access of `r` to operand `index`, counted in the order of its fields.
  template <request R>
  memory_access touched(const R& r, std::size_t index) const {
    checker c(r, this, block_.generation);
    r.check(c);
    c.finish();
    return c.uses()[index].touched;
  }

  void recycle(block&) noexcept override {}
  std::optional<error> stale_cause(const block&, std::uint64_t, std::uint64_t) const override {
    return error(reaction::retry_later, "test", "the block is spoilt");
  }
  void mark_refused(block&, std::uint64_t, std::uint64_t, const error&) override {}
  block_ref failed_buffer(std::uint64_t, error) override { return {}; }

 private:
  block block_;
};

}  // namespace troupe::testing
