// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <troupe/kernel/engine/match.hpp>
#include <troupe/kernel/engine/programs.hpp>
#include <troupe/kernel/internal/listing.hpp>

namespace troupe::kernel {
namespace {

// An error's text has an end: some names say what kind of names there are.
constexpr std::size_t most_listed_bytes = 600;

template <class List>
std::string names_of(const List& list) {
  std::string out;
  for (const auto& one : list) {
    if (out.size() + one.name.size() > most_listed_bytes) return out + ", …";
    out.append(out.empty() ? "" : ", ").append(one.name);
  }
  return out.empty() ? "none" : out;
}

error caller_bug(std::string_view request, const std::string& text) {
  return error(reaction::caller_bug, "kernel", std::string(request) + ": " + text);
}

dim host_dim(const dimensions& d) noexcept {
  return {static_cast<std::uint32_t>(d.x.value()), static_cast<std::uint32_t>(d.y.value()),
          static_cast<std::uint32_t>(d.z.value())};
}

}  // namespace

loaded_program::loaded_program(std::string name, loaded_image image, std::shared_ptr<const std::string> bytes,
                               bool flush_to_zero)
    : name_(std::move(name)), image_(std::move(image)), bytes_(std::move(bytes)), flush_to_zero_(flush_to_zero) {}

result<const loaded_kernel*> loaded_program::kernel(std::string_view name, std::string_view request) const {
  {
    const std::shared_lock guard(lock_);
    if (const auto known = asked_for_.find(name); known != asked_for_.end()) return known->second;
  }
  const loaded_kernel* found = image_.find_kernel(name);
  if (found == nullptr)
    return caller_bug(request, name_ + " has no kernel \"" + std::string(name) +
                                   "\"; its kernels: " + names_of(image_.kernels()) +
                                   (name.find('<') == name.npos ? "" : ". Templates are named when it is compiled"));
  const std::scoped_lock guard(lock_);
  asked_for_.emplace(name, found);
  return found;
}

result<const loaded_global*> loaded_program::global(std::string_view name, std::string_view request) const {
  const loaded_global* found = image_.find_global(name);
  if (found != nullptr) return found;
  return caller_bug(request, name_ + " has no global \"" + std::string(name) + "\"; its globals: " +
                                 names_of(image_.globals()) + ". Those to be used are named when it is compiled");
}

result<program_ref> programs::find(const program_root& root, std::string_view request) {
  {
    const std::shared_lock guard(lock_);
    if (const auto known = known_.find(root.id); known != known_.end()) [[likely]]
      return known->second.program;
    if (auto why = why_unloaded(root, request)) return *why;
  }
  return keep(root, make_(root), false);
}

// With the lock.
std::optional<error> programs::why_unloaded(const program_root& root, std::string_view request) const {
  const bool noted = std::atomic_ref(const_cast<std::uint64_t&>(root.unloaded)).load(std::memory_order_acquire) != 0;
  if (!noted && std::find(unloaded_.begin(), unloaded_.end(), root.id) == unloaded_.end()) return {};
  return caller_bug(request, "the program was unloaded; compile or load it again");
}

result<program_ref> programs::keep(const program_root& root, made&& m, bool told) {
  if (!m.program) return m.program;
  const std::scoped_lock guard(lock_);
  // Of several that were made at the same time, one.
  const auto [at, first] =
      known_.try_emplace(root.id, entry{std::move(*m.program), m.summary, std::move(m.log), false});
  at->second.told |= told;
  return at->second.program;
}

result<void> programs::make(const program_root& root) {
  made m = make_(root);
  write_state(root, m.summary, m.log);
  const auto kept = keep(root, std::move(m), true);
  return kept ? result<void>() : kept.error();
}

result<build_summary> programs::summary(const program_root& root, std::string_view request) {
  if (const auto program = find(root, request); !program) return program.error();
  const std::scoped_lock guard(lock_);
  const auto known = known_.find(root.id);
  if (known == known_.end()) return *why_unloaded(root, request);
  entry& e = known->second;
  if (!std::exchange(e.told, true)) write_state(root, e.summary, e.log);
  build_summary s = e.summary;
  s.log_bytes = std::min<std::uint64_t>(e.log.size(), root.log_bytes);
  s.written = 1;
  return s;
}

void programs::unload(const program_root& root) {
  constexpr std::size_t most_remembered = 1024;
  program_ref last;  // its destructor runs without the lock
  const std::scoped_lock guard(lock_);
  unloaded_.push_back(root.id);
  if (unloaded_.size() > most_remembered) unloaded_.pop_front();
  if (const auto known = known_.find(root.id); known != known_.end()) {
    last = std::move(known->second.program);
    known_.erase(known);
  }
}

result<void> programs::run(const program_root& root, const launch& l) {
  if (l.cooperative) [[unlikely]]
    return error(reaction::unsupported, "kernel",
                 std::string(l.request) +
                     ": cooperative is true, but the host engine runs a grid's blocks one after the other, so they "
                     "cannot wait for each other; split the kernel where its grid meets, into launches");
  auto program = find(root, l.request);
  if (!program) [[unlikely]]
    return program.error();
  const auto kernel = (*program)->kernel(l.kernel, l.request);
  if (!kernel) [[unlikely]]
    return kernel.error();
  argument_frame frame;
  if (auto matching = frame.fill(l.values, **kernel, l.request); !matching) [[unlikely]]
    return matching;
  return launcher_.launch(**kernel, host_dim(l.grid), host_dim(l.block),
                          static_cast<std::uint64_t>(l.shared_bytes.value()), frame.addresses(),
                          {.flush_to_zero = (*program)->flush_to_zero(), .request = l.request});
}

result<std::byte*> programs::place(const program_root& root, std::string_view name, extent offset, std::uint64_t bytes,
                                   std::string_view request, program_ref& keep) {
  auto program = find(root, request);
  if (!program) return program.error();
  keep = std::move(*program);
  const auto global = keep->global(name, request);
  if (!global) return global.error();
  const loaded_global& g = **global;
  const auto first = static_cast<std::uint64_t>(offset.value());
  if (first > g.bytes || bytes > g.bytes - first)
    return caller_bug(request, std::to_string(bytes) + " bytes at offset " + std::to_string(first) +
                                   " do not lie in global " + g.name + ", which has " + std::to_string(g.bytes) +
                                   " bytes; use a slice of the buffer, or another offset");
  return static_cast<std::byte*>(g.address) + first;
}

result<void> programs::write(const program_root& root, std::string_view name, extent offset, const std::byte* from,
                             std::uint64_t bytes, std::string_view request) {
  program_ref keep;
  const auto to = place(root, name, offset, bytes, request, keep);
  if (!to) return to.error();
  std::memcpy(*to, from, bytes);
  return {};
}

result<void> programs::read(const program_root& root, std::string_view name, extent offset, std::byte* to,
                            std::uint64_t bytes, std::string_view request) {
  program_ref keep;
  const auto from = place(root, name, offset, bytes, request, keep);
  if (!from) return from.error();
  std::memcpy(to, *from, bytes);
  return {};
}

result<attributes_head> programs::attributes(const program_root& root, std::string_view name, std::byte* listing,
                                             std::uint64_t listing_bytes, std::string_view request) {
  auto program = find(root, request);
  if (!program) return program.error();
  const auto found = (*program)->kernel(name, request);
  if (!found) return found.error();
  const loaded_kernel& k = **found;
  struct attributes a;
  a.name = k.name;
  a.execution = std::string(to_string(k.attributes.how));
  if (!k.attributes.reason.empty()) a.execution += ": " + k.attributes.reason;
  for (const parameter& p : k.parameters)
    a.parameters.push_back({p.spelling, static_cast<passing>(p.kind), p.type, p.bytes, p.alignment});
  const std::string text = pack_listing(a);
  if (text.size() <= listing_bytes) std::memcpy(listing, text.data(), text.size());
  return attributes_head{k.attributes.max_threads, k.attributes.static_shared_bytes, k.attributes.stack_bytes,
                         static_cast<std::uint32_t>(k.parameters.size()), text.size()};
}

void write_state(const program_root& root, build_summary summary, std::string_view log) {
  std::string cut;
  if (log.size() > root.log_bytes) {
    const std::string notice = "\n… (" + std::to_string(log.size()) + " bytes in all; raise log_bytes to see more)\n";
    cut = std::string(log.substr(0, root.log_bytes - std::min<std::uint64_t>(root.log_bytes, notice.size()))) + notice;
    log = std::string_view(cut).substr(0, root.log_bytes);
  }
  summary.log_bytes = log.size();
  summary.written = 1;
  auto* const state = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(root.state));
  if (!log.empty()) std::memcpy(state + program_root::state_bytes, log.data(), log.size());
  std::memcpy(state, &summary, sizeof summary);
}

std::string_view recipe_of(const program_root& root) noexcept {
  return {reinterpret_cast<const char*>(&root) + root.recipe_at, root.recipe_bytes};
}

}  // namespace troupe::kernel
