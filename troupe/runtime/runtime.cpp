// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <mutex>
#include <troupe/device/internal/core.hpp>
#include <troupe/runtime/runtime.hpp>

namespace troupe {

struct runtime::state {
  std::mutex lock;
  std::shared_ptr<control_loop> loop;  // made with the first device
  std::vector<std::shared_ptr<device_core>> cores;
  std::vector<device> devices;
};

runtime::runtime() : state_(std::make_unique<state>()) {}

runtime::~runtime() {
  std::vector<pending<void>> closing;
  for (const device& d : state_->devices) closing.push_back(d.close());
  for (auto& c : closing) (void)c.get();
  // No thread of ours outlives the runtime: a program may end, or unload us, right after.
  for (const auto& core : state_->cores) core->join();
  if (state_->loop) state_->loop->end();
}

std::string runtime::default_runtime_folder(const char* built_in) {
  const char* set = std::getenv("TROUPE_RUNTIME");
  return set != nullptr && *set != '\0' ? set : built_in;
}

device runtime::open(device_options options) {
  const std::scoped_lock guard(state_->lock);
  if (!state_->loop) state_->loop = std::make_shared<control_loop>();
  state_->cores.push_back(device_core::open(options, static_cast<std::uint32_t>(state_->devices.size()), state_->loop));
  return state_->devices.emplace_back(state_->cores.back());
}

std::vector<device> runtime::devices() const {
  const std::scoped_lock guard(state_->lock);
  return state_->devices;
}

}  // namespace troupe
