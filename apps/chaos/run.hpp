// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/resources.hpp>
#include <apps/chaos/workload.hpp>
#include <array>
#include <functional>
#include <troupe/faults/faults.hpp>

namespace chaos {

struct settings {
  double seconds = 10;                ///< how long faults are injected, in seconds
  std::uint64_t faults = UINT64_MAX;  ///< the run also ends after this number of faults
  std::uint64_t seed = 1;
  std::vector<troupe::faults::kind> kinds = {};  ///< empty for all
  /// most faults per second; each fault waits until the device has recovered from the last one
  double per_second = 100;
  bool one_at_a_time = true;
  int clients = 4;
  bool training = false;               ///< also train a network: see `trainer`
  bool refitting = false;              ///< also replace the weights of products: see `refitter`
  troupe::device_options device = {};  ///< `run` sets the limits in it
};

/// The state of a run, for its `watch` function.
struct standing {
  double passed_s;
  std::uint64_t injected, right, bad;
};

/// The results of the faults of one kind.
struct kind_report {
  std::uint64_t injected = 0;        ///< faults that hit something
  std::uint64_t missed = 0;          ///< faults that had no target: no standby, or no worker yet
  std::vector<double> recoveries_s;  ///< sorted; from the fault to the first answer of the next worker
  std::vector<double> notices_s;     ///< sorted; from the fault until the device detected it
  std::vector<double> changes_s;     ///< sorted; from the detection until the next worker began to serve

  double recovery_s(double share) const noexcept { return at(recoveries_s, share); }
  static double at(const std::vector<double>& sorted, double share) noexcept;
  static constexpr std::vector<double> kind_report::* lists[] = {&kind_report::recoveries_s, &kind_report::notices_s,
                                                                 &kind_report::changes_s};
  void sort();
};

struct report {
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string device;  ///< such as "host:0" or "cuda:0"
  std::string libraries;
  answer_counts answered;
  std::array<kind_report, troupe::faults::kind_count> by_kind;
  training_counts trained = {};
  refit_counts refitted = {};
  std::uint64_t restarts = 0;  ///< workers that were lost while they served
  std::string complaint;       ///< the first wrong, lost or unexpected answer
  std::string leaks;           ///< resources that are left after everything has ended
  std::string close;           ///< why closing failed

  bool is_training = false;   ///< a training was requested, so at least one must be completed
  bool is_refitting = false;  ///< refits were requested, so there must be one refit, one product and one measured plan
  bool good() const noexcept {
    return answered.good() && leaks.empty() && close.empty() && answered.right > 0 &&
           (!is_training || trained.trainings > 0) &&
           (!is_refitting || (refitted.refits > 0 && refitted.products > 0 && refitted.plans > 0));
  }
  kind_report all() const;
};

/// Injects faults into a device that clients use, and checks all results. The device is made for this run. Calls
/// `watch` ten times a second. Fails if the device does not start.
troupe::result<report> run(const settings& s, const private_folder& folder,
                           const std::function<void(const standing&)>& watch = {});

}  // namespace chaos
