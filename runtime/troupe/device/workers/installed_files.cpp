// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <filesystem>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/device/workers/installed_files.hpp>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_plug_ins = 200;  // because their descriptors must fit one message

bool has_many_descriptors() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 256;
}

}  // namespace

result<std::shared_ptr<const trusted_file>> installed_files::program(const std::string& path) {
  const std::scoped_lock guard(lock_);
  std::shared_ptr<const trusted_file>& kept = programs_[path];
  if (!kept) kept = std::make_shared<const trusted_file>(TROUPE_TRY(process::open_program(path)));
  return kept;
}

std::shared_ptr<const installed_files::plug_ins> installed_files::plug_ins_of(const std::string& backend,
                                                                              const std::vector<std::string>& folders) {
  const std::scoped_lock guard(lock_);
  std::shared_ptr<const plug_ins>& kept = plug_ins_[{backend, folders}];
  if (kept) return kept;
  plug_ins all;
  const bool has_room = has_many_descriptors();
  const auto add = [&](const std::string& folder, const std::string& suffix) {
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
      const std::string name = at->path().filename();
      if (!name.ends_with(suffix) || all.size() == most_plug_ins) continue;
      plug_in& one = all.emplace_back(plug_in{.path = cat(folder, "/", name), .file = {}});
      if (!has_room) continue;
      if (auto file = open_trusted(one.path, "device")) one.file = std::move(file->fd);
    }
  };
  for (const std::string& folder : folders) add(folder, cat(".", backend, ".so"));
  // The libraries that engines load themselves are in folders beside the installation's engines, which are in the last
  // folder.
  std::error_code failed;
  const fs::path engines = folders.empty() ? fs::path() : fs::canonical(folders.back(), failed);
  for (fs::directory_iterator at(engines.parent_path(), failed), end; !failed && at != end; at.increment(failed))
    if (at->path() != engines) add(at->path(), ".so");
  kept = std::make_shared<const plug_ins>(std::move(all));
  return kept;
}

}  // namespace troupe
