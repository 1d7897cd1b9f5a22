// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <functional>
#include <span>
#include <string>
#include <troupe/dnn/cudnn/engines.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/match_reference.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// Tries plans for a fusion match on known numbers before they are used: some engines of cuDNN give wrong results for
/// some shapes. Waits for the GPU.
class plan_trial {
 public:
  /// The number of results to compare: as many as are affordable, or few, for a plan that has passed before.
  enum class extent : std::uint8_t { full, few };
  /// The operands are whole multiples of `unit`, at most 3 of them.
  plan_trial(const encoded_graph& g, const def_use& uses, CUstream stream, double unit, extent extent = extent::full)
      : graph_(g),
        uses_(uses),
        stream_(stream),
        unit_(unit),
        most_summands_(extent == extent::full ? 3'000'000 : 100'000) {}
  ~plan_trial();
  plan_trial(const plan_trial&) = delete;
  plan_trial& operator=(const plan_trial&) = delete;

  /// Enqueues a plan for these operands and this workspace in the stream of the trial.
  using enqueue_function = std::function<cudnnStatus_t(std::span<void* const> addresses, void* workspace)>;
  /// Compares some of the results with the definition, and measures the time if `measured`. Fails if there is not
  /// enough memory.
  result<trial_result> run(const fusion_match& match, bool measured, const enqueue_function& enqueue);

 private:
  struct block {
    CUdeviceptr address;
    std::uint64_t bytes;
  };
  bool make_operands(const fusion_match& match);
  bool add_block(std::uint64_t bytes);
  bool fill(std::size_t operand, const fusion_match::tensor& t);
  bool poison(std::size_t from);
  bool wait() const noexcept { return ::cuStreamSynchronize(stream_) == CUDA_SUCCESS; }
  trial_result compare(const fusion_match& match) const;
  double time(const enqueue_function& enqueue, void* workspace);

  const encoded_graph& graph_;
  const def_use& uses_;
  const CUstream stream_;
  const double unit_;
  const std::int64_t most_summands_;  // limit of the products that are computed here for comparison
  std::vector<block> memory_;         // for inputs, then for outputs
  std::vector<void*> addresses_;
};

}  // namespace troupe::dnn::cudnn
