// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/printable.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/process/own_output.hpp>
#include <troupe/device/workers/launched_worker.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/worker/process/session.hpp>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t longest_remark = 1024;
constexpr std::uint32_t most_remarks = 100;
constexpr std::size_t most_text_bytes = protocol::most_message_bytes - sizeof(protocol::control_message);

std::vector<std::byte> message_of(protocol::message kind, const std::string& text = {}) {
  return protocol::packet_of(protocol::control_message{.kind = kind}, text);
}

}  // namespace

result<std::unique_ptr<worker_link>> launched_worker::make(std::shared_ptr<installed_files> files, std::uint32_t id,
                                                           enum isolation isolation,
                                                           std::shared_ptr<const region> addresses,
                                                           std::uint64_t channel_bytes) {
  auto pair = TROUPE_TRY(control_socket::make_pair());
  auto asking = TROUPE_TRY(control_socket::make_pair());
  auto channel = TROUPE_TRY(memory_file::create("troupe-channel", channel_bytes));
  std::unique_ptr<launched_worker> link(new launched_worker(std::move(channel)));
  link->files_ = std::move(files);
  link->id_ = id;
  link->isolation_ = isolation;
  link->addresses_ = std::move(addresses);
  link->socket_ = std::move(pair.ours);
  link->theirs_ = std::move(pair.theirs);
  link->allocator_ = std::make_shared<allocation_client>(std::move(asking.ours));
  link->allocator_theirs_ = std::move(asking.theirs);
  return std::unique_ptr<worker_link>(std::move(link));
}

launched_worker::~launched_worker() {
  send_queue_.end();
  socket_.close_elsewhere();  // tells the worker that the application has ended
  if (thread_.joinable()) thread_.join();
  if (ended()) process_->reap_elsewhere();
}

// Returns the text of the greeting that includes the plug-ins, and appends their descriptors.
std::string launched_worker::add_plug_ins(protocol::greeting hello, std::vector<int>& fds) {
  if (isolation_ == isolation::thread) return protocol::text_of(hello);  // a worker in a thread is never replaced
  backend_ = hello.backend;
  plug_ins_ = files_->plug_ins_of(hello.backend, hello.folders);
  for (const auto& plug_in : *plug_ins_) {
    if (!plug_in.file) continue;
    hello.plug_ins.push_back(plug_in.path);
    fds.push_back(plug_in.file.get());
  }
  return protocol::text_of(hello);
}

// Other workers load the libraries that this one reports as loaded, so it must not invent names.
bool launched_worker::is_engine(const std::string& library) const {
  const std::string file = cat("/", library, ".", backend_, ".so");
  return plug_ins_ && std::any_of(plug_ins_->begin(), plug_ins_->end(),
                                  [&](const auto& plug_in) { return plug_in.path.ends_with(file); });
}

result<void> launched_worker::greet(const protocol::greeting& hello, const memory_file& mailbox,
                                    const memory_file& workers) {
  protocol::control_message m{};
  m.kind = protocol::message::greeting;
  m.settings = hello.settings;
  using attached = protocol::greeting_descriptor;
  std::vector<int> fds(attached::count);
  fds[attached::channel] = channel_->fd();
  fds[attached::mailbox] = mailbox.fd();
  fds[attached::questions] = allocator_theirs_.fd();
  fds[attached::workers] = workers.fd();
  result<void> sent;
  const std::string alone = protocol::text_of(hello), whole = add_plug_ins(hello, fds);
  if (alone.size() > most_text_bytes)
    return error(reaction::caller_bug, "device",
                 cat("device_options::engine_folders, readable_folders, libraries and gpu_core_folder have ",
                     alone.size(), " bytes of text; expected at most ", most_text_bytes, ": use shorter paths"));
  if (whole.size() <= most_text_bytes) sent = socket_.send(protocol::packet_of(m, whole), fds);
  // Without the plug-ins, which may not fit the message, a worker opens the files that exist by then.
  if (whole.size() > most_text_bytes || (!sent && sent.error().reaction() == reaction::retry_later))
    sent = socket_.send(protocol::packet_of(m, alone), std::span(fds).first(attached::count));
  allocator_theirs_ = {};  // so that the socket is closed when the worker has ended
  return sent;
}

