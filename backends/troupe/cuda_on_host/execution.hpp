// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::cuda_on_host {

/// The way in which the threads of a block run on the host.
enum class execution : std::uint8_t {
  loop,    ///< one after the other or in vector lanes
  split,   ///< in such loops between barriers
  fibers,  ///< each on its own stack
  never,   ///< the kernel needs a GPU
};

constexpr std::string_view to_string(execution e) noexcept {
  switch (e) {
    case execution::loop:
      return "loop";
    case execution::split:
      return "split";
    case execution::fibers:
      return "fibers";
    case execution::never:
      break;
  }
  return "never";
}

}  // namespace troupe::cuda_on_host
