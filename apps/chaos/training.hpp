// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/answers.hpp>
#include <thread>
#include <vector>

namespace chaos {

/// Counts of what a trainer has done.
struct training_counts {
  std::uint64_t trainings = 0;     ///< trainings that were completed and compared
  std::uint64_t steps = 0;         ///< steps of these trainings
  std::uint64_t sent_again = 0;    ///< steps that a fault interrupted, in all trainings
  std::uint64_t workers_lost = 0;  ///< workers that were lost during a training
};

/// Trains a small network (a convolution, a batch normalization, attention) from the same start again and again. Its
/// state is saved in sealed buffers, from which the training continues after a fault. Each training must have exactly
/// the same losses and weights as the first one, which the constructor completes before there are faults.
class trainer {
 public:
  trainer(const troupe::device& gpu, answers& to);
  /// Calls stop().
  ~trainer();
  trainer(const trainer&) = delete;

  /// Starts to train on a thread of its own.
  void start();
  /// Waits until the current training is complete.
  void stop();
  training_counts counts() const;

 private:
  class course;
  void run();

  troupe::device gpu_;
  answers& answers_;
  std::vector<float> expected_;
  std::atomic<bool> over_{false};
  mutable std::mutex lock_;
  training_counts counts_;
  std::thread thread_;
};

}  // namespace chaos
