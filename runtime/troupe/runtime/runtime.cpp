// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <mutex>
#include <troupe/base/clock.hpp>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/channel/elsewhere.hpp>
#include <troupe/device/core/core.hpp>
#include <troupe/device/waiting/control_thread.hpp>
#include <troupe/device/workers/launched_worker.hpp>
#include <troupe/runtime/engine_choice.hpp>
#include <troupe/runtime/runtime.hpp>
#include <troupe/runtime/runtime_place.hpp>

namespace troupe {

struct runtime::state {
  const process_home home;
  runtime_options options;
  std::mutex lock;
  std::shared_ptr<control_thread> loop;  // created with the first device
  // A device that has not stopped keeps itself alive: see device_core::handle.
  std::vector<std::weak_ptr<device_core>> cores;
  engine_chooser engines;
  std::shared_ptr<installed_files> files = std::make_shared<installed_files>();
  std::uint32_t opened = 0;
  bool closing = false;

  // Forgets the descriptors of installed files if the program has closed descriptors of the library. Nothing is closed,
  // because files of the program may have their numbers now.
  void forget_lost_files() {
    if (!loop || !loop->lost()) return;
    process_home::keep(new std::shared_ptr<installed_files>(std::move(files)));
    files = std::make_shared<installed_files>();
  }
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
  if (state_->home.left()) {
    process_home::keep(state_.release());  // its threads and locks belong to the parent process
    return;
  }
  {
    const std::scoped_lock guard(state_->lock);
    state_->closing = true;  // a supervisor that opens a device from now on gets a stopped one
  }
  const auto cores = state_->alive();
  std::vector<pending<void>> closing;
  for (const auto& core : cores) closing.push_back(core->close(false));
  for (auto& c : closing) (void)c.get();
  // No thread may outlive the runtime, because the program may end, or unload this library, right after.
  for (const auto& core : cores) core->join();
  if (state_->loop) state_->loop->end();
  await_elsewhere(now_ns() + 1'000'000'000);
  state_->forget_lost_files();
}

device runtime::open(device_options options, const char* built_in_folder) {
  if (state_->home.left())
    return device(device_core::open(options, 0, result<device_environment>(process_home::refusal()))->make_handle());
  runtime_place place = find_runtime(options.runtime_folder, path_of_this_program(), built_in_folder);
  options.runtime_folder = std::move(place.folder);
  const std::scoped_lock guard(state_->lock);
  state_->forget_lost_files();
  std::string engine_reason = "device_options::engine names it";
  if (options.engine == "auto") {
    engine_choice choice = state_->engines.choose(options);
    options.engine = choice.engine;
    engine_reason = std::move(choice.reason);
  }
  auto loop = state_->closing ? error(reaction::stopped, "runtime", "the runtime is closing: it opens no more devices")
              : state_->loop && !state_->loop->lost() ? result(state_->loop)
                                                      : control_thread::make();
  if (loop) state_->loop = *loop;
  auto core = device_core::open(
      options, state_->opened++,
      loop ? result(device_environment{.loop = *loop,
                                       .make_worker = std::bind_front(&launched_worker::make, state_->files),
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
  if (state_->home.left()) return all;
  for (auto& core : state_->alive())
    if (auto handle = core->handle(); handle && core->events.state() != device_state::stopped)
      all.emplace_back(std::move(handle));
  return all;
}

}  // namespace troupe