result<void> launched_worker::launch(const std::string& program, const std::vector<std::string>& environment) {
  if (isolation_ == isolation::thread) {
    try {
      thread_ = start_thread(
          [end = std::move(theirs_)]() mutable { worker_session(std::move(end), worker_session::home::thread).run(); });
    } catch (const std::system_error& e) {
      return error::from_errno(reaction::retry_later, "device", "starting the worker's thread", e.code().value());
    }
    return {};
  }
  const auto opened = TROUPE_TRY(files_->program(program));
  const file_descriptor output = open_output_again(STDOUT_FILENO), errors = open_output_again(STDERR_FILENO);
  auto child = process::launch({.path = program,
                                .control_fd = theirs_.fd(),
                                .environment = environment,
                                .stderr_fd = errors.get(),
                                .stdout_fd = output.get(),
                                .program = opened.get()});
  theirs_ = {};
  if (!child) return child.error();
  process_.emplace(std::move(*child));
  return {};
}

result<void> launched_worker::send_memory(protocol::message kind, const protocol::memory_place& place,
                                          std::shared_ptr<const memory_file> file) {
  protocol::control_message m{};
  m.kind = kind;
  m.memory = place;
  return send_queue_.post(protocol::packet_of(m), std::move(file));
}

result<void> launched_worker::send_map(std::uint64_t address, const std::shared_ptr<const memory_file>& memory,
                                       std::uint32_t number, bool read_only) {
  return send_memory(protocol::message::map, {address, memory->size(), number, read_only}, memory);
}

result<void> launched_worker::send_protect(const protocol::protected_place& place, std::uint32_t number,
                                           bool read_only) {
  return send_memory(protocol::message::protect, {place.address, place.bytes, number, read_only});
}

result<void> launched_worker::send_protected(std::span<const protocol::protected_place> all, std::uint32_t number) {
  auto list = TROUPE_TRY(protocol::list_of(all));
  return send_memory(protocol::message::protect, protocol::memory_place::listed(all.size_bytes(), number),
                     std::make_shared<const memory_file>(std::move(list)));
}

result<void> launched_worker::send_unmap(std::uint64_t address, std::uint32_t number) {
  return send_memory(protocol::message::unmap, {address, 0, number, 0});
}

result<void> launched_worker::send_serve(const protocol::service& s) {
  protocol::control_message m{};
  m.kind = protocol::message::serve;
  m.serving = s;
  return send_queue_.post(protocol::packet_of(m));
}

void launched_worker::send_stop() noexcept {
  // A worker that does not read the message is killed after its time-out.
  (void)send_queue_.post(message_of(protocol::message::stop));
}

void launched_worker::send_ping() noexcept {
  if (send_queue_.post_at_once(message_of(protocol::message::ping))) ++pings_;
}

bool launched_worker::send_look() noexcept { return send_queue_.post_at_once(message_of(protocol::message::look)); }

result<void> launched_worker::send_load(const std::string& library) {
  return send_queue_.post(message_of(protocol::message::load, library));
}

void launched_worker::kill() noexcept {
  if (process_) (void)process_->kill(SIGKILL);
}

// A worker that has violated the protocol is ended. Nothing more is read from it, or from one that has closed its end;
// each message is returned once, however often the supervisor checks.
worker_link::message launched_worker::receive() {
  if (violated_ || gone_) return {};
  message m = take_message();
  violated_ = m.kind == message::kind::violated;
  return m;
}

