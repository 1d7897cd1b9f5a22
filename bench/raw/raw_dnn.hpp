// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

/// cuDNN called directly, for the same graphs as those of the library actor dnn.
namespace troupe::bench {

/// A graph with its own memory. All descriptors are made once, before the first run.
class raw_graph {
 public:
  virtual ~raw_graph() = default;
  virtual void run() = 0;  ///< cudnnBackendExecute
  virtual void synchronize() = 0;
  /// `memory` is the number of an operand of the graph.
  virtual void upload(std::size_t memory, std::span<const std::byte> elements) = 0;
  virtual void download(std::size_t memory, std::span<std::byte> elements) = 0;
};

class raw_dnn {
 public:
  virtual ~raw_dnn() = default;
  /// Makes a graph that cuDNN computes in one call, with no copy before or after. `encoded` is an encoded `dnn::graph`.
  /// The plan is that of the CUDA engine, if the engine has stored it in the disk cache.
  virtual std::unique_ptr<raw_graph> graph(std::span<const std::byte> encoded, bool repeatable) = 0;
  /// Makes relu(convolution + bias + residual) from three calls: the convolution; the addition of the bias; the
  /// addition of the residual, and relu. Each uses the first engine that cuDNN recommends, and writes its result to
  /// memory.
  virtual std::unique_ptr<raw_graph> three_calls(std::span<const std::byte> encoded) = 0;
  /// Copies within the GPU's memory. Returns the bytes that are read and written per second.   cuMemcpyDtoDAsync
  virtual double copy_rate(std::size_t bytes, int times) = 0;
};

}  // namespace troupe::bench
