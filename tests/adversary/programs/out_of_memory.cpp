// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A worker allocates without end in a control group: the worker must die, not the larger application.
#include <fstream>
#include <troupe/faults/faults.hpp>

#include "unkind.hpp"

using namespace unkind;

// Returns the folder of a new memory control group of this process; empty if that is not permitted.
std::string make_group(const std::string& parent, const char* limit_file, std::uint64_t limit) {
  std::string folder = parent + "/troupe-unkind-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  std::ofstream(folder + "/" + limit_file) << limit << std::endl;
  std::uint64_t set = 0;
  std::ifstream(folder + "/" + limit_file) >> set;
  if (set == limit) return folder;
  ::rmdir(folder.c_str());
  return {};
}

std::string find_group(std::uint64_t limit) {
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    const std::size_t path = line.rfind(':');
    std::string folder;
    if (line.find(":memory:") != line.npos)
      folder = make_group("/sys/fs/cgroup/memory" + line.substr(path + 1), "memory.limit_in_bytes", limit);
    else if (line.starts_with("0::"))
      folder = make_group("/sys/fs/cgroup" + line.substr(path + 1), "memory.max", limit);
    if (!folder.empty()) return folder;
  }
  return {};
}

int main() {
  constexpr std::uint64_t mib = 1 << 20;
  const std::string group = find_group(700 * mib);
  if (group.empty()) return skip("this user may not make a memory control group with a limit");
  const int code = exit_code_of(
      [&] {
        std::ofstream(group + "/cgroup.procs") << ::getpid() << std::endl;
        const std::vector<char> own(400 * mib, 1);  // so that this process is larger than the worker
        runtime rt;
        const device gpu = rt.open_device(options());
        expect_works(gpu, "before");
        const auto got = gpu.ask(faults::exhaust_memory{.most_bytes = std::int64_t{8} << 30}).get_for(20s);
        expect(got && !*got && got->error().reaction() == reaction::context_lost,
               "the request is lost with its worker");
        expect_works(gpu, "after the worker used up the memory");
        return exit_code() + (own[mib] != 1);
      },
      60s);
  for (int i = 0; i < 200 && ::rmdir(group.c_str()) != 0; ++i) std::this_thread::sleep_for(10ms);
  expect(code == 0, "the application survives; code " + std::to_string(code) + " (137: the system killed it)");
  return exit_code();
}
