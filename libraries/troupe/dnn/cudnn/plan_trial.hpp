// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <functional>
#include <span>
#include <string>
#include <troupe/dnn/cudnn/definition.hpp>
#include <troupe/dnn/cudnn/engines.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// Memory with numbers of ours for the operands of a fusion match, to try plans on before they are used: some engines
/// of cuDNN are wrong for some shapes. Waits for the GPU.
class trial {
 public:
  /// How many results are compared: all that is affordable once, or a few of a plan that has passed before.
  enum class extent_of_trial : std::uint8_t { full, few };
  /// The numbers are whole multiples of `unit`, at most 3.
  trial(const encoded_graph& g, const def_use& l, CUstream stream, double unit,
        extent_of_trial extent = extent_of_trial::full)
      : g_(g),
        l_(l),
        stream_(stream),
        unit_(unit),
        most_terms_(extent == extent_of_trial::full ? 3'000'000 : 100'000) {}
  ~trial();
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;

  /// Enqueues a plan for these operands and this workspace in the stream.
  using runner = std::function<cudnnStatus_t(std::span<void* const> addresses, void* workspace)>;
  /// Compares some of the results with the definition, and measures the plan if that is asked for. Fails if there is no
  /// memory for it.
  result<attempt> run(const fusion_match& c, bool measured, const runner& enqueue);

 private:
  struct block {
    CUdeviceptr address;
    std::uint64_t bytes;
  };
  bool make(const fusion_match& c);
  bool add(std::uint64_t bytes);
  bool fill(std::size_t operand, const fusion_match::tensor& t);
  bool clear(std::size_t from);
  bool wait() const noexcept { return ::cuStreamSynchronize(stream_) == CUDA_SUCCESS; }
  attempt compared(const fusion_match& c) const;
  double time(const runner& enqueue, void* workspace);

  const encoded_graph& g_;
  const def_use& l_;
  const CUstream stream_;
  const double unit_;
  const std::int64_t most_terms_;  // of the sums that are computed here for comparison
  std::vector<block> memory_;      // of inputs, then of outputs
  std::vector<void*> addresses_;
};

}  // namespace troupe::dnn::cudnn
