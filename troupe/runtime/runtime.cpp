// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <mutex>
#include <troupe/device/internal/control_thread.hpp>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/launched_worker.hpp>
#include <troupe/runtime/runtime.hpp>

namespace troupe {

struct runtime::state {
  std::mutex lock;
  std::shared_ptr<control_thread> loop;           // made with the first device
  std::vector<std::weak_ptr<device_core>> cores;  // a device that has not stopped keeps itself alive
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

runtime::runtime() : state_(std::make_unique<state>()) {}

runtime::~runtime() {
  {
    const std::scoped_lock guard(state_->lock);
    state_->closing = true;  // a supervisor that replaces its device now gets one that has stopped
  }
  const auto cores = state_->alive();
  std::vector<pending<void>> closing;
  for (const auto& core : cores) closing.push_back(core->close(false));
  for (auto& c : closing) (void)c.get();
  // No thread of ours outlives the runtime: a program may end, or unload us, right after.
  for (const auto& core : cores) core->join();
  if (state_->loop) state_->loop->end();
}

std::string runtime::default_runtime_folder(const char* built_in) {
  const char* set = std::getenv("TROUPE_RUNTIME");
  return set != nullptr && *set != '\0' ? set : built_in;
}

device runtime::open(device_options options) {
  const std::scoped_lock guard(state_->lock);
  auto loop = state_->closing ? error(reaction::stopped, "runtime", "the runtime is closing: it opens no more devices")
              : state_->loop  ? result(state_->loop)
                              : control_thread::make();
  if (loop) state_->loop = *loop;
  auto core = device_core::open(options, state_->opened++,
                                loop ? result(device_surroundings{*loop, &launched_worker::make}) : loop.error());
  std::erase_if(state_->cores, [](const auto& c) { return c.expired(); });
  state_->cores.push_back(core);
  return device(std::move(core));
}

std::vector<device> runtime::devices() const {
  std::vector<device> all;
  for (auto& core : state_->alive())
    if (core->state() != device_state::stopped) all.emplace_back(std::move(core));
  return all;
}

}  // namespace troupe
