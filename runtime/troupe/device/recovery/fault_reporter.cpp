// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Analyzes a worker's death, and reports it to the watches, the log and the black box.
#include <unistd.h>
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/core/duration_text.hpp>
#include <troupe/device/recovery/fault_files.hpp>
#include <troupe/device/recovery/fault_place.hpp>
#include <troupe/device/recovery/fault_reporter.hpp>
#include <troupe/device/recovery/quarantine/quarantine_guard.hpp>
#include <troupe/protocol/greeting.hpp>

namespace troupe {
namespace {

// Adds to the callers' error the request that the worker was running, and hints for finding out more. `place` describes
// the invalid access, if its address is known.
error with_culprit(const error& why, const fault_record& record, const std::string& place, bool beyond_memory) {
  if (!record.blamed && !record.address && !beyond_memory && record.gpu_core.empty()) return why;
  error::details d = why.all();
  if (!record.gpu_core.empty()) d.text += "; the GPU had a fault: its state is in " + record.gpu_core;
  if (record.blamed && record.kind != fault_kind::overran)
    d.text += cat("; it was working on ", record.blamed->name, " #", record.blamed->ticket);
  if (!place.empty()) d.text += "; invalid access to address " + place;
  if (beyond_memory)
    d.text +=
        "; invalid access through a value that is not a valid address; likely an uninitialized pointer or an index far "
        "out of bounds; the processor does not report the address";
  return error(std::move(d));
}

error quarantined_because(const fault_record& record) {
  std::string text = record.blamed->name + " killed its worker (" +
                     (record.deaths_alike == 1 ? "1 worker has" : cat(record.deaths_alike, " workers have")) +
                     " died of such requests)";
  text += "; requests with the same data are refused until device::reset()";
  if (!record.quarantine.unlimited()) text += ", or for " + duration_text(record.quarantine.nanoseconds);
  return error(error::details{.reaction = reaction::caller_bug,
                              .domain = "device",
                              .text = std::move(text),
                              .request = *record.blamed,
                              .generation = record.generation});
}

}  // namespace

fault_reporter::fault_reporter(device_board& board, completion& completion, quarantine_guard& quarantine) noexcept
    : board_(board), completion_(completion), quarantine_(quarantine) {}

std::shared_ptr<fault_record> fault_reporter::analyse(const device_supervisor::action& death,
                                                      const open_requests& open) {
  seen_ns_ = death.seen_ns;
  const auto since = std::chrono::nanoseconds(board_.loop.now() - death.seen_ns);
  auto record = std::make_shared<fault_record>(fault_record{
      .device = board_.options.name,
      .kind = death.how,
      .cause = *death.why,
      .generation = board_.memory.generation(),
      .worker_pid = board_.worker.pid(),
      .when =
          std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(since)});
  if (board_.worker.exit().how == exit_status::ending::signalled && death.how == fault_kind::ended)
    record->signal = board_.worker.exit().value;
  record->gpu_core = gpu_core_of(record->worker_pid);
  note_recent(*record);
  const auto culprit = find_culprit(open, *record);
  std::vector<encoded_operand> operands;
  if (culprit) {
    record->blamed = id_of(board_.channel, board_.requests[*culprit], *culprit, true);
    if (record->address) operands = operands_of(board_.channel, board_.requests[*culprit], *culprit);
  }
  std::string place;
  if (record->address) place = place_of(*record->address, operands, board_.memory.find(*record->address));
  const protocol::last_words said = board_.channel->page().note.read();
  if (record->kind == fault_kind::gave_up) record->xid = said.xid;
  const bool beyond_memory = record->signal != 0 && said.accessed == protocol::fault_address::no_such_memory &&
                             said.signal == static_cast<std::uint32_t>(record->signal);
  record->cause = with_culprit(*death.why, *record, place, beyond_memory);
  if (culprit) quarantine_.blame(*culprit, *record);
  return record;
}

// Returns the path of the GPU core file; empty if there is none. The driver writes the file before it reports the
// error.
std::string fault_reporter::gpu_core_of(int worker) const {
  std::string path = protocol::gpu_core_file(gpu_core_stem_, worker);
  return ::access(path.c_str(), F_OK) == 0 ? path : std::string();
}

// Returns the request that the worker died of: the one that ran for too long; the one that the dying thread says it was
// running, if that is possible; or, if the worker ended by itself, the only one that was running. If another process
// killed the worker, for example because the system is out of memory, no request is blamed.
std::optional<std::uint32_t> fault_reporter::find_culprit(const open_requests& open, fault_record& record) const {
  open_requests running;
  std::copy_if(open.begin(), open.end(), std::back_inserter(running), [this](const auto& r) {
    return !board_.requests[r.second].answered && has_started(board_.channel, board_.worker, r.second, r.first);
  });
  const auto with_ticket = [&](std::uint64_t ticket) -> std::optional<std::uint32_t> {
    for (const auto& [t, slot] : running)
      if (t == ticket) return slot;
    return {};
  };
  if (record.kind == fault_kind::overran && board_.worker.overrun()) return with_ticket(*board_.worker.overrun());
  const protocol::last_words said = board_.channel->page().note.read();
  if (record.kind == fault_kind::gave_up) return with_ticket(said.ticket);
  if (record.kind != fault_kind::ended) return {};
  const bool exited = board_.worker.exit().how == exit_status::ending::exited;
  if (!exited && (board_.worker.exit().how != exit_status::ending::signalled ||
                  said.signal != static_cast<std::uint32_t>(board_.worker.exit().value) || said.from_outside))
    return {};
  if (!exited) {
    if (said.accessed == protocol::fault_address::known) record.address = said.address;
    if (const auto slot = with_ticket(said.ticket)) return slot;
  }
  return running.size() == 1 ? std::optional(running.front().second) : std::nullopt;
}

// Adds the requests that were answered last: they show what led to the fault.
void fault_reporter::note_recent(fault_record& record) const {
  completion_.last_answered().each([&](const completion::recent& r) {
    record.last.push_back(
        {{std::string(r.info->label), r.ticket}, r.failed ? request_fate::failed : request_fate::finished});
  });
}

void fault_reporter::complete(const std::shared_ptr<fault_record>& record) {
  const auto count = [&all = record->last](request_fate f) {
    return static_cast<std::uint32_t>(
        std::count_if(all.begin(), all.end(), [f](const auto& r) { return r.fate == f; }));
  };
  record->lost = count(request_fate::lost);
  record->kept = count(request_fate::kept);
  record->retried = count(request_fate::retried);
  record->stale = count(request_fate::stale);
  if (record->last.size() > most_listed_requests) record->last.resize(most_listed_requests);
  record->sorted_out_after = std::chrono::nanoseconds(board_.loop.now() - seen_ns_);
  faults_.fetch_add(1);
  board_.events.streams().note_fault(record);
}

void fault_reporter::publish(const std::shared_ptr<fault_record>& record) {
  board_.events.emit(event_kind::fault);
  if (record->quarantined) board_.events.emit(event_kind::quarantined, quarantined_because(*record));
  quarantine_.arm_expiry();
  if (board_.options.black_box_folder.empty()) return;
  // Written on another thread, because this one serves all devices and the folder's disk may be slow.
  board_.events.run_behind([this, record] {
    if (const auto written = write_to_folder(board_.options.black_box_folder.str(), *record); !written)
      board_.events.log(log_level::warning, "could not write the fault record to " + written.error().text());
  });
}

std::shared_ptr<const fault_record> fault_reporter::last() const {
  const completion::lock driving(completion_);
  return board_.events.streams().last_fault();
}

}  // namespace troupe
