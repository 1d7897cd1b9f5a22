// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The workers of a device as processes: making them, hearing from them, letting go of them.
#include <algorithm>
#include <system_error>
#include <troupe/base/try.hpp>
#include <troupe/device/internal/core.hpp>

namespace troupe {

static constexpr std::size_t most_warm = 64;
static constexpr int most_news = 256;  // heard of one worker at a time, whatever it says

worker_link* device_core::link_of(worker_id id) noexcept {
  const auto at = std::find_if(links_.begin(), links_.end(), [id](const auto& l) { return l->id() == id; });
  return at == links_.end() ? nullptr : at->get();
}

// Who looks for the worker's program wants to know who named its folder, and how to name another one.
static error with_origin(const error& why, const std::string& origin) {
  if (why.reaction() != reaction::fatal || origin.empty()) return why;
  error::details all = why.all();
  all.text += "; " + origin +
              ". To name another one, set TROUPE_RUNTIME or device_options::runtime_folder to the folder "
              "libexec/troupe of an installation, or of a build";
  return error(std::move(all));
}

result<void> device_core::launch(worker_id id) {
  auto made = TROUPE_TRY(make_worker_(id, options_.isolation, region_, channel_.at.total));
  worker_link& link = *made;
  {
    auto seen = TROUPE_TRY(mapping::map(*link.channel(), map_access::read_write));
    const protocol::view fresh{channel_.at, seen.data(), nullptr};
    TROUPE_TRY(ring_region::format(fresh.reports(), channel_.at.report_bytes));
  }
  TROUPE_TRY(link.greet(greeting_, mailbox_file_));
  for (const std::string& library : warm_) (void)link.send_load(library);
  {
    const std::scoped_lock guard(link_lock_);
    const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed);
    for (const held_segment& s : segments_) TROUPE_TRY(link.send_map(s.address, s.file, number, s.read_only));
    std::vector<protocol::protected_place> sealed;
    for (const auto& [address, bytes] : protected_) sealed.push_back({address, bytes});
    if (!sealed.empty()) TROUPE_TRY(link.send_protected(sealed, number));
    links_.push_back(std::move(made));
  }
  // From here on `forget` sees to everything, also when the rest fails.
  TROUPE_TRY(loop_->watch(link.socket_fd(), *this));
  if (auto ok = link.launch(options_.runtime_folder + "/troupe-worker", environment_); !ok)
    return with_origin(ok.error(), runtime_origin_);
  if (worker_pid_.load() == 0) worker_pid_.store(link.pid());
  return link.exit_fd() >= 0 ? loop_->watch(link.exit_fd(), *this) : result<void>();
}

// What one worker needed, the next one will need: it is there before.
void device_core::warm_up_standbys(const std::string& library) {
  if (std::find(warm_.begin(), warm_.end(), library) != warm_.end()) return;
  if (warm_.size() == most_warm) return;
  warm_.push_back(library);
  for (const auto& link : links_)
    if (link->id() != served_) (void)link->send_load(library);
}

std::vector<int> device_core::standby_pids() const {
  std::vector<int> out;
  const std::scoped_lock guard(link_lock_);
  for (const auto& link : links_)
    if (link->id() != serving_.load() && link->ready.load() && link->pid() != 0) out.push_back(link->pid());
  return out;
}

void device_core::check_quiesced() {
  constexpr std::int64_t look_again_ns = 200'000;
  worker_link* const link = link_of(served_);
  if (link == nullptr || served_ != supervisor_.serving()) return;  // it has gone away meanwhile
  if (link->is_quiesced()) return feed({device_supervisor::event_kind::quiesced, served_});
  loop_->at(loop_->now() + look_again_ns, shared_from_this(), timer::quiesced);
}

// The worker is gone, or nobody waits for it: let go of it. Its end is reaped by the link's destructor.
void device_core::forget(worker_id id) {
  struct left_behind {
    std::shared_ptr<device_core> self;
    std::vector<block_ref> memory;
    std::unique_ptr<worker_link> link;  // last, so that it goes first: it waits for the end
  };
  const answering now(*this);  // the loop runs nobody else's code, and memory may have its own
  auto left = std::make_unique<left_behind>();
  std::unique_ptr<worker_link>& link = left->link;
  {
    const std::scoped_lock guard(link_lock_);
    const auto at = std::find_if(links_.begin(), links_.end(), [id](const auto& l) { return l->id() == id; });
    if (at == links_.end()) return;
    link = std::move(*at);
    links_.erase(at);
    left->memory.swap(thread_uses_);
  }
  loop_->unwatch(link->socket_fd());
  if (link->exit_fd() >= 0) loop_->unwatch(link->exit_fd());
  // A thread cannot be killed, and a process that the kernel holds cannot either: what still runs is waited for away
  // from the loop, so that other devices go on.
  if (link->has_ended(loop_->now() + 100'000'000)) return;
  left->self = shared_from_this();
  left_behind* const all = left.release();
  try {
    std::thread([all] { delete all; }).detach();
  } catch (const std::system_error&) {
    // Nobody can wait for it, so what it may use stays.
  }
}

