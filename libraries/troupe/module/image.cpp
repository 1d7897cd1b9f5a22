// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/kernel/program_requests.hpp>
#include <troupe/module/internal/recipe.hpp>

template class troupe::kernel::program_of<"module">;

namespace troupe::module {
namespace {

std::optional<error> why_refused(std::span<const std::byte> bytes, const load_options& o) {
  std::string wrong;
  if (bytes.empty()) wrong = "bytes is empty; expected the bytes of an image";
  if (o.name.empty()) wrong = "name is empty; expected a name with which messages refer to the image";
  if (wrong.empty()) return std::nullopt;
  return error(error::details{.reaction = reaction::caller_bug,
                              .domain = "module",
                              .text = "module.load: " + wrong,
                              .request = {"module.load", 0}});
}

}  // namespace

image load(const device& gpu, std::span<const std::byte> bytes, load_options options) {
  if (auto why = why_refused(bytes, options)) return image(kernel::refused(gpu, options.name, *why));
  return image(kernel::made_by<"module", "load">(gpu, options.name, encode({options, bytes}), 0));
}

}  // namespace troupe::module
