// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/channel/elsewhere.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {

using message_kind = decltype(worker_link::message::kind);

static constexpr std::size_t most_warm = 64;
static constexpr int most_messages = 256;  // that are read from one worker at a time

worker_pool::worker_pool(device_board& board, const segment_sender& segments, worker_listener& listener,
                         worker_link_maker make) noexcept
    : board_(board),
      segments_(segments),
      listener_(listener),
      make_worker_(std::move(make)),
      environment_(current_environment()) {}  // read here, because it could race with setenv on the loop's thread

void worker_pool::prepare(protocol::greeting greeting, std::shared_ptr<const region> addresses, std::string origin) {
  greeting_ = std::move(greeting);
  region_ = std::move(addresses);
  runtime_origin_ = std::move(origin);
}

worker_link* worker_pool::find(worker_id id) noexcept {
  const auto at = std::find_if(links_.begin(), links_.end(), [id](const auto& l) { return l->id() == id; });
  return at == links_.end() ? nullptr : at->get();
}

// Adds to the error of a missing worker program why its folder was used, and how to use another one.
static error with_origin(const error& why, const std::string& origin) {
  if (why.reaction() != reaction::fatal || origin.empty()) return why;
  error::details all = why.all();
  all.text += "; " + origin +
              ". To name another one, set TROUPE_RUNTIME or device_options::runtime_folder to the folder "
              "libexec/troupe of an installation, or of a build";
  return error(std::move(all));
}

result<void> worker_pool::launch(worker_id id) {
  auto made = TROUPE_TRY(make_worker_(id, board_.options.isolation, region_, board_.channel->at.total));
  worker_link& link = *made;
  if (const auto allocator = link.allocator())
    allocator->when_unfit([this, id](const std::string& why) {
      board_.loop.post([this, id, why] {
        if (worker_link* const w = find(id))
          listener_.handle_message(*w,
                                   {why.empty() ? message_kind::gone : message_kind::violated, why, reaction::fatal});
      });
    });
  TROUPE_TRY(board_.channel.prepare(*link.channel()));
  TROUPE_TRY(link.greet(greeting_, board_.channel.mailbox_file(), board_.channel.workers_file()));
  greeting_.settings.quiet = true;
  for (const std::string& library : warm_) (void)link.send_load(library);
  {
    const std::scoped_lock guard(lock_);
    TROUPE_TRY(segments_.send_all_to(link));
    links_.push_back(std::move(made));
  }
  changed();
  // From here on `forget` cleans up, even if the rest fails.
  TROUPE_TRY(board_.loop.watch(link.socket_fd(), *this));
  if (auto ok = link.launch(board_.options.runtime_folder + "/troupe-worker", environment_); !ok)
    return with_origin(ok.error(), runtime_origin_);
  if (board_.worker.pid() == 0) board_.worker.set_pid(link.pid());
  return link.exit_fd() >= 0 ? board_.loop.watch(link.exit_fd(), *this) : result<void>();
}

void worker_pool::warm_up_standbys(const std::string& library) {
  if (std::find(warm_.begin(), warm_.end(), library) != warm_.end()) return;
  if (warm_.size() == most_warm) return;
  warm_.push_back(library);
  for (const auto& link : links_)
    if (link->id() != board_.worker.id()) (void)link->send_load(library);
}

std::vector<int> worker_pool::standby_pids() const {
  std::vector<int> out;
  const std::scoped_lock guard(lock_);
  for (const auto& link : links_)
    if (link->id() != board_.worker.id() && link->ready.load() && link->pid() != 0) out.push_back(link->pid());
  return out;
}

bool worker_pool::is_standby_starting() const noexcept {
  return std::any_of(links_.begin(), links_.end(),
                     [&](const auto& link) { return link->id() != board_.worker.id() && !link->ready.load(); });
}

void worker_pool::forget(worker_id id) {
  struct left_behind {
    std::shared_ptr<const void> device;
    std::vector<block_ref> memory;
    // The last member, so that it is destroyed first: its destructor waits for the worker's end.
    std::unique_ptr<worker_link> link;
  };
  const answering now(board_.to_reactor);  // releasing memory may complete answers, and the loop runs no continuations
  auto left = std::make_unique<left_behind>();
  std::unique_ptr<worker_link>& link = left->link;
  {
    const std::scoped_lock guard(lock_);
    const auto at = std::find_if(links_.begin(), links_.end(), [id](const auto& l) { return l->id() == id; });
    if (at == links_.end()) return;
    link = std::move(*at);
    links_.erase(at);
    left->memory.swap(thread_uses_);
  }
  changed();
  board_.loop.unwatch(link->socket_fd());
  if (link->exit_fd() >= 0) board_.loop.unwatch(link->exit_fd());
  // A thread cannot be killed, nor can a process that the kernel holds. Another thread waits for the end, so that the
  // loop can serve other devices.
  if (link->has_ended(board_.loop.now())) return;
  left->device = board_.loop.device();
  left_behind* const all = left.release();
  // If no thread can wait for the worker's end, everything that the worker may use is leaked.
  (void)run_elsewhere([all] { delete all; });
}

