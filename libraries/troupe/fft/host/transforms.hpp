// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// What runs the transforms of the host engine: ducc0, in a library of its own for each family of processors, since a
/// linker could mix up templates that were compiled for different ones. A C interface between the two.
namespace troupe::fft {

/// Elements {i, j ...} at data + i * step[0] + j * step[1] ..., in elements.
struct array {
  static constexpr std::size_t most = 4;  ///< a batch of three dimensions
  void* data;
  std::size_t rank;
  std::size_t size[most];
  std::ptrdiff_t step[most];
};

/// Runs `part(job, i)` for each i below count on some threads, and returns when all are done.
struct crew {
  std::size_t threads;
  void* self;
  void (*spread)(void* self, std::size_t count, void (*part)(void* job, std::size_t i), void* job);
};

/// One batch of transforms over the dimensions from `first` on. `factor` multiplies each result.
struct transform {
  array input, output;
  std::size_t first;
  bool is_double, forward, consumes_input;
  double factor;
  std::size_t threads;
};

enum class outcome { done, out_of_memory, failed };

struct transforms {
  const char* family;
  const char* version;
  void (*use)(const crew* c);  ///< once, before anything else; stays where it is
  outcome (*c2c)(const transform*, char* why, std::size_t room);
  outcome (*r2c)(const transform*, char* why, std::size_t room);
  outcome (*c2r)(const transform*, char* why, std::size_t room);
};

/// What each such library exports.
extern "C" const transforms* troupe_fft_transforms();
inline constexpr const char* transforms_symbol = "troupe_fft_transforms";

}  // namespace troupe::fft
