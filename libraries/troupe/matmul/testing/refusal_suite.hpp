// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::matmul::testing {

using epilogue::acc, epilogue::expression, epilogue::left, epilogue::load, epilogue::right;

/// The base of suites that check which requests are refused. No request runs, so their addresses belong to no memory.
class refusal_suite : public ::testing::Test {
 protected:
  /// Returns a matrix stored row by row, at elements [first, ...) of the memory.
  template <class T>
  matrix<T> at(std::uint64_t first, std::int64_t rows, std::int64_t columns) {
    return matrix<T>(vector_at<T>(first, static_cast<std::uint64_t>(rows * columns)), rows, columns);
  }
  template <class T>
  buffer<T> vector_at(std::uint64_t first, std::uint64_t n) {
    return buffer<T>(memory.at<T>(first, n).range);
  }
  template <class T>
  tensor<T> batch_at(std::uint64_t first, std::int64_t count, std::int64_t rows, std::int64_t columns) {
    return tensor<T>(vector_at<T>(first, static_cast<std::uint64_t>(count * rows * columns)), {count, rows, columns});
  }
  template <class R>
  void expect_fine(const R& r) {
    EXPECT_EQ(memory.refusal(r), "") << describe(r);
  }

  troupe::testing::fake_memory memory{1 << 16};
};

}  // namespace troupe::matmul::testing
