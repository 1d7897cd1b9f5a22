// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/chaos/training.hpp>
#include <cstring>
#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/dnn/dnn.hpp>

namespace chaos {

using namespace troupe;
using dnn::value;

namespace {

constexpr std::int64_t images = 16, size = 8, filters = 8, kinds = 4, steps = 40, between_saves = 2;
// Indices in the memory that training changes. Momentum has the same layout as the weights.
constexpr std::int64_t of_filters = 0, of_scale = of_filters + filters * 9, of_offset = of_scale + filters,
                       of_last = of_offset + filters, weights = of_last + filters * kinds, of_mean = 2 * weights,
                       of_variance = of_mean + filters, of_losses = of_variance + filters, all = of_losses + steps;

std::vector<float> untrained() {
  std::mt19937 random(1);
  std::normal_distribution<float> numbers(0, 0.3f);
  std::vector<float> out(all);
  for (std::int64_t i = 0; i < weights; ++i) out[static_cast<std::size_t>(i)] = numbers(random);
  std::fill_n(out.begin() + of_scale, filters, 1.f);
  std::fill_n(out.begin() + of_offset, filters, 0.f);
  std::fill_n(out.begin() + of_variance, filters, 1.f);
  return out;
}

// Images of stripes with noise, always the same for a step, and the class of each image: one of four widths of stripes.
struct samples {
  std::vector<float> pixels, kinds_of;
};
samples draw(std::int64_t step) {
  std::mt19937 random(static_cast<unsigned>(step) + 1);
  std::normal_distribution<float> noise(0, 0.3f);
  samples out;
  for (std::int64_t n = 0; n < images; ++n) {
    const std::int64_t kind = n % kinds;
    for (std::int64_t i = 0; i < size * size; ++i)
      out.pixels.push_back((i % size / (kind + 1) % 2 == 0 ? 1.f : -1.f) + noise(random));
    for (std::int64_t k = 0; k < kinds; ++k) out.kinds_of.push_back(k == kind ? 1.f : 0.f);
  }
  return out;
}

}  // namespace

// The memory of one training, and functions for its steps.
class trainer::course {
 public:
  course(const device& gpu, answers& to)
      : gpu_(gpu),
        answers_(to),
        all_(gpu.alloc<float>(all)),
        gradients_(gpu.alloc<float>(weights)),
        pixels_(gpu.alloc<float>(images * size * size)),
        kinds_(gpu.alloc<float>(images * kinds)),
        saved_{gpu.alloc<float>(all, {.sealable = true}), gpu.alloc<float>(all, {.sealable = true})} {}

  // Returns all values that training has changed; empty if the device has stopped.
  std::vector<float> train(training_counts& counts) {
    int newest = -1;
    for (std::int64_t done = 0; done < steps || newest < 0;) {
      newest < 0 ? gpu_.upload(all_, untrained()) : gpu_.copy(all_, saved_[newest]);
      const std::int64_t end = newest < 0 ? 0 : std::min(steps, done + between_saves);
      for (std::int64_t i = done; i < end; ++i) send(i);
      const int spare = newest == 0 ? 1 : 0;
      if (saved_[spare].sealed()) (void)is_right(unseal(gpu_, saved_[spare]));
      gpu_.copy(saved_[spare], all_);
      if (is_right(seal(gpu_, saved_[spare]))) {
        newest = spare, done = end;
        continue;
      }
      counts.sent_again += static_cast<std::uint64_t>(end - done);
      if (gpu_.state() == device_state::stopped) return {};
    }
    std::vector<float> got;
    while (got.empty() && gpu_.state() != device_state::stopped) {
      auto answer = answers_.watch(gpu_.download(saved_[newest]));
      answers_.check(answer, [&](const std::vector<float>& is) {
        got = is;
        return std::string();
      });
    }
    counts.steps += steps;
    return got;
  }

 private:
  bool is_right(pending<void> p) {
    bool right = false;
    auto answer = answers_.watch(std::move(p));
    answers_.check(answer, [&] {
      right = true;
      return std::string();
    });
    return right;
  }
  static tensor<float> part(const buffer<float>& of, std::int64_t first, std::initializer_list<extent> extents) {
    return tensor<float>(of.slice(first), extents);
  }

