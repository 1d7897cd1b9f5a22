// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/measures.hpp>

namespace troupe::bench {
namespace {

constexpr measure measures_of_host[] = {
#define HOST_MEASURE(IDENTIFIER, ...) IDENTIFIER,
#define GPU_MEASURE(...)
#include <bench/measure_list.inc>
};

constexpr measure measures_of_gpu[] = {
#define HOST_MEASURE(...)
#define GPU_MEASURE(IDENTIFIER, ...) IDENTIFIER,
#include <bench/measure_list.inc>
};

}  // namespace

std::span<const measure> measures(std::string_view engine) noexcept {
  if (engine == "host") return measures_of_host;
  return measures_of_gpu;
}

}  // namespace troupe::bench
