// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/actor/supervised.hpp>
#include <vector>

namespace troupe {

class alarm_clock;

/// How to supervise.
struct supervisor_options {
  enum strategy strategy = strategy::one_for_one;
  std::uint32_t restarts = 3;                            ///< tolerated within `restart_window`
  time_span restart_window = time_span::of_seconds(60);  ///< one more and the supervisor gives up
  alarm_clock* clock = nullptr;                          ///< outlives the supervisor; by default the stage's
};

/// Asked of a supervisor. Ids that are unknown or taken, and calls that do not fit the child's state, are answered
/// with `caller_bug`.
struct start_child {
  child_spec spec;  ///< becomes the last child, and is started
};
/// Stops a child as its specification says. It stays known, and stopped, until `restart_child` or `delete_child`; a
/// temporary child is forgotten.
struct terminate_child {
  text id;
};
/// Starts a child that is not running.
struct restart_child {
  text id;
};
/// Forgets a child that is not running.
struct delete_child {
  text id;
};
struct which_children {};
struct count_children {};
/// Use `find_child<A>(supervisor, id)`.
struct look_up_child {
  text id;
};

/// What a supervisor knows of one child.
struct child_info {
  std::string id;
  child_type type = child_type::worker;
  enum restart restart = restart::permanent;
  bool running = false;
  std::uint64_t restarts = 0;
  std::optional<exit_reason> last_exit = {};
};

/// How many children a supervisor has.
struct child_counts {
  std::size_t specs = 0;        ///< children known, running or not
  std::size_t active = 0;       ///< running
  std::size_t supervisors = 0;  ///< known
  std::size_t workers = 0;      ///< known
};

/// An actor that starts children in order, restarts them when they end, and stops them in reverse order when it ends
/// itself. Rules and names are OTP's:
///
///  - Which children are concerned when one ends: `strategy`; whether at all: `child_spec::restart`.
///  - More than `restarts` within `restart_window`: it ends with `shutdown` and the cause, stopping its children on
///    the way. Its own supervisor sees that and decides, and so on upwards. A restart whose start fails is tried again,
///    after the commands that wait, and counts.
///  - When a child cannot be started at the beginning, it ends in the same way.
///
/// While it starts and stops children it handles no messages: commands wait in its mailbox. Killed, it kills its
/// children. Spawn it like any actor: `stage.spawn<supervisor>({.name = "root"}, supervisor_options{...}, children)`.
class supervisor {
 public:
  /// Throws `bad_result` when there is no clock, or two children have the same id or one has no way to start.
  supervisor(actor_context<supervisor>& self, supervisor_options options, std::vector<child_spec> children);
  ~supervisor();

  task<result<void>> handle(start_child m);
  task<result<void>> handle(terminate_child m);
  task<result<void>> handle(restart_child m);
  result<void> handle(delete_child m);
  std::vector<child_info> handle(which_children) const;
  child_counts handle(count_children) const;
  result<ref<child_slot>> handle(look_up_child m) const;
  /// Answers when all children are started.
  void handle(await_start) const noexcept {}

  /// What it tells itself.
  struct begin {};
  struct child_ended {
    std::uint64_t life;
    exit_reason reason;
  };
  struct try_again {
    std::uint64_t life;
    std::optional<error> why;
  };
  task<void> handle(begin);
  task<void> handle(child_ended m);
  task<void> handle(try_again m);
  task<void> terminate(exit_reason reason);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The reference to a supervised actor that is known by its id. `caller_bug` when there is none, or it is of another
/// class.
template <class A>
pending<supervised_ref<A>> find_child(const actor_ref<supervisor>& parent, std::string id) {
  return parent.ask(look_up_child{std::move(id)}).then([](result<ref<child_slot>> found) -> result<supervised_ref<A>> {
    if (!found) return found.error();
    if ((*found)->tag() != &detail::class_tag<A>)
      return error(reaction::caller_bug, "supervisor", "child '" + (*found)->id() + "' is an actor of another class");
    return supervised_ref<A>(*std::move(found));
  });
}

/// The specification of a supervisor as a child of another one.
supervised<supervisor> supervise_tree(std::string id, supervisor_options options, std::vector<child_spec> children);

}  // namespace troupe
