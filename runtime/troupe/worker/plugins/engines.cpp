// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cerrno>
#include <fstream>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/plugins/engine_files.hpp>
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

}  // namespace

struct engine_set::loaded {
  std::string library, path;
  shared_library file;
  const troupe_engine* engine = nullptr;
  ~loaded() {
    if (engine != nullptr) engine->close(engine);
  }
};

engine_set::engine_set(std::string backend, std::vector<std::string> folders, engine_context context,
                       std::vector<opened_plug_in> opened)
    : backend_(std::move(backend)), folders_(std::move(folders)), context_(context), opened_(std::move(opened)) {
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
  // These files may have been removed since.
  const std::string suffix = "." + backend_ + ".so";
  for (const opened_plug_in& o : opened_) {
    const std::string_view name = std::string_view(o.path).substr(o.path.rfind('/') + 1);
    if (name.ends_with(suffix)) out.emplace_back(name.substr(0, name.size() - suffix.size()));
  }
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
    const auto engine = find_plug_in(folder + file, opened_);
    if (!engine && engine.error().code() == ENOENT) continue;
    found = true;
    out = engine ? open(library, folder + file, *engine) : missing("library " + library + ": " + engine.error().text());
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

result<void> engine_set::open(const std::string& library, const std::string& path, const std::string& from) {
  auto e = std::make_unique<loaded>();
  e->library = library;
  e->path = path;
  // RTLD_LOCAL: engines must not see each other's symbols. RTLD_NOW: a missing vendor symbol is reported here instead
  // of by a request.
  e->file.reset(load_library(from.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!e->file) {
    std::string text = "library " + library + ": cannot load its engine: " + ::dlerror(), package;
    if (text.find("failed to map segment") != text.npos)
      text += ": the limit of memory (device_options::worker_memory_limit, ulimit -v) leaves no room for it";
    else if (text.ends_with(from + ": file too short") || text.ends_with(from + ": invalid ELF header"))
      text += ": the engine's file is damaged; install Troupe again";
    else if (std::ifstream needs(path.substr(0, path.size() - 3) + ".needs");
             std::getline(needs, package) && !package.empty())
      text += "; install " + package;
    return missing(std::move(text));
  }
  TROUPE_TRY(open_engine(*e));
  TROUPE_TRY(add_operations(*e, static_cast<std::uint32_t>(engines_.size())));
  engines_.push_back(std::move(e));
  return {};
}

// Opens the engine whose file is loaded.
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
    // Only `abi` is known to be valid, because it comes first in every layout. So the engine is not closed, and its
    // code stays loaded.
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
  TROUPE_TRY(add_operations(*e, static_cast<std::uint32_t>(engines_.size())));
  engines_.push_back(std::move(e));
  return {};
}

// Adds the operations of an open engine.
result<void> engine_set::add_operations(loaded& e, std::uint32_t number) {
  table all = *operations_.load();
  for (std::uint32_t i = 0; i < e.engine->operation_count; ++i) {
    const troupe_engine_operation& op = e.engine->operations[i];
    all.push_back({op.opcode, {&op, e.engine->state, number}});
  }
  std::sort(all.begin(), all.end(), [](const known& a, const known& b) { return a.opcode < b.opcode; });
  const auto same =
      std::adjacent_find(all.begin(), all.end(), [](const known& a, const known& b) { return a.opcode == b.opcode; });
  if (same != all.end()) {
    return missing("library " + e.library + ": " + e.path + " serves two requests that cannot be distinguished, " +
                   same->what.operation->name + " and " + (same + 1)->what.operation->name +
                   "; give one of them another name, or its fields other names");
  }
  publish(std::move(all));
  return {};
}

// Other threads may still search an older table, so all tables are kept. A worker has only a few.
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
  result<void> again =
      e.file ? open_engine(e)
             : missing("library " + e.library + ": its engine is part of the program and cannot be reopened");
  if (again) again = add_operations(e, library);
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
    const auto all = engine_files(folders_);  // for the library's name
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
  return missing(
      "the " + backend_ + " engine of " + library +
      " does not know this request; the engine was built from another version, or does not support this type");
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
