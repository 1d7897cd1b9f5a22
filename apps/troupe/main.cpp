// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The command line.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* help = R"(troupe: an accelerator behind supervised actors (this version: the host engine)

usage: troupe <command> [argument...]

  bench      measure Troupe against the bare calls it stands on
  version    which Troupe this is, and which engines it has

troupe <command> --help says more, for example: troupe bench --help

Programs use the library: #include <troupe/troupe.hpp>, and in CMake find_package(troupe) and
target_link_libraries(program PRIVATE troupe::troupe). A first program:

  troupe::runtime rt;
  troupe::device gpu = rt.open_device();    // the host engine: works on any machine
  auto x = gpu.alloc<float>(1000);
  gpu.fill(x, 1.5f);                        // queued, in order
  auto values = gpu.download(x).get();      // waits; an error anywhere above arrives here
)";

// The worker, its engines and the programs behind commands, in the build tree as in an installation.
std::string runtime_folder() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string whole(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  const std::string bin = whole.substr(0, whole.rfind('/'));
  return bin.substr(0, bin.rfind('/')) + "/" TROUPE_RUNTIME_SUBDIR;
}

int version() {
  const std::string folder = runtime_folder();
  std::printf("troupe %s\n", TROUPE_VERSION);
  std::printf("worker   %s/troupe-worker%s\n", folder.c_str(),
              ::access((folder + "/troupe-worker").c_str(), X_OK) == 0 ? "" : " (missing)");
  std::vector<std::string> engines;
  if (DIR* dir = ::opendir((folder + "/engines").c_str())) {
    while (const dirent* e = ::readdir(dir)) {
      std::string name = e->d_name;
      if (name.ends_with(".so")) engines.push_back(name.substr(0, name.size() - 3));
    }
    ::closedir(dir);
  }
  std::sort(engines.begin(), engines.end());
  std::string names;
  for (const std::string& e : engines) names += (names.empty() ? "" : ", ") + e;
  std::printf("engines  %s\n", names.empty() ? "none besides memory" : names.c_str());
  return 0;
}

// Becomes the program behind a command.
int become(const char* program, char** argv) {
  const std::string path = runtime_folder() + "/" + program;
  ::execv(path.c_str(), argv);
  std::fprintf(stderr, "troupe: cannot run %s; it comes with a build that has TROUPE_BENCH=ON\n", path.c_str());
  return 127;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "bench") return become("troupe-bench", argv + 1);
  if (command == "version" || command == "--version") return version();
  if (command == "help" || command == "--help" || command == "-h") return std::fputs(help, stdout), 0;
  if (command.empty()) return std::fputs(help, stderr), 2;
  std::fprintf(stderr, "troupe: no command \"%s\"; troupe --help lists them\n", std::string(command).c_str());
  return 2;
}
