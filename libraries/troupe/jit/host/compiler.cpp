// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <troupe/base/clock.hpp>
#include <troupe/base/files/own_folders.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/host/command.hpp>
#include <troupe/jit/host/compiler.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe::jit {
namespace {

bool is_program(const std::string& path) {
  struct stat s{};
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string in_path(const std::string& name) {
  const char* set = ::secure_getenv("PATH");
  for (const std::string& folder : folders_in(set != nullptr ? set : "/usr/local/bin:/usr/bin:/bin"))
    if (const std::string path = folder + "/" + name; path.front() == '/' && is_program(path)) return path;
  return {};
}

// Returns true if the file's mode permits reading it, but the worker's confinement does not.
bool is_hidden(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) return false;
  const file_descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return !opened && errno == EACCES;
}

error unsupported(const std::string& text) { return error(reaction::unsupported, "jit", "jit.compile: " + text); }

error hidden(const std::string& field, const std::string& path) {
  return unsupported(field + " is \"" + path +
                     "\", which a confined worker may not read; add the folder to device_options::readable_folders, or "
                     "set device_options::confinement to off");
}

constexpr const char* remedy = "; install one (Debian: apt install g++), or name one in TROUPE_CXX or recipe::compiler";

}  // namespace

result<void> check_for_host(const recipe& r) {
  if (r.max_registers != 0)
    return unsupported(cat("max_registers is ", r.max_registers,
                           "; the host engine compiles for a processor, whose registers are not shared: leave it 0"));
  if (!r.units.empty())
    return unsupported(
        "units has \"" + r.units.front().name +
        "\"; the host engine builds a program from one source: #include the others, as recipe::headers, or "
        "link on a GPU");
  if (r.relocatable)
    return unsupported("relocatable is true; the host engine links nothing: leave it false, or compile on a GPU");
  if (r.precompiled_headers)
    return unsupported(
        "precompiled_headers is true; the host engine translates each source with its headers as a whole: leave it "
        "false");
  for (const std::string& folder : r.include_paths)
    if (is_hidden(folder)) return hidden("include_paths", folder);
  if (!r.architecture.empty())
    return unsupported("architecture is \"" + r.architecture +
                       "\"; the host engine compiles for the processor it runs on: leave it empty");
  return {};
}

result<std::string> find_compiler(const recipe& r) {
  if (!r.compiler.empty()) {
    if (is_hidden(r.compiler)) return hidden("compiler", r.compiler);
    if (is_program(r.compiler)) return r.compiler.str();
    return unsupported("compiler is \"" + r.compiler + "\", which is not an executable program" + remedy);
  }
  if (const char* set = ::secure_getenv("TROUPE_CXX"); set != nullptr && *set != '\0') {
    const std::string named = set, path = named.find('/') == std::string::npos ? in_path(named) : named;
    if (!path.empty() && path.front() == '/' && is_program(path)) return path;
    return unsupported("TROUPE_CXX is \"" + named +
                       "\", which is neither a program in PATH nor the absolute path of one" + remedy);
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (std::string path = in_path(name); !path.empty()) return path;
  return unsupported(std::string("the host engine compiles with the system's C++ compiler, and there is no c++, g++ or "
                                 "clang++ in PATH") +
                     remedy);
}

result<known_compilers::known> known_compilers::ask(const std::string& compiler_guard, const std::string& path,
                                                    time_span timeout) {
  const std::int64_t deadline = timeout.after(now_ns());
  auto folder = TROUPE_TRY(plan::private_folder::make());
  const auto run = [&](const std::string& option) {
    return run_command(compiler_guard,
                       {.line = {path, option}, .folder = folder.path(), .how_long = deadline, .message_bytes = 4096});
  };
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  const auto said = TROUPE_TRY(run("--version"));
  if (said.exit_code != 0 || said.was_stopped)
    return unsupported("the compiler " + path + " does not report its version: " +
                       (said.was_stopped ? "it does not finish" : said.messages) + remedy);
  known out{.version = first_line(said.messages), .programs = {}};
  for (const char* name : {"cc1plus", "clang", "as", "ld"}) {
    const auto where = TROUPE_TRY(run(std::string("-print-prog-name=") + name));
    if (where.was_stopped)
      return unsupported("the compiler " + path + " does not report the programs it runs: it does not finish" + remedy);
    std::string program = first_line(where.messages);
    if (!program.starts_with('/')) program = in_path(program);  // searched for in PATH, as the compiler does
    // The content is not compared: if the file was touched, running the compiler again takes less time than comparing.
    if (auto file = plan::stamp_without_content(program);
        where.exit_code == 0 && file && file->is == plan::stamp::kind::file)
      out.programs.push_back(std::move(*file));
  }
  return out;
}

result<compiler> known_compilers::identify(const std::string& compiler_guard, const std::string& path,
                                           plan::disk_cache* cache, time_span timeout) {
  std::error_code failed;
  const std::string real = std::filesystem::canonical(path, failed).string();
  const auto file = plan::stamp_without_content(failed ? path : real);
  if (failed || !file || file->is != plan::stamp::kind::file)
    return unsupported("the compiler " + path + " cannot be read" + remedy);
  byte_writer key;
  key.text("compiler and its programs");
  key.text(path);
  key.text(real);
  key.value(file->bytes);
  key.value(file->changed_ns);
  std::optional<known> found;
  {
    const std::scoped_lock guard(lock_);
    if (const auto at = known_.find(key.bytes()); at != known_.end()) found = at->second;
  }
  if (found && !unchanged(found->programs)) found.reset();
  std::string ignored;
  if (!found && cache != nullptr)
    if (auto kept = cache->find(key.bytes(), ignored))
      found = known{.version = std::move(kept->value), .programs = std::move(kept->made_from)};
  if (!found) {
    found = TROUPE_TRY(ask(compiler_guard, path, timeout));
    if (cache != nullptr) (void)cache->store(key.bytes(), found->programs, found->version);
  }
  {
    const std::scoped_lock guard(lock_);
    known_.insert_or_assign(key.bytes(), *found);
  }
  key.text(found->version);
  for (const plan::stamp& s : found->programs) {
    key.text(s.path);
    key.value(s.bytes);
    key.value(s.changed_ns);
  }
  return compiler{path, std::move(key).bytes(), std::move(found->version)};
}

const std::string& processor_identity() {
  static const std::string identity = [] {
    std::ifstream info("/proc/cpuinfo");
    std::string line, out;
    while (std::getline(info, line) && !line.empty())  // the lines about the first processor
      for (const char* what : {"vendor_id", "cpu family", "model", "stepping", "flags", "Features"})
        if (line.starts_with(what)) out += line + "\n";
    return out;
  }();
  return identity;
}

}  // namespace troupe::jit