// Before a worker is judged by the time: what it has said, or that it is gone, may have waited for this thread longer
// than the worker was given.
void device_core::receive_all() {
  std::vector<worker_id> all;
  for (const auto& link : links_) all.push_back(link->id());
  for (const worker_id id : all) {
    worker_link* link = link_of(id);
    for (int i = 0; i < most_news && link != nullptr && receive(*link); ++i) link = link_of(id);
  }
}

// One at a time, as they would be seen without the tick; true when there was one.
bool device_core::see_an_end() {
  const std::size_t before = links_.size();
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (has_ended(*links_[i]) && links_.size() < before) return true;
  return false;
}

void device_core::on_readable(int fd) {
  const auto at = std::find_if(links_.begin(), links_.end(),
                               [fd](const auto& l) { return l->socket_fd() == fd || l->exit_fd() == fd; });
  if (at == links_.end()) return;
  if (fd == (*at)->exit_fd())
    has_ended(**at);
  else
    receive(**at);
}

bool device_core::has_ended(worker_link& link) {
  const auto self = shared_from_this();
  const worker_id id = link.id();
  const auto status = link.ended();
  if (!status) return false;
  // It may have said why before it went.
  for (int i = 0; i < most_news; ++i) {
    const auto n = link.receive();
    if (n.kind == worker_link::news::kind::none || n.kind == worker_link::news::kind::gone) break;
    if (n.kind != worker_link::news::kind::failed) continue;
    feed({device_supervisor::event_kind::worker_failed, id, error(n.how, "device", n.text)});
    break;
  }
  if (id == serving_.load()) last_exit_ = *status;
  feed({device_supervisor::event_kind::worker_exited, id,
        error(error::details{
            .reaction = reaction::context_lost,
            .domain = "device",
            .code = status->value,
            .text = "the worker of " + options_.name + " ended: " + status->text() + "; what it held is lost"})});
  return true;
}

// False when there is nothing more to hear.
bool device_core::receive(worker_link& link) {
  const worker_link::news n = link.receive();
  if (n.kind != worker_link::news::kind::none) handle_message(link, n);
  return n.kind != worker_link::news::kind::none && n.kind != worker_link::news::kind::gone;
}

void device_core::handle_message(worker_link& link, const worker_link::news& n) {
  const auto self = shared_from_this();
  const worker_id id = link.id();
  switch (n.kind) {
    case worker_link::news::kind::none:
      return;
    case worker_link::news::kind::ready: {
      link.ready.store(true);
      {
        // First what the device is, where it is not the host, and an empty line.
        const std::size_t end = n.text.find("\n\n");
        const std::scoped_lock guard(description_lock_);
        engines_ = end == n.text.npos ? n.text : n.text.substr(end + 2);
        description_ = end == n.text.npos ? std::string() : n.text.substr(0, end + 1);
      }
      learn_memory_limit();
      feed({device_supervisor::event_kind::worker_ready, id});
      if (id != served_) emit(event_kind::standby_ready);
      return;
    }
    case worker_link::news::kind::alive:
      if (id == served_) asked_ns_ = 0;
      return;
    case worker_link::news::kind::restarted:
      return emit(event_kind::library_restarted,
                  error(reaction::retry_later, "device",
                        "the engine of " + n.text + " said that its library's handle is broken; it was opened anew"));
    case worker_link::news::kind::loaded:
      return warm_up_standbys(n.text);
    case worker_link::news::kind::failed:
      link.ready.store(false);
      feed({device_supervisor::event_kind::worker_failed, id, error(n.how, "device", n.text)});
      // After this the driver has ended all of its work on the device; cleaning its process away takes much longer.
      if (workers_allocate_ && n.how == reaction::context_lost) check_quiesced();
      return;
    case worker_link::news::kind::gone:
      loop_->unwatch(link.socket_fd());
      // A process tells by its exit status, which comes on its own; a thread has only this.
      if (options_.isolation == isolation::thread) {
        feed({device_supervisor::event_kind::worker_exited, id,
              error(reaction::context_lost, "device", "the worker thread of " + options_.name + " has ended")});
      }
      return;
  }
}

}  // namespace troupe
