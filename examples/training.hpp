// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <troupe/device/sealing.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>
#include <vector>

#include "loss_curve.hpp"

/// Code that the examples that train share: memory, steps that survive faults, options.
namespace training {

using namespace troupe;

struct options {
  std::string engine = "auto", picture = {};
  std::uint32_t ordinal = 0;
  int steps = 0, faults = 0;
};

/// Reads `--device cuda:0`, `--steps N`, `--faults N` and `--picture FILE.svg`.
inline options read_options(int argc, char** argv, int steps) {
  options o{.steps = steps};
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i], value = argv[i + 1];
    const std::size_t colon = value.find(':');
    if (name == "--steps") o.steps = std::atoi(argv[i + 1]);
    if (name == "--faults") o.faults = std::atoi(argv[i + 1]);
    if (name == "--picture") o.picture = value;
    if (name == "--device") o.engine = value.substr(0, colon);
    if (name == "--device" && colon != value.npos) o.ordinal = static_cast<std::uint32_t>(std::atoi(&value[colon + 1]));
  }
  return o;
}

/// All that training changes, in one buffer, so that one copy saves it: weights, as many numbers of an optimizer twice,
/// and what a step keeps beside them. Each of these has room for the same number of elements.
class memory {
 public:
  memory(const device& gpu, std::size_t room)
      : room_(room),
        start_(4 * room),
        all_(gpu.alloc<float>(start_.size())),
        gradients_(gpu.alloc<float>(room)),
        saved_{gpu.alloc<float>(start_.size(), {.sealable = true}),
               gpu.alloc<float>(start_.size(), {.sealable = true})} {}

  /// Weights that are trained, and begin with normally distributed numbers, or with the same number.
  dnn::value weights(std::initializer_list<extent> extents, double mean, double deviation) {
    const tensor<float> t = take(0, extents);
    std::normal_distribution<double> numbers(mean, deviation);
    for (std::size_t i = used_[0] - count(t); i < used_[0]; ++i)
      start_[i] = static_cast<float>(deviation == 0 ? mean : numbers(random_));
    trained_.push_back(dnn::read(t));
    gradient_views_.push_back(tensor<float>(gradients_.slice(used_[0] - count(t), count(t)), extents));
    return trained_.back();
  }
  /// Numbers that a step may replace.
  tensor<float> kept(std::initializer_list<extent> extents, float number) {
    const tensor<float> t = take(3, extents);
    std::fill_n(start_.begin() + static_cast<std::ptrdiff_t>(3 * room_ + used_[3] - count(t)), count(t), number);
    return t;
  }
  /// Writes the gradients of the loss with respect to all weights.
  void write_gradients(const dnn::value& loss, std::vector<dnn::written>& to) const {
    const std::vector<dnn::value> gradient_values = dnn::gradients(loss, trained_);
    for (std::size_t i = 0; i < gradient_values.size(); ++i)
      to.push_back(write(gradient_values[i], gradient_views_[i]));
  }

  /// All weights, their gradients, and what an optimizer has for each of them, as vectors.
  buffer<float> all_weights() const { return all_.slice(0, used_[0]); }
  buffer<float> gradients() const { return gradients_.slice(0, used_[0]); }
  buffer<float> moment(std::size_t which) const { return all_.slice((1 + which) * room_, used_[0]); }
  const buffer<float>& all() const { return all_; }
  const buffer<float>& saved(int which) const { return saved_[which]; }
  const std::vector<float>& start() const { return start_; }

 private:
  static std::size_t count(const tensor<float>& t) { return static_cast<std::size_t>(t.elements()); }
  tensor<float> take(std::size_t part, std::initializer_list<extent> extents) {
    const tensor<float> t(all_.slice(part * room_ + used_[part], room_ - used_[part]), extents);
    used_[part] += count(t);
    return t;
  }

  std::size_t room_, used_[4] = {};
  std::vector<float> start_;
  std::mt19937 random_{1};
  buffer<float> all_, gradients_, saved_[2];
  std::vector<dnn::value> trained_;
  std::vector<tensor<float>> gradient_views_;
};

/// Breaks the worker, each time in another way.
inline void inject_fault(const device& gpu, const buffer<float>& through, int number) {
  const auto as_bytes = through.as<std::byte>();
  const auto n = static_cast<std::uint64_t>(number);
  switch (number % 6) {
    case 0:
      faults::injector(gpu).kill_worker();
      return;
    case 1:
      gpu.tell(faults::segmentation_fault{.through = as_bytes, .number = n});
      return;
    case 2:
      gpu.tell(faults::hang{.through = as_bytes, .number = n}, {.run_timeout = std::chrono::milliseconds(50)});
      return;
    case 3:
      gpu.tell(faults::abort{.through = as_bytes, .number = n});
      return;
    case 4:
      gpu.tell(faults::exhaust_memory{.through = as_bytes, .most_bytes = 64 << 20, .number = n});
      return;
    default:
      faults::injector(gpu).kill_all();
  }
}

