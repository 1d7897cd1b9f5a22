// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests the kernel for small products, in each version that this processor can run.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <tests/numerics/random.hpp>
#include <troupe/blas/host/small_gemm/small_gemm.hpp>
#include <vector>

namespace troupe::blas {
namespace {

using numerics::how_to_repeat;
using numerics::random_source;
using numerics::seed;

template <class T>
struct form {
  const char* name;
  bool (*multiply)(const small_product<T>&) noexcept;
};

template <class T>
std::vector<form<T>> forms_here() {
  std::vector<form<T>> out{{"anywhere", multiply_small_anywhere}, {"as chosen", multiply_small}};
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v3")) out.push_back({"AVX2", multiply_small_avx2});
  if (__builtin_cpu_supports("x86-64-v4")) out.push_back({"AVX-512", multiply_small_avx512});
#endif
  return out;
}

// An array with guard pages before and after it: touching one ends the process.
template <class T>
class fenced {
 public:
  explicit fenced(std::size_t count) : bytes_(count * sizeof(T)) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    inside_ = (bytes_ + page - 1) / page * page;
    space_ =
        static_cast<std::byte*>(::mmap(nullptr, inside_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (space_ == MAP_FAILED || ::mprotect(space_ + page, inside_, PROT_READ | PROT_WRITE) != 0) std::abort();
    mapped_ = inside_ + 2 * page;
    start_ = space_ + page;
  }
  fenced(const fenced&) = delete;
  ~fenced() { ::munmap(space_, mapped_); }

  // Returns an array that ends at the end of the memory, or begins at its start.
  T* data(bool at_the_end) const { return reinterpret_cast<T*>(at_the_end ? start_ + (inside_ - bytes_) : start_); }

 private:
  std::size_t bytes_, inside_ = 0, mapped_ = 0;
  std::byte *space_ = nullptr, *start_ = nullptr;
};

// A product with operands in memory of their own, and with larger leading dimensions than necessary.
template <class T>
struct problem {
  problem(random_source& random, std::int64_t m, std::int64_t n, std::int64_t k, bool turn_a, bool turn_b, T alpha,
          T beta)
      : p{.turn_a = turn_a,
          .turn_b = turn_b,
          .m = m,
          .n = n,
          .k = k,
          .alpha = alpha,
          .beta = beta,
          .a = nullptr,
          .lda = (turn_a ? k : m) + random.between(0, 3),
          .b = nullptr,
          .ldb = (turn_b ? n : k) + random.between(0, 3),
          .c = nullptr,
          .ldc = m + random.between(0, 3)} {
    // The last column has no gap after its last element.
    a_elements = static_cast<std::size_t>(p.lda * ((turn_a ? m : k) - 1) + (turn_a ? k : m));
    b_elements = static_cast<std::size_t>(p.ldb * ((turn_b ? k : n) - 1) + (turn_b ? n : k));
    c_elements = static_cast<std::size_t>(p.ldc * (n - 1) + m);
    for (auto& [values, count] : {std::pair{&a, a_elements}, {&b, b_elements}, {&c, c_elements}})
      for (std::size_t i = 0; i < count; ++i) values->push_back(static_cast<T>(random.between(-1000, 1000)) / 512);
  }

  long double term(std::int64_t i, std::int64_t j, std::int64_t l) const {
    const T x = a[static_cast<std::size_t>(p.turn_a ? l + i * p.lda : i + l * p.lda)];
    const T y = b[static_cast<std::size_t>(p.turn_b ? j + l * p.ldb : l + j * p.ldb)];
    return static_cast<long double>(x) * y;
  }

  // Returns what is wrong with the result, or an empty string.
  std::string wrong(const T* got) const {
    for (std::size_t at = 0; at < c_elements; ++at) {
      const auto i = static_cast<std::int64_t>(at) % p.ldc, j = static_cast<std::int64_t>(at) / p.ldc;
      const T before = c[at];
      if (i >= p.m) {
        if (std::memcmp(&got[at], &before, sizeof before) != 0)
          return "between the columns, after column " + std::to_string(j);
        continue;
      }
      long double sum = 0, size = 0;
      for (std::int64_t l = 0; l < p.k; ++l) sum += term(i, j, l), size += std::abs(term(i, j, l));
      long double want = static_cast<long double>(p.alpha) * sum, large = std::abs(p.alpha) * size;
      if (p.beta != 0) {
        want += static_cast<long double>(p.beta) * before;
        large += std::abs(static_cast<long double>(p.beta) * before);
      }
      const long double allowed = static_cast<long double>(p.k + 3) * std::numeric_limits<T>::epsilon() * large;
      if (!(std::abs(got[at] - want) <= allowed))
        return "element " + std::to_string(i) + ", " + std::to_string(j) + ": " + std::to_string(got[at]) + ", not " +
               std::to_string(want);
    }
    return {};
  }

