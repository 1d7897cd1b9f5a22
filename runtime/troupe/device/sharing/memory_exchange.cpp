// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Memory that a device shares with other code. Memory that cannot be mapped would end every worker, so mapping is tried
// first.

#include <fcntl.h>

#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/sharing/duplicate.hpp>
#include <troupe/device/sharing/memory_exchange.hpp>
#include <troupe/device/workers/shared_segments.hpp>
#include <troupe/device/workers/worker_pool.hpp>
#include <troupe/memory/buffer.hpp>

namespace troupe {
namespace {

error refused(std::string text) { return error(reaction::caller_bug, "memory", std::move(text)); }
error impossible(std::string text) { return error(reaction::unsupported, "memory", std::move(text)); }

// The address of a buffer in this process. A seal protects memory in workers only, so a writable address prevents
// sealing.
struct address_here {
  address_here(device_memory& m, block_ref b)
      : memory(m), of(std::move(b)), writes(memory.seals().begin_address(*of.get())) {}
  address_here(const address_here&) = delete;
  ~address_here() {
    seen = {};
    if (writes) memory.seals().end_address(*of.get());
  }
  device_memory& memory;  // lives as long as `of`
  const block_ref of;
  const bool writes;
  mapping seen;
};

}  // namespace

memory_exchange::memory_exchange(device_board& board, const shared_segments& segments, worker_pool& workers,
                                 completion& completion) noexcept
    : board_(board), segments_(segments), workers_(workers), completion_(completion) {}

result<std::pair<std::shared_ptr<const memory_file>, std::uint64_t>> memory_exchange::file_of(const memory_range& r,
                                                                                              const char* what) const {
  const std::string begin = std::string(what) + ": ";
  if (!r.owner) return refused(begin + "the buffer is empty (never allocated, or moved from)");
  if (r.owner->owner != &board_.memory)
    return refused(begin + "the buffer belongs to another device; ask the one it was allocated on");
  if (r.owner->address == 0) return *detail::why_stale(r);
  if (r.owner->managed)
    return impossible(begin +
                      "managed memory has no descriptor, and exists in its worker only; copy it to a buffer of "
                      "alloc()");
  if (const auto at = segments_.find(r.address)) {
    if (at->read_only) return refused(begin + "this is memory that only the application writes; copy it to a buffer");
    return std::pair(at->file, at->offset);
  }
  return impossible(begin +
                    "the buffer is in memory that was adopted and has no descriptor; share it as its owner does");
}

result<shared_memory> memory_exchange::export_memory(const memory_range& r) const {
  const auto found = TROUPE_TRY(file_of(r, "export_memory"));
  const auto& [file, offset] = found;
  auto fd = TROUPE_TRY(duplicate(file->fd(), "export_memory: dup"));
  TROUPE_TRY(board_.memory.seals().begin_export(*r.owner.get()));
  const bool on_gpu = board_.gpu && r.owner->host == nullptr;
  return shared_memory{.descriptor = std::move(fd),
                       .form = on_gpu ? memory_form::cuda : memory_form::file,
                       .offset_bytes = offset,
                       .bytes = r.bytes,
                       .allocation_bytes = file->size()};
}

result<void> memory_exchange::check_import(const shared_memory& from) const {
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  if (!from.descriptor)
    return refused(
        "import_memory: there is no descriptor. Memory without one (cudaMalloc, new) can be used by a worker that is a "
        "thread: adopt_memory on a device with isolation::thread. Otherwise copy it with upload, or allocate it with "
        "cuMemCreate or memfd_create");
  if (from.bytes == 0) return refused("import_memory: bytes is 0; expected at least 1 element");
  if (from.form != (board_.gpu ? memory_form::cuda : memory_form::file))
    return impossible(std::string("import_memory: the descriptor is ") +
                      (board_.gpu
                           ? "of a memory file; this device opens memory made by cuMemCreate: copy it with upload"
                           : "of a GPU's memory, and this device is the host"));
  if (from.offset_bytes > from.allocation_bytes || from.bytes > from.allocation_bytes - from.offset_bytes)
    return refused("import_memory: " + text(from.bytes) + " bytes at offset " + text(from.offset_bytes) +
                   " exceed the allocation, which has " + text(from.allocation_bytes) + " bytes");
  if (board_.gpu && from.allocation_bytes % segment_alignment != 0)
    return refused("import_memory: allocation_bytes is " + text(from.allocation_bytes) +
                   "; expected the size passed to cuMemCreate, a multiple of 2 MiB");
  return {};
}

result<void> memory_exchange::try_to_open(const shared_memory& from) {
  auto fd = TROUPE_TRY(duplicate(from.descriptor.get(), "import_memory: dup"));
  if (board_.gpu) {
    const auto opened = workers_.ask_one([&](allocation_client& m, std::int64_t deadline) {
      return m.try_to_open(fd, from.allocation_bytes, deadline);
    });
    return opened ? result<void>() : opened.error();
  }
  auto file = memory_file::open(std::move(fd), from.allocation_bytes);
  if (!file)
    return refused("import_memory: " + file.error().text() +
                   ": make it with memfd_create, and seal its size (F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), so that "
                   "it cannot shrink while the worker uses it");
  // Prevents further seals: if the file can be mapped for writing now, every later worker can map it too. Fails if the
  // file has F_SEAL_SEAL already, which is just as good.
  (void)::fcntl(file->fd(), F_ADD_SEALS, F_SEAL_SEAL);
  if (auto seen = mapping::map(*file, map_access::read_write); !seen)
    return refused("import_memory: the memory file cannot be mapped for writing: " + seen.error().text());
  return {};
}

result<memory_range> memory_exchange::import_memory(shared_memory from, std::size_t element_bytes,
                                                    std::size_t alignment) {
  if (board_.admission.refusing()) return board_.admission.refusal();
  TROUPE_TRY(check_import(from));
  if (from.bytes % element_bytes != 0 || from.offset_bytes % alignment != 0)
    return refused(cat("import_memory: ", from.bytes, " bytes at offset ", from.offset_bytes,
                       "; expected whole elements of ", element_bytes, " bytes, at an offset that is a multiple of ",
                       alignment));
  TROUPE_TRY(try_to_open(from));
  return board_.memory.import(from.allocation_bytes, std::move(from.descriptor).take(), from.offset_bytes, from.bytes);
}

result<memory_range> memory_exchange::adopt_memory(std::byte* data, extent bytes, std::size_t alignment,
                                                   std::shared_ptr<const void> keep) {
  if (board_.admission.refusing()) return board_.admission.refusal();
  if (board_.options.isolation != isolation::thread)
    return impossible("adopt_memory: the worker of " + board_.options.name +
                      " is another process, which cannot access this program's memory. Open the device with "
                      "isolation::thread, copy the memory with upload, or allocate it with memfd_create or cuMemCreate "
                      "and use import_memory");
  if (data == nullptr || bytes < 1 || bytes.overflowed())
    return refused("adopt_memory: the address is null, or the number of elements is not at least 1");
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
    return refused(cat("adopt_memory: the memory does not begin at a multiple of ", alignment,
                       " bytes, the alignment of its elements"));
  return board_.memory.adopt(reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint64_t>(bytes.value()),
                             std::move(keep));
}

result<addressed_memory> memory_exchange::address_of(const memory_range& r) const {
  addressed_memory out;
  out.read_only = r.owner && r.owner->seal.load() != seal_state::open;
  if (r.owner && r.owner->owner == &board_.memory && r.owner->host != nullptr) {
    out.data = r.owner->host + (r.address - r.owner->address);
    return out;
  }
  const bool direct = board_.options.isolation == isolation::thread;
  if (board_.gpu && !direct)
    return impossible(
        "address: the buffer is on a GPU, whose worker is another process. Give others its descriptor "
        "(export_memory), or open the device with isolation::thread");
  // The worker is a thread of this process, so its address is valid here while the worker lives.
  const auto as_the_worker = [&] {
    out.data = reinterpret_cast<std::byte*>(r.address);
    out.on_gpu = board_.gpu;
    out.ordinal = static_cast<std::int32_t>(board_.options.ordinal);
    return out;
  };
  const bool is_here = direct && r.owner && r.owner->owner == &board_.memory && r.owner->address != 0;
  if (is_here && board_.gpu) return as_the_worker();
  const auto found = file_of(r, "address");
  if (!found && is_here) return as_the_worker();  // adopted or managed memory
  if (!found) return found.error();
  const auto keep = std::make_shared<address_here>(board_.memory, r.owner);
  out.read_only = !keep->writes;
  auto seen = mapping::map(*found->first, out.read_only ? map_access::read_only : map_access::read_write);
  if (!seen) return seen.error();
  out.data = seen->data() + found->second;
  keep->seen = std::move(*seen);
  out.keep = keep;
  return out;
}

}  // namespace troupe
