// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/chaos/workload.hpp>
#include <functional>
#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/device/matrix_copy.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/faults/requests.hpp>
#include <troupe/fft/fft.hpp>
#include <troupe/jit/jit.hpp>

namespace chaos {

using namespace troupe;

namespace {

using numbers = std::vector<float>;

// Returns where two lists differ, or an empty text. All values are small and whole, so nothing is rounded.
std::string difference(std::span<const float> is, std::span<const float> should, const char* what) {
  if (is.size() != should.size()) return cat(what, ": ", is.size(), " elements, not ", should.size());
  const auto [a, b] = std::mismatch(is.begin(), is.end(), should.begin());
  if (a == is.end()) return {};
  return cat(what, ": element ", a - is.begin(), " of ", is.size(), " is ", std::to_string(*a), ", not ",
             std::to_string(*b));
}

jit::recipe saxpy() {
  return {.source =
              "__global__ void saxpy(float a, const float* x, float* y, int n) {\n"
              "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "  if (i < n) y[i] += a * x[i];\n"
              "}\n",
          .name = "chaos.cu"};
}

class client {
 public:
  client(const device& gpu, const load& l, std::uint64_t seed, answers& to)
      : gpu_(gpu),
        answers_(to),
        random_(seed),
        kept_(gpu.alloc<float>(kept_size)),
        sealed_(gpu.alloc<float>(kept_size, {.sealable = true})) {
    questions_ = {&client::ask_for_a_copy,       &client::ask_for_a_large_copy, &client::ask_for_a_matrix,
                  &client::ask_by_shared_memory, &client::ask_for_kept_data,    &client::ask_for_sealed_data};
    if (l.numbers) questions_.push_back(&client::ask_for_a_number);
    if (l.blas) questions_.insert(questions_.end(), {&client::ask_for_a_product, &client::ask_for_a_long_sum});
    if (l.fft) questions_.push_back(&client::ask_for_a_transform);
    if (l.jit) questions_.push_back(&client::ask_a_kernel);
    wild_writes_ = l.wild_writes;
  }

  void run(const std::atomic<bool>& over) {
    while (!over.load(std::memory_order_relaxed)) {
      for (std::size_t n = between(1, 6); n > 0; --n) (this->*questions_[between(0, questions_.size() - 1)])();
      for (auto& look : looks_) look();
      looks_.clear();
    }
  }

 private:
  static constexpr std::size_t kept_size = 500;

  std::size_t between(std::size_t least, std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(least, most)(random_);
  }
  float small() { return static_cast<float>(between(0, 16)) - 8; }
  numbers some(std::size_t n) {
    numbers out(n);
    for (float& v : out) v = small();
    return out;
  }

  buffer<float> uploaded(const numbers& data) {
    const auto x = gpu_.alloc<float>(data.size());
    gpu_.upload(x, data);
    return x;
  }

  // Checks the answer after all of the round's computations have been queued.
  template <class T, class F>
  void look_later(pending<T> p, F fault_of) {
    auto answer = std::make_shared<pending<T>>(answers_.watch(std::move(p)));
    looks_.push_back([this, answer, fault_of = std::move(fault_of)]() mutable { answers_.check(*answer, fault_of); });
  }
  void expect(const buffer<float>& x, numbers should, const char* what) {
    look_later(gpu_.download(x),
               [should = std::move(should), what](const numbers& is) { return difference(is, should, what); });
  }

  void ask_for_a_copy() { copy(some(between(1, 2000)), "a copy"); }
  void ask_for_a_large_copy() { copy(some(between(50'000, 400'000)), "a large copy"); }
  void copy(const numbers& data, const char* what) {
    const auto y = gpu_.alloc<float>(data.size());
    gpu_.copy(y, uploaded(data));
    expect(y, data, what);
  }

  // Copies a block into the middle of a matrix whose other elements are all equal.
  void ask_for_a_matrix() {
    const std::size_t rows = between(2, 60), columns = between(2, 60), height = between(1, rows),
                      width = between(1, columns);
    const numbers block = some(height * width);
    const float around = small();
    const auto m = gpu_.alloc<float>(rows * columns), b = uploaded(block);
    gpu_.fill(m, around);
    copy_2d(gpu_, matrix_copy{.to = m, .to_ld = rows, .from = b, .from_ld = height, .rows = height, .columns = width});
    numbers should(rows * columns, around);
    for (std::size_t c = 0; c < width; ++c)
      std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(c * height), height,
                  should.begin() + static_cast<std::ptrdiff_t>(c * rows));
    expect(m, should, "a matrix");
  }

