// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <troupe/device/device.hpp>
#include <vector>

#include <tests/simulation/model.hpp>

namespace troupe::simulation {

class simulated_worker;

/// A buffer of the clients, or a part of one.
struct client_buffer {
  buffer<word> handle;
  std::shared_ptr<model_buffer> model;
  std::uint32_t first;  ///< of the model's elements

  std::uint32_t size() const { return static_cast<std::uint32_t>(handle.size().value()); }
};

/// The order matters: the rules compare kinds.
enum class request_kind : std::uint8_t {
  fill,
  upload,
  download,
  copy,
  add,
  combine,
  gather,
  look,
  spoil,
  ping,
  fence,
  seal,
  unseal
};

/// A request from its submission on, with everything that the rules must know about it.
struct client_request {
  struct range {
    std::shared_ptr<model_buffer> of;
    std::uint32_t begin, count;
  };
  struct place {
    std::uint64_t address, bytes;
  };
  enum class verdict : std::uint8_t { waiting, success, failure };

  // The request as it was sent.
  request_kind kind;
  std::uint32_t number = 0;      ///< requests are numbered in the order in which they are sent
  std::uint64_t ticket = 0;      ///< 0: the device refused it
  word param = 0;                ///< the value of a fill, the summand of an add, …
  std::uint64_t generation = 0;  ///< of the device, when the request was sent
  std::int64_t sent_ns = 0;
  std::vector<range> reads;
  std::optional<range> writes;
  std::vector<word> data;     ///< of an upload
  std::vector<place> memory;  ///< needed until the answer; the places of `reads` are first
  std::int64_t deadline = INT64_MAX;
  std::uint32_t retries = 0;
  std::uint32_t deadly_starts = 0;  ///< how often it kills the worker that runs it
  bool has_run_timeout = false;
  bool cancelled = false;
  bool input_was_lost = false;  ///< when it was sent
  bool writes_sealed = false;   ///< it would write sealed memory, so it must be refused
  std::optional<client_buffer> sealed_target = {};
  std::uint32_t sealed_count = 0;

  // Its answer.
  ref<pending_core> answer;  ///< null for tells
  void (*collect)(pending_core&, client_request&) = nullptr;
  bool answered = false;   ///< the client has collected the answer
  bool continued = false;  ///< a continuation collects it
  bool is_checked = false;
  verdict outcome = verdict::waiting;
  std::optional<error> cause;
  std::uint64_t reply = 0;
  std::vector<word> downloaded;

  // The actions of workers on it.
  std::uint32_t starts = 0;
  std::uint32_t presumed_starts =
      0;  ///< starts that only the device assumes: of a shared call, or reported by a dishonest worker
  std::uint64_t started_generation = 0;  ///< of the device, at the last start
  simulated_worker* started_by = nullptr;
  simulated_worker* finished_by = nullptr;
  bool joined_call = false;  ///< it shared a call with others
  bool failed_by_worker = false;
  bool suspect = false;  ///< a dishonest worker may have decided about it: its answer proves nothing
  bool doubted = false;  ///< it becomes suspect unless an honest worker runs it
  std::vector<model_buffer::cell>
      inputs_before_loss;            ///< of a finished download, whose inputs are lost before the answer
  std::vector<word> words_at_start;  ///< in its inputs, at the last start

  void will_read(const client_buffer& from, std::uint32_t count);
  /// Expects a write. If `to` is sealed, the device must refuse the request instead.
  void will_write(const client_buffer& to, std::uint32_t count);
  /// Expects the write whether sealed or not.
  void expect_write(const client_buffer& to, std::uint32_t count);

  /// Returns the cells that it must have read, from the model.
  std::vector<model_buffer::cell> inputs() const;
  /// Returns true if an input may be lost once all pending requests are answered.
  bool may_miss_input() const;
  std::string name() const { return "request " + std::to_string(number); }
};

}  // namespace troupe::simulation
