// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "device_under_test.hpp"

#include <algorithm>

namespace troupe::simulation {

device_under_test::device_under_test(run_state& run, scene& where, block_in_call block) : run_(run), scene_(where) {
  device_environment around{loop_,
                            [this](std::uint32_t id, enum isolation how, std::shared_ptr<const region>,
                                   std::uint64_t channel_bytes) -> result<std::unique_ptr<worker_link>> {
                              return make_worker(id, how, channel_bytes);
                            },
                            false, std::move(block), run.settings.staging};
  device_options options = run.settings.options;
  options.engine = "host";  // "auto" is the runtime's
  core_ = device_core::open(options, 0, around);
  handle_.emplace(core_);
}

result<std::unique_ptr<worker_link>> device_under_test::make_worker(std::uint32_t id, enum isolation how,
                                                                    std::uint64_t channel_bytes) {
  random_bits r = run_.random(stream::worker, id);
  loop_->refuses_watches = false;
  const bool hostile = run_.settings.hostile_starts && !run_.calm;
  if (hostile && r.percent(5)) return error(reaction::retry_later, "simulation", "no worker can be made");
  auto file = memory_file::create("troupe-channel", channel_bytes);
  if (!file) run_.violated("no memory for a channel: " + file.error().text());
  auto w = std::make_shared<simulated_worker>(scene_, id, how, std::move(*file));
  if (hostile) {
    w->cannot_start = r.percent(8);
    w->never_ready = r.percent(4);
    w->was_unkillable = w->unkillable = how == isolation::process && r.percent(3);
    w->mute = r.percent(3);
    w->deaf = r.percent(3);
    loop_->refuses_watches = r.percent(3);
    w->cannot_launch = r.percent(3);
    w->lacks = loop_->refuses_watches || w->cannot_launch;
  }
  workers_.push_back(w);
  return std::unique_ptr<worker_link>(new simulated_link(std::move(w)));
}

bool device_under_test::had_unkillable_worker() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->was_unkillable; });
}

std::size_t device_under_test::workers_without_lack() const {
  return static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.end(), [](const auto& w) { return !w->lacks; }));
}

bool device_under_test::cancels_at_once(const client_request& q) const {
  const bool runs = q.started_by != nullptr && q.started_generation == generation();
  return !runs && !q.suspect && !is_current_dishonest() && q.kind != request_kind::fence;
}

pending<void> device_under_test::close(bool now) {
  closing_ = true;
  closing_now_ |= now;
  return now ? handle_->close_now() : handle_->close();
}

std::weak_ptr<device_core> device_under_test::drop_handle() {
  const std::weak_ptr<device_core> left = core_;
  handle_.reset();
  core_.reset();
  return left;
}

}  // namespace troupe::simulation
