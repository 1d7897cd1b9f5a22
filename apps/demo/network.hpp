// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <troupe/troupe.hpp>

namespace demo {

using matrix = std::vector<float>;  // column-major

/// What the service computes for everybody: answers = second * (first * inputs), `batch` columns at a time.
struct shape {
  static constexpr std::int64_t inputs = 256, hidden = 512, outputs = 64, batch = 16;
  static constexpr double flops = 2.0 * batch * (inputs * hidden + hidden * outputs);
};

/// The two layers, on the device once for all requests; and what a plain computation in double precision makes of them.
class network {
 public:
  network(const troupe::device& gpu, std::uint64_t seed);

  /// Queues one request: upload, two products, download. Awaits nothing.
  troupe::pending<matrix> ask(matrix inputs) const;
  /// The same for who has a coroutine. Keeps the network.
  static troupe::task<troupe::result<matrix>> infer(std::shared_ptr<const network> self, matrix inputs);

  /// Computed here, without the device and without the library: is this the answer to these inputs?
  bool right(const matrix& inputs, const matrix& answers) const;

 private:
  troupe::device gpu_;
  troupe::buffer<float> first_, second_;
  std::vector<double> both_;  // second * first
};

/// The inputs of request `number` of a client: everybody has their own.
matrix inputs_for(int client, std::uint64_t number);

}  // namespace demo