worker_link::message launched_worker::take_message() {
  std::array<std::byte, protocol::most_message_bytes> packet;
  auto got = socket_.receive(packet, 0, 0);
  if (!got)
    return {message::kind::violated, "the worker sent a malformed message: " + got.error().text(), reaction::fatal};
  if (got->outcome == control_socket::outcome::timed_out) return {};
  if (got->outcome == control_socket::outcome::closed) {
    gone_ = true;
    return {message::kind::gone, {}, reaction::context_lost};
  }
  auto heard = protocol::parse_message(std::span(packet.data(), got->bytes));
  if (!heard) return {message::kind::violated, "the worker sent a message that is too short", reaction::fatal};
  const bool answers_ping = heard->head.kind == protocol::message::pong && pings_ != 0;
  if (answers_ping)
    --pings_;
  else if (!budget_.admit(now_ns()))
    return {message::kind::violated, "the worker sent more messages than a correct worker does", reaction::fatal};
  // Cut first, because a flood must cost little; the cut may go through a character.
  if (heard->head.kind == protocol::message::remark)
    heard->text.resize(remarks_ == most_remarks ? 0 : std::min(heard->text.size(), longest_remark));
  make_printable(heard->text);
  // Only a worker's description may have several lines. Other texts may reach a log, where a newline could fake an
  // entry.
  if (heard->head.kind != protocol::message::ready)
    for (char& c : heard->text)
      if (c == '\n' || c == '\t') c = ' ';
  return interpret(heard->head.kind, protocol::reaction_of(heard->head), std::move(heard->text));
}

worker_link::message launched_worker::interpret(protocol::message kind, reaction how, std::string text) {
  const auto violated = [](const char* what) {
    return message{message::kind::violated, std::string("the worker sent ") + what, reaction::fatal};
  };
  switch (kind) {
    case protocol::message::ready:
      if (std::exchange(said_ready_, true)) return violated("\"ready\" twice");
      if (auto ok = send_queue_.deliver(); !ok)
        return {message::kind::failed, ok.error().text(), ok.error().reaction()};
      return {message::kind::ready, std::move(text), reaction::fatal};
    case protocol::message::pong:
      return {message::kind::pong, {}, reaction::fatal};
    case protocol::message::loaded:
    case protocol::message::restarted:
      if (!protocol::is_library_name(text)) return violated("an invalid library name");
      if (kind == protocol::message::restarted) return {message::kind::restarted, std::move(text), reaction::fatal};
      // A name that no engine has still counts as a sign of life.
      return {is_engine(text) ? message::kind::loaded : message::kind::pong, std::move(text), reaction::fatal};
    case protocol::message::remark:
      return remarked(std::move(text));
    case protocol::message::failed:
      return {message::kind::failed, std::move(text), how};
    default:
      return violated("a message of unknown kind");
  }
}

// Limits the number of lines that an untrusted worker can write to the log.
worker_link::message launched_worker::remarked(std::string text) {
  if (remarks_ == most_remarks) return {};
  if (++remarks_ == most_remarks) text += " (this worker's further remarks are not logged)";
  return {message::kind::remark, std::move(text), reaction::fatal};
}

// Reads the size of the process's memory: the kernel first detaches a dying process's threads from its memory, and
// releases the resources that drivers hold for the process later, which takes long.
bool launched_worker::is_quiesced() const noexcept {
  if (!process_) return false;
  const std::string path = cat("/proc/", process_->pid(), "/statm");
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  unsigned long long pages = 1;
  return file && std::fscanf(file.get(), "%llu", &pages) == 1 && pages == 0;
}

bool launched_worker::has_ended(std::int64_t deadline_ns) noexcept {
  if (!process_) return gone_ || !thread_.joinable();
  kill();
  const auto status = process_->wait(deadline_ns);
  return status && status->ended();
}

std::optional<exit_status> launched_worker::ended() noexcept {
  if (!process_) return {};
  const auto status = process_->wait(0);
  if (!status || !status->ended()) return {};
  return *status;
}

}  // namespace troupe