void worker_pool::abandon() {
  const std::scoped_lock guard(lock_);
  for (auto& link : links_) process_home::keep(link.release());
  links_.clear();
}

// Called before time-outs are enforced: if this thread is late, a message or the worker's end may have waited for
// longer than the time-out.
void worker_pool::receive_all() {
  std::vector<worker_id> all;
  for (const auto& link : links_) all.push_back(link->id());
  for (const worker_id id : all) receive_from(id);
}

void worker_pool::receive_from(worker_id id) {
  worker_link* link = find(id);
  for (int i = 0; i < most_messages && link != nullptr && receive(*link); ++i) link = find(id);
}

bool worker_pool::handle_next_exit() {
  const std::size_t before = links_.size();
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (check_exit(*links_[i]) && links_.size() < before) return true;
  return false;
}

void worker_pool::on_readable(int fd) {
  const auto device = board_.loop.device();  // keeps the device alive: handling the message may release the last handle
  const auto at = std::find_if(links_.begin(), links_.end(),
                               [fd](const auto& l) { return l->socket_fd() == fd || l->exit_fd() == fd; });
  if (at == links_.end()) return;
  if (fd == (*at)->exit_fd())
    check_exit(**at);
  else
    receive_from((*at)->id());
}

bool worker_pool::check_exit(worker_link& link) {
  const auto status = link.ended();
  if (!status) return false;
  // The worker may have sent the cause before it ended.
  std::optional<worker_link::message> failure;
  for (int i = 0; i < most_messages && !failure; ++i) {
    auto n = link.receive();
    if (n.kind == message_kind::none || n.kind == message_kind::gone) break;
    if (n.kind == message_kind::failed) failure = std::move(n);
  }
  listener_.handle_end(link.id(), *status, failure);
  return true;
}

// Receives and handles one message. Returns false if there is none.
bool worker_pool::receive(worker_link& link) {
  const worker_link::message n = link.receive();
  const bool last = n.kind == message_kind::gone || n.kind == message_kind::violated;
  if (last) board_.loop.unwatch(link.socket_fd());
  if (n.kind != message_kind::none) listener_.handle_message(link, n);
  return n.kind != message_kind::none && !last;
}

result<file_descriptor> worker_pool::ask_one(
    const std::function<result<file_descriptor>(allocation_client&, std::int64_t deadline_ns)>& ask) {
  const std::int64_t deadline = board_.loop.deadline_after(board_.options.start_timeout);
  std::string last = "alloc: no worker was ready to allocate the memory";
  std::uint64_t seen = changes();
  while (board_.loop.now() < deadline) {
    if (board_.admission.refusing()) return board_.admission.refusal();
    std::shared_ptr<allocation_client> allocator;
    {
      const std::scoped_lock guard(lock_);
      const auto ready = std::find_if(links_.begin(), links_.end(), [](const auto& l) {
        const auto m = l->allocator();
        return l->ready.load() && m && !m->is_gone();
      });
      if (!links_.empty()) allocator = (ready != links_.end() ? *ready : links_.back())->allocator();
    }
    if (allocator) {
      auto made = ask(*allocator, deadline);
      if (made || made.error().reaction() != reaction::context_lost) return made;
      last = made.error().text();
    }
    wait_for_change(seen, deadline);
  }
  return allocation_client::timeout_error(last +
                                          ", and no other was ready within device_options::start_timeout; try again");
}

std::uint64_t worker_pool::changes() const {
  const std::scoped_lock guard(lock_);
  return changes_;
}

void worker_pool::changed() noexcept {
  {
    const std::scoped_lock guard(lock_);
    ++changes_;
  }
  changed_.notify_all();
}

void worker_pool::wait_for_change(std::uint64_t& seen, std::int64_t until_ns) const {
  std::unique_lock guard(lock_);
  while (changes_ == seen && board_.loop.sleep(changed_, guard, until_ns)) {
  }
  seen = changes_;
}

void worker_pool::keep_memory_for_thread(ledger_entry& e) {
  if (board_.options.isolation != isolation::thread) return;
  const std::scoped_lock guard(lock_);
  if (!links_.empty()) e.hand_memory_to(thread_uses_);
}

void worker_pool::forget_all() {
  while (!links_.empty()) forget(links_.back()->id());
}

}  // namespace troupe
