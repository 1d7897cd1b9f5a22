// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/jit/recipe_codec.hpp>
#include <troupe/jit/requests.hpp>
#include <troupe/kernel/program_requests.hpp>

template class troupe::kernel::program_of<"jit">;

namespace troupe::jit {
namespace {

// Asks for the summary first, because the image's size is known only after the compile.
void fetch_image(const program& p, const result<kernel::build_summary>& summary,
                 const std::shared_ptr<promise<std::vector<std::byte>>>& answer) {
  if (!summary) return void(answer->set(p.core()->with_log(summary.error())));
  // The program may have been unloaded meanwhile.
  if (auto why = kernel::why_unusable(p, name_of<read_image>())) return void(answer->set(*why));
  const device& gpu = p.core()->gpu();
  auto memory = gpu.alloc_host<std::byte>(std::max<std::uint64_t>(summary->image_bytes, 1));
  gpu.ask(read_image{.root = in<std::byte>(p.core()->root()), .target = memory})
      .then([answer, memory](const result<std::uint64_t>& bytes) {
        if (!bytes) return void(answer->set(bytes.error()));
        answer->set(std::vector<std::byte>(memory.begin(), memory.begin() + std::min(*bytes, memory.bytes())));
      });
}

}  // namespace

program compile(const device& gpu, recipe r) {
  if (auto fine = check(r); !fine) return program(kernel::refused(gpu, r.name, fine.error()));
  make_absolute(r.include_paths);
  return program(kernel::made_by<"jit", "compile">(gpu, r.name, encode(r), r.log_bytes));
}

// Returns the messages whether the compile succeeded or not, and an error only if the compile could not be attempted.
pending<std::string> program::log() const {
  return summary().then([core = core()](const result<kernel::build_summary>& r) -> result<std::string> {
    if (!r && (!core || core->summary().written == 0)) return r.error();
    return core->log();
  });
}

void program::cancel() const {
  if (*this) core()->cancel_build();
}

pending<std::vector<std::byte>> program::image() const {
  if (auto why = kernel::why_unusable(*this, name_of<read_image>())) return make_ready<std::vector<std::byte>>(*why);
  auto answer = std::make_shared<promise<std::vector<std::byte>>>();
  auto p = answer->get_pending();
  summary().then([self = *this, answer](const result<kernel::build_summary>& s) { fetch_image(self, s, answer); });
  return p;
}

}  // namespace troupe::jit
