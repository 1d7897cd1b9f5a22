// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Replaces the raw calls where there is no GPU, so that the measures themselves can be tested. It computes nothing when
// it is called, but returns the results of products. RAW_STAND_IN=wrong makes one element of them wrong,
// RAW_STAND_IN=second one element of what epilogues write in addition.
#include <algorithm>
#include <bench/raw/raw.hpp>
#include <bench/raw/testing/stand_in_dnn.hpp>
#include <bench/raw/testing/stand_in_products.hpp>
#include <cstdlib>
#include <string_view>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe::bench {
namespace {

[[noreturn]] void has_none() {
  throw bad_result(error(reaction::unsupported, "bench", "the stand-in does not support this"));
}

bool is_set_to(std::string_view what) {
  const char* const how = std::getenv("RAW_STAND_IN");
  return how != nullptr && how == what;
}
bool is_wrong() { return is_set_to("wrong"); }

class nothing final : public raw_kernel {
 public:
  void launch() override {}
  void poll_until_done() override {}
  void synchronize() override {}
  void record(int, int) override {}
  void launch_recorded() override {}
};

class plain_steps final : public raw_steps {
 public:
  void launch(const step& s, std::uint32_t by) override { s.apply(numbers_, by); }
  void synchronize() override {}
  std::vector<std::uint32_t> numbers() override {
    if (is_wrong()) ++numbers_[5];
    return numbers_;
  }

 private:
  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(step::numbers);
};

class plain_products final : public raw_products {
 public:
  plain_products(int n, std::span<const std::byte> a, std::span<const std::byte> b)
      : n_(static_cast<std::size_t>(n)), a_(numbers(a)), b_(numbers(b)) {}
  void multiply(int) override {}
  void synchronize() override {}
  void download(int which, std::span<std::byte> c) override {
    const std::size_t first = static_cast<std::size_t>(which) * n_ * n_;
    auto* const to = reinterpret_cast<float*>(c.data());
    std::fill_n(to, n_ * n_, 0.f);
    for (std::size_t j = 0; j < n_; ++j)
      for (std::size_t l = 0; l < n_; ++l)
        for (std::size_t i = 0; i < n_; ++i) to[j * n_ + i] += a_[first + l * n_ + i] * b_[first + j * n_ + l];
    if (is_wrong() && which == 17) to[5] += 0.01f;
  }

 private:
  static std::vector<float> numbers(std::span<const std::byte> of) {
    const auto* const first = reinterpret_cast<const float*>(of.data());
    return {first, first + of.size() / sizeof(float)};
  }
  std::size_t n_;
  std::vector<float> a_, b_;
};

// Transforms of impulses at the first element, which are constant.
class transforms_of_impulses final : public raw_transforms {
 public:
  explicit transforms_of_impulses(std::span<const std::byte> one)
      : height_(*reinterpret_cast<const float*>(one.data())) {}
  void run(int) override {}
  void poll_until_done() override {}
  void synchronize() override {}
  void download(std::size_t first, std::span<std::byte> elements) override {
    auto* const to = reinterpret_cast<float*>(elements.data());
    for (std::size_t i = 0; i < elements.size() / sizeof(float); ++i) to[i] = i % 2 == 0 ? height_ : 0;
    if (is_wrong() && first == 0) to[5] += 0.01f;
  }

 private:
  float height_;
};

class stand_in final : public raw_gpu {
 public:
  std::string description() const override { return "a stand-in"; }
  std::unique_ptr<raw_kernel> kernel(std::span<const std::byte>) override { return std::make_unique<nothing>(); }
  std::unique_ptr<raw_steps> steps(std::span<const std::byte>) override { return std::make_unique<plain_steps>(); }
  std::unique_ptr<raw_matmuls> matmuls(const raw_matmul_problem& p, std::span<const std::byte> a,
                                       std::span<const std::byte> b, std::span<const std::byte> third) override {
    return make_matmuls_stand_in(p, a, b, third, {is_wrong(), is_set_to("second")});
  }
  std::unique_ptr<raw_groups> groups(std::span<const std::int32_t> sizes, int n, int k, std::span<const std::byte> a,
                                     std::span<const std::byte> b) override {
    return make_groups_stand_in(sizes, n, k, a, b, is_wrong());
  }
  std::unique_ptr<raw_reads> reads(std::size_t, int) override { return make_reads_stand_in(); }
  std::unique_ptr<raw_products> products(raw_number, int n, int, std::span<const std::byte> a,
                                         std::span<const std::byte> b) override {
    return std::make_unique<plain_products>(n, a, b);
  }
  std::unique_ptr<raw_transforms> transforms(std::span<const int>, int, int, std::span<const std::byte> one) override {
    return std::make_unique<transforms_of_impulses>(one);
  }
  std::unique_ptr<raw_copies> copies(std::size_t) override { has_none(); }
  std::unique_ptr<raw_pipeline> pipeline(std::span<const std::byte>, int, int, int) override { has_none(); }
  std::unique_ptr<raw_dnn> dnn() override { return make_dnn_stand_in(is_wrong()); }
  void alloc_and_free(std::size_t) override {}
  std::int64_t fault() override { has_none(); }
};

}  // namespace
}  // namespace troupe::bench

extern "C" __attribute__((visibility("default"))) troupe::bench::raw_gpu* troupe_bench_raw_gpu(int) {
  return new troupe::bench::stand_in;
}
