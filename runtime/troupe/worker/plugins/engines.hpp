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
#include <troupe/worker/plugins/plug_in_files.hpp>
#include <vector>

namespace troupe {

/// The memory in which an engine describes its failure. An engine may leave it unset, or write invalid values.
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

/// The engines of a worker: finds the plug-in of a library actor, loads it on first use, and knows its operations. Any
/// thread may call `find`; the other functions are for the pump's thread, or for one thread before the pump runs.
class engine_set {
 public:
  /// Searches `folders` in order for <library>.<backend>.so.
  engine_set(std::string backend, std::vector<std::string> folders, engine_context context,
             std::vector<opened_plug_in> opened = {});
  engine_set(const engine_set&) = delete;
  ~engine_set();

  /// An operation, and the number of its library in the order of loading, by which its lane is chosen.
  using found = troupe_found_operation;

  /// Loads a library. The error names the file, the folders and the package to install.
  result<void> load(const std::string& library);
  /// Loads a library if possible. A failure is not stored, so a later request tries again.
  void warm_up(const std::string& library);
  /// Closes and reopens the engine of a library. None of its operations may be running. Returns the library's name.
  std::string restart(std::uint32_t library);
  /// Sets a function that is called for each library that is loaded from now on.
  void when_loaded(std::function<void(const std::string& library)> f) { when_loaded_ = std::move(f); }
  /// Adds an engine that is part of this program. It is closed with the other engines.
  result<void> add(const std::string& library, const troupe_engine& engine);
  /// Returns the operation with this opcode; if necessary, loads the library that `library_code` names first. Otherwise
  /// fails with `unsupported` and says what is missing.
  result<found> find(std::uint32_t library_code, std::uint64_t opcode);
  /// Returns the operation with this opcode; null if its library is not loaded.
  const found* loaded_operation(std::uint64_t opcode) const noexcept {
    const known* const k = lookup(opcode);
    return k != nullptr ? &k->what : nullptr;
  }
  /// Returns this set in the form in which engines use it. Valid as long as the set.
  const troupe_engine_neighbours* neighbours() const noexcept { return &neighbours_; }
  std::vector<engine_info> loaded_engines() const;
  /// Returns the engine of a library; null if it is not loaded.
  const troupe_engine* engine_of(const std::string& library) const noexcept;

 private:
  struct loaded;
  struct known {
    std::uint64_t opcode;
    found what;
  };
  using table = std::vector<known>;  // sorted by opcode
  result<void> load_locked(const std::string& library);
  result<void> open(const std::string& library, const std::string& path, const std::string& from);
  result<void> open_engine(loaded& e);
  result<void> add_operations(loaded& e, std::uint32_t number);
  std::vector<std::string> available() const;
  const known* lookup(std::uint64_t opcode) const noexcept;
  void publish(table all);
  error unknown_request(const std::string& library) const;

  std::string backend_;
  std::vector<std::string> folders_;
  engine_context context_;
  const std::vector<opened_plug_in> opened_;
  troupe_engine_neighbours neighbours_;
  std::function<void(const std::string&)> when_loaded_;
  std::atomic<const table*> operations_;  // the newest of tables_; searched without lock_
  std::atomic<std::uint64_t> openings_{0};
  mutable std::mutex lock_;  // guards the following members
  std::vector<std::unique_ptr<const table>> tables_;
  std::vector<std::unique_ptr<loaded>> engines_;
  // Libraries that could not be found or loaded. They are not tried again.
  std::vector<std::pair<std::uint32_t, error>> missing_;
};

}  // namespace troupe
