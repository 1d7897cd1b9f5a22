// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Thousands of small independent products, sent one by one, with and without coalescing, on devices of the same kind.
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/blas/blas.hpp>

namespace troupe::bench {
namespace {

constexpr int products = 4096;
constexpr std::int64_t n = 16;

class burst {
 public:
  burst(const settings& s, bool coalesce)
      : gpu_(s, {.mailbox_capacity = products, .libraries = {"blas"}, .coalesce = coalesce}),
        a_(gpu_->alloc<float>(products * n * n)),
        b_(gpu_->alloc<float>(products * n * n)),
        c_(gpu_->alloc<float>(products * n * n)) {
    gpu_->fill(a_, 1.f);
    gpu_->fill(b_, 2.f);
    for (std::int64_t i = 0; i < products; ++i)
      requests_.push_back({.a = part(a_, i), .b = part(b_, i), .c = part(c_, i), .m = n, .n = n, .k = n});
    gpu_->sync().get().value();
  }

  /// Returns products per microsecond, from the first ask to the last answer.
  double run() {
    std::vector<pending<void>> answers;
    answers.reserve(products);
    const std::int64_t start = now_ns();
    for (const auto& r : requests_) answers.push_back(gpu_->ask(r));
    for (auto& a : answers) a.get().value();
    return products * 1e3 / static_cast<double>(now_ns() - start);
  }
  std::vector<float> results() const { return gpu_->download(c_).get().value(); }

 private:
  static buffer<float> part(const buffer<float>& all, std::int64_t i) { return all.slice(i * n * n, n * n); }

  device_under_test gpu_;
  buffer<float> a_, b_, c_;
  std::vector<blas::gemm<float>> requests_;
};

}  // namespace

figures run_blas_burst(const settings& s) {
  burst together(s, true), alone(s, false);
  const pair_of_medians found = interleaved(s.rounds(51), [&] { return together.run(); }, [&] { return alone.run(); });
  figures f{.ours = found.ours, .raw = found.raw};
  const auto results = together.results();
  if (results != alone.results()) f.objection = "the results differ";
  for (const float v : results)
    if (v != 2 * n) f.objection = "the products are wrong";
  return f;
}

}  // namespace troupe::bench
