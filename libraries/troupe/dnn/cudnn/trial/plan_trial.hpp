// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <functional>
#include <span>
#include <string>
#include <troupe/dnn/cudnn/engines.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/trial/match_reference.hpp>
#include <troupe/dnn/steps/fusion_match.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// Tries plans for a fusion match on known operands before they are used, because some of cuDNN's engines compute wrong
/// results for some shapes. Waits for the GPU.
class plan_trial {
 public:
  /// How much is compared. `few`: for a plan that passed a full trial in an earlier process; the definition then takes
  /// fewer multiplications.
  enum class effort : std::uint8_t { full, few };
  /// Makes a trial. Elements of operands are integers from -3 to 3, multiplied by `unit`.
  plan_trial(const encoded_graph& g, const def_use& uses, CUstream stream, double unit, effort how_much = effort::full)
      : graph_(g),
        uses_(uses),
        stream_(stream),
        unit_(unit),
        most_summands_(how_much == effort::full ? 3'000'000 : 100'000) {}
  ~plan_trial();
  plan_trial(const plan_trial&) = delete;
  plan_trial& operator=(const plan_trial&) = delete;

  /// Enqueues a plan in the stream of the trial, with the addresses of the match's inputs and outputs and of its
  /// workspace.
  using enqueue_function = std::function<cudnnStatus_t(std::span<void* const> addresses, void* workspace)>;
  /// Runs a plan, compares some elements of its results with the definition, and measures its time if `measured`. Fails
  /// if there is not enough GPU memory.
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
  const std::int64_t most_summands_;  // most multiplications that the definition takes for the comparison
  std::vector<block> memory_;         // inputs, then outputs; during run() also the workspace
  std::vector<void*> addresses_;
};

}  // namespace troupe::dnn::cudnn
