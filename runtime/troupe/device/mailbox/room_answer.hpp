// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/asked.hpp>

namespace troupe {

class request_mailbox;
class request_scope;

/// The state of the pending that `device::room` returns.
struct room_answer final : detail::asked<void> {
  room_answer(std::shared_ptr<device_core> core, request_mailbox& in, std::uint32_t requests,
              std::shared_ptr<request_scope> of)
      : asked(std::move(core)), mailbox(in), wanted(requests), scope(std::move(of)) {}
  void cancel() noexcept override;

  request_mailbox& mailbox;  ///< lives as long as the device, which this answer keeps alive
  const std::uint32_t wanted;
  const std::shared_ptr<request_scope> scope;  ///< may be null
};

}  // namespace troupe
