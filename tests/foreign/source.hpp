// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <tests/numerics/random.hpp>
#include <troupe/jit/recipe.hpp>
#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <type_traits>
#include <vector>

/// Tests of CUDA C++ as other projects write it, unchanged, on either engine. See README.md.
namespace troupe::foreign {

/// Returns the value of any number, including narrow ones.
template <class T>
double number(const T& v) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(v);
  else
    return static_cast<double>(static_cast<float>(v));
}

/// The size of a launch: `{blocks(n, 256), 256}`.
struct shape {
  kernel::dimensions grid, block;
  extent shared_bytes = 0;
};
inline int blocks(std::int64_t count, std::int64_t threads) {
  return static_cast<int>((count + threads - 1) / threads);
}

/// The target of a `bool*`: bytes of 0 and 1, because std::vector<bool> has no such array.
struct flags : std::vector<char> {
  using std::vector<char>::vector;
};

/// An argument of a launch: a value, or a vector, which the kernel gets as a buffer. The kernel's own parameter
/// determines whether it may write there; if so, a vector that is not const receives the result.
class passed {
 public:
  template <class T>
  passed(std::vector<T>& v) : passed(std::as_const(v)) {
    to_ = std::as_writable_bytes(std::span(v));
  }
  template <class T>
  passed(const std::vector<T>& v) : from_(std::as_bytes(std::span(v))), as_argument_(as_argument<T>) {}
  passed(flags& v)
      : from_(std::as_bytes(std::span(v))),
        to_(std::as_writable_bytes(std::span(v))),
        as_argument_(as_argument<bool>) {}
  template <class T>
    requires std::is_trivially_copyable_v<T>
  passed(const T& value) : value_(value) {}

  const std::optional<kernel::argument>& value() const { return value_; }
  std::span<const std::byte> from() const { return from_; }
  std::span<std::byte> to() const { return to_; }
  kernel::argument at(const memory_range& r, bool writes) const { return as_argument_(r, writes); }

 private:
  template <class T>
  static kernel::argument as_argument(const memory_range& r, bool writes) {
    return writes ? kernel::argument(operand<T, access_mode::read_write>(r))
                  : kernel::argument(operand<T, access_mode::read>(r));
  }

  std::optional<kernel::argument> value_;
  std::span<const std::byte> from_;
  std::span<std::byte> to_;
  kernel::argument (*as_argument_)(const memory_range&, bool) = nullptr;
};

/// Thrown to end a case early.
struct failure {
  bool wrong;  ///< true: it ran, and the result is wrong; false: it was refused
  std::string text;
};

/// A program made from a source, on an engine. Its functions throw `failure`.
class program {
 public:
  virtual ~program() = default;
  /// Returns once the kernel has ended.
  virtual void launch(const std::string& kernel, const shape& threads, std::span<const passed> arguments) = 0;
  virtual void write_global(const std::string& name, std::span<const std::byte> from) = 0;
  virtual void read_global(const std::string& name, std::span<std::byte> to) = 0;
};

/// A source, and how to judge it: `judge` launches its kernels and compares with a plain C++ reference.
class source {
 public:
  source(std::string family, std::string name, jit::recipe recipe);
  virtual ~source() = default;
  source(const source&) = delete;

  const std::string& family() const { return family_; }
  const std::string& name() const { return name_; }
  /// The file of this family and name.
  jit::recipe recipe() const;
  void judge_on(program& p) {
    program_ = &p;
    judge();
  }

 protected:
  virtual void judge() = 0;

  template <class... Arguments>
  void launch(const std::string& kernel, const shape& threads, Arguments&&... arguments) {
    const std::array<passed, sizeof...(Arguments)> list{passed(arguments)...};
    program_->launch(kernel, threads, list);
  }
  template <class T>
  void write_global(const std::string& name, const std::vector<T>& from) {
    program_->write_global(name, std::as_bytes(std::span(from)));
  }
  template <class T>
  std::vector<T> read_global(const std::string& name, std::size_t count) {
    std::vector<T> out(count);
    program_->read_global(name, std::as_writable_bytes(std::span(out)));
    return out;
  }

