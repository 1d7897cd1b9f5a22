// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe::testing_worker {

/// The memory that an application and a worker share, as ordinary memory of this program.
class channel_in_memory {
 public:
  explicit channel_in_memory(std::uint32_t capacity)
      : at_(protocol::layout::for_capacity(capacity)),
        memory_(new(alignment) std::byte[at_.total]{}),
        mailbox_(new(alignment) std::byte[at_.mailbox_total]{}),
        reports_(view().format().value()) {}

  protocol::view view() const noexcept { return {at_, memory_.get(), mailbox_.get()}; }
  ring_region reports() const { return reports_; }

 private:
  static constexpr std::align_val_t alignment{4096};
  struct deleter {
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, alignment); }
  };
  protocol::layout at_;
  std::unique_ptr<std::byte[], deleter> memory_, mailbox_;
  ring_region reports_;
};

}  // namespace troupe::testing_worker
