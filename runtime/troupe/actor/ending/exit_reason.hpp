// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/error.hpp>

namespace troupe {

/// The kind of end of an actor.
enum class exit_kind : std::uint8_t {
  normal,    ///< a request to stop, or the destruction of its last reference
  shutdown,  ///< its supervisor, parent or stage stopped it; or, as a supervisor, it had too many restarts
  killed,    ///< a call of `kill`
  crashed,   ///< an error of one of its handlers
};
TROUPE_ENUM(exit_kind, normal, shutdown, killed, crashed)

/// The kind and the cause of an actor's end. For its watchers and its `terminate` hook.
struct exit_reason {
  exit_kind kind = exit_kind::normal;
  std::string actor = {};           ///< the actor's name
  std::uint64_t id = 0;             ///< unique among the actors of this process
  std::optional<error> cause = {};  ///< cause of a crash, or of a supervisor's shutdown after too many restarts

  /// Returns true after a kill or a crash: then a transient child is restarted.
  bool abnormal() const noexcept { return kind == exit_kind::killed || kind == exit_kind::crashed; }
  /// Returns the reason in words, for example "counter #7 crashed: fatal [actor]: ...".
  std::string to_string() const;
};

/// The message to an actor that watches another one with `actor_context::watch`, when the other one has ended.
struct down {
  exit_reason reason;
};

}  // namespace troupe