struct outcome {
  std::vector<float> losses, weights;
  std::vector<int> faults;  ///< before which steps they were injected
  int repeated = 0;         ///< steps
  double accuracy = 0;
};

/// Sends the steps; `step(i)` queues all requests of one, which depend on i alone and on `m`. After every few steps,
/// all that they have changed is saved in a sealed buffer, which no fault can damage. Steps that a fault interrupts are
/// sent again from there.
inline result<outcome> train(const device& gpu, const memory& m, const tensor<float>& losses, int steps, int faults,
                             int examples_in_a_step, const std::function<void(int)>& step) {
  constexpr int interval = 10;
  outcome out;
  std::vector<int> open;  // steps before which a fault is still to come
  for (int i = faults; i > 0; --i)
    open.push_back(static_cast<int>(static_cast<std::int64_t>(steps) * i / (faults + 1)));
  const auto began = std::chrono::steady_clock::now();
  int done = 0, newest = -1;  // steps that are saved, and where
  while (done < steps || newest < 0) {
    newest < 0 ? gpu.upload(m.all(), m.start()) : gpu.copy(m.all(), m.saved(newest));
    const int end = newest < 0 ? 0 : std::min(steps, done + interval), spare = newest == 0 ? 1 : 0;
    bool is_broken = false;
    for (int i = done; i < end; ++i) {
      if (!is_broken && !open.empty() && open.back() <= i) {
        is_broken = true;  // what follows depends on memory that is lost: another fault would not happen
        open.pop_back();
        inject_fault(gpu, m.all(), static_cast<int>(out.faults.size()));
        out.faults.push_back(i);
      }
      step(i);
    }
    if (m.saved(spare).sealed()) (void)unseal(gpu, m.saved(spare)).get();
    gpu.copy(m.saved(spare), m.all());
    const result<void> is_saved = seal(gpu, m.saved(spare)).get();  // all errors above arrive here
    if (!is_saved && is_saved.error().reaction() != reaction::context_lost) return is_saved.error();
    if (!is_saved) {
      out.repeated += end - done;
      continue;
    }
    newest = spare, done = end;
    if (done % (10 * interval) != 0 && done != steps) continue;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    const auto last = gpu.download(losses.memory().slice(std::max(0, done - 1), 1)).get();
    if (last && done > 0)
      std::printf("  step %4d: loss %.4f, %.0f examples/s\n", done, static_cast<double>((*last)[0]),
                  done * examples_in_a_step / passed.count());
    std::fflush(stdout);
  }
  // From the sealed copy, which has them whatever happens.
  for (int tries = 0; tries < 10; ++tries) {
    gpu.copy(m.all(), m.saved(newest));
    auto l = gpu.download(losses.memory()).get(), w = gpu.download(m.all_weights()).get();
    if (l && w) {
      out.losses = std::move(*l), out.weights = std::move(*w);
      return out;
    }
  }
  return error(reaction::fatal, "training", "what was learned cannot be read");
}

/// Trains without faults, then with them, if any are asked for; compares, and draws the losses. Returns what main does.
inline int compare_with_faults(const options& o, double least_accuracy,
                               const std::function<result<outcome>(const device&, int faults)>& run) {
  runtime rt;
  const device gpu = rt.open_device({.engine = o.engine, .ordinal = o.ordinal, .restarts = 1'000'000});
  const auto failed = [](const std::string& why) { return std::fprintf(stderr, "%s\n", why.c_str()), 1; };
  if (const auto up = gpu.started().get(); !up) return failed(up.error().to_string());
  std::printf("%s, %d steps:\n", gpu.name().c_str(), o.steps);
  const result<outcome> one = run(gpu, 0);
  if (!one) return failed(one.error().to_string());
  std::vector<int> faults;
  if (o.faults > 0) {
    std::printf("again, with %d faults:\n", o.faults);
    const result<outcome> two = run(gpu, o.faults);
    if (!two) return failed(two.error().to_string());
    if (two->losses != one->losses || two->weights != one->weights || two->accuracy != one->accuracy)
      return failed("faults changed what was learned");
    faults = two->faults;
    const auto lost = static_cast<unsigned long long>(gpu.statistics().faults);
    std::printf("%zu faults, %llu workers lost, %d steps repeated: all %zu losses and %zu weights have the same bits\n",
                faults.size(), lost, two->repeated, two->losses.size(), two->weights.size());
    if (faults.size() != static_cast<std::size_t>(o.faults) || lost == 0) return failed("not all faults were injected");
  }
  if (!o.picture.empty() && !draw_losses(o.picture, one->losses, faults)) return failed("cannot write " + o.picture);
  return one->accuracy >= least_accuracy ? 0 : failed("it has not learned");
}

}  // namespace training
