// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/device_under_test.hpp>
#include <bench/networks/training.hpp>
#include <bench/rounds.hpp>
#include <bench/system/run_program.hpp>
#include <cmath>
#include <cstdio>
#include <troupe/base/clock.hpp>
#include <utility>

namespace troupe::bench {
namespace {

/// The output of bench/torch_train.py.
struct torch_result {
  double eager = 0, compiled = 0;  ///< steps per second; 0: it could not be compiled
  double first_loss = 0, last_loss = 0;
};

// Runs PyTorch in a process of its own, before the worker's.
torch_result run_torch(const settings& s, const training& t) {
  std::vector<std::string> line{"python3", s.runtime_folder + "/bench/torch_train.py", t.on_torch_device,
                                std::to_string(t.steps)};
  line.insert(line.end(), t.in_torch.begin(), t.in_torch.end());
  const program_times other = run_program(line);
  torch_result out;
  if (std::sscanf(other.said.c_str(), "eager %lf compiled %lf losses %lf %lf", &out.eager, &out.compiled,
                  &out.first_loss, &out.last_loss) != 4)
    throw bad_result(error(reaction::fatal, "bench", "torch_train.py printed: " + other.said));
  return out;
}

template <class Network>
training training_with(const typename Network::extents& e, std::string name,
                       std::initializer_list<std::int64_t> extents, std::int64_t samples) {
  training out{.make = [e](const device& gpu) { return std::make_unique<Network>(gpu, e); },
               .in_torch = {std::move(name)},
               .samples = static_cast<double>(samples)};
  for (const std::int64_t n : extents) out.in_torch.push_back(std::to_string(n));
  return out;
}

}  // namespace

training training_of(const residual_network::extents& e) {
  return training_with<residual_network>(e, "residual", {e.images, e.size, e.width, e.blocks}, e.images);
}
training training_of(const bottleneck_network::extents& e) {
  const auto& b = e.blocks;
  return training_with<bottleneck_network>(e, "bottleneck",
                                           {e.images, e.size, e.width, e.kinds, b[0], b[1], b[2], b[3]}, e.images);
}
training training_of(const transformer_block::extents& e) {
  return training_with<transformer_block>(e, "block", {e.sequences, e.tokens, e.width, e.heads},
                                          e.sequences * e.tokens);
}

figures samples_per_second(const settings& s, const training& t) {
  const int steps = t.steps;
  figures f;
  torch_result torch;
  std::string why_not = "not on this engine";
  try {
    if (!t.on_torch_device.empty()) torch = run_torch(s, t), why_not.clear();
  } catch (const bad_result& none) {
    why_not = none.error().text();
  }
  const device_under_test gpu(s, {.libraries = {"dnn"}, .wait = wait_policy::latency});
  const std::unique_ptr<trained_network> network = t.make(*gpu);
  network->step();
  const float first = network->loss();
  for (int i = 1; i < steps; ++i) network->step();
  const float last = network->loss();
  std::vector<double> rates;
  for (int round = 0; round < s.rounds(t.rounds); ++round) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < steps; ++i) network->step();
    gpu->sync().get().value();
    rates.push_back(steps * t.samples * 1e9 / static_cast<double>(now_ns() - start));
  }
  f.ours = median(std::move(rates)), f.raw = torch.eager * t.samples;
  char text[200];
  std::snprintf(text, sizeof text, "loss %.3f, after %d steps %.3f", static_cast<double>(first), steps,
                static_cast<double>(last));
  f.note = text;
  if (why_not.empty())
    std::snprintf(text, sizeof text, "; PyTorch's %.3f, %.3f; compiled, it has %.0f", torch.first_loss, torch.last_loss,
                  torch.compiled * t.samples);
  f.note += why_not.empty() ? text : "; no PyTorch: " + why_not;
  // The samples are always the same, so the network can memorize them.
  if (!(last < 0.8f * first)) f.objection = "the loss does not decrease";
  // The first losses must agree, except for the rounding of bf16.
  if (why_not.empty() && !(std::abs(static_cast<double>(first) - torch.first_loss) <= 0.02 * torch.first_loss))
    f.objection = "the first loss is not PyTorch's";
  return f;
}

}  // namespace troupe::bench
