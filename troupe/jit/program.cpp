// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <troupe/jit/internal/recipe_codec.hpp>
#include <troupe/jit/requests.hpp>
#include <troupe/kernel/internal/program_requests.hpp>

namespace troupe::jit {
namespace {

void drop(const kernel::program_core& core) {
  // Fire and forget: when the device has stopped or its mailbox is full, the worker keeps it until it ends.
  (void)core.gpu().tell(unload{.root = out<std::byte>(core.root()), .state = out<std::byte>(core.state())},
                        {.waits_for_room = false});
}

// A folder is found from where the application is, whatever the worker's is.
void make_absolute(list<std::string>& folders) {
  for (std::string& f : folders) {
    std::error_code failed;
    if (const auto path = std::filesystem::absolute(f, failed); !failed) f = path.lexically_normal().string();
    while (f.size() > 1 && f.ends_with('/')) f.pop_back();  // as compilers name the files in it
  }
}

// The size is known only once it is compiled: so the summary comes first, and the image after it.
void fetch_image(const program& p, const result<kernel::build_summary>& summary,
                 const std::shared_ptr<promise<std::vector<std::byte>>>& answer) {
  if (!summary) return void(answer->set(p.core()->with_log(summary.error())));
  // It may have been unloaded meanwhile.
  if (auto why = kernel::why_unusable(p, name_of<read_image>())) return void(answer->set(*why));
  const device& gpu = p.core()->gpu();
  auto room = gpu.alloc_host<std::byte>(std::max<std::uint64_t>(summary->image_bytes, 1));
  gpu.ask(read_image{.root = in<std::byte>(p.core()->root()), .target = room})
      .then([answer, room](const result<std::uint64_t>& bytes) {
        if (!bytes) return void(answer->set(bytes.error()));
        answer->set(std::vector<std::byte>(room.begin(), room.begin() + std::min(*bytes, room.bytes())));
      });
}

}  // namespace

program compile(const device& gpu, recipe r) {
  using kernel::program_core;
  if (auto fine = check(r); !fine)
    return program(kernel::program(std::make_shared<program_core>(gpu, r.name, fine.error())));
  make_absolute(r.include_paths);
  const auto core = std::make_shared<program_core>(gpu, r.name, encode(r), r.log_bytes, &drop);
  // A tell: should it be refused, the program is stale with the reason.
  (void)gpu.tell(compile_recipe{.recipe = in<std::byte>(core->recipe()),
                                .root = out<std::byte>(core->root()),
                                .state = out<std::byte>(core->state_and_log())});
  return program(kernel::program(core));
}

pending<kernel::build_summary> program::summary() const { return kernel::ask_summary<read_summary>(*this); }
pending<void> program::ready() const { return kernel::ask_ready<read_summary>(*this); }
pending<std::string> program::log() const { return kernel::ask_log<read_summary>(*this); }
pending<kernel::attributes> program::attributes(const std::string& name) const {
  return kernel::ask_attributes<read_attributes>(*this, name);
}
pending<kernel::occupancy> program::occupancy(const std::string& name, const kernel::dimensions& block,
                                              extent shared_bytes, const kernel::dimensions& cluster) const {
  return kernel::ask_occupancy<read_occupancy>(*this, name, block, shared_bytes, cluster);
}
void program::cancel() const {
  if (*this) core()->cancel_making();
}
pending<void> program::unload() const { return kernel::ask_unload<jit::unload>(*this); }

pending<std::vector<std::byte>> program::image() const {
  if (auto why = kernel::why_unusable(*this, name_of<read_image>())) return make_ready<std::vector<std::byte>>(*why);
  auto answer = std::make_shared<promise<std::vector<std::byte>>>();
  auto p = answer->get_pending();
  summary().then([self = *this, answer](const result<kernel::build_summary>& s) { fetch_image(self, s, answer); });
  return p;
}

}  // namespace troupe::jit
