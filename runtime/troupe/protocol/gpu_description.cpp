// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string_view>
#include <troupe/base/cat.hpp>
#include <troupe/protocol/gpu_description.hpp>

namespace troupe::protocol {
namespace {

std::uint64_t number(const std::string& text) {
  std::uint64_t out = 0;
  std::istringstream in(text);
  return in >> out ? out : 0;
}

// The first line that begins with the key and a blank, behind it.
std::string value_of(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find_first_not_of(" \t", key.size());
    if (at != line.npos && at != key.size()) return line.substr(at);
  }
  return {};
}

}  // namespace

std::string text_of(const gpu_description& gpu) {
  std::string out =
      cat("name ", gpu.name, "\ncapability ", gpu.capability_major, ".", gpu.capability_minor, "\npci ", gpu.pci,
          "\nmemory ", gpu.memory_bytes, "\nmultiprocessors ", gpu.multiprocessors, "\ndriver ", gpu.driver, "\n");
  for (const gpu_description::peer& p : gpu.peers)
    out += cat("peer ", p.pci, p.access ? " 1 " : " 0 ", p.performance_rank, p.native_atomics ? " 1\n" : " 0\n");
  return out;
}

gpu_description parse_gpu_description(const std::string& text) {
  gpu_description out;
  out.name = value_of(text, "name");
  const std::string capability = value_of(text, "capability");
  out.capability_major = static_cast<std::uint32_t>(number(capability));
  if (const std::size_t dot = capability.find('.'); dot != capability.npos)
    out.capability_minor = static_cast<std::uint32_t>(number(capability.substr(dot + 1)));
  out.multiprocessors = static_cast<std::uint32_t>(number(value_of(text, "multiprocessors")));
  out.pci = value_of(text, "pci");
  out.driver = value_of(text, "driver");
  out.memory_bytes = number(value_of(text, "memory"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    gpu_description::peer peer;
    int access = 0, atomics = 0;
    if (!(words >> key >> peer.pci >> access >> peer.performance_rank >> atomics) || key != "peer") continue;
    peer.access = access != 0;
    peer.native_atomics = atomics != 0;
    out.peers.push_back(std::move(peer));
  }
  return out;
}

}  // namespace troupe::protocol
