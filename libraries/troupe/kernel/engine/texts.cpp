// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/kernel/engine/texts.hpp>
#include <troupe/kernel/internal/listing.hpp>

namespace troupe::kernel {
namespace {

error caller_bug(std::string_view request, const std::string& text) {
  return error(reaction::caller_bug, "kernel", std::string(request) + ": " + text);
}

}  // namespace

error no_kernel(std::string_view request, const std::string& program, std::string_view name, const std::string& those) {
  // If the GPU cannot run the program, `program` ends with a comma: "mine.cu, which is relocatable,". That is then the
  // reason.
  const bool may_be_template = name.find('<') != name.npos || (those == "none" && !program.ends_with(','));
  return caller_bug(request, program + " has no kernel \"" + std::string(name) + "\"; its kernels: " + those +
                                 (may_be_template ? ". Name templates when you compile it" : ""));
}

error no_global(std::string_view request, const std::string& program, std::string_view name, const std::string& those) {
  return caller_bug(request, program + " has no global \"" + std::string(name) + "\"; its globals: " + those +
                                 ". Name the globals you use when you compile it");
}

error not_in_global(std::string_view request, const std::string& global, std::uint64_t has, std::uint64_t offset,
                    std::uint64_t bytes) {
  return caller_bug(request, cat(bytes, " bytes at offset ", offset, " are not within global ", global, ", which has ",
                                 has, " bytes; use a slice of the buffer, or another offset"));
}

error unloaded_before(std::string_view request) {
  return caller_bug(request, "the program was unloaded; compile or load it again");
}

result<void> check_limits(const std::string& kernel, const block_limits& limits, std::uint64_t threads,
                          std::uint64_t shared_bytes, std::string_view request) {
  const std::string which = " (kernel " + kernel + ")";
  if (threads > limits.max_threads) [[unlikely]]
    return caller_bug(request, cat("block has ", threads, " threads; expected at most ", limits.max_threads,
                                   ", because of the kernel's __launch_bounds__ or registers", which));
  const std::uint64_t left =
      limits.shared_bytes - std::min<std::uint64_t>(limits.shared_bytes, limits.static_shared_bytes);
  if (shared_bytes > left) [[unlikely]]
    return caller_bug(
        request, cat("shared_bytes is ", shared_bytes, "; expected at most ", left, ", because a block has ",
                     limits.shared_bytes, " bytes of shared memory and this kernel uses ", limits.static_shared_bytes,
                     " of them for its own variables", which));
  return {};
}

described describe(const attributes& a) {
  described out{.listing = pack_listing(a)};
  out.head = {a.max_threads, a.static_shared_bytes, a.local_bytes,     static_cast<std::uint32_t>(a.parameters.size()),
              a.registers,   a.constant_bytes,      out.listing.size()};
  return out;
}

void write_state(const program_root& root, build_summary summary, std::string_view log) {
  std::string cut;
  if (log.size() > root.log_bytes) {
    const std::string notice = cat("\n… (", log.size(), " bytes in all; raise log_bytes to see more)\n");
    cut = std::string(log.substr(0, root.log_bytes - std::min<std::uint64_t>(root.log_bytes, notice.size()))) + notice;
    log = std::string_view(cut).substr(0, root.log_bytes);
  }
  summary.log_bytes = log.size();
  summary.written = 1;
  auto* const state = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(root.state));
  if (!log.empty()) std::memcpy(state + program_root::state_bytes, log.data(), log.size());
  std::memcpy(state, &summary, sizeof summary);
}

}  // namespace troupe::kernel
