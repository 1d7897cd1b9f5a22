// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/request/engine_info.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe {

/// Where an engine says why it failed; not every engine does, or does it well.
struct engine_failure : troupe_engine_failure {
  engine_failure() noexcept {
    reaction = static_cast<std::uint8_t>(troupe::reaction::fatal);
    restart_library = 0;
    whose = 0;
    code = 0;
    domain[0] = text[0] = '\0';
  }
  void make_sound() noexcept {
    reaction = std::min(reaction, static_cast<std::uint8_t>(troupe::reaction::fatal));
    domain[sizeof domain - 1] = text[sizeof text - 1] = '\0';
  }
};

/// The engines of a worker: finds the plug-in of a library actor, loads it on first use, and knows its operations.
/// `find` may be called from any thread; the rest is the pump's, or of the thread that is there before it runs.
class engine_set {
 public:
  /// `folders` are searched in order for <library>.<backend>.so.
  engine_set(std::string backend, std::vector<std::string> folders, engine_context context);
  engine_set(const engine_set&) = delete;
  ~engine_set();

  /// An operation, and the number of its library (in order of loading), which its lane follows.
  using found = troupe_found_operation;

  /// Loads a library now. The error names the file, the folders and the package to install.
  result<void> load(const std::string& library);
  /// Loads it if it can, as if nothing had been tried if it cannot.
  void warm_up(const std::string& library);
  /// Closes the engine of a library and opens it anew, when none of its operations runs. Returns the library's name.
  std::string restart(std::uint32_t library);
  /// Called with each library that is loaded from now on.
  void when_loaded(std::function<void(const std::string& library)> f) { when_loaded_ = std::move(f); }
  /// An engine that is part of this program. Closed with the others.
  result<void> add(const std::string& library, const troupe_engine& engine);
  /// The operation behind an opcode; loads the library named by `library_code` when it is not there yet.
  /// `unsupported` says what is missing.
  result<found> find(std::uint32_t library_code, std::uint64_t opcode);
  /// The same where it is loaded already, else null.
  const found* loaded_operation(std::uint64_t opcode) const noexcept {
    const known* const k = lookup(opcode);
    return k != nullptr ? &k->what : nullptr;
  }
  /// What engines get of this; as long as this is.
  const troupe_engine_neighbours* neighbours() const noexcept { return &neighbours_; }
  std::vector<engine_info> loaded_engines() const;
  /// The engine of a library that is loaded; null when it is not.
  const troupe_engine* engine_of(const std::string& library) const noexcept;

 private:
  struct loaded;
  struct known {
    std::uint64_t opcode;
    found what;
  };
  using table = std::vector<known>;  // sorted by opcode
  result<void> load_locked(const std::string& library);
  result<void> open(const std::string& library, const std::string& path);
  result<void> open_engine(loaded& e);
  result<void> take_in(loaded& e, std::uint32_t number);
  std::vector<std::string> available() const;
  const known* lookup(std::uint64_t opcode) const noexcept;
  void publish(table all);
  error unknown_request(const std::string& library) const;

  std::string backend_;
  std::vector<std::string> folders_;
  engine_context context_;
  troupe_engine_neighbours neighbours_;
  std::function<void(const std::string&)> when_loaded_;
  std::atomic<const table*> operations_;  // the last of tables_: looked into without the lock
  std::atomic<std::uint64_t> openings_{0};
  mutable std::mutex lock_;  // guards the rest
  std::vector<std::unique_ptr<const table>> tables_;
  std::vector<std::unique_ptr<loaded>> engines_;
  std::vector<std::pair<std::uint32_t, error>>
      missing_;  // libraries that could not be loaded or found are not tried again
};

}  // namespace troupe
