// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/chaos/refitting.hpp>
#include <random>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/cutlass.hpp>

namespace chaos {

using namespace troupe;

namespace {

constexpr std::int64_t terms = 192, columns = 136;
// Weights are so small that float represents all sums of products exactly.
constexpr int largest_weight = 128;

// Returns a matrix whose elements all have this value.
matrix<bfloat16> all(const device& gpu, int value) {
  const std::vector<bfloat16> numbers(terms * columns, bfloat16(static_cast<float>(value)));
  return {gpu.upload(numbers), terms, columns};
}

}  // namespace

refitter::refitter(const device& gpu, answers& to, std::uint64_t seed) : gpu_(gpu), answers_(to), seed_(seed) {
  if (auto made = cutlass::weights::make(gpu, terms, columns, {.type = dtype::bf16})) weights_ = std::move(*made);
  if (weights_ && weights_->refit(gpu, all(gpu, 1)).get()) newest_ = begun_ = 1;
  // Compiles the kernels now, because a compile takes longer than a worker will live between two faults.
  for (const std::int64_t rows : {16, 64, 128, 256}) measure_for(rows);
  plans_ = 0;
}

refitter::~refitter() { stop(); }

void refitter::start() {
  if (newest_ == 0) return;
  std::mt19937_64 seeds(seed_);
  threads_.emplace_back([this] { refit(); });
  for (int i = 0; i < 2; ++i) threads_.emplace_back([this, seed = seeds()] { multiply(seed); });
  threads_.emplace_back([this, seed = seeds()] { measure(seed); });
}

void refitter::stop() {
  over_.store(true);
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
}

bool refitter::goes_on() const { return !over_.load() && gpu_.state() != device_state::stopped; }

void refitter::refit() {
  while (goes_on()) {
    const int next = newest_ + 1;
    begun_.store(next);
    auto answer = answers_.watch(weights_->refit(gpu_, all(gpu_, (next - 1) % largest_weight + 1)));
    answers_.check(answer, [&] {
      newest_.store(next);
      refits_.fetch_add(1);
      return std::string();
    });
  }
}

void refitter::multiply(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (goes_on()) {
    const auto rows = std::uniform_int_distribution<std::int64_t>(1, 200)(random);
    std::vector<bfloat16> a(static_cast<std::size_t>(rows * terms));
    std::vector<float> sums(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<float>(1 + random() % 4);
      a[i] = bfloat16(x), sums[i / terms] += x;
    }
    const int before = newest_.load();
    const cutlass::packed_weights now = weights_->in_force();
    const auto d = gpu_.alloc<float>(static_cast<std::size_t>(rows * columns));
    gpu_.tell(cutlass::gemm{.a = matrix(gpu_.upload(a), rows, terms), .b = now.b, .d = matrix(d, rows, columns)});
    auto answer = answers_.watch(gpu_.download(d));
    answers_.check(answer, [&](const std::vector<float>& is) {
      const float weight = is.front() / sums.front();
      bool in_force = false;
      for (int i = before; i <= begun_.load() && !in_force; ++i)
        in_force = weight == static_cast<float>((i - 1) % largest_weight + 1);
      if (!in_force)
        return cat("a product with weights that are replaced: they are ", std::to_string(weight),
                   ", not those of refit ", before);
      for (std::size_t i = 0; i < is.size(); ++i)
        if (is[i] != weight * sums[i / columns])
          return cat("a product with weights that are replaced: element ", i, " of ", is.size(), " is ",
                     std::to_string(is[i]), ", not ", std::to_string(weight * sums[i / columns]));
      products_.fetch_add(1);
      return std::string();
    });
  }
}

void refitter::measure(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (goes_on()) measure_for(std::uniform_int_distribution<std::int64_t>(1, 256)(random));
}

void refitter::measure_for(std::int64_t rows) {
  const auto a = gpu_.alloc<bfloat16>(static_cast<std::size_t>(rows * terms)),
             b = gpu_.alloc<bfloat16>(static_cast<std::size_t>(terms * columns)),
             d = gpu_.alloc<bfloat16>(static_cast<std::size_t>(rows * columns));
  gpu_.fill(a, bfloat16(1.0f));
  gpu_.fill(b, bfloat16(1.0f));
  const cutlass::gemm product{
      .a = matrix(a, rows, terms), .b = matrix(b, terms, columns), .d = matrix(d, rows, columns)};
  auto answer = answers_.watch(gpu_.ask(cutlass::prepare{product, 3}));
  answers_.check(answer, [&](const cutlass::plan_info& is) {
    if (is.measured > is.candidates) return cat("a plan: ", is.measured, " were measured, of ", is.candidates);
    plans_.fetch_add(1);
    return std::string();
  });
}

}  // namespace chaos
