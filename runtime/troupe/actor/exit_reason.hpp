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

/// The kind of an actor's end.
enum class exit_kind : std::uint8_t {
  normal,    ///< it was asked to stop, or the last reference to it was destroyed
  shutdown,  ///< its supervisor, parent or stage stopped it, or it had too many restarts
  killed,    ///< `kill`
  crashed,   ///< a handler failed
};
TROUPE_ENUM(exit_kind, normal, shutdown, killed, crashed)

/// The kind and the cause of an actor's end, for its watchers and its `terminate` hook.
struct exit_reason {
  exit_kind kind = exit_kind::normal;
  std::string actor = {};           ///< its name
  std::uint64_t id = 0;             ///< unique among the actors of this process
  std::optional<error> cause = {};  ///< of a crash, or of the shutdown of a supervisor after too many restarts

  /// Returns true after a kill or a crash: a transient child is then restarted.
  bool abnormal() const noexcept { return kind == exit_kind::killed || kind == exit_kind::crashed; }
  /// Returns, for example, "counter #7 crashed: fatal [actor]: ...".
  std::string to_string() const;
};

/// Sent to an actor that watches another one with `actor_context::watch`.
struct down {
  exit_reason reason;
};

}  // namespace troupe
