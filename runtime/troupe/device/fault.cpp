// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/core/duration_text.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/protocol/xid.hpp>

namespace troupe {
namespace {

std::string name(const request_id& r) { return cat(r.name, " #", r.ticket); }

std::string date(std::chrono::system_clock::time_point t) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(t);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

}  // namespace

std::string_view to_string(fault_kind k) noexcept {
  switch (k) {
    case fault_kind::ended:
      return "ended";
    case fault_kind::gave_up:
      return "gave up";
    case fault_kind::misbehaved:
      return "misbehaved";
    case fault_kind::silent:
      return "silent";
    case fault_kind::overran:
      return "overran";
    case fault_kind::late:
      return "late";
  }
  return "unknown";
}

std::string fault_record::text() const {
  std::string out = cat(device, ", generation ", generation, ", worker ", worker_pid, ", ", date(when), "\n");
  out += "fault: " + std::string(to_string(kind)) + ": " + cause.text() + "\n";
  if (blamed) {
    out += "blamed: " + name(*blamed);
    if (deaths_alike > 1) out += cat("; workers that have died of such requests: ", deaths_alike);
    if (quarantined) out += "; requests with the same data are refused until device::reset()";
    if (quarantined && !quarantine.unlimited()) out += ", or for " + duration_text(quarantine.nanoseconds);
    out += "\n";
  }
  if (xid != 0) out += "the GPU reported: " + protocol::xid_text(xid) + "\n";
  if (!gpu_core.empty()) out += "GPU core: " + gpu_core + " (cuda-gdb -ex 'target cudacore " + gpu_core + "')\n";
  out += cat("requests: ", lost, " lost, ", kept, " kept, ", retried, " to be run again, ", stale,
             " stale; decided after ", sorted_out_after.nanoseconds / 1000, " us\n");
  if (!last.empty()) out += "the last requests, oldest first:\n";
  for (const request& r : last) out += "  " + name(r.id) + ": " + std::string(to_string(r.fate)) + "\n";
  return out;
}

}  // namespace troupe
