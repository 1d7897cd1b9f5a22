// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/kernel/internal/program_requests.hpp>
#include <troupe/module/internal/recipe.hpp>
#include <troupe/module/requests.hpp>

namespace troupe::module {
namespace {

void drop(const kernel::program_core& core) {
  // Fire and forget: when the device has stopped or its mailbox is full, the worker keeps it until it ends.
  (void)core.gpu().tell(unload{.root = out<std::byte>(core.root()), .state = out<std::byte>(core.state())},
                        {.waits_for_room = false});
}

std::optional<error> why_refused(std::span<const std::byte> bytes, const load_options& o) {
  std::string wrong;
  if (bytes.empty()) wrong = "bytes is empty; expected an image";
  if (o.name.empty()) wrong = "name is empty; expected what messages shall call the image";
  if (wrong.empty()) return std::nullopt;
  return error(error::details{.reaction = reaction::caller_bug,
                              .domain = "module",
                              .text = "module.load: " + wrong,
                              .request = {"module.load", 0}});
}

}  // namespace

image load(const device& gpu, std::span<const std::byte> bytes, load_options options) {
  using kernel::program_core;
  if (auto why = why_refused(bytes, options))
    return image(kernel::program(std::make_shared<program_core>(gpu, options.name, *why)));
  const auto core =
      std::make_shared<program_core>(gpu, options.name, encode({options, bytes}), std::uint64_t{0}, &drop);
  // A tell: should it be refused, the image is stale with the reason.
  (void)gpu.tell(load_image{.recipe = in<std::byte>(core->recipe()),
                            .root = out<std::byte>(core->root()),
                            .state = out<std::byte>(core->state_and_log())});
  return image(kernel::program(core));
}

pending<kernel::build_summary> image::summary() const { return kernel::ask_summary<read_summary>(*this); }
pending<void> image::ready() const { return kernel::ask_ready<read_summary>(*this); }
pending<kernel::attributes> image::attributes(const std::string& name) const {
  return kernel::ask_attributes<read_attributes>(*this, name);
}
pending<kernel::occupancy> image::occupancy(const std::string& name, const kernel::dimensions& block,
                                            extent shared_bytes, const kernel::dimensions& cluster) const {
  return kernel::ask_occupancy<read_occupancy>(*this, name, block, shared_bytes, cluster);
}
pending<void> image::unload() const { return kernel::ask_unload<module::unload>(*this); }

}  // namespace troupe::module
