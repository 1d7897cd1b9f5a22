// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <troupe/base/unique_handle.hpp>
#include <troupe/worker/internal/engines.hpp>

namespace troupe {
namespace {

struct library_traits {
  using type = void*;
  static constexpr void* null = nullptr;
  static void close(void* handle) noexcept { ::dlclose(handle); }
};
using shared_library = unique_handle<library_traits>;

error missing(std::string text) { return error(reaction::unsupported, "worker", std::move(text)); }

}  // namespace

struct engine_set::loaded {
  std::string library;
  shared_library file;
  const troupe_engine* engine = nullptr;
  ~loaded() {
    if (engine != nullptr) engine->close(engine);
  }
};

engine_set::engine_set(std::string backend, std::vector<std::string> folders, engine_context context)
    : backend_(std::move(backend)), folders_(std::move(folders)), context_(context) {}

engine_set::~engine_set() = default;

std::vector<std::string> engine_set::available() const {
  std::vector<std::string> out;
  const std::string suffix = "." + backend_ + ".so";
  for (const std::string& folder : folders_) {
    DIR* dir = ::opendir(folder.c_str());
    if (dir == nullptr) continue;
    while (const dirent* e = ::readdir(dir)) {
      std::string name = e->d_name;
      if (name.size() > suffix.size() && name.ends_with(suffix))
        out.push_back(name.substr(0, name.size() - suffix.size()));
    }
    ::closedir(dir);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

result<void> engine_set::load(const std::string& library) {
  for (const auto& e : engines_)
    if (e->library == library) return {};
  const std::uint32_t code = library_code(library);
  for (const auto& [c, why] : missing_)
    if (c == code) return why;
  result<void> out;
  std::string searched;
  const std::string file = library + "." + backend_ + ".so";
  bool found = false;
  for (const std::string& folder : folders_) {
    const std::string path = folder + "/" + file;
    searched += (searched.empty() ? "" : ", ") + folder;
    if (::access(path.c_str(), F_OK) != 0) continue;
    found = true;
    out = open(library, path);
    break;
  }
  if (!found) {
    std::string have;
    for (const std::string& name : available()) have += (have.empty() ? "" : ", ") + name;
    out = missing("library " + library + ": no engine " + file + " in " + searched +
                  "; this worker has: " + (have.empty() ? "none" : have));
  }
  if (!out) missing_.emplace_back(code, out.error());
  return out;
}

result<void> engine_set::open(const std::string& library, const std::string& path) {
  auto e = std::make_unique<loaded>();
  e->library = library;
  // Local: engines must not see each other's symbols. Now: a missing vendor symbol shows here and not in a request.
  e->file.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!e->file) {
    std::string text = "library " + library + ": cannot load its engine: " + ::dlerror(), package;
    if (std::ifstream needs(path.substr(0, path.size() - 3) + ".needs");
        std::getline(needs, package) && !package.empty())
      text += "; install " + package;
    return missing(std::move(text));
  }
  auto open_engine = reinterpret_cast<troupe_engine_open_fn>(::dlsym(e->file.get(), "troupe_engine_open"));
  if (open_engine == nullptr)
    return missing("library " + library + ": " + path +
                   " is not an engine (no troupe_engine_open); build it with TROUPE_ENGINE");
  engine_failure failure;
  e->engine = open_engine(&context_, &failure);
  if (e->engine == nullptr) {
    failure.make_sound();
    return error(error::details{.reaction = static_cast<reaction>(failure.reaction),
                                .domain = failure.domain,
                                .code = failure.code,
                                .text = "library " + library + ": " + failure.text});
  }
  if (e->engine->abi != troupe_engine_abi) {
    // `abi` comes first in every layout; nothing else of this one can be relied on. So it is not closed, and its code
    // stays.
    const std::uint32_t theirs = std::exchange(e->engine, nullptr)->abi;
    (void)e->file.release();
    return missing("library " + library + ": " + path + " was built for engine interface " + std::to_string(theirs) +
                   ", this worker has " + std::to_string(troupe_engine_abi) + "; build it again");
  }
  const auto number = static_cast<std::uint32_t>(engines_.size());
  std::vector<known> all = operations_;
  for (std::uint32_t i = 0; i < e->engine->operation_count; ++i) {
    const troupe_engine_operation& op = e->engine->operations[i];
    all.push_back({op.opcode, {&op, e->engine->state, number}});
  }
  std::sort(all.begin(), all.end(), [](const known& a, const known& b) { return a.opcode < b.opcode; });
  const auto same =
      std::adjacent_find(all.begin(), all.end(), [](const known& a, const known& b) { return a.opcode == b.opcode; });
  if (same != all.end()) {
    return missing("library " + library + ": " + path + " serves two requests that cannot be told apart, " +
                   same->what.operation->name + " and " + (same + 1)->what.operation->name +
                   "; give one of them another name, or its fields other names");
  }
  operations_ = std::move(all);
  engines_.push_back(std::move(e));
  return {};
}

const engine_set::known* engine_set::lookup(std::uint64_t opcode) const noexcept {
  const auto at = std::lower_bound(operations_.begin(), operations_.end(), opcode,
                                   [](const known& k, std::uint64_t o) { return k.opcode < o; });
  return at != operations_.end() && at->opcode == opcode ? &*at : nullptr;
}

result<engine_set::found> engine_set::find(std::uint32_t code, std::uint64_t opcode) {
  if (const known* k = lookup(opcode)) [[likely]]
    return k->what;
  for (const auto& e : engines_)
    if (library_code(e->library) == code) return unknown_request(e->library);
  for (const auto& [c, why] : missing_)
    if (c == code) return why;
  const auto have = available();
  const auto named =
      std::find_if(have.begin(), have.end(), [code](const std::string& name) { return library_code(name) == code; });
  if (named == have.end()) {
    std::string list;
    for (const std::string& name : have) list += (list.empty() ? "" : ", ") + name;
    return missing_
        .emplace_back(code, missing("the " + backend_ + " backend has no engine for this library; it has: " +
                                    (list.empty() ? "none" : list) +
                                    ". Install the engine, or name its folder in device_options::engine_folders"))
        .second;
  }
  if (auto ok = load(*named); !ok) return ok.error();
  if (const known* k = lookup(opcode)) return k->what;
  return unknown_request(*named);
}

error engine_set::unknown_request(const std::string& library) const {
  return missing("the " + backend_ + " engine of " + library +
                 " does not know this request; it was built from another version, or this type is not supported by it");
}

std::string engine_set::versions() const {
  std::string out;
  for (const auto& e : engines_) out += e->library + " " + e->engine->backend + " " + e->engine->version + "\n";
  return out;
}

}  // namespace troupe
