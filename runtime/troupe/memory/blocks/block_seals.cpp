// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/memory/blocks/block_seals.hpp>

namespace troupe {

void block_seals::protect(owned_block& b, bool read_only, std::uint32_t by) noexcept {
  if (std::exchange(b.read_only, read_only) == read_only) return;
  sealed_bytes_ += read_only ? b.bytes : 0 - b.bytes;
  if (pools_.source() != nullptr) pools_.source()->protect(b.address, b.sealable, read_only, by);
}

result<owned_block*> block_seals::whole(const memory_range& all, const char* what) const {
  const auto refused = [what](const std::string& why) {
    return error(reaction::caller_bug, "memory", std::string(what) + ": " + why);
  };
  if (!all.owner) return refused("the buffer is empty (never allocated, or moved from)");
  if (all.owner->owner != &memory_)
    return refused("the buffer belongs to another device; use the one that it was allocated on");
  auto& b = static_cast<owned_block&>(*all.owner.get());
  if (b.address == 0) return *memory_.stale_cause(b, 0, 0);
  if (all.address != b.address || all.bytes != b.bytes)
    return refused(cat("this is a slice of ", all.bytes, " bytes; expected the buffer as it was allocated (", b.bytes,
                       " bytes): pages are sealed, not elements"));
  return &b;
}

result<block_seals::request> block_seals::begin(const memory_range& all) {
  const auto found = TROUPE_TRY(whole(all, "seal"));
  owned_block& b = *found;
  if (b.sealable == 0)
    return error(reaction::caller_bug, "memory",
                 "seal: the buffer shares its pages with other buffers; allocate it with alloc_options::sealable");
  const std::scoped_lock guard(lock_);
  switch (b.seal.load(std::memory_order_relaxed)) {
    case seal_state::sealed:
      return request{0, b.seals};
    case seal_state::sealing:
    case seal_state::unsealing:
      return error(reaction::caller_bug, "memory", "seal: the buffer is being sealed or unsealed; await that first");
    case seal_state::open:
      break;
  }
  if (b.exported)
    return error(reaction::caller_bug, "memory",
                 "seal: a descriptor of the buffer was given out (export_memory), and its holder can write; copy it "
                 "to another buffer, and seal that one");
  if (b.addresses != 0)
    return error(reaction::caller_bug, "memory",
                 "seal: this program has an address of the buffer and can write there; release the address() handle "
                 "and the to_dlpack tensors first, or copy the buffer to another, and seal that one");
  b.seal.store(seal_state::sealing, std::memory_order_seq_cst);
  return request{b.sealable, ++b.seals};
}

result<void> block_seals::begin_export(block& base) {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (b.sealable != 0 && !pools_.seals_segments())
    return error(
        reaction::caller_bug, "memory",
        "export_memory: the buffer shares its descriptor with others that may be sealed, and its holder can write "
        "them; copy it to a buffer without alloc_options::sealable, and export that one");
  if (b.seal.load(std::memory_order_relaxed) != seal_state::open)
    return error(
        reaction::caller_bug, "memory",
        "export_memory: the buffer is sealed, and the holder of a descriptor can write; unseal() it first, or copy it");
  b.exported = true;
  return {};
}

bool block_seals::begin_address(block& base) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (b.seal.load(std::memory_order_relaxed) != seal_state::open) return false;
  ++b.addresses;
  return true;
}

void block_seals::end_address(block& base) noexcept {
  const std::scoped_lock guard(lock_);
  --static_cast<owned_block&>(base).addresses;
}

void block_seals::end(block& base, std::uint32_t number, bool done, std::uint32_t by) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (number != b.seals) return;
  const seal_state now = b.seal.load(std::memory_order_relaxed), next = done ? seal_state::sealed : seal_state::open;
  if (now == seal_state::unsealing) b.before = next;
  if (now != seal_state::sealing) return;
  if (done)
    protect(b, true, by);
  else if (pools_.source() != nullptr)
    pools_.source()->protect(b.address, b.sealable, false, 0);  // the worker may have sealed it
  b.seal.store(next, std::memory_order_seq_cst);
}

result<block_seals::request> block_seals::begin_unseal(const memory_range& all) {
  const auto found = TROUPE_TRY(whole(all, "unseal"));
  owned_block& b = *found;
  const std::scoped_lock guard(lock_);
  const seal_state now = b.seal.load(std::memory_order_relaxed);
  if (now == seal_state::open) return request{0, b.seals};
  if (now == seal_state::unsealing)
    return error(reaction::caller_bug, "memory", "unseal: the buffer is being unsealed; await that first");
  // A fault while the block was sealed did not affect it.
  if (now == seal_state::sealed) b.generation.store(generation_.load(), std::memory_order_release);
  b.before = now;
  b.seal.store(seal_state::unsealing, std::memory_order_seq_cst);
  return request{b.sealable, b.seals};
}

void block_seals::end_unseal(block& base, std::uint64_t ticket, std::uint32_t by) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (ticket != 0) {
    b.unsealed_at.store(ticket);
    ++b.seals;  // so that `end` of the seal is ignored
    protect(b, false, by);
  } else if (b.before == seal_state::sealed) {
    protect(b, true);  // in case `end` of the seal came in the meantime
  }
  b.seal.store(ticket != 0 ? seal_state::open : b.before, std::memory_order_seq_cst);
}

void block_seals::unseal_was_lost(block& base) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (!b.read_only && pools_.source() != nullptr) pools_.source()->protect(b.address, b.sealable, false, 0);
}

}  // namespace troupe
