// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tests/numerics/random.hpp>
#include <troupe/cuda_on_host/compiler_flags.hpp>
#include <troupe/cuda_on_host/launcher.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <tuple>
#include <vector>

namespace troupe::cuda_on_host::testing {

using numerics::how_to_repeat;
using numerics::random_source;

/// A source compiled by the system's compiler.
struct compiled {
  translation text;
  std::string messages;  ///< of the compiler or the translator
  std::vector<std::byte> bytes;

  /// Returns how a kernel runs, with the reason: "fibers (line 3: ...)".
  std::string how(const std::string& kernel) const;
};

/// Preprocesses, translates and compiles CUDA C++ given as text.
compiled compile_text(const std::string& source, const translate_options& options,
                      const compiler_settings& settings = {});
/// Does the same with a file of tests/kernels/cuda.
compiled compile_file(const std::string& file, const translate_options& options);

/// Returns an image that must compile and load.
loaded_image load(const compiled& c);
loaded_image load_text(const std::string& source, const translate_options& options = {});

/// Both ways to run a file: as the translator chooses, and as fibers.
std::vector<loaded_image> both_ways(const std::string& file, const std::vector<std::string>& kernels,
                                    const std::vector<std::string>& globals = {});

/// The addresses of arguments, in the form for launch().
template <class... T>
struct arguments {
  std::tuple<T...> values;
  void* addresses[sizeof...(T) + 1] = {};

  explicit arguments(T... given) : values(given...) {
    std::size_t i = 0;
    std::apply([&](auto&... v) { ((addresses[i++] = &v), ...); }, values);
  }
};

/// Runs a kernel that must exist and succeed.
template <class... T>
void run(const loaded_image& image, const std::string& kernel, dim grid, dim block, std::uint32_t shared_bytes,
         T... values) {
  static launcher all;
  const loaded_kernel* k = image.find_kernel(kernel);
  ASSERT_NE(k, nullptr) << kernel;
  ASSERT_EQ(k->parameters.size(), sizeof...(T)) << kernel;
  arguments<T...> a(values...);
  auto done = all.launch(*k, grid, block, shared_bytes, a.addresses);
  ASSERT_TRUE(done) << done.error().to_string();
}

std::vector<float> random_floats(random_source& random, std::size_t count);

}  // namespace troupe::cuda_on_host::testing