  void ask_by_shared_memory() {
    const numbers data = some(between(1, 5000));
    const auto from = gpu_.alloc_host<float>(data.size()), to = gpu_.alloc_host<float>(data.size());
    if (!from.readable() || !to.readable()) return;  // a device that has stopped has no memory
    std::copy(data.begin(), data.end(), from.data());
    const auto x = gpu_.alloc<float>(data.size());
    gpu_.upload(x, from);
    // `from` and `to` must live until the answer has arrived.
    look_later(gpu_.download(x, to), [data, from, to] {
      return difference(std::span<const float>(to.data(), data.size()), data, "shared memory");
    });
  }

  // Uses data that is written once, and read until a fault loses it.
  void ask_for_kept_data() {
    if (kept_data_.empty() || !kept_.readable()) {
      kept_data_ = some(kept_size);
      gpu_.upload(kept_, kept_data_);
    }
    expect(kept_, kept_data_, "kept data");
  }

  // Uses sealed data, which is never written again, because no fault loses sealed memory.
  void ask_for_sealed_data() {
    if (!seal()) return;
    if (wild_writes_ && between(0, 99) == 0) {
      auto blow = faults::wild_write::over(sealed_);
      blow.pattern = static_cast<std::uint32_t>(random_());
      look_later(gpu_.ask(blow), [] { return std::string("a kernel could write sealed memory"); });
    }
    look_later(gpu_.download(sealed_), [this](const numbers& is) {
      return sealed_.readable() ? difference(is, sealed_data_, "sealed data") : "sealed data is stale";
    });
  }
  // Tries until it succeeds: a fault may lose the data before they are sealed.
  bool seal() {
    if (is_sealed_) return true;
    sealed_data_ = some(kept_size);
    gpu_.upload(sealed_, sealed_data_);
    auto answer = answers_.watch(troupe::seal(gpu_, sealed_));
    answers_.check(answer, [this] {
      is_sealed_ = true;
      return std::string();
    });
    return is_sealed_;
  }

  void ask_for_a_number() {
    const std::uint64_t n = random_();
    look_later(gpu_.ping(n), [n](std::uint64_t is) {
      return is == n ? std::string() : "a ping: the reply differs from what was sent";
    });
  }

  void ask_for_a_product() {
    const std::size_t m = between(1, 40), n = between(1, 40), k = between(1, 40);
    const numbers a = some(m * k), b = some(k * n);
    numbers should(m * n, 0.f);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l)
        for (std::size_t i = 0; i < m; ++i) should[j * m + i] += a[l * m + i] * b[j * k + l];
    const auto x = uploaded(a), y = uploaded(b), z = gpu_.alloc<float>(m * n);
    gpu_.tell(blas::gemm<float>{.a = x, .b = y, .c = z, .m = m, .n = n, .k = k});
    expect(z, should, "a product");
  }

  // Sends many requests, each of which depends on the previous one.
  void ask_for_a_long_sum() {
    numbers should = some(between(1, 1000));
    const numbers step = some(should.size());
    const auto x = uploaded(step), y = uploaded(should);
    for (std::size_t i = between(1, 30); i > 0; --i) {
      gpu_.tell(blas::axpy<float>{.x = x, .y = y, .n = step.size()});
      for (std::size_t e = 0; e < should.size(); ++e) should[e] += step[e];
    }
    expect(y, should, "a long sum");
  }

  // Transforms impulses: every element of the result equals the first input, and nothing is rounded if the length is a
  // power of 2. The lengths differ, so the worker makes, keeps and drops many plans.
  void ask_for_a_transform() {
    const std::size_t n = std::size_t{1} << between(0, 11), batch = between(1, 5);
    numbers data(2 * n * batch, 0.f), should;
    for (std::size_t b = 0; b < batch; ++b) {
      const float re = small(), im = small();
      data[2 * n * b] = re, data[2 * n * b + 1] = im;
      for (std::size_t k = 0; k < n; ++k) should.insert(should.end(), {re, im});
    }
    const auto x = uploaded(data), y = gpu_.alloc<float>(data.size());
    const auto direction = between(0, 1) == 0 ? fft::direction::forward : fft::direction::inverse;
    gpu_.tell(fft::c2c<complex64>{
        .input = x.as<complex64>(), .output = y.as<complex64>(), .n = n, .direction = direction, .batch = batch});
    expect(y, should, "a transform");
  }

