// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Steps of training a small residual network, and the same network in PyTorch.
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/residual_network.hpp>
#include <bench/rounds.hpp>
#include <bench/run_program.hpp>
#include <cmath>
#include <cstdio>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

constexpr int steps = 20;  // of one round

/// What bench/torch_train.py prints.
struct torch_result {
  double eager = 0, compiled = 0;  ///< images per second; 0: it could not be compiled
  double first_loss = 0, last_loss = 0;
};

// In a process of its own, before the worker's.
torch_result run_torch(const settings& s, const residual_network::extents& e) {
  const program_times other = run_program({"python3", s.runtime_folder + "/bench/torch_train.py",
                                           std::to_string(s.ordinal), std::to_string(e.images), std::to_string(e.size),
                                           std::to_string(e.width), std::to_string(e.blocks), std::to_string(steps)});
  torch_result out;
  if (std::sscanf(other.said.c_str(), "eager %lf compiled %lf losses %lf %lf", &out.eager, &out.compiled,
                  &out.first_loss, &out.last_loss) != 4)
    throw bad_result(error(reaction::fatal, "bench", "torch_train.py printed: " + other.said));
  return out;
}

figures run(const settings& s) {
  const bool small = s.engine == "host";
  const residual_network::extents e =
      small ? residual_network::extents{.images = 4, .size = 8, .width = 8, .blocks = 1} : residual_network::extents{};
  figures f;
  torch_result torch;
  std::string why_not = "not on this engine";
  try {
    if (!small) torch = run_torch(s, e), why_not.clear();
  } catch (const bad_result& none) {
    why_not = none.error().text();
  }
  const device_under_test gpu(s, {.libraries = {"dnn"}, .wait = wait_policy::latency});
  residual_network network(*gpu, e);
  network.step();
  const float first = network.loss();
  for (int i = 1; i < steps; ++i) network.step();
  const float last = network.loss();
  std::vector<double> rates;
  for (int round = 0; round < s.rounds(small ? 1 : 15); ++round) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < steps; ++i) network.step();
    gpu->sync().get().value();
    rates.push_back(static_cast<double>(steps * e.images) * 1e9 / static_cast<double>(now_ns() - start));
  }
  f.ours = median(std::move(rates)), f.raw = torch.eager;
  char text[200];
  std::snprintf(text, sizeof text, "loss %.3f, after %d steps %.3f", static_cast<double>(first), steps,
                static_cast<double>(last));
  f.note = text;
  if (why_not.empty())
    std::snprintf(text, sizeof text, "; PyTorch's %.3f, %.3f; compiled, it trains %.0f images/s", torch.first_loss,
                  torch.last_loss, torch.compiled);
  f.note += why_not.empty() ? text : "; no PyTorch: " + why_not;
  // The images are always the same, so that it can learn them by heart.
  if (!(last < 0.8f * first)) f.objection = "the loss does not decrease";
  // Of the same numbers, but for what bf16 rounds.
  if (why_not.empty() && !(std::abs(static_cast<double>(first) - torch.first_loss) <= 0.02 * torch.first_loss))
    f.objection = "the first loss is not PyTorch's";
  return f;
}

}  // namespace

const measure dnn_train{
    .name = "dnn.train",
    .unit = "images/s",
    .ours = "steps of a ResNet-20 for 32 x 32, batches of 256, activations in bf16, by dnn requests",
    .raw = "the same network in PyTorch, eager, with autocast to bf16 and channels last",
    .goal = {goal::kind::ratio_at_least, 1},
    .run = run};

}  // namespace troupe::bench
