// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/asked.hpp>

namespace troupe {

class request_scope;

/// What `device::room` is answered by.
struct room_answer final : detail::asked<void> {
  room_answer(std::shared_ptr<device_core> core, std::uint32_t requests, std::shared_ptr<request_scope> in)
      : asked(std::move(core)), wanted(requests), scope(std::move(in)) {}
  void cancel() noexcept override;

  const std::uint32_t wanted;
  const std::shared_ptr<request_scope> scope;  ///< may be null
};

}  // namespace troupe
