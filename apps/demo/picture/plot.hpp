// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/record.hpp>
#include <string>

namespace demo {

/// Draws a run as a picture (SVG): answers per second over time, latencies over time, and latencies by share of
/// answers. It is readable on light and dark backgrounds, and contains all that it needs.
std::string plot(const run_record& run);

}  // namespace demo
