// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/promise.hpp>
#include <troupe/async/task.hpp>
#include <troupe/device/device.hpp>
#include <variant>

#include "interpreter.hpp"

namespace graph_test {

/// A buffer of either kind, and its bytes as those of a device.
struct held_buffer {
  troupe::buffer<std::byte> bytes;
  troupe::host_buffer<std::byte> host;

  static held_buffer make(const troupe::device& gpu, std::uint64_t size, bool host);
};

/// One thread of a graph: sends each of its steps to the device, and records the answers.
class walker {
 public:
  walker(troupe::device gpu, const thread_plan& plan, std::vector<held_buffer>& buffers,
         std::atomic<std::uint64_t>& clock)
      : gpu_(std::move(gpu)),
        plan_(plan),
        buffers_(buffers),
        clock_(clock),
        outcomes_(plan.steps.size()),
        open_(plan.steps.size()) {}

  /// Walks to the end and collects all answers, as the plan says.
  void walk();
  const std::vector<outcome>& outcomes() const noexcept { return outcomes_; }

 private:
  using bytes = std::vector<std::byte>;
  using question =
      std::variant<std::monostate, troupe::pending<void>, troupe::pending<std::uint64_t>, troupe::pending<bytes>>;

  int next_wait();
  static troupe::task<void> walk_as_coroutine(walker* self);
  void walk_by_callbacks(std::shared_ptr<troupe::promise<void>> end);
  template <class T>
  void settle(int i, troupe::result<T> answer);

  void perform(int i);
  void perform_flow(int i, const step& s);
  void perform_copy(int i, const step& s);
  void perform_upload(int i, const step& s);
  void perform_download(int i, const step& s);
  void perform_fail(int i, const step& s);
  void look(int i, const step& s);
  template <class R>
  void send(int i, const R& r);
  template <class T>
  void take(int i, troupe::pending<T> p);
  void note(int i, const troupe::accepted& s);
  template <class T>
  static void store(outcome& o, const troupe::result<T>& answer);

  troupe::call_options options(const step& s) const;
  template <class T = std::byte>
  troupe::buffer<T> view(const place& p) const;
  const held_buffer& held(const place& p) const { return buffers_[static_cast<std::size_t>(p.buffer)]; }
  bool is_host(const place& p) const { return static_cast<bool>(held(p).host); }

  troupe::device gpu_;
  const thread_plan& plan_;
  std::vector<held_buffer>& buffers_;
  std::atomic<std::uint64_t>& clock_;
  std::vector<outcome> outcomes_;
  std::vector<question> open_;
  std::vector<bytes> rooms_;  // targets of downloads into spans
  int at_ = 0, left_ = 0;
};

}  // namespace graph_test
