// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/linux/unwatched_mmap.hpp>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/process/allocation_server.hpp>

namespace troupe {
namespace {

std::uint64_t page_bytes() noexcept { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

// Returns the size of a mapping on the host: whole pages, and one more that may be read.
std::uint64_t mapped_bytes(std::uint64_t bytes) noexcept { return round_up(bytes, page_bytes()) + page_bytes(); }

}  // namespace

allocation_server::allocation_server(control_socket questions, platform* gpu, std::function<void()> enter)
    : questions_(std::move(questions)), gpu_(gpu), enter_(std::move(enter)) {}

allocation_server::~allocation_server() {
  for (const auto& [address, bytes] : managed_) free_managed(address, bytes);
}

void allocation_server::start() {
  releases_.emplace(enter_);
  thread_ = std::thread([this] {
    serve();
    questions_.shut_down();  // no thread of the application may wait for an answer any more
  });
}

void allocation_server::stop() {
  if (thread_.joinable()) {
    questions_.shut_down();
    thread_.join();
  }
  releases_.reset();
}

void allocation_server::detach() {
  if (thread_.joinable()) thread_.detach();
}

void allocation_server::serve() {
  enter_();
  while (true) {
    std::array<std::byte, sizeof(protocol::wanted_memory)> packet{};
    const auto got = questions_.receive(packet, 1);
    if (got && got->outcome != control_socket::outcome::message) return;
    // A packet whose descriptor was dropped, because this process had no free one, still holds a question.
    const auto wanted = protocol::parse_question(std::span(packet.data(), got ? got->bytes : packet.size()));
    if (!wanted || (!got && wanted->number == 0)) return;
    if (wanted->what == protocol::wanted::release) {
      if (const auto at = managed_.extract(wanted->address))
        releases_->add([this, address = at.key(), bytes = at.mapped()] { free_managed(address, bytes); });
    } else if (!answer(*wanted, got)) {
      return;
    }
  }
}

// Returns false if the application has ended.
bool allocation_server::answer(const protocol::wanted_memory& wanted, const result<control_socket::received>& got) {
  std::uint64_t address = 0;
  const result<file_descriptor> made = make(wanted, got, address);
  const std::string text = made ? std::string() : made.error().text();
  const protocol::made_memory head{.made = made ? 1u : 0u,
                                   .reaction = made ? 0u : static_cast<std::uint32_t>(made.error().reaction()),
                                   .address = address,
                                   .number = wanted.number};
  const int fd = made ? made->get() : -1;
  return static_cast<bool>(questions_.send(protocol::packet_of(head, text), std::span(&fd, fd >= 0 ? 1 : 0)));
}

result<file_descriptor> allocation_server::make(const protocol::wanted_memory& wanted,
                                                const result<control_socket::received>& got, std::uint64_t& address) {
  if (!got) return got.error();
  if (wanted.what == protocol::wanted::managed) {
    address = TROUPE_TRY(make_managed(wanted.bytes));
    managed_.emplace(address, wanted.bytes);
    return file_descriptor();
  }
  if (gpu_ == nullptr)
    return error(reaction::fatal, "worker", "on the host the application allocates device memory, not the worker");
  if (got->fds.empty()) return gpu_->make_memory(wanted.bytes);
  TROUPE_TRY(gpu_->try_to_map(wanted.bytes, got->fds[0]));
  return file_descriptor();
}

result<std::uint64_t> allocation_server::make_managed(std::uint64_t bytes) {
  if (gpu_ != nullptr) return gpu_->make_managed(bytes);
  // MAP_SHARED, so that it does not count against the limit on the process's data. Mapped without the thread
  // sanitizer's knowledge, because other threads of this process get the address from the application.
  const std::uint64_t whole = mapped_bytes(bytes);
  void* const at = unwatched_mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
  if (at == MAP_FAILED) return error_of_errno("memory", cat("mmap of ", bytes, " bytes"));
  // The last page is for vector code that reads beyond the end: see placed_memory.
  (void)::mprotect(static_cast<std::byte*>(at) + whole - page_bytes(), page_bytes(), PROT_READ);
  return reinterpret_cast<std::uintptr_t>(at);
}

void allocation_server::free_managed(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (gpu_ != nullptr) return gpu_->free_managed(address);
  ::munmap(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), mapped_bytes(bytes));
}

}  // namespace troupe
