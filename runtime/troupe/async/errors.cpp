// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <troupe/async/answers/abandoned.hpp>
#include <troupe/async/when_any.hpp>
#include <troupe/base/linux/process_home.hpp>

namespace troupe::detail {

error not_answered_yet() {
  if (was_abandoned()) return process_home::refusal();
  return error(reaction::caller_bug, "async",
               "the pending has no answer yet: wait for it before you take its answer, and let only one consumer wait");
}

error already_taken() {
  return error(reaction::caller_bug, "async",
               "the answer was taken before: get or await a pending once, and keep its result");
}

error empty_pending() {
  return error(reaction::caller_bug, "async",
               "the pending is empty (moved from or default-constructed): no answer will arrive");
}

error no_co_return() { return error(reaction::caller_bug, "task", "the task ended without co_return"); }

error empty_task() {
  return error(reaction::caller_bug, "task", "the task is empty (moved from or awaited before): create a new task");
}

error nothing_to_wait_for() {
  return error(reaction::caller_bug, "async", "when_any got no pendings; expected at least one");
}

error dropped_promise(const std::source_location& made) {
  const std::string_view path = made.file_name();
  std::string text = "the promise created in ";
  text.append(made.function_name())
      .append(", ")
      .append(path.substr(path.rfind('/') + 1))
      .append(":")
      .append(std::to_string(made.line()))
      .append(", was destroyed without an answer: call set() on every path, including paths that an exception takes");
  return error(reaction::fatal, "async", std::move(text), made);
}

error from_current_exception(std::string_view domain) {
  try {
    throw;
  } catch (const bad_result& e) {
    return e.error();
  } catch (const std::exception& e) {
    return error(reaction::fatal, std::string(domain), std::string("an exception was not caught: ") + e.what());
  } catch (...) {
    return error(reaction::fatal, std::string(domain), "an exception of unknown type was not caught");
  }
}

}  // namespace troupe::detail
