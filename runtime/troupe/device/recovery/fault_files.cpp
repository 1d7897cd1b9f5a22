// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/linux/write_all.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/recovery/fault_files.hpp>

namespace troupe {
namespace {

constexpr std::size_t most_files = 64;  // maximum number of files of a device in its folder

// Returns the time as a text that sorts by time: "20260131T235959.123Z".
std::string time_text(std::chrono::system_clock::time_point t) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[48];
  std::snprintf(text, sizeof text, "%04d%02d%02dT%02d%02d%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                utc.tm_hour, utc.tm_min, utc.tm_sec, static_cast<int>(ms % 1000));
  return text;
}

// Removes the device's oldest files. Leaves alone files with other names, and entries that are not regular files.
void remove_oldest(const std::string& folder, const std::string& device) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    std::string name = at->path().filename().string();
    const std::string_view rest = std::string_view(name).substr(std::min(name.size(), device.size()));
    if (name.starts_with(device) && rest.size() > 22 && rest.starts_with("-2") && rest[9] == 'T' && rest[20] == 'Z' &&
        rest.find("-generation-") != rest.npos && rest.ends_with(".txt") &&
        at->symlink_status(ignored).type() == std::filesystem::file_type::regular)
      names.push_back(std::move(name));
  }
  if (names.size() <= most_files) return;
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size() - most_files; ++i) ::unlink((folder + "/" + names[i]).c_str());
}

}  // namespace

std::string name_for_files(std::string device) {
  for (char& c : device)
    if (c == '/' || c == ':' || c == '%' || static_cast<unsigned char>(c) < 0x21) c = '-';
  return device;
}

result<std::string> write_to_folder(const std::string& folder, const fault_record& record) {
  const std::string device = name_for_files(record.device);
  std::string path =
      cat(folder, "/", device, "-", time_text(record.when), "-", ::getpid(), "-generation-", record.generation, ".txt");
  const file_descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return error::from_errno(reaction::retry_later, "device", path + ": open", errno);
  if (!write_all(file.get(), record.text()))
    return error::from_errno(reaction::retry_later, "device", path + ": write", errno);
  remove_oldest(folder, device);
  return path;
}

}  // namespace troupe
