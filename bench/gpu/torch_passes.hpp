// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe::bench {

/// An operation on matrices a, b and c of bf16 as PyTorch writes it, with the bytes that it must read and write.
struct torch_pass {
  std::string name, expression;
  double bytes;
};

/// Returns a line for the notes of a measure: the rates of PyTorch, eager and compiled, on the measured GPU; or why
/// there are none. Runs bench/torch_passes.py.
std::string note_of_torch(const settings& s, std::int64_t rows, std::int64_t columns,
                          const std::vector<torch_pass>& all);

}  // namespace troupe::bench
