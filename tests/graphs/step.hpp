// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/device/options.hpp>
#include <troupe/request/block.hpp>
#include <vector>

/// A random request graph as data: the requests of a program to a device.
namespace graph_test {

enum class kind : std::uint8_t {
  renew,     ///< frees buffer b and allocates it again, possibly with another size; the next steps replace all of it
  upload,    ///< ordinary memory to b
  copy,      ///< a to b, by whichever function fits the two kinds of memory
  copy_2d,   ///< columns of a to columns of b
  download,  ///< a to ordinary memory
  fill,      ///< b
  affine,
  add,
  mix,
  scan,
  slide,
  hash,
  gather,
  tile,     ///< this and those above: see engine/requests.hpp; they write b
  fail,     ///< reads a, writes b (inout) and c (out), and fails
  unknown,  ///< reads a, writes b, in an engine that does not know it (element 1) or that does not exist (element 2)
  outside,  ///< copies a slice that is outside its buffer to b
  look,     ///< examines a in the application; everything before has been answered
  sync,
  ping,
  await,   ///< collects the answer of step `target`
  cancel,  ///< cancels step `target`
};

enum class sent : std::uint8_t {
  tell,
  keep,  ///< a step `await` collects the answer, or the test does at its end
  call,  ///< a callback collects the answer
  drop,  ///< nothing collects the answer
};

struct place {
  int buffer = -1;
  std::uint64_t first = 0, bytes = 0;
};

struct step {
  kind what = kind::sync;
  sent how = sent::keep;
  bool timed = false;        ///< with a short time-out
  bool host = false;         ///< renew: as a host_buffer
  std::uint8_t element = 1;  ///< bytes
  place a, b, c;
  std::uint64_t value = 0;   ///< the source of data and factors
  std::uint64_t number = 0;  ///< identifies the step in the whole graph
  std::uint32_t rows = 0, columns = 0, from_ld = 0,
                to_ld = 0;  ///< elements; for affine, rows is the count and to_ld the increment
  std::uint32_t work_us = 0;
  int target = -1;
};

/// A step's access to memory. `pitch` is 0 for one contiguous run; otherwise columns of `row_bytes` are that far apart.
struct use {
  place where;
  troupe::access_mode mode;
  std::uint64_t row_bytes = 0, pitch = 0;
};
std::vector<use> uses_of(const step& s);
/// Returns true if the step writes something that it also uses in another place. Such a request is refused.
bool overlaps(const step& s);
/// Returns the name of the step's request; empty if there is none.
std::string request_name(const step& s, bool from_host, bool to_host);

struct buffer_plan {
  std::uint64_t bytes;
  bool host;
  int owner;  ///< the thread that uses it; -1: all threads; -2: all, and none writes
};

enum class manner : std::uint8_t { blocking, coroutine, callbacks };

struct thread_plan {
  manner how;
  std::vector<step> steps;
};

struct graph_plan {
  std::uint64_t seed;
  bool shared;  ///< all threads write the same buffers
  std::vector<buffer_plan> buffers;
  std::vector<thread_plan> threads;
};

/// Every graph, and the options of its device, is a function of its seed.
graph_plan plan_of(std::uint64_t seed);
inline constexpr std::uint64_t option_sets = 54;
/// Returns the options of set seed % option_sets.
troupe::device_options options_of(std::uint64_t seed);

std::string describe(const step& s);
std::string describe(const troupe::device_options& o);

/// A small random generator, the same on all platforms.
class random {
 public:
  explicit random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept { return low + below(high - low + 1); }
  bool chance(unsigned percent) noexcept { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

/// Returns the bytes that stand for `value`.
std::vector<std::byte> pattern(std::uint64_t value, std::uint64_t bytes);

}  // namespace graph_test