  /// Random numbers from `low` to `high`, the same in each run with the same TROUPE_SEED.
  std::vector<float> floats(std::size_t count, double low = -1, double high = 1) {
    return random<float>(count, [&] { return low + (high - low) * (random_.value() + 1) / 2; });
  }
  std::vector<double> doubles(std::size_t count, double low = -1, double high = 1) {
    return random<double>(count, [&] { return low + (high - low) * (random_.value() + 1) / 2; });
  }
  template <class T = int>
  std::vector<T> integers(std::size_t count, std::int64_t low, std::int64_t high) {
    return random<T>(count, [&] { return random_.between(low, high); });
  }

  /// Requires that each element equals the expected one exactly.
  template <class T>
  void expect_equal(const char* what, const std::vector<T>& got, const std::vector<T>& expected) {
    expect(what, got, expected, [](const T& a, const T& b) { return a == b; });
  }
  /// Requires that each element differs from the expected one by at most `tolerance` of the largest of them.
  template <class T, class U>
  void expect_near(const char* what, const std::vector<T>& got, const std::vector<U>& expected, double tolerance) {
    double largest = 0;
    for (const U& e : expected)
      if (std::isfinite(number(e))) largest = std::max(largest, std::abs(number(e)));
    expect(what, got, expected, [&](const T& a, const U& b) {
      return number(a) == number(b) || std::abs(number(a) - number(b)) <= tolerance * largest;
    });
  }
  /// Requires the same of one number.
  void expect_near(const char* what, double got, double expected, double tolerance) {
    expect_near(what, std::vector{got}, std::vector{expected}, tolerance);
  }

 private:
  template <class T, class F>
  static std::vector<T> random(std::size_t count, F next) {
    std::vector<T> out(count);
    for (T& v : out) v = static_cast<T>(next());
    return out;
  }
  template <class T, class U, class F>
  void expect(const char* what, const std::vector<T>& got, const std::vector<U>& expected, F same) {
    if (got.size() != expected.size() || got.empty())
      differs(what, "has " + std::to_string(got.size()) + " elements", std::to_string(expected.size()));
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!same(got[i], expected[i]))
        differs(what, "[" + std::to_string(i) + "] is " + text(got[i]), text(expected[i]));
  }
  template <class T>
  static std::string text(const T& v) {
    std::ostringstream out;
    out.precision(17);
    if constexpr (std::is_integral_v<T>)
      out << +v;
    else
      out << number(v);
    return out.str();
  }
  [[noreturn]] static void differs(const char* what, const std::string& got, const std::string& expected);

  std::string family_, name_;
  jit::recipe recipe_;
  numerics::random_source random_;
  program* program_ = nullptr;
};

/// Returns all sources, in no order.
std::vector<std::unique_ptr<source>>& all_sources();
inline bool add(std::unique_ptr<source> s) {
  all_sources().push_back(std::move(s));
  return true;
}

}  // namespace troupe::foreign

/// `FOREIGN_SOURCE(family, name, fields of the recipe...) { ... }` declares the file family/name.cu, and how to judge
/// it. The recipe names instances of templates, and global variables that are read or written.
#define FOREIGN_SOURCE(family, name, ...)                                                                            \
  namespace {                                                                                                        \
  struct family##_##name final : ::troupe::foreign::source {                                                         \
    using source::source;                                                                                            \
    void judge() override;                                                                                           \
  };                                                                                                                 \
  [[maybe_unused]] const bool family##_##name##_is_known =                                                           \
      ::troupe::foreign::add(std::make_unique<family##_##name>(#family, #name, ::troupe::jit::recipe{__VA_ARGS__})); \
  }                                                                                                                  \
  void family##_##name::judge()
