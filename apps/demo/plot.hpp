// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/record.hpp>
#include <string>

namespace demo {

/// A run as a picture (SVG): answers per second over time, latencies over time, and latencies by share of answers.
/// Readable on light and dark grounds; needs nothing else to be shown.
std::string plot(const run_record& run);

}  // namespace demo
