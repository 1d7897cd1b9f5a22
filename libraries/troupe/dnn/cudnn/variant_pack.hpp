// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/dnn/cudnn/candidate.hpp>
#include <troupe/dnn/cudnn/cudnn_plan.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <utility>
#include <vector>

namespace troupe::dnn::cudnn {

/// What the variant packs of a plan have in common: the ids of its tensors, its constants, and the bytes of its scratch
/// memory, which follows cuDNN's own workspace.
class variant_pack {
 public:
  explicit variant_pack(const candidate& c)
      : ids_(c.graph.arguments()), constants_(c.graph.constants()), scratch_(c.scratch_bytes) {
    ids_.insert(ids_.end(), c.graph.constant_names().begin(), c.graph.constant_names().end());
  }
  /// Returns the bytes of workspace that a plan needs, including its scratch memory.
  std::uint64_t workspace_of(const cudnn_plan& plan) const noexcept {
    std::uint64_t out = scratch_.empty() ? plan.workspace : round_up(plan.workspace, 256);
    for (const std::uint64_t bytes : scratch_) out += round_up(bytes, 256);
    return out;
  }
  /// Returns cuDNN's descriptor for these addresses. The descriptor refers to the constants in this object.
  descriptor with(const cudnn_plan& plan, std::span<void* const> addresses, void* workspace) const {
    std::array<void*, most> all{};
    std::size_t n = 0;
    for (void* const a : addresses) all[n++] = a;
    auto* scratch = static_cast<std::byte*>(workspace) + round_up(plan.workspace, 256);
    for (const std::uint64_t bytes : scratch_) {
      all[n++] = scratch;
      scratch += round_up(bytes, 256);
    }
    for (const std::uint32_t& number : constants_) all[n++] = const_cast<std::uint32_t*>(&number);
    descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set_all<CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS>(std::span<const std::int64_t>(ids_))
        .set_all<CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS>(std::span<void* const>(all.data(), n))
        .set<CUDNN_ATTR_VARIANT_PACK_WORKSPACE>(workspace)
        .finalize();
    return pack;
  }
  cudnnStatus_t enqueue(const cudnn_plan& plan, cudnnHandle_t handle, std::span<void* const> addresses,
                        void* workspace) const {
    const descriptor pack = with(plan, addresses, workspace);
    return pack.status() != CUDNN_STATUS_SUCCESS ? pack.status() : calls().execute(handle, plan.plan.get(), pack.get());
  }
  /// The most tensors and constants of a plan.
  static constexpr std::size_t most = 32;
  std::size_t size() const noexcept { return ids_.size(); }

 private:
  std::vector<std::int64_t> ids_;
  std::vector<std::uint32_t> constants_;
  std::vector<std::uint64_t> scratch_;
};

/// The descriptors that a lane used last for a kernel. They are kept because making one takes about two microseconds.
/// Not thread-safe.
class recent_packs {
 public:
  /// Returns the descriptor that `of.with` makes for these addresses, if possible one that was made before.
  const descriptor& find(const variant_pack& of, const cudnn_plan& plan, std::span<void* const> addresses,
                         void* workspace) {
    for (const entry& k : all_)
      if (k.workspace == workspace && std::ranges::equal(k.addresses, addresses) &&
          k.pack.status() == CUDNN_STATUS_SUCCESS)
        return k.pack;
    if (all_.size() < most) all_.emplace_back();
    entry& k = all_[next_++ % most];
    k.addresses.assign(addresses.begin(), addresses.end());
    k.workspace = workspace;
    k.pack = of.with(plan, addresses, workspace);
    return k.pack;
  }

 private:
  static constexpr std::size_t most = 16;
  struct entry {
    std::vector<void*> addresses;
    void* workspace = nullptr;
    descriptor pack;
  };
  std::vector<entry> all_;
  std::size_t next_ = 0;
};

}  // namespace troupe::dnn::cudnn
