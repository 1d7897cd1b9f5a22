// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/jit/recipe_codec.hpp>

namespace troupe::fft {

/// Callbacks as a worker receives them. The source ends with functions of ours that call those of the user.
struct callback_recipe {
  bool loads, stores;
  dtype in, out;
  std::string_view encoded;  ///< a jit::recipe, encoded
};

std::string encode(const callback_recipe& r);
/// Returns nullopt if the bytes are not a valid recipe. The result refers to `bytes`.
std::optional<callback_recipe> decode_callbacks(std::string_view bytes);

/// Returns the source that is appended to the user's. On a GPU, these are two functions that cuFFT calls; on the host
/// engine, two kernels that gather the elements of a layout into a contiguous array, and scatter them from there:
///   troupe_fft_load(input, into, sizes and steps, data)    troupe_fft_store(from, output, sizes and steps, data)
std::string wrapper(const std::string& load, const std::string& store, dtype in, dtype out);
inline constexpr const char *load_function = "troupe_fft_load", *store_function = "troupe_fft_store";

/// Returns the source of a separate image, with a function that calls `store_function` of another image.
std::string forwarder(dtype out);
inline constexpr const char* forwarding_function = "troupe_fft_store_beside";

}  // namespace troupe::fft
