// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <troupe/protocol/descriptions/worker_description.hpp>

namespace troupe::protocol {

// Writes the description of the GPU, if there is one, and an empty line; then a line "library backend version" for each
// engine.
std::string text_of(const worker_description& worker) {
  std::string text = worker.gpu.empty() ? "" : worker.gpu + "\n";
  for (const engine_info& e : worker.engines) {
    std::string line = e.library + " " + e.backend + " " + e.version;
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += line + "\n";
  }
  return text;
}

worker_description parse_worker_description(const std::string& text) {
  worker_description worker;
  const std::size_t end = text.find("\n\n");
  if (end != text.npos) worker.gpu = text.substr(0, end + 1);
  std::istringstream lines(end == text.npos ? text : text.substr(end + 2));
  for (std::string line; std::getline(lines, line);) {
    engine_info engine;
    std::istringstream words(line);
    if (words >> engine.library >> engine.backend >> std::ws && std::getline(words, engine.version))
      worker.engines.push_back(std::move(engine));
  }
  return worker;
}

}  // namespace troupe::protocol
