// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/protocol/worker_description.hpp>

namespace troupe::protocol {

// An empty line is between the two; without a GPU there is none.
std::string text_of(const worker_description& worker) {
  return worker.gpu.empty() ? worker.engines : worker.gpu + "\n" + worker.engines;
}

worker_description parse_worker_description(const std::string& text) {
  const std::size_t end = text.find("\n\n");
  if (end == text.npos) return {.gpu = {}, .engines = text};
  return {.gpu = text.substr(0, end + 1), .engines = text.substr(end + 2)};
}

}  // namespace troupe::protocol
