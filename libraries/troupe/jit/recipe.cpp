// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <span>
#include <troupe/base/files/bytes.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/internal/compiler_options.hpp>
#include <troupe/jit/recipe_codec.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::jit {
namespace {

constexpr std::uint64_t most_source_bytes = std::uint64_t{64} << 20, least_log_bytes = 256,
                        most_log_bytes = std::uint64_t{16} << 20;
constexpr std::size_t most_units = 256;

error refusal(const std::string& what, const std::string& expected) {
  return error(error::details{.reaction = reaction::caller_bug,
                              .domain = "jit",
                              .text = "jit.compile: " + what + "; expected " + expected,
                              .request = {"jit.compile", 0}});
}

bool is_identifier(const std::string& s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !s.empty() && letter(s.front()) &&
         std::all_of(s.begin(), s.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Returns true if the name denotes a file in the compiler's folder.
bool is_file_name(const std::string& s) {
  if (s.empty() || s.size() > 200 || s.front() == '/' || s.front() == '-' || s.back() == '/') return false;
  if (std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < ' ' || c == 0x7f || c == '"' || c == '\\'; }))
    return false;
  const std::filesystem::path path(s);
  return std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".." || part == "."; });
}

bool has_control_characters(const std::string& s) {
  return std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

result<void> check_names(const recipe& r) {
  for (const auto* list : {&r.kernels, &r.globals}) {
    const std::string field = list == &r.kernels ? "kernels" : "globals";
    for (std::size_t i = 0; i < list->size(); ++i)
      if (const std::string& name = (*list)[i]; name.empty() || has_control_characters(name))
        return refusal(cat(field, "[", i, "] is ", detail::text(name)),
                       "a name as spelled in C++, such as scale or ns::reduce<float, 256>");
  }
  for (const auto& [name, value] : r.definitions)
    // A backslash at the end would join the next line to the definition.
    if (!is_identifier(name) || has_control_characters(value) || value.ends_with('\\'))
      return refusal("definitions has " + detail::text(name) + " = " + detail::text(value),
                     "the name of a macro, and a value on one line");
  return {};
}

result<void> check_files(const recipe& r) {
  if (!is_file_name(r.name))
    return refusal("name is " + detail::text(r.name), "a relative file name without .., such as saxpy.cu");
  for (const auto& [name, text] : r.headers)
    if (!is_file_name(name) || name == r.name)
      return refusal("headers has " + detail::text(name),
                     "a relative file name without .., as #include names it, other than the source's name");
  for (std::size_t i = 0; i < r.include_paths.size(); ++i)
    if (r.include_paths[i].empty() || has_control_characters(r.include_paths[i]))
      return refusal(cat("include_paths[", i, "] is ", detail::text(r.include_paths[i])), "a folder");
  for (std::size_t i = 0; i < r.options.size(); ++i)
    if (!is_allowed_option(r.options[i]) || has_control_characters(r.options[i]))
      return refusal(
          cat("options[", i, "] is ", detail::text(r.options[i])),
          "one of those that docs/jit.md lists, in one piece: -O, -g, -m, -W, -D, -U, -std=, --param=, -pthread, "
          "-f of the language and the optimiser, -I, -L, -l, -fsanitize=, some of -Wl, and NVRTC's; others may "
          "write files, or load code into the compiler");
  if (!r.compiler.empty() && r.compiler.front() != '/')
    return refusal("compiler is " + detail::text(r.compiler), "an absolute path, or nothing");
  return {};
}

result<void> check_unit(const recipe& r, std::size_t i) {
  const unit& u = r.units[i];
  const std::string field = cat("units[", i, "]");
  if (!is_file_name(u.name))
    return refusal(field + ".name is " + detail::text(u.name), "a relative file name without ..");
  for (std::size_t other = 0; other <= i; ++other)
    if (u.name == (other == i ? r.name : r.units[other].name))
      return refusal(field + ".name is " + detail::text(u.name) + ", which another part has", "each name once");
  if (u.source.empty() == u.image.empty())
    return refusal(field + (u.source.empty() ? " is empty" : " has both source and image"), "a source, or an image");
  if (u.source.size() > most_source_bytes || u.image.size() > most_source_bytes)
    return refusal(cat(field, " is ", u.source.size() + u.image.size(), " bytes"), cat("at most ", most_source_bytes));
  if (u.source.find('\0') != std::string::npos) return refusal(field + ".source holds a zero byte", "text");
  return {};
}

result<void> check_units(const recipe& r) {
  if (r.relocatable && !r.units.empty())
    return refusal("relocatable is true and there are units", "units only in the recipe that links them all");
  if (r.units.size() > most_units)
    return refusal(cat("units has ", r.units.size(), " entries"), cat("at most ", most_units));
  for (std::size_t i = 0; i < r.units.size(); ++i) TROUPE_TRY(check_unit(r, i));
  return {};
}

result<void> check_twice(const named_texts& texts, const std::string& field) {
  std::vector<std::string_view> names;
  for (const auto& [name, text] : texts) names.push_back(name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return refusal(field + " has " + detail::text(std::string(*twice)) + " twice", "each name once");
}

result<void> check_numbers(const recipe& r) {
  if (r.standard != 17 && r.standard != 20 && r.standard != 23)
    return refusal(cat("standard is ", r.standard), "17, 20 or 23");
  if (r.optimisation < 0 || r.optimisation > 3) return refusal(cat("optimisation is ", r.optimisation), "0 to 3");
  if (r.max_registers < 0 || r.max_registers > 255)
    return refusal(cat("max_registers is ", r.max_registers), "1 to 255, or 0 to let the compiler decide");
  if (r.timeout.nanoseconds <= 0) return refusal(cat("timeout is ", r.timeout.nanoseconds, " ns"), "more than 0");
  if (r.log_bytes < least_log_bytes || r.log_bytes > most_log_bytes)
    return refusal(cat("log_bytes is ", r.log_bytes), cat(least_log_bytes, " to ", most_log_bytes));
  if (!is_known(r.cache)) return refusal(cat("cache is ", static_cast<int>(r.cache)), one_of<cache_use>());
  return {};
}

template <class T>
void put(byte_writer& to, const T& number) {
  to.value(number);
}
void put(byte_writer& to, const text& t) { to.text(t); }
void put(byte_writer& to, const list<std::string>& all) { to.texts(all); }
// Writes the pairs in sorted order, so that equivalent recipes have equal bytes.
void put(byte_writer& to, named_texts all) {
  std::sort(all.begin(), all.end());
  to.value(static_cast<std::uint64_t>(all.size()));
  for (const auto& [key, value] : all) {
    to.text(key);
    to.text(value);
  }
}
void put(byte_writer& to, const list<unit>& all) {
  to.value(static_cast<std::uint64_t>(all.size()));
  for (const unit& u : all) {
    to.text(u.name);
    to.text(u.source);
    to.text({reinterpret_cast<const char*>(u.image.data()), u.image.size()});
  }
}

template <class T>
void get(byte_reader& from, T& number) {
  number = from.value<T>();
}
void get(byte_reader& from, text& t) { t = from.text(); }
void get(byte_reader& from, list<std::string>& all) { all = from.texts(); }
void get(byte_reader& from, named_texts& all) {
  for (auto n = from.value<std::uint64_t>(); n > 0 && from.sound(); --n) {
    std::string key(from.text());
    all.emplace_back(std::move(key), from.text());
  }
}
void get(byte_reader& from, list<unit>& all) {
  for (auto n = from.value<std::uint64_t>(); n > 0 && from.sound(); --n) {
    unit u{.name = std::string(from.text()), .source = std::string(from.text())};
    const auto image = std::as_bytes(std::span(from.text()));
    u.image.assign(image.begin(), image.end());
    all.push_back(std::move(u));
  }
}

// Visits the fields in the order of their bytes: first the fields that affect the image, then the others.
template <class Recipe, class F>
void visit_what(Recipe& r, F&& all) {
  all(r.source, r.name, r.kernels, r.globals, r.headers, r.include_paths, r.definitions, r.standard, r.fast_math,
      r.flush_to_zero, r.fuse_multiply_add, r.optimisation, r.debug_information, r.max_registers, r.architecture,
      r.options, r.relocatable, r.link_time_optimisation, r.units);
}
template <class Recipe, class F>
void visit_rest(Recipe& r, F&& all) {
  all(r.compiler, r.timeout.nanoseconds, r.cache, r.log_bytes, r.precompiled_headers);
}

}  // namespace

result<void> check(const recipe& r) {
  if (r.source.empty()) return refusal("source is empty", "CUDA C++");
  if (r.source.size() > most_source_bytes)
    return refusal(cat("source is ", r.source.size(), " bytes"), cat("at most ", most_source_bytes));
  if (r.source.find('\0') != std::string::npos) return refusal("source holds a zero byte", "text");
  TROUPE_TRY(check_files(r));
  TROUPE_TRY(check_names(r));
  TROUPE_TRY(check_units(r));
  TROUPE_TRY(check_twice(r.headers, "headers"));
  TROUPE_TRY(check_twice(r.definitions, "definitions"));
  return check_numbers(r);
}

void make_absolute(list<std::string>& folders) {
  for (std::string& f : folders) {
    std::error_code failed;
    if (const auto path = std::filesystem::absolute(f, failed); !failed) f = path.lexically_normal().string();
    // compilers name the files in a folder without a doubled slash
    while (f.size() > 1 && f.ends_with('/')) f.pop_back();
  }
}

std::string encode(const recipe& r) {
  byte_writer what, all;
  visit_what(r, [&](const auto&... field) { (put(what, field), ...); });
  all.text(what.bytes());
  visit_rest(r, [&](const auto&... field) { (put(all, field), ...); });
  return std::move(all).bytes();
}

std::optional<decoded_recipe> decode(std::string_view bytes) {
  byte_reader all(bytes);
  decoded_recipe d;
  d.what = all.text();
  byte_reader what(d.what);
  visit_rest(d.full, [&](auto&... field) { (get(all, field), ...); });
  visit_what(d.full, [&](auto&... field) { (get(what, field), ...); });
  if (!all.sound() || !what.sound()) return std::nullopt;
  return d;
}

}  // namespace troupe::jit
