// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <troupe/request/checker.hpp>
#include <vector>

/// A library actor for tests, made with the public plug-in interface alone: its requests make a worker do what a test
/// needs.
namespace testing_actor {

using namespace troupe;

/// The two words that both sides of a `hold` share, in a host_buffer<std::uint32_t> of 2.
enum gate : std::size_t { entered, opened };

/// Sets gate[entered] = 1 once it runs, and continues when the test sets gate[opened] = 1.
struct hold {
  inout<std::uint32_t> gate;
  TROUPE_REQUEST("testing.hold", gate)
  void check(checker& c) const { c.elements(gate, 2); }
};

/// A `hold` on a helper thread. Writes 1 to `result` at its end.
struct hold_slowly {
  inout<std::uint32_t> gate;
  out<float> result;
  TROUPE_REQUEST("testing.hold_slowly", gate, result)
  void check(checker& c) const {
    c.elements(gate, 2);
    c.elements(result, 1);
  }
};

/// A `hold` that claims to only read the gate, where it counts how often it was entered: so it may run a second time.
/// Writes that count to `result`.
struct linger {
  in<std::uint32_t> gate;
  out<float> result;
  TROUPE_REQUEST("testing.linger", gate, result)
  void check(checker& c) const {
    c.elements(gate, 2);
    c.elements(result, 1);
  }
};

struct nap {
  extent microseconds;
  TROUPE_REQUEST("testing.nap", microseconds)
  void check(checker& c) const { c.at_least(microseconds, 0); }
};

struct fail {
  reaction how;
  std::int64_t code;
  troupe::text text;
  TROUPE_REQUEST("testing.fail", how, code, text)
  void check(checker&) const {}
};

/// Writes to the application's log.
struct say {
  troupe::text text;
  std::uint32_t times = 1;
  TROUPE_REQUEST("testing.say", text, times)
  void check(checker&) const {}
};

/// Fails with a broken handle if asked to. Otherwise returns how often the engine was opened.
struct break_handle {
  bool breaks;
  using reply = std::uint64_t;
  TROUPE_REQUEST("testing.break_handle", breaks)
  void check(checker&) const {}
};

/// Adds 1 to x[0]; but once, if `breaks` is not 0, clears it and fails with a broken handle instead.
struct break_once {
  inout<float> x;
  inout<std::uint32_t> breaks;
  TROUPE_REQUEST("testing.break_once", x, breaks)
  void check(checker& c) const {
    c.elements(x, 1);
    c.elements(breaks, 1);
  }
};

/// Fails instead of writing `target`.
struct spoil {
  out<float> target;
  extent n;
  troupe::text text;
  TROUPE_REQUEST("testing.spoil", target, n, text)
  void check(checker& c) const {
    c.positive(n);
    c.elements(target, n);
  }
};

enum class thrown : std::uint8_t { exception, number };
struct throws {
  thrown what;
  TROUPE_REQUEST("testing.throws", what)
  void check(checker&) const {}
};

enum class ending : std::uint8_t { segmentation_fault, wild_write, stack_overflow, abort, exit };
struct crash {
  ending how;
  TROUPE_REQUEST("testing.crash", how)
  void check(checker&) const {}
};

/// Exits with `how`. Its fields have gaps between them.
struct die_with {
  std::uint8_t how;
  troupe::text text;
  troupe::list<std::uint32_t> list;
  TROUPE_REQUEST("testing.die_with", how, text, list)
  void check(checker&) const {}
};

/// y[0] = the sum of x, like a kernel that trusts its data: a negative x[0] kills the worker.
struct fragile {
  in<float> x;
  inout<float> y;
  extent n;
  TROUPE_REQUEST("testing.fragile", x, y, n)
  void check(checker& c) const {
    c.positive(n);
    c.elements(x, n);
    c.elements(y, 1);
  }
};

/// Never ends.
struct spin {
  inout<std::uint32_t> gate;
  TROUPE_REQUEST("testing.spin", gate)
  void check(checker& c) const { c.elements(gate, 2); }
};

/// x[i] += 1
struct increment {
  inout<float> x;
  extent n;
  TROUPE_REQUEST("testing.increment", x, n)
  void check(checker& c) const {
    c.positive(n);
    c.elements(x, n);
  }
};

/// target[i] = source[i]
struct copy {
  in<float> source;
  out<float> target;
  extent n;
  TROUPE_REQUEST("testing.copy", source, target, n)
  void check(checker& c) const {
    c.positive(n);
    c.elements(source, n);
    c.elements(target, n);
  }
};

/// Returns the FNV-1a hash of the text's and the list's bytes: parts that vary in size.
struct checksum {
  troupe::text text;
  troupe::list<std::uint32_t> list;
  using reply = std::uint64_t;
  TROUPE_REQUEST("testing.checksum", text, list)
  void check(checker&) const {}
};
inline std::uint64_t checksum_of(const std::string& text, const std::vector<std::uint32_t>& list) {
  std::uint64_t h = 0xcbf29ce484222325u;
  const auto mix = [&h](const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) h = (h ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  };
  mix(text.data(), text.size());
  mix(list.data(), list.size() * sizeof(std::uint32_t));
  return h;
}

/// Returns the largest possible reply: seed, seed + 1, …
struct widest {
  std::uint64_t seed;
  using reply = std::array<std::uint64_t, 8>;
  TROUPE_REQUEST("testing.widest", seed)
  void check(checker&) const {}
};

/// Returns the number of calls that the engine has served: a lane runs one at a time, in order.
struct count {
  std::uint64_t unused = 0;
  using reply = std::uint64_t;
  TROUPE_REQUEST("testing.count", unused)
  void check(checker&) const {}
};

/// x[0] += by; returns how many shared its call. Requests of one kind may share calls, except those of kind 0; the
/// engine refuses more than one of kind 13 in a call.
struct together {
  inout<float> x;
  std::uint64_t kind;
  float by = 1;
  using reply = std::uint32_t;
  TROUPE_REQUEST("testing.together", x, kind, by)
  void check(checker& c) const { c.elements(x, 1); }
};

/// target[0] = factor * (the sum of the first elements of the parts). Fails with `blame` if that is set.
struct sum_of {
  list<in<float>> parts;
  out<float> target;
  scalar<float> factor = 1;
  text blame = {};
  using reply = std::uint64_t;  ///< how many parts there are
  TROUPE_REQUEST("testing.sum_of", parts, target, factor, blame)
  void check(checker& c) const {
    for (const auto& part : parts) c.elements(part, 1);
    c.elements(target, 1);
    c.number(factor);
  }
};

/// Sets the first element of each target to its number.
struct number_all {
  list<inout<float>> targets;
  TROUPE_REQUEST("testing.number_all", targets)
  void check(checker& c) const {
    for (const auto& t : targets) c.elements(t, 1);
  }
};

/// Writes 1 to `target`, and fails only by its reply, as requests do whose failure a GPU finds.
struct fail_late {
  inout<float> target;
  bool fails = true;
  using reply = bool;
  TROUPE_REQUEST("testing.fail_late", target, fails)
  void check(checker& c) const { c.elements(target, 1); }
  static std::optional<error> failure_in(bool failed) {
    if (!failed) return std::nullopt;
    return error(reaction::caller_bug, "testing", "found too late");
  }
};

/// Known to the application but to no engine.
struct absent {
  out<float> target;
  TROUPE_REQUEST("testing.absent", target)
  void check(checker&) const {}
};

}  // namespace testing_actor

/// A library without any engine.
namespace nowhere {
struct thing {
  std::uint64_t unused = 0;
  TROUPE_REQUEST("nowhere.thing", unused)
  void check(troupe::checker&) const {}
};
}  // namespace nowhere

/// A library whose engine exists but cannot start.
namespace failing {
struct thing {
  std::uint64_t unused = 0;
  TROUPE_REQUEST("failing.thing", unused)
  void check(troupe::checker&) const {}
};
}  // namespace failing

/// A library whose engine is a file that cannot be loaded.
namespace broken {
struct thing {
  std::uint64_t unused = 0;
  TROUPE_REQUEST("broken.thing", unused)
  void check(troupe::checker&) const {}
};
}  // namespace broken
