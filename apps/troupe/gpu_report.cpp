// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <unistd.h>
#include <algorithm>
#include <apps/troupe/gpu_report.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <troupe/base/text/cat.hpp>

namespace troupe::apps {

namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  if (DIR* const dir = ::opendir(folder.c_str())) {
    while (const dirent* e = ::readdir(dir))
      if (e->d_name[0] != '.') out.emplace_back(e->d_name);
    ::closedir(dir);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Returns the rest of the first line that begins with `key`, without leading blanks.
std::string after(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) {
      const std::size_t first = line.find_first_not_of(" \t:", key.size());
      return first == line.npos ? "" : line.substr(first);
    }
  return {};
}

bool is_node(const std::string& name) {
  const bool numbered =
      name.starts_with("nvidia") && name.size() > 6 && name.find_first_not_of("0123456789", 6) == name.npos;
  return numbered || name == "nvidiactl" || name == "nvidia-uvm" || name == "dxg";
}

}  // namespace

bool gpu_machine::has_node(std::string_view name) const noexcept {
  return std::find(nodes.begin(), nodes.end(), name) != nodes.end();
}

gpu_machine look_at_gpus(const fs::path& root) {
  gpu_machine m;
  const fs::path devices = root / "sys/bus/pci/devices", driver = root / "proc/driver/nvidia", nodes = root / "dev";
  for (const std::string& one : names_in(devices))
    m.on_bus +=
        content(devices / one / "vendor").starts_with("0x10de") && content(devices / one / "class").starts_with("0x03");
  m.kernel_driver = after(content(driver / "version"), "NVRM version");
  for (const std::string& one : names_in(driver / "gpus"))
    if (std::string model = after(content(driver / "gpus" / one / "information"), "Model"); !model.empty())
      m.models.push_back(std::move(model));
  for (const std::string& name : names_in(nodes))
    if (is_node(name)) {
      m.nodes.push_back(name);
      if (::access((nodes / name).c_str(), R_OK | W_OK) != 0) m.forbidden.push_back(name);
    }
  const std::string groups = content(root / "proc/1/cgroup");
  m.container = ::access((root / ".dockerenv").c_str(), F_OK) == 0 ||
                ::access((root / "run/.containerenv").c_str(), F_OK) == 0 || groups.find("docker") != groups.npos ||
                groups.find("kubepods") != groups.npos;
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) m.visible = visible;
  return m;
}

driver_answer read_driver(const worker_answer& answer) {
  driver_answer d;
  if (!answer.not_asked.empty()) {
    d.died = answer.not_asked;
    return d;
  }
  static_cast<protocol::driver_description&>(d) = protocol::parse_driver_description(answer.description);
  if (!d.complete || !answer.well()) d.died = answer.what_happened("while it asked the driver");
  return d;
}

bool gpu_report::usable() const noexcept {
  return built && driver.died.empty() && driver.version >= oldest_cuda &&
         std::any_of(driver.gpus.begin(), driver.gpus.end(),
                     [](const auto& g) { return g.mode != driver_answer::nobody; });
}

std::string cuda_version(int version) { return cat(version / 1000, ".", version % 1000 / 10); }

}  // namespace troupe::apps