  small_product<T> p;
  std::size_t a_elements, b_elements, c_elements;
  std::vector<T> a, b, c;
};

template <class T>
struct placed {
  placed(const problem<T>& x, bool at_the_end) : a(x.a_elements), b(x.b_elements), c(x.c_elements), p(x.p) {
    std::copy(x.a.begin(), x.a.end(), a.data(at_the_end));
    std::copy(x.b.begin(), x.b.end(), b.data(at_the_end));
    std::copy(x.c.begin(), x.c.end(), c.data(at_the_end));
    p.a = a.data(at_the_end), p.b = b.data(at_the_end), p.c = c.data(at_the_end);
  }
  fenced<T> a, b, c;
  small_product<T> p;
};

template <class T>
class small_products : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(small_products, types);

// Runs random extents up to the largest, more often those near vector lengths. A version that refuses a product must
// not touch C.
TYPED_TEST(small_products, are_correct_and_touch_no_other_memory) {
  using T = TypeParam;
  random_source random(seed());
  const auto extent = [&random] {
    const std::int64_t near = std::int64_t{1} << random.between(0, 6);
    return random.between(0, 1) == 0
               ? random.between(1, small_extent)
               : std::min<std::int64_t>(small_extent, std::max<std::int64_t>(1, near + random.between(-1, 1)));
  };
  const auto factor = [&random] {
    const T some[] = {1, 0, -1, T(0.75)};
    return some[random.between(0, 3)];
  };
  for (const form<T>& f : forms_here<T>()) {
    int formed = 0;
    for (int round = 0; round < 600; ++round) {
      const T given = factor(), alpha = given == 0 ? T(2) : given, beta = factor();
      const problem<T> x(random, extent(), extent(), extent(), random.between(0, 1) != 0, random.between(0, 1) != 0,
                         alpha, beta);
      const bool at_the_end = random.between(0, 1) != 0;
      const placed<T> one(x, at_the_end);
      const bool done = f.multiply(one.p);
      formed += done;
      const std::string wrong = done ? x.wrong(one.p.c)
                                     : std::string(std::equal(x.c.begin(), x.c.end(), one.p.c)
                                                       ? ""
                                                       : "the product was refused, but C has changed");
      ASSERT_EQ(wrong, "") << f.name << ", round " << round << ": " << x.p.m << " x " << x.p.n << " x " << x.p.k
                           << (x.p.turn_a ? ", A transposed" : "") << (x.p.turn_b ? ", B transposed" : "") << ", alpha "
                           << alpha << ", beta " << beta << "\n"
                           << how_to_repeat();
    }
    EXPECT_GT(formed, 20) << f.name;
  }
}

TYPED_TEST(small_products, do_not_read_c_if_beta_is_0) {
  using T = TypeParam;
  random_source random(seed());
  for (const form<T>& f : forms_here<T>())
    for (const std::int64_t m : {1, 3, 4, 7, 8, 9, 16}) {
      problem<T> x(random, m, 5, 6, false, true, 1, 0);
      std::fill(x.c.begin(), x.c.end(), std::numeric_limits<T>::quiet_NaN());
      const placed<T> one(x, true);
      ASSERT_TRUE(f.multiply(one.p)) << f.name << ", m " << m;
      EXPECT_EQ(x.wrong(one.p.c), "") << f.name << ", m " << m;
    }
}

// Timing decides which products share a call, so an address must not change the bits.
TYPED_TEST(small_products, have_the_same_bits_at_every_address) {
  using T = TypeParam;
  random_source random(seed());
  for (const form<T>& f : forms_here<T>())
    for (int round = 0; round < 50; ++round) {
      const problem<T> x(random, random.between(1, 20), random.between(1, 20), random.between(1, 20),
                         random.between(0, 1) != 0, random.between(0, 1) != 0, T(0.75), T(-0.3));
      const placed<T> first(x, false), second(x, true);
      ASSERT_EQ(f.multiply(first.p), f.multiply(second.p));
      EXPECT_EQ(std::memcmp(first.p.c, second.p.c, x.c_elements * sizeof(T)), 0) << f.name << "\n" << how_to_repeat();
    }
}

}  // namespace
}  // namespace troupe::blas
