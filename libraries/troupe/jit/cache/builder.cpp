// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/jit/cache/builder.hpp>

namespace troupe::jit {
namespace {

using kernel::image_source;

// Incremented when the meaning of a recipe or of a stored value changes.
constexpr std::uint32_t recipe_version = 3;

std::string key_of(const std::string& engine, const decoded_recipe& r, const compiler& with) {
  byte_writer key;
  key.text("image");
  key.value(recipe_version);
  key.text(engine);
  key.text(with.identity);
  key.text(r.what);
  return std::move(key).bytes();
}

build failed_with(error why) { return {.failed = std::move(why)}; }

std::string as_note(const std::string& text) { return text.empty() ? "" : "note: cache: " + text + "\n"; }

}  // namespace

std::uint64_t builder::kept::bytes() const noexcept {
  std::uint64_t n = sizeof *this + key.size() + image->size() + log.size();
  for (const plan::stamp& s : made_from) n += sizeof s + s.path.size();
  return n;
}

// Completes a flight even if an exception is thrown; otherwise the waiting threads would never wake.
class builder::flight_guard {
 public:
  [[nodiscard]] flight_guard(builder& of, const std::string& key, std::shared_ptr<flight> f) noexcept
      : of_(of), key_(key), flight_(std::move(f)) {}
  flight_guard(const flight_guard&) = delete;
  flight_guard& operator=(const flight_guard&) = delete;
  ~flight_guard() {
    const std::scoped_lock guard(of_.lock_);
    flight_->over = true;
    of_.flights_.erase(key_);
    of_.flight_over_.notify_all();
  }

 private:
  builder& of_;
  const std::string& key_;
  const std::shared_ptr<flight> flight_;
};

build builder::make(const decoded_recipe& r, std::function<bool()> cancelled) {
  if (!parts_.may_compile) return find(r);
  constexpr std::chrono::milliseconds glance{20};
  const compile_deadline how_long(r.full.timeout.after(now_ns()), std::move(cancelled));
  if (how_long.cancelled()) return failed_with(was_cancelled(r.full));
  plan::disk_cache* disk = r.full.cache == cache_use::disk ? parts_.disk : nullptr;
  const auto with = parts_.find(r.full, disk);
  if (!with) return failed_with(with.error());
  const std::string key = key_of(parts_.engine, r, *with);
  bool was_stopped = false;
  if (r.full.cache == cache_use::none) return from_compiler(r, *with, "", how_long, "", was_stopped);

  std::shared_ptr<flight> mine;
  while (!mine) {
    std::unique_lock guard(lock_);
    if (auto known = from_memory(key)) return *known;
    auto& there = flights_[key];
    if (!there) {
      mine = std::make_shared<flight>();
      mine->outcome = failed_with(error(reaction::retry_later, "jit",
                                        "jit.compile: the compile of an equal program, for which this request waited, "
                                        "ended with an exception; try again"));
      there = mine;
      break;
    }
    const std::shared_ptr<flight> other = there;
    while (!other->over && !how_long.over()) flight_over_.wait_for(guard, glance);
    if (how_long.cancelled()) return failed_with(was_cancelled(r.full));
    if (!other->over) return failed_with(out_of_time(r.full, "an equal program was still being compiled after "));
    if (other->was_stopped && !how_long.timed_out()) continue;  // the other request had an earlier deadline
    build same = other->outcome;
    same.source = image_source::memory;
    return same;
  }
  const flight_guard guard(*this, key, mine);
  std::string note;
  std::optional<build> made;
  if (disk != nullptr) made = from_disk(key, note);
  if (!made) made = from_compiler(r, *with, key, how_long, note, was_stopped);
  // No other thread reads the outcome before the flight is over. The result is copied first and then moved, so that an
  // exception cannot leave a partial copy.
  build same = *made;
  mine->outcome = std::move(same);
  mine->was_stopped = was_stopped;
  return std::move(*made);
}

build builder::find(const decoded_recipe& r) {
  plan::disk_cache* const disk = r.full.cache == cache_use::disk ? parts_.disk : nullptr;
  const auto with = parts_.find(r.full, disk);
  if (!with) return failed_with(with.error());
  const std::string key = key_of(parts_.engine, r, *with);
  {
    const std::scoped_lock guard(lock_);
    if (auto known = from_memory(key)) return *known;
  }
  std::string note;
  if (disk != nullptr)
    if (auto known = from_disk(key, note)) return *known;
  return failed_with(error(reaction::unsupported, "jit",
                           cat(r.full.name.str(), ": was not compiled before",
                               parts_.may_compile ? "" : ", and device_options::compile is false",
                               note.empty() ? "" : "; " + as_note(note))));
}

// Precondition: lock_ is held.
std::optional<build> builder::from_memory(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  const auto at = found->second;
  if (!unchanged(at->made_from)) {
    drop(at);
    return std::nullopt;
  }
  kept_.splice(kept_.begin(), kept_, at);
  return build{.failed = {}, .image = at->image, .log = at->log, .source = image_source::memory};
}

std::optional<build> builder::from_disk(const std::string& key, std::string& note) {
  auto found = parts_.disk->find(key, note);
  if (!found) return std::nullopt;
  byte_reader value(found->value);
  build b{.failed = {}, .image = {}, .log = std::string(value.text()), .source = image_source::disk};
  b.image = std::make_shared<const std::string>(value.rest());
  keep({key, b.image, b.log, std::move(found->made_from)});
  return b;
}

build builder::from_compiler(const decoded_recipe& r, const compiler& with, const std::string& key,
                             const compile_deadline& how_long, const std::string& note, bool& was_stopped) {
  compiled c = parts_.compile(r.full, with, how_long);
  was_stopped = c.was_stopped;
  build b{.failed = std::move(c.failed), .image = {}, .log = std::move(c.log), .source = image_source::compiled};
  if (!b.failed) b.image = std::make_shared<const std::string>(std::move(c.image));
  const std::string said = b.log;  // without the notes about this run, which are not cached
  b.log += c.remarks + as_note(note);
  if (b.failed || !c.lasting || key.empty()) return b;
  if (r.full.cache == cache_use::disk && parts_.disk != nullptr) {
    byte_writer value;
    value.text(said);
    value.raw(b.image->data(), b.image->size());
    // If the folder cannot be used, the log already has this note.
    const std::string why_not = parts_.disk->store(key, c.made_from, value.bytes());
    if (why_not != note) b.log += as_note(why_not);
  }
  keep({key, b.image, said, std::move(c.made_from)});
  return b;
}

void builder::keep(kept k) {
  const std::scoped_lock guard(lock_);
  if (const auto old = by_key_.find(k.key); old != by_key_.end()) drop(old->second);
  kept_.push_front(std::move(k));
  kept_bytes_ += kept_.front().bytes();
  by_key_.emplace(kept_.front().key, kept_.begin());
  while (kept_bytes_ > parts_.memory_bytes && kept_.size() > 1) drop(std::prev(kept_.end()));
}

// Precondition: lock_ is held.
void builder::drop(std::list<kept>::iterator at) {
  kept_bytes_ -= at->bytes();
  by_key_.erase(at->key);
  kept_.erase(at);
}

}  // namespace troupe::jit
