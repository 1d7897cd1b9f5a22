// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/scratch.hpp>
#include <utility>
#include <vector>

/// Times plans on copies of their operands, more copies than the GPU's cache can hold.
namespace troupe::cuda {

/// A range of bytes, from `first` up to but not including `last`.
struct byte_interval {
  std::int64_t first = 0, last = 0;  ///< relative to an operand's address
  std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(last - first); }
};
/// Returns the bytes that elements with these extents and strides occupy, relative to the address of the first.
byte_interval byte_interval_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_strides,
                               dtype t) noexcept;

/// An operand of a plan that is being timed.
struct timed_operand {
  std::uint64_t* address;  ///< where the plan's arguments store the operand's address
  byte_interval used;
  bool read;  ///< whether the plan reads the operand
};
/// Returns the size of a copy of `bytes` bytes, including what its alignment may skip.
constexpr std::uint64_t copy_bytes(std::uint64_t bytes) noexcept { return (bytes + 511) / 256 * 256; }

/// Measures the duration of work on a stream.
class timing_run {
 public:
  struct limits {
    double average_us;  ///< time that the executions of one average should take
    int fewest, most;   ///< least and greatest number of executions of one average
    int averages;
  };
  /// Prepares to time work in the stream of `c`. `domain` names the library in errors.
  static result<timing_run> make(const call& c, std::string_view domain, const limits& l);

  /// Returns the microseconds of one execution: the least of several averages. `run(times)` enqueues the work `times`
  /// times. Waits for the GPU.
  result<double> time(const std::function<result<void>(int times)>& run);

  /// Allocates device memory, which the returned object frees.
  result<scratch> allocate(std::uint64_t bytes) const;
  struct memory_with_counters {
    scratch all;
    std::uint64_t counters;  ///< address of the counters, which are set to 0
  };
  /// Allocates `bytes` bytes with `count` counters after them.
  result<memory_with_counters> allocate_with_counters(std::uint64_t bytes, std::uint32_t count) const;
  /// Makes an operand use the memory at `next`, and advances `next`. Copies its content if the operand is `read`. The
  /// address modulo 256, and with it the alignment, stays the same.
  result<void> copy(const timed_operand& o, std::uint64_t& next) const;

 private:
  timing_run(const call& c, std::string_view domain, const limits& l, event begin, event end)
      : call_(c), domain_(domain), limits_(l), begin_(std::move(begin)), end_(std::move(end)) {}
  CUstream stream() const noexcept { return static_cast<CUstream>(call_.stream); }
  result<void> done(const char* what, CUresult s) const { return done_on(stream(), domain_, what, s); }
  result<double> average(const std::function<result<void>(int times)>& run, int times);

  call call_;
  std::string_view domain_;
  limits limits_;
  event begin_, end_;
};

/// Returns how many copies of `bytes` bytes exceed every cache together; at most 64.
std::uint64_t copies_beyond_cache(std::uint64_t bytes) noexcept;

/// A plan's arguments, once for each copy of its operands; executions use them in turn.
template <class Arguments>
class copied_arguments {
 public:
  /// Calls `copy(memory)` for each copy: it returns arguments whose operands are in the `bytes` bytes at the address
  /// `memory`.
  template <class Copy>
  static result<copied_arguments> make(const timing_run& with, std::uint64_t bytes, Copy&& copy) {
    const std::uint64_t count = copies_beyond_cache(bytes);
    copied_arguments out(TROUPE_TRY(with.allocate(bytes * count)));
    for (std::uint64_t i = 0; i < count; ++i) out.all_.push_back(TROUPE_TRY(copy(out.memory_.address() + i * bytes)));
    return out;
  }
  std::vector<Arguments>& all() noexcept { return all_; }
  /// Returns the arguments of the next execution.
  const Arguments& next() noexcept { return all_[next_++ % all_.size()]; }

 private:
  explicit copied_arguments(scratch memory) noexcept : memory_(std::move(memory)) {}

  scratch memory_;
  std::vector<Arguments> all_;
  std::size_t next_ = 0;
};

}  // namespace troupe::cuda
