// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "prefix.hpp"

#include <troupe/worker/engine.hpp>

struct sums_engine {
  static troupe::result<std::unique_ptr<sums_engine>> make(const troupe::engine_context&) {
    return std::make_unique<sums_engine>();
  }

  troupe::result<void> run(const sums::prefix& r, troupe::call&) {
    float sum = 0;
    for (std::int64_t i = 0; i < r.n.value(); ++i) r.output.data()[i] = sum += r.input.data()[i];
    return {};
  }
};

TROUPE_ENGINE(sums_engine, "sums", "host", sums::prefix)
