// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// The interface between the host engine and its transforms: ducc0, in a separate library for each family of
/// processors, because a linker could mix templates that are compiled for different families. It is a C interface.
namespace troupe::fft {

/// An array: element {i, j ...} is at data + i * step[0] + j * step[1] ...; steps are counted in elements.
struct array {
  static constexpr std::size_t most = 4;  ///< a batch of transforms over three axes
  void* data;
  std::size_t rank;
  std::size_t size[most];
  std::ptrdiff_t step[most];
};

/// Runs `part(job, i)` for each i less than the count, on several threads, and returns when all are done.
struct crew {
  std::size_t threads;
  void* self;
  void (*spread)(void* self, std::size_t count, void (*part)(void* job, std::size_t i), void* job);
};

/// A batch of transforms over the axes from `first` on. `factor` multiplies each result.
struct transform_job {
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
  void (*use)(const crew* c);  ///< called once, before any other function; the crew must stay valid
  outcome (*c2c)(const transform_job*, char* why, std::size_t bytes);
  outcome (*r2c)(const transform_job*, char* why, std::size_t bytes);
  outcome (*c2r)(const transform_job*, char* why, std::size_t bytes);
};

/// The symbol that each of these libraries exports.
extern "C" const transforms* troupe_fft_transforms();
inline constexpr const char* transforms_symbol = "troupe_fft_transforms";

}  // namespace troupe::fft
