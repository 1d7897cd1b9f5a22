// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/jit/host/builder.hpp>
#include <troupe/kernel/host/compiler_flags.hpp>

namespace troupe::jit {
namespace {

using kernel::image_source;

// Grows when the meaning of a recipe or of a stored value changes.
constexpr std::uint32_t recipe_version = 1;

std::string key_of(const std::string& engine, const decoded_recipe& r, const compiler& with) {
  kernel::byte_writer key;
  key.text("image");
  key.value(recipe_version);
  key.value(kernel::compiler_interface_version);
  key.text(engine);
  key.text(processor_identity());
  key.text(with.identity);
  key.text(r.what);
  return std::move(key).bytes();
}

build failed_with(error why) { return {.failed = std::move(why)}; }

std::string as_note(const std::string& text) { return text.empty() ? "" : "note: cache: " + text + "\n"; }

}  // namespace

build builder::make(const decoded_recipe& r) {
  if (auto fine = check_for_host(r.full); !fine) return failed_with(fine.error());
  const std::int64_t deadline = r.full.timeout.after(now_ns());
  disk_cache* disk = r.full.cache == cache_use::disk ? parts_.disk : nullptr;
  const auto with = parts_.find(r.full, disk);
  if (!with) return failed_with(with.error());
  const std::string key = key_of(parts_.engine, r, *with);
  bool timed_out = false;
  if (r.full.cache == cache_use::none) return from_compiler(r, *with, "", deadline, "", timed_out);

  std::shared_ptr<flight> mine;
  while (!mine) {
    std::unique_lock guard(lock_);
    if (auto known = from_memory(key)) return *known;
    auto& there = flights_[key];
    if (!there) {
      there = mine = std::make_shared<flight>();
      break;
    }
    const std::shared_ptr<flight> other = there;
    landed_.wait(guard, [&] { return other->over; });
    if (other->timed_out && now_ns() < deadline) continue;  // whose patience was shorter than ours
    build same = other->outcome;
    same.source = image_source::memory;
    return same;
  }
  std::string note;
  std::optional<build> made;
  if (disk != nullptr) made = from_disk(key, note);
  if (!made) made = from_compiler(r, *with, key, deadline, note, timed_out);
  const std::scoped_lock guard(lock_);
  mine->outcome = *made;
  mine->timed_out = timed_out;
  mine->over = true;
  flights_.erase(key);
  landed_.notify_all();
  return *made;
}

// With lock_ held.
std::optional<build> builder::from_memory(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  const auto at = found->second;
  if (!unchanged(at->made_from)) {
    kept_bytes_ -= at->image->size();
    by_key_.erase(found);
    kept_.erase(at);
    return std::nullopt;
  }
  kept_.splice(kept_.begin(), kept_, at);
  return build{.failed = {}, .image = at->image, .log = at->log, .source = image_source::memory};
}

std::optional<build> builder::from_disk(const std::string& key, std::string& note) {
  auto found = parts_.disk->find(key, note);
  if (!found) return std::nullopt;
  kernel::byte_reader value(found->value);
  build b{.failed = {}, .image = {}, .log = std::string(value.text()), .source = image_source::disk};
  b.image = std::make_shared<const std::string>(value.rest());
  keep({key, b.image, b.log, std::move(found->made_from)});
  return b;
}

build builder::from_compiler(const decoded_recipe& r, const compiler& with, const std::string& key,
                             std::int64_t deadline_ns, const std::string& note, bool& timed_out) {
  compiled c = parts_.compile(r.full, with, deadline_ns);
  timed_out = c.timed_out;
  build b{.failed = std::move(c.failed), .image = {}, .log = std::move(c.log), .source = image_source::compiled};
  if (!b.failed) b.image = std::make_shared<const std::string>(std::move(c.image));
  const std::string said = b.log;  // notes about this run are no part of what is kept
  b.log += as_note(note);
  if (b.failed || !c.lasting || key.empty()) return b;
  if (r.full.cache == cache_use::disk && parts_.disk != nullptr) {
    kernel::byte_writer value;
    value.text(said);
    value.raw(b.image->data(), b.image->size());
    // A folder that cannot be used has been spoken of already.
    const std::string why_not = parts_.disk->store(key, c.made_from, value.bytes());
    if (why_not != note) b.log += as_note(why_not);
  }
  keep({key, b.image, said, std::move(c.made_from)});
  return b;
}

void builder::keep(kept k) {
  const std::scoped_lock guard(lock_);
  kept_bytes_ += k.image->size();
  if (const auto old = by_key_.find(k.key); old != by_key_.end()) {
    const auto at = old->second;
    kept_bytes_ -= at->image->size();
    by_key_.erase(old);
    kept_.erase(at);
  }
  kept_.push_front(std::move(k));
  by_key_.emplace(kept_.front().key, kept_.begin());
  while (kept_bytes_ > parts_.memory_bytes && kept_.size() > 1) {
    kept_bytes_ -= kept_.back().image->size();
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

}  // namespace troupe::jit
