// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

//
// Fixture for tests of what files of CUDA contain besides plain kernels.
#include <filesystem>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing::sources_tests {

inline constexpr int threads = 64;

// Runs `k(int* y, const int* x, int n)` of one block, where x is 0, 1, 2, …, and returns y.
inline std::vector<int> run_k(const loaded_image& image, const std::string& kernel = "k") {
  std::vector<int> x(threads), y(threads, -1);
  for (int t = 0; t < threads; ++t) x[static_cast<std::size_t>(t)] = t;
  run(image, kernel, {1}, {threads}, threads * sizeof(int), y.data(), static_cast<const int*>(x.data()), threads);
  return y;
}

inline std::vector<int> run_k(const std::string& source, const translate_options& options = {}) {
  return run_k(load_text(source, options));
}

inline std::vector<int> each(int (*of)(int)) {
  std::vector<int> out;
  for (int t = 0; t < threads; ++t) out.push_back(of(t));
  return out;
}

inline std::string messages_of(const std::string& source, const translate_options& options = {}) {
  const compiled c = compile_text(source, options, {.optimisation = 0});
  return c.bytes.empty() ? c.messages : "it compiles";
}

inline std::string failure(const loaded_image& image, const std::string& kernel, void* const* arguments) {
  launcher one(1);
  const loaded_kernel* k = image.find_kernel(kernel);
  if (!k) return "there is no kernel " + kernel;
  const auto done = one.launch(*k, {1}, {threads}, 0, arguments);
  return done ? "it succeeded" : std::string(to_string(done.error().reaction())) + ": " + done.error().text();
}

inline std::string failure_of_k(const loaded_image& image, const std::string& kernel = "k") {
  std::vector<int> y(threads);
  int* to = y.data();
  const int* from = y.data();
  int n = threads;
  void* arguments[] = {&to, &from, &n};
  return failure(image, kernel, arguments);
}

}  // namespace troupe::cuda_on_host::testing::sources_tests