  void ask_a_kernel() {
    if (!program_ || !program_still_good_.load()) {
      program_ = jit::compile(gpu_, saxpy());
      program_still_good_.store(true);
    }
    const numbers x = some(between(1, 3000));
    numbers should = some(x.size());
    const auto a = uploaded(x), b = uploaded(should);
    const int n = static_cast<int>(x.size());
    const bool sent = static_cast<bool>(gpu_.tell(jit::launch{.kernel = program_.kernel("saxpy"),
                                                              .grid = kernel::blocks_for(n, 128),
                                                              .block = 128,
                                                              .arguments = {3.f, a, inout(b), n}}));
    if (!sent) program_still_good_.store(false);
    for (std::size_t e = 0; e < x.size(); ++e) should[e] += 3 * x[e];
    expect(b, should, "a kernel");
  }

  device gpu_;
  answers& answers_;
  std::mt19937_64 random_;
  std::vector<void (client::*)()> questions_;
  std::vector<std::function<void()>> looks_;
  buffer<float> kept_, sealed_;
  numbers kept_data_, sealed_data_;
  bool is_sealed_ = false, wild_writes_ = false;
  jit::program program_;
  std::atomic<bool> program_still_good_{false};
};

}  // namespace

bool workload::has_blas() const {
  const auto x = gpu_.alloc<float>(1), y = gpu_.alloc<float>(1);
  gpu_.fill(x, 1.f);
  gpu_.fill(y, 1.f);
  return static_cast<bool>(gpu_.ask(blas::axpy<float>{.x = x, .y = y, .n = 1}).get());
}

bool workload::has_fft() const {
  const auto x = gpu_.alloc<complex64>(1);
  gpu_.fill(x, complex64(1, 0));
  return static_cast<bool>(gpu_.ask(fft::c2c<complex64>{.input = x, .output = x, .n = 1}).get());
}

bool workload::has_jit() const { return static_cast<bool>(jit::compile(gpu_, saxpy()).ready().get()); }

bool workload::has_faults() const { return static_cast<bool>(gpu_.ask(faults::hang{.milliseconds = 1}).get()); }

bool workload::has_dnn() const {
  const auto x = gpu_.alloc<float>(1);
  gpu_.fill(x, 1.f);
  return static_cast<bool>(gpu_.ask(dnn::computation{{write(dnn::read(x) + 1, x)}}).get());
}

bool workload::has_cutlass() const {
  const auto x = gpu_.alloc<float>(1), y = gpu_.alloc<float>(1);
  gpu_.fill(x, 1.f);
  return static_cast<bool>(
      gpu_.ask(cutlass::gemm{.a = matrix(x, 1, 1), .b = matrix(x, 1, 1), .d = matrix(y, 1, 1)}).get());
}

workload::workload(const device& gpu, const load& l, answers& to) : gpu_(gpu), load_(l), answers_(to) {
  load_.blas = l.blas && has_blas();
  load_.fft = l.fft && has_fft();
  load_.jit = l.jit && has_jit();
  load_.wild_writes = l.wild_writes && has_faults();
  if (load_.blas) libraries_ += ", blas";
  if (load_.fft) libraries_ += ", fft";
  if (load_.jit) libraries_ += ", jit";
  if (l.training && has_dnn()) {
    libraries_ += ", dnn";
    trainer_ = std::make_unique<trainer>(gpu, to);
    trainer_->start();
  }
  if (l.refitting && has_cutlass()) {
    libraries_ += ", cutlass";
    refitter_ = std::make_unique<refitter>(gpu, to, l.seed);
    refitter_->start();
  }
  std::mt19937_64 seeds(l.seed);
  for (int i = 0; i < l.clients; ++i)
    threads_.emplace_back([this, seed = seeds()] { client(gpu_, load_, seed, answers_).run(over_); });
}

workload::~workload() { stop(); }

void workload::stop() {
  over_.store(true);
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
  if (trainer_) trainer_->stop();
  if (refitter_) refitter_->stop();
}

}  // namespace chaos
