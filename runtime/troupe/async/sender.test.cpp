// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Shows how a sender library (P2300) uses a pending. The names are those of std::execution; of the receiver's side,
// this file has only what it takes to run the example. docs/async.md shows the first part.
#include <gtest/gtest.h>

#include <optional>
#include <stop_token>
#include <troupe/async/promise.hpp>

namespace troupe {
namespace {

// [sender]
/// A sender that completes with `set_value(result<T>)`. No allocation: the operation is the job that waits.
template <class T>
struct pending_sender {
  template <class Receiver>
  class operation : job {
   public:
    operation(pending<T> source, Receiver receiver)
        : job{.run = &answered}, source_(std::move(source)), receiver_(std::move(receiver)) {}
    operation(const operation&) = delete;

    void start() noexcept {
      if (source_.valid() && receiver_.stop_token().stop_possible()) {
        cancel_.emplace(receiver_.stop_token(), *source_.state());
      }
      if (!source_.valid() || source_.state()->attach(inline_executor(), *this) != attach_outcome::attached) {
        answered(this);
      }
    }

   private:
    static void answered(job* self) noexcept {
      auto* me = static_cast<operation*>(self);
      me->cancel_.reset();
      std::move(me->receiver_).set_value(me->source_.take());
    }
    pending<T> source_;
    Receiver receiver_;
    std::optional<cancel_link> cancel_;
  };

  template <class Receiver>
  operation<Receiver> connect(Receiver receiver) && {
    return {std::move(source), std::move(receiver)};
  }
  pending<T> source;
};
// [sender]

struct receiver {
  void set_value(result<int> r) && noexcept { *out = std::move(r); }
  std::stop_token stop_token() const noexcept { return token; }
  std::optional<result<int>>* out;
  std::stop_token token = {};
};

TEST(sender, completes_when_the_pending_is_answered) {
  std::optional<result<int>> out;
  promise<int> p;
  auto op = pending_sender<int>{p.get_pending()}.connect(receiver{&out});
  op.start();
  EXPECT_FALSE(out.has_value());
  p.set(5);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(**out, 5);
}

TEST(sender, completes_at_once_if_the_answer_is_there_or_the_pending_is_empty) {
  std::optional<result<int>> ready, empty;
  auto a = pending_sender<int>{make_ready<int>(1)}.connect(receiver{&ready});
  auto b = pending_sender<int>{pending<int>()}.connect(receiver{&empty});
  a.start();
  b.start();
  EXPECT_EQ(**ready, 1);
  EXPECT_EQ(empty->error().reaction(), reaction::caller_bug);
}

TEST(sender, cancels_the_pending_when_the_receiver_is_stopped) {
  std::optional<result<int>> out;
  std::stop_source stop;
  promise<int> p;
  p.on_cancel([&] { p.set(cancelled("the work")); });
  auto op = pending_sender<int>{p.get_pending()}.connect(receiver{&out, stop.get_token()});
  op.start();
  stop.request_stop();
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->error().reaction(), reaction::retry_later);
}

}  // namespace
}  // namespace troupe
