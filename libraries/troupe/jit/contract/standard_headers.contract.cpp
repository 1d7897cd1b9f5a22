// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The headers of C and C++ in kernels, on any engine: those of the system, or their replacements. The kernel texts are
// also compiled here, as plain C++.
#include <algorithm>
#include <cmath>
#include <troupe/jit/jit.hpp>

#include <tests/contract/harness.hpp>
#include <tests/contract/kernels/jit_source.hpp>

#define __device__
// CUDA's own functions, which are in no header.
inline long min(int a, long b) { return std::min<long>(a, b); }
inline unsigned long max(int a, unsigned long b) { return std::max<unsigned long>(static_cast<unsigned long>(a), b); }
inline double max(float a, double b) { return std::fmax(a, b); }
#include "headers/c_headers.cu"
#include "headers/cpp_headers.cu"

namespace troupe::whole {
namespace {

constexpr std::size_t room = 400;

struct named_values {
  std::vector<std::string> names;
  std::vector<double> values;
  void operator()(const char* name, double value) {
    names.emplace_back(name);
    values.push_back(value);
  }
};

std::vector<int> indices() {
  std::vector<int> k(20);
  std::iota(k.begin(), k.end(), 0);
  return k;
}

// `room` numbers: the count, and the numbers.
std::vector<double> values_of(const char* source, const char* name) {
  runtime rt;
  device gpu = rt.open_device(with_test_engines());
  const jit::program p = jit::compile(gpu, {.source = source, .name = name});
  auto out = gpu.alloc<double>(room, {.zeroed = true});
  gpu.tell(
      jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out), uploaded(gpu, indices())}});
  const auto got = gpu.download(out).get();
  EXPECT_OK(got) << p.log().get().value_or("");
  return got ? *got : std::vector<double>(room);
}

// Mathematical functions differ in the last bits.
void expect_equal(const std::vector<double>& got, const named_values& expected) {
  ASSERT_LT(expected.values.size(), room);
  ASSERT_EQ(got[0], static_cast<double>(expected.values.size()));
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double e = expected.values[i], g = got[i + 1];
    EXPECT_NEAR(g, e, 4e-7 * std::fabs(e)) << expected.names[i];
  }
}

TEST(the_headers_of_c, behave_in_kernels_as_in_plain_cpp) {
  named_values expected;
  const std::vector<int> k = indices();
  values_of_math(expected, k.data());
  values_of_limits(expected, k.data());
  values_of_strings(expected, k.data());
  expect_equal(values_of(
#include "c_headers.cu.txt"
                   , "c_headers.cu"),
               expected);
}

TEST(the_headers_of_cpp, behave_in_kernels_as_in_plain_cpp) {
  named_values expected;
  const std::vector<int> k = indices();
  values_of_algorithms(expected, k.data());
  values_of_classes(expected, k.data());
  values_of_numbers(expected, k.data());
  expect_equal(values_of(
#include "cpp_headers.cu.txt"
                   , "cpp_headers.cu"),
               expected);
}

}  // namespace
}  // namespace troupe::whole
