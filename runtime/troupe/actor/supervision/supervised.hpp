// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <troupe/actor/child.hpp>
#include <tuple>

namespace troupe {

class supervisor;

namespace detail {
template <class A>
inline constexpr char class_tag = 0;
}

/// The place through which senders find a supervised actor. It stays the same for all incarnations of the actor.
class child_slot final : public refuser {
 public:
  child_slot(std::string id, const void* tag) : id_(std::move(id)), tag_(tag) {}

  const std::string& id() const noexcept { return id_; }
  /// Returns a tag of the actor class: see `class_tag`.
  const void* tag() const noexcept { return tag_; }
  /// Returns the current incarnation or, if there is none, the last one.
  actor_handle current() const;
  /// Sets the current incarnation. `owner` is the actor id of the supervisor that started it. When a supervisor is
  /// restarted, its old incarnation may still be running: it has the smaller id, and its calls are ignored.
  void begin_life(const actor_handle& actor, std::uint64_t owner);
  void retire(std::uint64_t owner) noexcept;
  /// Retires the slot with a reason, which senders receive.
  void retire(std::uint64_t owner, std::string why) noexcept;
  /// Returns the refusal that senders receive when the current incarnation refuses a message or does not exist:
  /// `restarting`, or `stopped` if the supervisor has given the child up.
  refusal reason_for(refusal why) const noexcept;

  error explain(refusal why) const override;
  void add_ref() const noexcept override { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept override {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  const std::string id_;
  const void* const tag_;
  mutable std::atomic<std::uint32_t> refs_{1};
  mutable std::mutex guard_;
  actor_handle actor_;
  std::uint64_t owner_ = 0;
  bool retired_ = false;
  std::string why_retired_;  // empty: the child ended by itself, or a command stopped it
};

/// A reference to a supervised child of class A, through all its incarnations. Messages sent between two incarnations
/// are refused with `retry_later`. Messages that were queued when an incarnation ended are answered with its error; the
/// next incarnation does not get them. After the supervisor has ended or given the child up, messages are refused with
/// `stopped`.
template <class A>
class supervised_ref {
 public:
  supervised_ref() noexcept = default;
  explicit supervised_ref(ref<child_slot> slot) noexcept : slot_(std::move(slot)) {}

  /// Sends a message: see `actor_ref::tell`.
  template <class M>
  accepted tell(M&& message) const {
    const actor_handle actor = slot_ ? slot_->current() : actor_handle();
    return detail::tell_to<A>(actor.get(), std::forward<M>(message), refused(actor));
  }
  /// Sends a message and returns a pending of its answer: see `actor_ref::ask`.
  template <class M>
  auto ask(M&& message) const {
    const actor_handle actor = slot_ ? slot_->current() : actor_handle();
    return detail::ask_of<A>(actor.get(), std::forward<M>(message), refused(actor));
  }

  /// Returns the current incarnation or, if there is none, the last one; for example to watch it. Empty before the
  /// first one.
  actor_ref<A> current() const { return actor_ref<A>(slot_ ? slot_->current() : actor_handle()); }
  const std::string& id() const noexcept { return slot_->id(); }
  explicit operator bool() const noexcept { return static_cast<bool>(slot_); }
  friend bool operator==(const supervised_ref& a, const supervised_ref& b) noexcept {
    return a.slot_.get() == b.slot_.get();
  }

 private:
  auto refused(const actor_handle& actor) const noexcept {
    return [this, &actor](refusal why) {
      if (!slot_) return accepted(why, nullptr);
      const refusal meaning = slot_->reason_for(why);
      return meaning == refusal::full ? accepted(meaning, actor.get()) : accepted(meaning, slot_.get());
    };
  }

  ref<child_slot> slot_;
};

/// The specification of a child, and a reference to it. Set further fields of the specification as needed.
template <class A>
struct supervised {
  child_spec spec;
  supervised_ref<A> ref;
};

namespace detail {

template <class A, class... Args>
class actor_starter final : public child_starter {
 public:
  actor_starter(troupe::ref<child_slot> slot, actor_options options, Args... args)
      : slot_(std::move(slot)), options_(std::move(options)), args_(std::move(args)...) {}

  result<std::shared_ptr<child_handle>> start(const spawner& from, std::uint64_t owner) override {
    auto actor = std::apply([&](const Args&... args) { return from.spawn<A>(options_, args...); }, args_);
    slot_->begin_life(actor.handle(), owner);
    return as_child(std::move(actor));
  }
  void retire(std::uint64_t owner) noexcept override { slot_->retire(owner); }
  child_slot* slot() noexcept override { return slot_.get(); }

 private:
  troupe::ref<child_slot> slot_;
  actor_options options_;
  std::tuple<Args...> args_;
};

}  // namespace detail

/// Makes the specification of a supervised actor of class A. Each incarnation is constructed from copies of the
/// arguments. The actor's name is `id` unless the options name it.
template <class A, class... Args>
supervised<A> supervise(std::string id, actor_options options, Args... args) {
  if (options.name.empty()) options.name = id;
  auto slot = ref<child_slot>::adopt(new child_slot(id, &detail::class_tag<A>));
  using starter = detail::actor_starter<A, Args...>;
  return {.spec = {.id = std::move(id),
                   .start = std::shared_ptr<child_starter>(
                       std::make_shared<starter>(slot, std::move(options), std::move(args)...)),
                   .type = std::is_same_v<A, supervisor> ? child_type::supervisor : child_type::worker},
          .ref = supervised_ref<A>(slot)};
}

}  // namespace troupe
