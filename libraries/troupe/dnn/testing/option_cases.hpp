// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/testing/ready_cases.hpp>
#include <troupe/dnn/testing/variable.hpp>
#include <troupe/request/encoding/fields.hpp>

/// Tests that each option of each operation has an effect: changing it changes the results, or is refused. For a new
/// struct of options, add a case, and an entry in a list of `option_cases`.
namespace troupe::dnn::testing {

/// Lists all fields of a struct of options. A list that omits a field does not compile.
#define TROUPE_OPTIONS(TYPE, ...)                          \
  using options = TYPE;                                    \
  static constexpr std::string_view fields = #__VA_ARGS__; \
  static void name_all(const options& all) { [[maybe_unused]] const auto& [__VA_ARGS__] = all; }

/// Makes values of random numbers from 0.1 to 1.5, which depend only on the seed, and values of given i32.
class value_source {
 public:
  explicit value_source(std::uint64_t seed) : random_(seed) {}
  value operator()(const extents& e) {
    variable& v = variables_.emplace_back(variable{{}, e});
    v.numbers.resize(static_cast<std::size_t>(elements_of(v.as_stored())));
    for (double& n : v.numbers) n = std::uniform_real_distribution(0.1, 1.5)(random_);
    return v.read();
  }
  value whole(const extents& e, const std::vector<std::int32_t>& numbers) {
    const auto& n = whole_.emplace_back(numbers);
    const variable shape{{}, e};
    return value(
        in_any({{}, reinterpret_cast<std::uint64_t>(n.data()), n.size() * sizeof n[0]}, shape.as_stored(), dtype::i32));
  }

 private:
  std::mt19937_64 random_;
  std::deque<variable> variables_;
  std::deque<std::vector<std::int32_t>> whole_;
};

/// An operation with some options.
struct operation {
  std::string name;
  std::vector<value> results;
  std::set<std::string> has = {};  ///< the options of the case that the operation has; all if empty
};
/// The result of an operation: its elements, or the reason why it is refused.
struct operation_outcome {
  std::string refused;
  std::vector<std::vector<double>> numbers;

  static operation_outcome of(const operation& o) {
    operation_outcome out;
    for (const value& v : o.results) {
      if (out.refused.empty()) out.refused = v.why_refused();
      if (out.refused.empty()) out.numbers.push_back(values_of(v));
    }
    return out;
  }
  bool is_as(const operation_outcome& o) const {
    if (refused != o.refused || numbers.size() != o.numbers.size()) return false;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::equal(numbers[i].begin(), numbers[i].end(), o.numbers[i].begin(), o.numbers[i].end(),
                      [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }))
        return false;
    return true;
  }
};

/// A fixture for the test of a case. A case has `TROUPE_OPTIONS` and three functions: `make(source)` returns the
/// options to change, `operations(source, options)` all operations that have them, and `changes(source)` the changes.
template <class Case>
class option_cases : public ::testing::Test {
 protected:
  using options = typename Case::options;
  struct computed {
    std::string name;
    std::set<std::string> has;
    operation_outcome outcome;
  };
  static std::vector<computed> compute(const options& o) {
    value_source same(1);
    std::vector<computed> out;
    for (const operation& each : Case::operations(same, o))
      out.push_back({each.name, each.has, operation_outcome::of(each)});
    return out;
  }
};
TYPED_TEST_SUITE_P(option_cases);

TYPED_TEST_P(option_cases, changing_an_option_changes_the_results_or_is_refused) {
  value_source given(2);
  const auto before = TypeParam::make(given);
  const auto first = this->compute(before);
  for (const auto& f : first) ASSERT_EQ(f.outcome.refused, "") << f.name;
  std::set<std::string> changed, computed, all;
  for (const auto& c : TypeParam::changes(given)) {
    auto other = before;
    c.make(other);
    const auto now = this->compute(other);
    for (std::size_t k = 0; k < first.size(); ++k) {
      const bool has = first[k].has.empty() || first[k].has.contains(c.field);
      EXPECT_NE(now[k].outcome.is_as(first[k].outcome), has)
          << c.field << (has ? " makes no" : " makes a") << " difference to " << first[k].name
          << now[k].outcome.refused;
      if (has && now[k].outcome.refused.empty()) computed.insert(c.field);
    }
    changed.insert(c.field);
  }
  for (std::size_t i = 0; !nth_name(TypeParam::fields, i).empty(); ++i) all.emplace(nth_name(TypeParam::fields, i));
  EXPECT_EQ(changed, all);
  EXPECT_EQ(computed, all) << "a change that is refused does not show what the option does";
}
REGISTER_TYPED_TEST_SUITE_P(option_cases, changing_an_option_changes_the_results_or_is_refused);

}  // namespace troupe::dnn::testing
