// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tests/numerics/engine_under_test.hpp>
#include <tests/numerics/random.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::numerics {

/// The base of suites that check what an engine computes: the program's engine, and random numbers.
class engine_suite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { engine = std::make_unique<engine_under_test>(engine_of_program()); }
  static void TearDownTestSuite() { engine.reset(); }

  /// Runs `r`, and reports the error if it fails.
  template <class R>
  void run(const R& r) {
    const auto done = engine->run(r);
    ASSERT_TRUE(done) << done.error().to_string();
  }
  template <class R>
  static std::string story(const R& r) {
    return describe(r) + "; " + how_to_repeat();
  }

  static inline std::unique_ptr<engine_under_test> engine;
  random_source random;
};

/// Names the instances of a typed suite by their elements.
struct element_names {
  template <class T>
  static std::string GetName(int) {
    return std::string(element_name<T>());
  }
};

}  // namespace troupe::numerics
