// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <troupe/base/cat.hpp>
#include <troupe/base/sanitizers.hpp>
#include <troupe/base/try.hpp>
#include <troupe/base/unique_handle.hpp>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/plugins/load_library.hpp>

namespace troupe {
namespace {

struct library_traits {
  using type = void*;
  static constexpr void* null = nullptr;
  static void close(void* handle) noexcept { ::dlclose(handle); }
};
using shared_library = unique_handle<library_traits>;

error missing(std::string text) { return error(reaction::unsupported, "worker", std::move(text)); }

struct engine_file {
  std::string library, backend;
  friend auto operator<=>(const engine_file&, const engine_file&) = default;
};

// All files named <library>.<backend>.so, sorted, each name once.
std::vector<engine_file> engine_files(const std::vector<std::string>& folders) {
  std::vector<engine_file> out;
  for (const std::string& folder : folders) {
    DIR* dir = ::opendir(folder.c_str());
    if (dir == nullptr) continue;
    while (const dirent* e = ::readdir(dir)) {
      std::string_view name = e->d_name;
      if (!name.ends_with(".so")) continue;
      name.remove_suffix(3);
      const std::size_t dot = name.rfind('.');
      if (dot == name.npos || dot == 0 || dot + 1 == name.size()) continue;
      if (name.substr(0, dot) == "platform") continue;  // what a backend's engines stand on: see platform.hpp
      out.push_back({std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))});
    }
    ::closedir(dir);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string listed(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

// `library` is empty when its name is not known here: requests carry only a code of it.
error no_engine(const std::string& library, const std::string& backend, const std::vector<std::string>& folders) {
  std::vector<std::string> backends, libraries, elsewhere;
  for (const engine_file& f : engine_files(folders)) {
    backends.push_back(f.backend);
    if (f.backend == backend)
      libraries.push_back(f.library);
    else if (f.library == library)
      elsewhere.push_back(f.backend);
  }
  std::string searched;
  for (const std::string& folder : folders) searched += (searched.empty() ? "" : ", ") + folder;
  std::string text = library.empty() ? "no engine <library>." : "library " + library + ": no engine " + library + ".";
  text += backend + ".so in " + (searched.empty() ? "no folder at all" : searched);
  if (library.empty()) text += " for this request's library (its name up to the dot)";
  if (libraries.empty())
    return missing(std::move(text) + ": there is no engine for backend \"" + backend +
                   "\" here; backends here: " + listed(std::move(backends)) +
                   ". Name one of them in device_options::engine, or a folder in device_options::engine_folders");
  text += "; the " + backend + " backend has: " + listed(std::move(libraries));
  if (!elsewhere.empty()) text += "; backends that have " + library + ": " + listed(std::move(elsewhere));
  return missing(std::move(text) + ". Install the engine, or name its folder in device_options::engine_folders");
}

}  // namespace

struct engine_set::loaded {
  std::string library, path;
  shared_library file;
  const troupe_engine* engine = nullptr;
  ~loaded() {
    if (engine != nullptr) engine->close(engine);
  }
};

engine_set::engine_set(std::string backend, std::vector<std::string> folders, engine_context context)
    : backend_(std::move(backend)), folders_(std::move(folders)), context_(context) {
  neighbours_ = {.set = this,
                 .find =
                     [](void* set, std::uint32_t library, std::uint64_t opcode, troupe_found_operation* out,
                        troupe_engine_failure* failure) {
                       const auto what = static_cast<engine_set*>(set)->find(library, opcode);
                       if (what)
                         *out = *what;
                       else
                         detail::fill(failure, what.error().reaction(), what.error().code(),
                                      what.error().domain().c_str(), what.error().text().c_str());
                       return static_cast<bool>(what);
                     },
                 .openings = [](void* set) { return static_cast<engine_set*>(set)->openings_.load(); }};
  context_.neighbours = &neighbours_;
  publish({});
}

engine_set::~engine_set() = default;

std::vector<std::string> engine_set::available() const {
  std::vector<std::string> out;
  for (engine_file& f : engine_files(folders_))
    if (f.backend == backend_) out.push_back(std::move(f.library));
  return out;
}

result<void> engine_set::load(const std::string& library) {
  const std::scoped_lock guard(lock_);
  return load_locked(library);
}

result<void> engine_set::load_locked(const std::string& library) {
  for (const auto& e : engines_)
    if (e->library == library) return {};
  const std::uint32_t code = library_code(library);
  for (const auto& [c, why] : missing_)
    if (c == code) return why;
  result<void> out;
  bool found = false;
  const std::string file = "/" + library + "." + backend_ + ".so";
  for (const std::string& folder : folders_) {
    const std::string path = folder + file;
    if (::access(path.c_str(), F_OK) != 0) continue;
    found = true;
    out = open(library, path);
    break;
  }
  if (!found) out = no_engine(library, backend_, folders_);
  if (!out) missing_.emplace_back(code, out.error());
  if (out && when_loaded_) when_loaded_(library);
  return out;
}

void engine_set::warm_up(const std::string& library) {
  const std::scoped_lock guard(lock_);
  const std::size_t before = missing_.size();
  (void)load_locked(library);
  while (missing_.size() > before) missing_.pop_back();
}

result<void> engine_set::open(const std::string& library, const std::string& path) {
  auto e = std::make_unique<loaded>();
  e->library = library;
  e->path = path;
  // Local: engines must not see each other's symbols. Now: a missing vendor symbol shows here and not in a request.
  e->file.reset(load_library(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!e->file) {
    std::string text = "library " + library + ": cannot load its engine: " + ::dlerror(), package;
    if (std::ifstream needs(path.substr(0, path.size() - 3) + ".needs");
        std::getline(needs, package) && !package.empty())
      text += "; install " + package;
    return missing(std::move(text));
  }
  TROUPE_TRY(open_engine(*e));
  TROUPE_TRY(take_in(*e, static_cast<std::uint32_t>(engines_.size())));
  engines_.push_back(std::move(e));
  return {};
}

// Opens the engine in a file that is loaded.
TROUPE_CALLS_OTHER_PROGRAMS result<void> engine_set::open_engine(loaded& e) {
  const std::string& library = e.library;
  const auto open = reinterpret_cast<troupe_engine_open_fn>(::dlsym(e.file.get(), "troupe_engine_open"));
  if (open == nullptr)
    return missing("library " + library + ": " + e.path +
                   " is not an engine (no troupe_engine_open); build it with TROUPE_ENGINE");
  engine_failure failure;
  e.engine = open(&context_, &failure);
  if (e.engine == nullptr) {
    failure.make_sound();
    return error(error::details{.reaction = static_cast<reaction>(failure.reaction),
                                .domain = failure.domain,
                                .code = failure.code,
                                .text = "library " + library + ": " + failure.text});
  }
  if (e.engine->abi != troupe_engine_abi) {
    // `abi` comes first in every layout; nothing else of this one can be relied on. So it is not closed, and its code
    // stays.
    const std::uint32_t theirs = std::exchange(e.engine, nullptr)->abi;
    (void)e.file.release();
    return missing(cat("library ", library, ": ", e.path, " was built for engine interface ", theirs,
                       ", this worker has ", troupe_engine_abi, "; build it again"));
  }
  return {};
}

result<void> engine_set::add(const std::string& library, const troupe_engine& engine) {
  const std::scoped_lock guard(lock_);
  auto e = std::make_unique<loaded>();
  e->library = library;
  e->path = "the program";
  e->engine = &engine;
  TROUPE_TRY(take_in(*e, static_cast<std::uint32_t>(engines_.size())));
  engines_.push_back(std::move(e));
  return {};
}

// Adds the operations of an engine that is open.
result<void> engine_set::take_in(loaded& e, std::uint32_t number) {
  table all = *operations_.load();
  for (std::uint32_t i = 0; i < e.engine->operation_count; ++i) {
    const troupe_engine_operation& op = e.engine->operations[i];
    all.push_back({op.opcode, {&op, e.engine->state, number}});
  }
  std::sort(all.begin(), all.end(), [](const known& a, const known& b) { return a.opcode < b.opcode; });
  const auto same =
      std::adjacent_find(all.begin(), all.end(), [](const known& a, const known& b) { return a.opcode == b.opcode; });
  if (same != all.end()) {
    return missing("library " + e.library + ": " + e.path + " serves two requests that cannot be told apart, " +
                   same->what.operation->name + " and " + (same + 1)->what.operation->name +
                   "; give one of them another name, or its fields other names");
  }
  publish(std::move(all));
  return {};
}

// A thread that looks into an older table goes on with that one: so all of them are kept, a few for each worker.
void engine_set::publish(table all) {
  tables_.push_back(std::make_unique<const table>(std::move(all)));
  operations_.store(tables_.back().get(), std::memory_order_release);
}

std::string engine_set::restart(std::uint32_t library) {
  const std::scoped_lock guard(lock_);
  loaded& e = *engines_[library];
  table others = *operations_.load();
  std::erase_if(others, [library](const known& k) { return k.what.library == library; });
  publish(std::move(others));
  openings_.fetch_add(1);
  const troupe_engine* const old = std::exchange(e.engine, nullptr);
  old->close(old);
  result<void> again = e.file ? open_engine(e) : missing("the engine of " + e.library + " cannot be opened again");
  if (again) again = take_in(e, library);
  if (!again) missing_.emplace_back(library_code(e.library), again.error());
  return e.library;
}

const engine_set::known* engine_set::lookup(std::uint64_t opcode) const noexcept {
  const table& all = *operations_.load(std::memory_order_acquire);
  const auto at =
      std::lower_bound(all.begin(), all.end(), opcode, [](const known& k, std::uint64_t o) { return k.opcode < o; });
  return at != all.end() && at->opcode == opcode ? &*at : nullptr;
}

result<engine_set::found> engine_set::find(std::uint32_t code, std::uint64_t opcode) {
  if (const known* k = lookup(opcode)) [[likely]]
    return k->what;
  const std::scoped_lock guard(lock_);
  if (const known* k = lookup(opcode)) return k->what;
  for (const auto& [c, why] : missing_)
    if (c == code) return why;
  for (const auto& e : engines_)
    if (library_code(e->library) == code) return unknown_request(e->library);
  const auto with_code = [code](const std::string& name) { return library_code(name) == code; };
  const auto have = available();
  const auto named = std::find_if(have.begin(), have.end(), with_code);
  if (named == have.end()) {
    const auto all = engine_files(folders_);  // an engine for another backend tells the name
    const auto other = std::find_if(all.begin(), all.end(), [&](const engine_file& f) { return with_code(f.library); });
    return missing_
        .emplace_back(code, no_engine(other == all.end() ? std::string() : other->library, backend_, folders_))
        .second;
  }
  TROUPE_TRY(load_locked(*named));
  if (const known* k = lookup(opcode)) return k->what;
  return unknown_request(*named);
}

error engine_set::unknown_request(const std::string& library) const {
  return missing("the " + backend_ + " engine of " + library +
                 " does not know this request; it was built from another version, or this type is not supported by it");
}

const troupe_engine* engine_set::engine_of(const std::string& library) const noexcept {
  const std::scoped_lock guard(lock_);
  for (const auto& e : engines_)
    if (e->library == library) return e->engine;
  return nullptr;
}

std::vector<engine_info> engine_set::loaded_engines() const {
  const std::scoped_lock guard(lock_);
  std::vector<engine_info> out;
  for (const auto& e : engines_)
    if (e->engine != nullptr) out.push_back({e->library, e->engine->backend, e->engine->version});
  return out;
}

}  // namespace troupe
