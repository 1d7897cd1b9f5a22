// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <troupe/device/core.hpp>
#include <troupe/device/waiting/control_thread.hpp>
#include <troupe/device/workers/launched_worker.hpp>
#include <troupe/runtime/engine_choice.hpp>
#include <troupe/runtime/runtime.hpp>

namespace troupe {
namespace {

// A folder for the worker and its engines, and the reason for it, for the error if it has no worker.
struct runtime_place {
  std::string folder, origin;
};

// Returns the folder for a program in bin/ of an installed tree that was moved.
std::string folder_beside_program() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  std::string folder(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  for (int i = 0; i < 2; ++i) folder.resize(std::min(folder.size(), folder.rfind('/')));
  return folder + "/" TROUPE_RUNTIME_SUBDIR;
}

// Returns the folder of the installation that `built_in` names: the folder itself, or the path of runtime.hpp in it.
std::string folder_of_installation(std::string_view built_in) {
  constexpr std::string_view header = "/include/troupe/runtime/runtime.hpp";
  if (!built_in.ends_with(header)) return std::string(built_in);
  return std::string(built_in.substr(0, built_in.size() - header.size())) + "/" TROUPE_RUNTIME_SUBDIR;
}

runtime_place find_runtime(const std::string& option, const char* built_in) {
  if (!option.empty()) return {option, "device_options::runtime_folder names this folder"};
  const char* const set = std::getenv("TROUPE_RUNTIME");
  if (set != nullptr && *set != '\0') return {set, "the environment variable TROUPE_RUNTIME names this folder"};
  const std::string installed = folder_of_installation(built_in), beside = folder_beside_program();
  const auto has_worker = [](const std::string& folder) {
    return ::access((folder + "/troupe-worker").c_str(), F_OK) == 0;
  };
  if (!has_worker(installed) && has_worker(beside)) return {beside, "this folder belongs to the program's own tree"};
  return {installed, "Troupe was there when this program was built, and " + beside + " has no worker either"};
}

}  // namespace

struct runtime::state {
  runtime_options options;
  std::mutex lock;
  std::shared_ptr<control_thread> loop;  // created with the first device
  std::vector<std::weak_ptr<device_core>>
      cores;  // a device that has not stopped keeps itself alive; see device_core::handle
  engine_chooser engines;
  std::uint32_t opened = 0;
  bool closing = false;

  std::vector<std::shared_ptr<device_core>> alive() {
    const std::scoped_lock guard(lock);
    std::vector<std::shared_ptr<device_core>> all;
    for (const auto& c : cores)
      if (auto core = c.lock()) all.push_back(std::move(core));
    return all;
  }
};

runtime::runtime(runtime_options options) : state_(std::make_unique<state>()) { state_->options = std::move(options); }

runtime::~runtime() {
  {
    const std::scoped_lock guard(state_->lock);
    state_->closing = true;  // a supervisor that opens a device from now on gets a stopped one
  }
  const auto cores = state_->alive();
  std::vector<pending<void>> closing;
  for (const auto& core : cores) closing.push_back(core->close(false));
  for (auto& c : closing) (void)c.get();
  // No thread outlives the runtime, because the program may end, or unload this library, right after.
  for (const auto& core : cores) core->join();
  if (state_->loop) state_->loop->end();
}

device runtime::open(device_options options, const char* built_in_folder) {
  runtime_place place = find_runtime(options.runtime_folder, built_in_folder);
  options.runtime_folder = std::move(place.folder);
  const std::scoped_lock guard(state_->lock);
  std::string engine_reason = "device_options::engine names it";
  if (options.engine == "auto") {
    engine_choice choice = state_->engines.choose(options);
    options.engine = choice.engine;
    engine_reason = std::move(choice.reason);
  }
  auto loop = state_->closing ? error(reaction::stopped, "runtime", "the runtime is closing: it opens no more devices")
              : state_->loop  ? result(state_->loop)
                              : control_thread::make();
  if (loop) state_->loop = *loop;
  auto core = device_core::open(options, state_->opened++,
                                loop ? result(device_environment{.loop = *loop,
                                                                 .make_worker = &launched_worker::make,
                                                                 .runtime_origin = std::move(place.origin),
                                                                 .engine_reason = std::move(engine_reason),
                                                                 .log = state_->options.log})
                                     : loop.error());
  std::erase_if(state_->cores, [](const auto& c) { return c.expired(); });
  state_->cores.push_back(core);
  return device(core->make_handle());
}

std::vector<device> runtime::devices() const {
  std::vector<device> all;
  for (auto& core : state_->alive())
    if (auto handle = core->handle(); handle && core->events.state() != device_state::stopped)
      all.emplace_back(std::move(handle));
  return all;
}

}  // namespace troupe
