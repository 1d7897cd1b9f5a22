// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/actor/supervision/supervised.hpp>
#include <vector>

namespace troupe {

class alarm_clock;

/// Options of a supervisor.
struct supervisor_options {
  enum strategy strategy = strategy::one_for_one;
  std::uint32_t restarts = 3;                            ///< maximum number of restarts within `restart_window`
  time_span restart_window = time_span::of_seconds(60);  ///< the supervisor ends if it needs more restarts in this time
  alarm_clock* clock = nullptr;                          ///< must outlive the supervisor; by default the stage's clock
};

/// Appends a child and starts it. Like all commands of a supervisor, it is sent by `ask` and fails with `caller_bug` if
/// an id is unknown or taken, or if the command does not apply to the child's state.
struct start_child {
  child_spec spec;
};
/// Stops a child in the way that its specification says. The child stays known, and stopped, until `restart_child` or
/// `delete_child`; a temporary child is forgotten.
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
/// Finds a child; sent by `find_child<A>(supervisor, id)`.
struct look_up_child {
  text id;
};

/// The state of a child, in the answer to `which_children`.
struct child_info {
  std::string id;
  child_type type = child_type::worker;
  enum restart restart = restart::permanent;
  bool running = false;
  std::uint64_t restarts = 0;
  std::optional<exit_reason> last_exit = {};
};

/// The numbers of a supervisor's children, by kind.
struct child_counts {
  std::size_t specs = 0;        ///< known children, running or not
  std::size_t active = 0;       ///< running children
  std::size_t supervisors = 0;  ///< known children that are supervisors
  std::size_t workers = 0;      ///< known children that are workers
};

/// An actor that starts children in order, restarts them when they end, and stops them in reverse order when it ends
/// itself. The rules and names are OTP's:
///
///  - `child_spec::restart` decides whether a child that has ended is restarted, and `strategy` which siblings with it.
///  - After more than `restarts` restarts within `restart_window` it stops its children and ends with `shutdown` and
///    the cause. Its own supervisor then decides, and so on upwards. If a restart fails to start the child, it is
///    retried after the queued commands, and counts.
/// If a child cannot be started at the beginning, the supervisor ends in the same way.
///
/// While it starts and stops children, it handles no messages; commands wait in its mailbox. If it is killed, it kills
/// its children. Spawn it like any actor: `stage.spawn<supervisor>({.name = "root"}, supervisor_options{...},
/// children)`.
class supervisor {
 public:
  /// Throws `bad_result` if there is no clock, if two children have the same id, or if one has no start function.
  supervisor(actor_context<supervisor>& self, supervisor_options options, std::vector<child_spec> children);
  ~supervisor();

  task<result<void>> handle(start_child m);
  task<result<void>> handle(terminate_child m);
  task<result<void>> handle(restart_child m);
  result<void> handle(delete_child m);
  std::vector<child_info> handle(which_children) const;
  child_counts handle(count_children) const;
  result<ref<child_slot>> handle(look_up_child m) const;
  /// Answers `await_start`, which is handled only when all children are started.
  void handle(await_start) const noexcept {}

  /// The messages that the supervisor sends to itself.
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

/// Finds a supervised actor by its id. Fails with `caller_bug` if there is no such child, or if it is of another class.
template <class A>
pending<supervised_ref<A>> find_child(const actor_ref<supervisor>& parent, std::string id) {
  return parent.ask(look_up_child{std::move(id)}).then([](result<ref<child_slot>> found) -> result<supervised_ref<A>> {
    if (!found) return found.error();
    if ((*found)->tag() != &detail::class_tag<A>)
      return error(reaction::caller_bug, "supervisor", "child '" + (*found)->id() + "' is an actor of another class");
    return supervised_ref<A>(*std::move(found));
  });
}

/// Makes the specification of a supervisor that is the child of another supervisor.
supervised<supervisor> supervise_tree(std::string id, supervisor_options options, std::vector<child_spec> children);

}  // namespace troupe
