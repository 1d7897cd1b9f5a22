// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/kernel/engine/cuda/names.hpp>

namespace troupe::kernel {
namespace {

constexpr std::string_view head = "\n// troupe: names\n", kernel_line = "// kernel ", global_line = "// global ";

}  // namespace

// Each line has the name in the image first, because it contains no spaces.
std::string with_names(std::string image, const image_names& names) {
  image += head;
  for (const auto& [source, own] : names.kernels) image.append(kernel_line).append(own + " " + source + "\n");
  for (const auto& [source, own] : names.globals) image.append(global_line).append(own + " " + source + "\n");
  return image;
}

std::string_view without_names(std::string_view image) { return image.substr(0, image.rfind(head)); }

image_names names_in(std::string_view image) {
  image_names out;
  const std::size_t at = image.rfind(head);
  if (at == image.npos) return out;
  std::string_view left = image.substr(at + head.size());
  while (!left.empty()) {
    std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    const bool kernel = line.starts_with(kernel_line);
    if (!kernel && !line.starts_with(global_line)) continue;
    line.remove_prefix(kernel_line.size());
    static_assert(kernel_line.size() == global_line.size());
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    (kernel ? out.kernels : out.globals).emplace_back(line.substr(space + 1), line.substr(0, space));
  }
  return out;
}

}  // namespace troupe::kernel
