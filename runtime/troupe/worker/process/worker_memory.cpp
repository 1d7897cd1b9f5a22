// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/protocol/protected_places.hpp>
#include <troupe/worker/process/worker_memory.hpp>

namespace troupe {
namespace {

map_access access_of(const protocol::memory_place& place) noexcept {
  return place.read_only != 0 ? map_access::read_only : map_access::read_write;
}

}  // namespace

worker_memory::~worker_memory() {
  if (gpu_ != nullptr) host_.for_each([this](std::byte* data) { gpu_->unpin(data); });
}

result<void> worker_memory::map(const protocol::memory_place& place, std::vector<file_descriptor> fds) {
  if (fds.size() != 1)
    return error(reaction::fatal, "worker",
                 cat("a message to map memory came with ", counted(fds.size(), "file", "files"),
                     "; expected the one of the memory"));
  if (is_device_memory(place.address)) return gpu_->map(place.address, place.bytes, fds[0], access_of(place));
  auto file = TROUPE_TRY(memory_file::open(std::move(fds[0]), place.bytes));
  const auto placed = TROUPE_TRY(host_.place(file, access_of(place), place.address));
  if (gpu_ == nullptr) return {};
  auto pinned = gpu_->pin(placed, file.size(), access_of(place));
  if (!pinned) host_.remove(place.address);
  return pinned;
}

void worker_memory::unmap(std::uint64_t address) {
  if (is_device_memory(address)) return gpu_->unmap(address);
  std::byte* const data = host_.find(address);
  if (data == nullptr) return;
  if (gpu_ != nullptr) gpu_->unpin(data);
  host_.remove(address);
}

result<void> worker_memory::protect(std::uint64_t address, std::uint64_t bytes, map_access access) {
  return is_device_memory(address) ? gpu_->protect(address, bytes, access) : host_.protect(address, bytes, access);
}

result<void> worker_memory::protect(const protocol::memory_place& place, std::vector<file_descriptor> fds) {
  if (place.only_counts()) return {};  // a request changes the protection, on a lane
  if (fds.empty()) return protect(place.address, place.bytes, access_of(place));
  auto file = TROUPE_TRY(memory_file::open(std::move(fds[0]), place.bytes));
  const auto all = TROUPE_TRY(protocol::parse_list(file, place.bytes));
  for (const protocol::protected_place& one : all) TROUPE_TRY(protect(one.address, one.bytes, access_of(place)));
  return {};
}

}  // namespace troupe
