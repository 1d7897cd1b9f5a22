// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/device_under_test.hpp>
#include <bench/gpu/torch_passes.hpp>
#include <bench/system/run_program.hpp>
#include <cstdio>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
namespace {

std::string rate(double bytes, double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g", bytes / seconds / 1e9);
  return seconds > 0 ? text : "none";
}

}  // namespace

std::string note_of_torch(const settings& s, std::int64_t rows, std::int64_t columns,
                          const std::vector<torch_pass>& all) {
  if (s.engine == "host") return {};
  std::vector<std::string> line{"python3", s.runtime_folder + "/bench/torch_passes.py", cat("cuda:", s.ordinal),
                                std::to_string(rows), std::to_string(columns)};
  for (const torch_pass& p : all) line.push_back(p.expression);
  std::string said;
  try {
    said = run_program(line).said;
  } catch (const bad_result& none) {
    return "\n  no PyTorch: " + none.error().text();
  }
  std::string out = "\n  PyTorch, eager and compiled, GB/s:";
  const char* at = said.c_str();
  for (const torch_pass& p : all) {
    double eager = 0, compiled = 0;
    int read = 0;
    if (std::sscanf(at, " eager %lf compiled %lf%n", &eager, &compiled, &read) != 2)
      throw bad_result(error(reaction::fatal, "bench", "torch_passes.py printed: " + said));
    at += read;
    out += cat(&p == &all.front() ? " " : "; ", p.name, " ", rate(p.bytes, eager), ", ", rate(p.bytes, compiled));
  }
  return out;
}

}  // namespace troupe::bench
