// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <random>
#include <troupe/kernel/program.hpp>

namespace troupe::kernel {
namespace {

// Unique among the programs of a device in all its generations; the beginning is different in each run, so that numbers
// in different journals and black boxes are not mixed up.
std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{static_cast<std::uint64_t>(std::random_device{}()) << 32};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

constexpr std::uint64_t aligned(std::uint64_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

memory_range part(const memory_range& all, std::uint64_t at, std::uint64_t bytes) {
  return {all.owner, all.address == 0 ? 0 : all.address + at, bytes};
}

}  // namespace

program_core::program_core(const device& gpu, std::string name, std::string_view recipe, std::uint64_t log_bytes,
                           void (*drop)(const program_core&))
    : gpu_(gpu), name_(std::move(name)), drop_(drop) {
  program_root root{};
  root.id = next_id();
  root.log_at = program_root::state_at + program_root::state_bytes;
  root.log_bytes = log_bytes;
  root.recipe_at = aligned(root.log_at + log_bytes);
  root.recipe_bytes = recipe.size();
  const auto memory = gpu_.alloc_host<std::byte>(root.recipe_at + std::max<std::uint64_t>(recipe.size(), 1));
  const memory_range& all = memory.memory();
  root_ = part(all, 0, program_root::bytes);
  state_ = part(all, program_root::state_at, program_root::state_bytes);
  state_and_log_ = part(all, program_root::state_at, program_root::state_bytes + log_bytes);
  recipe_ = part(all, root.recipe_at, std::max<std::uint64_t>(recipe.size(), 1));
  std::byte* at = memory.data();
  if (at == nullptr) return;  // no memory: whatever is asked of this program is refused with the reason
  const program_state unwritten{};
  std::memcpy(at, &root, sizeof root);
  std::memcpy(at + program_root::state_at, &unwritten, sizeof unwritten);
  std::memcpy(at + root.recipe_at, recipe.data(), recipe.size());
}

program_core::program_core(const device& gpu, std::string name, error why) : gpu_(gpu), name_(std::move(name)) {
  const auto any = gpu_.alloc_host<std::byte>(program_root::bytes);
  const memory_range& all = any.memory();
  // When there is not even that much memory, this reason came first.
  const block_ref never =
      all.address == 0 ? all.owner : all.owner->owner->stillborn(program_root::bytes, std::move(why));
  root_ = state_ = state_and_log_ = recipe_ = {never, 0, program_root::bytes};
}

program_core::~program_core() {
  if (drop_ != nullptr && root_.address != 0 && !unloaded()) drop_(*this);
}

build_summary program_core::summary() const noexcept {
  build_summary s;
  if (state_.address != 0) std::memcpy(&s, state_.owner->host + program_root::state_at, sizeof s);
  return s;
}

std::string program_core::log() const {
  const build_summary s = summary();
  if (s.written != 1) return {};
  // The memory is the worker's to write: nothing in it is believed.
  const std::uint64_t room = state_and_log_.bytes - program_root::state_bytes;
  const auto* at =
      reinterpret_cast<const char*>(state_.owner->host + program_root::state_at + program_root::state_bytes);
  std::string text(at, std::min(s.log_bytes, room));
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 0x7f) c = '?';
  return text;
}

error program_core::with_log(const error& why) const {
  const std::string text = log();
  if (text.empty()) return why;
  error::details d = why.all();
  d.text += "\n" + text;
  return error(std::move(d));
}

}  // namespace troupe::kernel
