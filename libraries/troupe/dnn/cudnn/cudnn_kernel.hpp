// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/lane_handles.hpp>
#include <troupe/dnn/cudnn/variant_pack.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <utility>
#include <vector>

namespace troupe::dnn::cudnn {

/// A fusion match, and the plan of cuDNN that computes it. kernel_maker makes only kernels of this type.
class cudnn_kernel final : public vendor_kernel {
 public:
  cudnn_kernel(candidate c, variant_pack pack, cudnn_plan plan, lane_handles& handles)
      : vendor_kernel(std::move(c.match)),
        pack_(std::move(pack)),
        plan_(std::move(plan)),
        reads_early_(match().inputs.size() > c.factors && plan_.reads_early()),
        handles_(handles),
        packs_of_lanes_(handles.lanes()) {}
  const variant_pack& pack() const noexcept { return pack_; }
  const cudnn_plan& plan() const noexcept { return plan_; }

  bool reads_early() const noexcept override { return reads_early_; }
  result<void> enqueue(std::span<void* const> addresses, void* workspace, call& c) const override {
    return handles_.with_handle(c, [&](cudnnHandle_t h) {
      const descriptor& d = packs_of_lanes_[c.lane].find(pack_, plan_, addresses, workspace);
      return d.status() != CUDNN_STATUS_SUCCESS ? d.status() : calls().execute(h, plan_.plan.get(), d.get());
    });
  }

 private:
  const variant_pack pack_;
  const cudnn_plan plan_;
  const bool reads_early_;
  lane_handles& handles_;
  mutable std::vector<recent_packs> packs_of_lanes_;
};

}  // namespace troupe::dnn::cudnn
