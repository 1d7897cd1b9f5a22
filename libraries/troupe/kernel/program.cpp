// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <random>
#include <troupe/device/library_access.hpp>
#include <troupe/kernel/program.hpp>

namespace troupe::kernel {
namespace {

// Returns a number that is unique among the programs of a device, in all its workers. Each run of the application
// starts at a different number, so that programs in different journals and black boxes are not confused.
std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{static_cast<std::uint64_t>(std::random_device{}()) << 32};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

constexpr std::uint64_t aligned(std::uint64_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

memory_range part(const memory_range& all, std::uint64_t at, std::uint64_t bytes) {
  return {all.owner, all.address == 0 ? 0 : all.address + at, bytes};
}

}  // namespace

// Reads a symbol that field_codec<symbol> has encoded. The application's copy of the request has its lists at other
// addresses than workers do.
void encoded_symbol::add_name(const std::byte* at, const encoded_request& r, std::string& to) {
  std::uint64_t raw[3];
  std::memcpy(raw, at, sizeof raw);
  const auto text = [&to](std::span<const std::byte> from, std::uint64_t bytes) {
    if (bytes <= from.size()) to.append(reinterpret_cast<const char*>(from.data()), bytes);
  };
  to += ' ';
  if (raw[1] == 0)
    to.append(reinterpret_cast<const char*>(at + sizeof raw), raw[2]);
  else
    text(r.memory.at(raw[1]), raw[2]);
  const std::span<const std::byte> block = r.memory.at(raw[0]);
  if (block.size() < sizeof(program_root)) return;
  // a reference, because other threads may set `unloaded`
  const auto& root = *reinterpret_cast<const program_root*>(block.data());
  if (root.recipe_at + root.recipe_bytes > block.size()) return;
  to += " (";
  text(block.subspan(root.recipe_at + root.recipe_bytes), root.name_bytes);
  to += ')';
}

program_core::program_core(const device& gpu, std::string name, std::string_view recipe, std::uint64_t log_bytes,
                           void (*drop)(const program_core&))
    : gpu_(library_access(gpu).unscoped()), name_(std::move(name)), drop_(drop) {
  program_root root{.id = next_id(), .log_bytes = log_bytes};
  root.recipe_at = aligned(sizeof root);
  root.recipe_bytes = recipe.size();
  root.name_bytes = name_.size();
  const memory_range all =
      library_access(gpu_).alloc_sent(root.recipe_at + std::max<std::uint64_t>(recipe.size() + name_.size(), 1));
  root_ = part(all, 0, program_root::bytes);
  recipe_ = part(all, root.recipe_at, std::max<std::uint64_t>(recipe.size(), 1));
  const auto said = gpu_.alloc_host<std::byte>(program_root::state_bytes + log_bytes);
  state_and_log_ = said.memory();
  state_ = part(state_and_log_, 0, program_root::state_bytes);
  if (all.address == 0 || said.data() == nullptr) return;  // every request for this program is refused with `why`
  const program_state unwritten{};
  std::memcpy(said.data(), &unwritten, sizeof unwritten);
  root.state = state_.address;
  state_.owner->at_fault.store(fate::kept, std::memory_order_relaxed);  // a new worker writes the summary again
  std::byte* const at = all.owner->host;
  std::memcpy(at, &root, sizeof root);
  std::memcpy(at + root.recipe_at, recipe.data(), recipe.size());
  std::memcpy(at + root.recipe_at + recipe.size(), name_.data(), name_.size());
}

program_core::program_core(const device& gpu, std::string name, error why)
    : gpu_(library_access(gpu).unscoped()), name_(std::move(name)) {
  const auto any = gpu_.alloc_host<std::byte>(program_root::bytes);
  const memory_range& all = any.memory();
  // The program was invalid before: if allocating memory fails, too, that error takes precedence.
  const block_ref never =
      all.address == 0 ? all.owner : all.owner->owner->failed_buffer(program_root::bytes, std::move(why));
  root_ = state_ = state_and_log_ = recipe_ = {never, 0, program_root::bytes};
}

program_core::~program_core() {
  if (drop_ != nullptr && root_.address != 0 && !unloaded()) drop_(*this);
}

void program_core::mark_unloaded() noexcept {
  if (root_.address == 0) return;
  auto* const root = reinterpret_cast<program_root*>(root_.owner->host);
  std::atomic_ref(root->unloaded).store(1, std::memory_order_release);
}

void program_core::cancel_build() noexcept {
  if (root_.address == 0) return;
  auto* const root = reinterpret_cast<program_root*>(root_.owner->host);
  const std::atomic_ref cancelled(root->cancelled);
  cancelled.store(1, std::memory_order_seq_cst);
  // If the program was built meanwhile, clears the flag again; otherwise the next worker would refuse to build it.
  if (summary().written == 1) cancelled.store(0, std::memory_order_release);
}

build_summary program_core::summary() const noexcept {
  build_summary s;
  if (state_.address != 0) std::memcpy(&s, state_.owner->host, sizeof s);
  return s;
}

std::string program_core::log() const {
  const build_summary s = summary();
  if (s.written != 1) return {};
  // Workers can write this memory, so nothing in it is trusted.
  const std::uint64_t capacity = state_and_log_.bytes - program_root::state_bytes;
  const auto* at = reinterpret_cast<const char*>(state_.owner->host + program_root::state_bytes);
  std::string text(at, std::min(s.log_bytes, capacity));
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 0x7f) c = '?';
  return text;
}

error program_core::with_log(const error& why) const {
  const std::string text = log();
  if (text.empty()) return why;
  error::details d = why.all();
  // The log repeats the message at the end of `why`, so it is removed there.
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = " " + text.substr(begin, end - begin);
    begin = end + 1;
    if (line.size() < 2 || !d.text.ends_with(line)) continue;
    d.text.resize(d.text.size() - line.size());
    break;
  }
  d.text += "\n" + text;
  return error(std::move(d));
}

}  // namespace troupe::kernel
