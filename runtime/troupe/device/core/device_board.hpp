// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <troupe/base/log.hpp>
#include <troupe/device/completion/cancellations.hpp>
#include <troupe/device/completion/download_tracker.hpp>
#include <troupe/device/core/device_loop.hpp>
#include <troupe/device/mailbox/admission.hpp>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/device/mailbox/mailbox_room.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/waiting/device_events.hpp>
#include <troupe/device/waiting/reactor_link.hpp>
#include <troupe/device/workers/serving_worker.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
#include <troupe/memory/copying/copy_threads.hpp>
#include <troupe/memory/copying/staging.hpp>

namespace troupe {

/// The state that the parts of a device share. Passive: nothing in it calls a part, so a part that needs only state
/// depends on no other part. Each member has its own lock, or says which lock guards it.
struct device_board {
  /// `segments` makes the memory. It is not used before the device starts.
  device_board(device_options o, std::shared_ptr<control_loop> on, segment_source& segments,
               const std::optional<staging_sizes>& sizes, log_sink log);
  device_board(const device_board&) = delete;

  const device_options options;
  const bool gpu;  ///< true if the engine has a platform plug-in, so that workers make the device memory
  device_loop loop;
  shared_channel channel;
  ledger requests;
  troupe::admission admission;
  serving_worker worker;
  device_memory& memory;
  reactor_link to_reactor;
  device_events events;
  mailbox_room room;
  cancellations cancelled;
  troupe::copy_threads copy_threads;  ///< for copies to and from the staging blocks of a GPU
  download_tracker downloads;
  const staging_sizes staging;
};

}  // namespace troupe
