// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/system/temporary_folder.hpp>
#include <cerrno>
#include <cstdlib>
#include <troupe/base/result.hpp>

namespace troupe::bench {

namespace fs = std::filesystem;

temporary_folder::temporary_folder() {
  std::string name = (fs::temp_directory_path() / "troupe-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw bad_result(error::from_errno(reaction::fatal, "bench", "mkdtemp " + name, errno));
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace troupe::bench
