// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <tests/simulation/device_under_test.hpp>
#include <tests/simulation/request_log.hpp>

namespace troupe::simulation {

/// Logs requests as they are sent, checks whether they may be accepted, and collects some answers by continuations.
class submission {
 public:
  /// The continuation that has collected a request's answer calls `after_answer`.
  submission(run_state& run, device_under_test& device, request_log& log,
             std::function<void(const client_request&)> after_answer)
      : run_(run), device_(device), log_(log), after_answer_(std::move(after_answer)) {}

  template <class T>
  void sent(client_request& q, pending<T> p, random_bits& r) {
    const std::uint64_t ticket = static_cast<detail::asked<T>*>(p.state().get())->link.ticket;
    sent(q, std::move(p), ticket, r);
  }
  /// Records a request whose answer does not know its ticket.
  template <class T>
  void sent(client_request& q, pending<T> p, std::uint64_t ticket, random_bits& r) {
    q.sent_ns = device_.loop().time;
    accept<T>(q, *p.state().get(), ticket);
    if (!r.percent(25)) return;
    q.continued = true;
    (void)std::move(p).then([this, &q](result<T> answer) {
      if (q.answered) run_.violated("a request was answered twice");
      collect(std::move(answer), q);
      after_answer_(q);
    });
  }
  /// Records a call that blocks: it has sent the request, and will return `answer` later.
  void sent_by_blocked_call(client_request& q, pending_core& answer) {
    accept<void>(q, answer, static_cast<detail::asked<void>&>(answer).link.ticket);
  }
  /// Asks, or sometimes tells; a tell has no answer, so its output becomes doubtful.
  template <class R>
  void ask_or_tell(client_request& q, const R& what, const call_options& o, random_bits& r) {
    if (!r.percent(8)) return sent(q, device_.handle().ask(what, o), r);
    const accepted s = device_.handle().tell(what, o);
    q.ticket = s.ticket();
    after_sending(q);
    if (q.writes) q.writes->of->settle(q.number, s ? model_buffer::content::doubtful : model_buffer::content::lost);
  }

 private:
  template <class T>
  void accept(client_request& q, pending_core& answer, std::uint64_t ticket) {
    q.answer = ref<pending_core>::share(&answer);
    q.ticket = ticket;
    q.collect = [](pending_core& core, client_request& of) {
      collect(static_cast<pending_state<T>&>(core).take(), of);
    };
    after_sending(q);
  }
  template <class T>
  static void collect(result<T> answer, client_request& q) {
    if (q.answered) return;
    q.answered = true;
    q.outcome = answer ? client_request::verdict::success : client_request::verdict::failure;
    if (!answer) {
      q.cause = answer.error();
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      q.reply = *answer;
    } else if constexpr (std::is_same_v<T, std::vector<word>>) {
      q.downloaded = std::move(*answer);
    }
  }
  void after_sending(client_request& q);

  run_state& run_;
  device_under_test& device_;
  request_log& log_;
  std::function<void(const client_request&)> after_answer_;
};

}  // namespace troupe::simulation
