// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/device_under_test.hpp>
#include <bench/networks/training.hpp>
#include <bench/rounds.hpp>
#include <bench/system/run_program.hpp>
#include <cmath>
#include <cstdio>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

/// The output of bench/torch_train.py.
struct torch_result {
  double eager = 0, compiled = 0;  ///< images per second; 0: it could not be compiled
  double first_loss = 0, last_loss = 0;
};

// Runs PyTorch in a process of its own, before the worker's.
torch_result run_torch(const settings& s, const training& t) {
  const residual_network::extents& e = t.network;
  const program_times other =
      run_program({"python3", s.runtime_folder + "/bench/torch_train.py", t.on_torch_device, std::to_string(e.images),
                   std::to_string(e.size), std::to_string(e.width), std::to_string(e.blocks), std::to_string(t.steps)});
  torch_result out;
  if (std::sscanf(other.said.c_str(), "eager %lf compiled %lf losses %lf %lf", &out.eager, &out.compiled,
                  &out.first_loss, &out.last_loss) != 4)
    throw bad_result(error(reaction::fatal, "bench", "torch_train.py printed: " + other.said));
  return out;
}

}  // namespace

figures images_per_second(const settings& s, const training& t) {
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
  residual_network network(*gpu, t.network);
  network.step();
  const float first = network.loss();
  for (int i = 1; i < steps; ++i) network.step();
  const float last = network.loss();
  std::vector<double> rates;
  for (int round = 0; round < s.rounds(t.rounds); ++round) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < steps; ++i) network.step();
    gpu->sync().get().value();
    rates.push_back(static_cast<double>(steps * t.network.images) * 1e9 / static_cast<double>(now_ns() - start));
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
  // The images are always the same, so the network can memorize them.
  if (!(last < 0.8f * first)) f.objection = "the loss does not decrease";
  // The first losses must agree, except for the rounding of bf16.
  if (why_not.empty() && !(std::abs(static_cast<double>(first) - torch.first_loss) <= 0.02 * torch.first_loss))
    f.objection = "the first loss is not PyTorch's";
  return f;
}

}  // namespace troupe::bench
