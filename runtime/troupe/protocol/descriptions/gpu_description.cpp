// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/key_values.hpp>
#include <troupe/protocol/descriptions/gpu_description.hpp>

namespace troupe::protocol {

std::string text_of(const gpu_description& gpu) {
  std::string out =
      cat("name ", gpu.name, "\ncapability ", gpu.capability_major, ".", gpu.capability_minor, "\npci ", gpu.pci,
          "\nmemory ", gpu.memory_bytes, "\nmultiprocessors ", gpu.multiprocessors, "\ndriver ", gpu.driver, "\n");
  for (const gpu_description::peer& p : gpu.peers)
    out += cat("peer ", p.pci, p.access ? " 1 " : " 0 ", p.performance_rank, p.native_atomics ? " 1\n" : " 0\n");
  return out;
}

gpu_description parse_gpu_description(const std::string& text) {
  const auto value = [&text](std::string_view key) { return value_of(text, key, key_values::blank_between); };
  gpu_description out;
  out.name = value("name");
  const std::string capability = value("capability");
  out.capability_major = static_cast<std::uint32_t>(number_of(capability));
  if (const std::size_t dot = capability.find('.'); dot != capability.npos)
    out.capability_minor = static_cast<std::uint32_t>(number_of(capability.substr(dot + 1)));
  out.multiprocessors = static_cast<std::uint32_t>(number_of(value("multiprocessors")));
  out.pci = value("pci");
  out.driver = value("driver");
  out.memory_bytes = number_of(value("memory"));
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
