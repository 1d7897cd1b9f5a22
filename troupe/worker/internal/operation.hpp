// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <troupe/worker/internal/engines.hpp>
#include <troupe/worker/internal/failure.hpp>

namespace troupe {

/// One request inside the worker, from the pump's decision to its end. Lives in an array by ledger slot, so none is
/// ever allocated.
struct operation {
  std::uint64_t ticket = 0;
  std::uint32_t slot = 0;
  position at;
  const troupe_engine_operation* what = nullptr;  ///< null when nothing here can run it; `doomed` says why
  void* engine = nullptr;
  std::string_view name;
  wait_list waits;
  failure_lookup inputs;
  failure_ptr doomed;  ///< set when it is known before its turn that it cannot run
  std::array<memory_access, max_operands> accesses;
  std::size_t access_count = 0;
  const std::byte* payload = nullptr;  ///< in the ring while it runs on the pump, else `copy`
  alignas(16) std::array<std::byte, max_payload_bytes> copy;

  std::span<const memory_access> touched() const noexcept { return {accesses.data(), access_count}; }
  request_id id() const { return {std::string(name), ticket}; }
};

}  // namespace troupe
