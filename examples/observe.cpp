// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What a service shows of its device: log lines, a health check, and figures for a monitoring system.
#include <cstdio>
#include <string>
#include <troupe/troupe.hpp>

using namespace troupe;

// Returns the metrics in the format that Prometheus reads. Cheap enough for each scrape: it sends no request.
std::string metrics(const device& gpu) {
  const device_statistics now = gpu.statistics();
  std::string out;
  const auto figure = [&](const char* name, auto value) {
    out += "troupe_" + std::string(name) + "{device=\"" + now.name + "\"} " + std::to_string(value) + "\n";
  };
  figure("ready", gpu.ready() ? 1 : 0);
  figure("standbys_ready", now.standby_pids.size());
  figure("requests_completed_total", now.completed);
  figure("requests_failed_total", now.failed);
  figure("requests_rejected_total", now.rejected.total());
  figure("requests_waiting", now.depth);
  figure("mailbox_capacity", now.capacity);
  figure("worker_faults_total", now.faults);
  figure("requests_quarantined", now.quarantined);
  figure("memory_used_bytes", now.memory.used_bytes);
  figure("memory_limit_bytes", now.memory.total_bytes);
  return out;
}

int main() {
  runtime rt({.log = [](log_level level, std::string_view text) {
    const char* const names[] = {"info", "warning", "error"};
    std::fprintf(stderr, "%s: %.*s\n", names[static_cast<int>(level)], static_cast<int>(text.size()), text.data());
  }});
  const result<device> gpu = rt.open_ready();
  if (!gpu) return std::fprintf(stderr, "%s\n", gpu.error().to_string().c_str()), 1;
  const auto x = gpu->upload(std::vector<float>(1000, 1.0f));
  if (!gpu->sync().get()) return 1;
  const std::string page = metrics(*gpu);
  std::printf("%s", page.c_str());
  return page.find("troupe_ready{device=\"" + gpu->name() + "\"} 1\n") == std::string::npos ? 1 : 0;
}
