// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <troupe/device/internal/hardware.hpp>

namespace troupe {
namespace {

// What comes after "key" or "key<spaces>:" in the first line that begins so.
std::string value_of(std::istream& lines, std::string_view key, char separator) {
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t at = line.find_first_not_of(" \t", key.size());
    if (at == line.npos || (separator == ' ' ? at == key.size() : line[at] != separator)) continue;
    if (separator != ' ') at = line.find_first_not_of(" \t", at + 1);
    return at == line.npos ? std::string() : line.substr(at);
  }
  return {};
}

std::uint64_t number(const std::string& text) {
  std::uint64_t out = 0;
  std::istringstream in(text);
  return in >> out ? out : 0;
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

device_hardware parse_hardware(const std::string& description) {
  const auto value = [&description](const char* key) {
    std::istringstream lines(description);
    return value_of(lines, key, ' ');
  };
  device_hardware out;
  out.model = value("name");
  const std::string capability = value("capability");
  out.capability_major = static_cast<std::uint32_t>(number(capability));
  if (const std::size_t dot = capability.find('.'); dot != capability.npos)
    out.capability_minor = static_cast<std::uint32_t>(number(capability.substr(dot + 1)));
  out.processors = static_cast<std::uint32_t>(number(value("multiprocessors")));
  out.pci = value("pci");
  out.driver = value("driver");
  out.total_bytes = number(value("memory"));
  return out;
}

std::string link_of(const std::string& pci, const std::string& devices) {
  if (pci.empty() || pci.find('/') != pci.npos) return {};
  std::string address = pci;
  std::transform(address.begin(), address.end(), address.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string folder = devices + "/" + address + "/", speed = first_line(folder + "current_link_speed"),
                    width = first_line(folder + "current_link_width");
  if (number(speed) == 0 || number(width) == 0) return {};
  return speed + " x" + width;
}

std::uint64_t machine_bytes() noexcept {
  struct ::sysinfo info;
  return ::sysinfo(&info) == 0 ? std::uint64_t{info.totalram} * info.mem_unit : std::uint64_t{4} << 30;
}

device_hardware host_hardware(std::uint32_t cores, const std::string& proc) {
  device_hardware out;
  std::ifstream processors(proc + "/cpuinfo");
  out.model = value_of(processors, "model name", ':');
  out.processors = cores;
  out.total_bytes = machine_bytes();
  return out;
}

std::uint64_t free_host_bytes(const std::string& proc) {
  std::ifstream memory(proc + "/meminfo");
  return number(value_of(memory, "MemAvailable", ':')) << 10;
}

}  // namespace troupe