  void send(std::int64_t step) const {
    const samples s = draw(step);
    gpu_.upload(pixels_, s.pixels);
    gpu_.upload(kinds_, s.kinds_of);
    const auto vector = [](const buffer<float>& of, std::int64_t first) { return part(of, first, {1, filters, 1, 1}); };
    const tensor<float> mean = vector(all_, of_mean), variance = vector(all_, of_variance);
    const value w = dnn::read(part(all_, of_filters, {filters, 1, 3, 3})), scale = dnn::read(vector(all_, of_scale)),
                offset = dnn::read(vector(all_, of_offset)), last = dnn::read(part(all_, of_last, {filters, kinds})),
                wanted = dnn::read(part(kinds_, 0, {images, kinds}));
    const value x = convolution(dnn::read(part(pixels_, 0, {images, 1, size, size})), w, {.padding = 1});
    const auto h =
        batch_norm(x, 1e-5, dnn::affine{scale, offset}, dnn::running_averages{dnn::read(mean), dnn::read(variance)});
    const value places = reshape(transpose(reshape(relu(h.y), {images, filters, size * size}), {0, 2, 1}),
                                 {images, 1, size * size, filters});
    const value seen = places + attention(places, places, places).y;
    const value guess =
        log_softmax(product(reshape(reduce(seen, dnn::reduction_kind::mean, {2}), {images, filters}), last), 1);
    const value loss = reduce(-wanted * guess, dnn::reduction_kind::sum, {0, 1}) / images;
    const std::vector<value> gradients = dnn::gradients(loss, {w, scale, offset, last});
    gpu_.tell(dnn::computation{
        {write(loss, part(all_, of_losses + step, {1, 1})), write(h.next_mean, mean), write(h.next_variance, variance),
         write(gradients[0], part(gradients_, of_filters, {filters, 1, 3, 3})),
         write(gradients[1], vector(gradients_, of_scale)), write(gradients[2], vector(gradients_, of_offset)),
         write(gradients[3], part(gradients_, of_last, {filters, kinds}))}});
    const buffer<float> now = all_.slice(0, weights), momentum = all_.slice(weights, weights);
    const value next = 0.9 * dnn::read(momentum) + dnn::read(gradients_);
    gpu_.tell(dnn::computation{{write(next, momentum), write(dnn::read(now) - 0.05 * next, now)}});
  }

  device gpu_;
  answers& answers_;
  buffer<float> all_, gradients_, pixels_, kinds_, saved_[2];
};

trainer::trainer(const device& gpu, answers& to) : gpu_(gpu), answers_(to) {
  training_counts none;
  expected_ = course(gpu, to).train(none);
}

trainer::~trainer() { stop(); }

void trainer::start() {
  thread_ = std::thread([this] { run(); });
}

void trainer::stop() {
  over_.store(true);
  if (thread_.joinable()) thread_.join();
}

training_counts trainer::counts() const {
  const std::scoped_lock guard(lock_);
  return counts_;
}

void trainer::run() {
  course one(gpu_, answers_);
  while (!over_.load()) {
    const std::uint64_t before = gpu_.statistics().generation;
    training_counts here{.trainings = 1};
    const std::vector<float> is = one.train(here);
    if (is.empty()) return;
    here.workers_lost = gpu_.statistics().generation - before;
    auto answer = answers_.watch(make_ready<bool>(
        is.size() == expected_.size() && std::memcmp(is.data(), expected_.data(), is.size() * sizeof(float)) == 0));
    answers_.check(answer, [&](bool same) {
      if (same) return std::string();
      const auto at = std::mismatch(is.begin(), is.end(), expected_.begin(), expected_.end()).first - is.begin();
      return cat("a training: value ", at, " of ", is.size(), " differs from that of the training without faults");
    });
    const std::scoped_lock guard(lock_);
    counts_.trainings += here.trainings, counts_.steps += here.steps;
    counts_.sent_again += here.sent_again, counts_.workers_lost += here.workers_lost;
  }
}

}  // namespace chaos
