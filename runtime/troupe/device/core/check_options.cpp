// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/core/check_options.hpp>
#include <troupe/protocol/greeting.hpp>
#include <troupe/protocol/words.hpp>
#include <tuple>

namespace troupe {
namespace {

error bad_option(const char* field, const std::string& value, const std::string& expected) {
  return error(reaction::caller_bug, "device",
               std::string("device_options::") + field + " is " + value + "; expected " + expected);
}

constexpr std::uint64_t most_memory = std::uint64_t{16} << 40;  // keeps its addresses in range

}  // namespace

std::optional<error> check(const device_options& o) {
  for (const auto& [field, value, most] : {std::tuple("mailbox_capacity", o.mailbox_capacity, protocol::most_requests),
                                           {"lane_pool", o.lane_pool, protocol::most_pool_lanes},
                                           {"helpers", o.helpers, protocol::most_helpers}})
    if (value < 1 || value > most) return bad_option(field, std::to_string(value), cat("1 to ", most));
  for (const auto& [field, bytes] :
       {std::pair("memory_limit", o.memory_limit), {"host_memory_limit", o.host_memory_limit}})
    if (bytes > most_memory) return bad_option(field, std::to_string(bytes), "at most 2^44 bytes (16 TiB)");
  if (o.standbys > 8) return bad_option("standbys", std::to_string(o.standbys), "0 to 8");
  for (const int core : o.worker_cores)
    if (core < 0 || core >= protocol::core_set::most)
      return bad_option("worker_cores", std::to_string(core), cat("numbers from 0 to ", protocol::core_set::most - 1));
  for (const auto& [field, span] : {std::pair("start_timeout", o.start_timeout),
                                    {"close_timeout", o.close_timeout},
                                    {"run_timeout", o.run_timeout},
                                    {"heartbeat_timeout", o.heartbeat_timeout},
                                    {"restart_window", o.restart_window}})
    if (span.nanoseconds <= 0) return bad_option(field, cat(span.nanoseconds, " ns"), "more than 0");
  if (!o.black_box_folder.empty() && ::access(o.black_box_folder.c_str(), W_OK | X_OK) != 0)
    return bad_option("black_box_folder", '"' + o.black_box_folder + '"', "a folder that this process may write to");
  if (const std::string& f = o.gpu_core_folder; !f.empty()) {
    constexpr std::size_t longest = 512;  // the driver takes 1023 bytes, with the file's name
    if (o.isolation == isolation::thread)
      return bad_option("gpu_core_folder", '"' + f + '"',
                        "no folder with isolation::thread, because the driver enables core files for the whole "
                        "process: your program");
    if (f.size() > longest || f.find_first_of("%\n") != std::string::npos || ::access(f.c_str(), W_OK | X_OK) != 0)
      return bad_option("gpu_core_folder", '"' + f + '"',
                        "a folder that this process may write to, with a path of at most 512 characters and without %");
  }
  if (o.isolation == isolation::thread && o.confinement == confinement::strict)
    return error(
        reaction::unsupported, "device",
        "device_options::confinement is strict with isolation::thread, where a worker is part of your program; "
        "use isolation::process");
  for (const std::string& f : o.readable_folders)
    if (f.find('\n') != std::string::npos || ::access(f.c_str(), R_OK | X_OK) != 0)
      return bad_option("readable_folders", '"' + f + '"', "paths of folders that this process may read");
  if (o.engine.empty() || o.engine.find_first_of("/\n") != std::string::npos)
    return bad_option("engine", '"' + o.engine + '"', "the name of a backend, such as host");
  for (const std::string& f : o.engine_folders)
    if (f.empty() || f.find('\n') != std::string::npos)
      return bad_option("engine_folders", '"' + f + '"', "paths of folders");
  for (const std::string& l : o.libraries)
    if (l.empty() || l.find_first_of("/\n") != std::string::npos)
      return bad_option("libraries", '"' + l + '"', "names of library actors, such as blas");
  return {};
}

bool has_platform(const device_options& o, const std::string& backend) {
  const std::string file = "/platform." + backend + ".so";
  const auto in = [&file](const std::string& folder) { return ::access((folder + file).c_str(), F_OK) == 0; };
  return std::any_of(o.engine_folders.begin(), o.engine_folders.end(), in) || in(o.runtime_folder + "/engines");
}

}  // namespace troupe
