// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/support/table.hpp>

namespace troupe::dnn::support {
namespace {

constexpr std::string_view refused = "refused";

std::string list_of(const std::vector<dtype>& types) {
  std::string out;
  for (const dtype t : types) out += cat(out.empty() ? "" : " ", to_string(t));
  return out;
}

// The footnotes of the table: the reasons of refusals, in the order of their first use.
class footnotes {
 public:
  std::string cell(const node_support& support) {
    if (support.refused.empty()) return support.text;
    auto at = std::find(reasons_.begin(), reasons_.end(), support.refused);
    if (at == reasons_.end()) at = reasons_.insert(at, support.refused);
    return cat(support.text, " (", at - reasons_.begin() + 1, ")");
  }
  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < reasons_.size(); ++i) out += cat("- (", i + 1, ") `", reasons_[i], "`\n");
    return out;
  }

 private:
  std::vector<std::string> reasons_;
};

// Replaces the name of the type in the reason, so that equal reasons for several types share a footnote.
node_support without_type(node_support support, dtype type) {
  const std::string name = cat(" ", to_string(type));
  if (const std::size_t at = support.refused.find(name); at != support.refused.npos)
    support.refused.replace(at, name.size(), " this type");
  return support;
}

}  // namespace

/// A row of the table: operations with equal cells.
struct table::row {
  std::vector<const entry*> entries;
  std::vector<cell> cells;
};

void table::add(const support_case& c, dtype type, node_support host, node_support cuda) {
  if (entries_.empty() || entries_.back().name != c.name || entries_.back().variant != c.variant)
    entries_.push_back({c.name, c.variant, {}});
  std::vector<cell>& cells = entries_.back().cells;
  host = without_type(std::move(host), type), cuda = without_type(std::move(cuda), type);
  const auto equal = std::find_if(cells.begin(), cells.end(),
                                  [&](const cell& other) { return other.host == host && other.cuda == cuda; });
  if (equal != cells.end())
    equal->types.push_back(type);
  else
    cells.push_back({{type}, std::move(host), std::move(cuda)});
}

// Returns the types that every operation refuses.
std::vector<dtype> table::refused_types() const {
  std::vector<dtype> out;
  for (const cell& c : entries_.front().cells)
    for (const dtype t : c.types)
      if (std::all_of(entries_.begin(), entries_.end(), [t](const entry& e) {
            return std::any_of(e.cells.begin(), e.cells.end(), [t](const cell& k) {
              return k.host.text == refused && std::find(k.types.begin(), k.types.end(), t) != k.types.end();
            });
          }))
        out.push_back(t);
  return out;
}

std::vector<table::row> table::rows() const {
  const std::vector<dtype> left_out = refused_types();
  std::vector<row> out;
  for (const entry& e : entries_) {
    std::vector<cell> cells;
    for (cell c : e.cells) {
      std::erase_if(c.types, [&](dtype t) { return std::find(left_out.begin(), left_out.end(), t) != left_out.end(); });
      if (!c.types.empty()) cells.push_back(std::move(c));
    }
    const auto equal = std::find_if(out.begin(), out.end(), [&](const row& r) {
      return std::equal(r.cells.begin(), r.cells.end(), cells.begin(), cells.end(), [](const cell& a, const cell& b) {
        return a.types == b.types && a.host == b.host && a.cuda == b.cuda;
      });
    });
    if (equal != out.end())
      equal->entries.push_back(&e);
    else
      out.push_back({{&e}, std::move(cells)});
  }
  return out;
}

// Returns the names of a row's operations: "reduce" if all of its variants are in the row, otherwise "reduce (sum,
// mean)". Neighboring names with the same variants share one list of them.
std::string table::names_of(const row& r) const {
  std::vector<std::string> names;
  for (const entry* const e : r.entries)
    if (std::find(names.begin(), names.end(), e->name) == names.end()) names.push_back(e->name);
  std::string out, last;
  for (const std::string& name : names) {
    const auto is_named = [&](const entry& e) { return e.name == name; };
    std::string variants;
    std::ptrdiff_t here = 0;
    for (const entry* const e : r.entries)
      if (is_named(*e)) ++here, variants += cat(variants.empty() ? " (" : ", ", e->variant);
    variants = here == std::count_if(entries_.begin(), entries_.end(), is_named) ? "" : cat(variants, ")");
    if (!out.empty()) out += variants == last ? ", " : cat(last, "; ");
    out += name;
    last = variants;
  }
  return out + last;
}

// Moves the cell with the most types to the end, if it has at least 4; returns true if so.
bool table::move_largest_to_end(std::vector<cell>& cells) {
  constexpr std::size_t many = 4;
  const auto largest = std::max_element(cells.begin(), cells.end(),
                                        [](const cell& a, const cell& b) { return a.types.size() < b.types.size(); });
  if (largest->types.size() < many) return false;
  std::rotate(largest, largest + 1, cells.end());
  return true;
}

std::string table::text() const {
  std::string out = "| operation | elements | host engine | CUDA engine |\n|---|---|---|---|\n";
  footnotes notes;
  const auto line = [&](const std::string& names, const std::string& types, const cell& c) {
    out += cat("| ", names, " | ", types, " | ", notes.cell(c.host), " | ", notes.cell(c.cuda), " |\n");
  };
  std::vector<dtype> supported_types;
  for (row& r : rows()) {
    const bool has_others = r.cells.size() > 1 && move_largest_to_end(r.cells);
    supported_types.clear();
    for (const cell& c : r.cells) {
      const bool is_last = &c == &r.cells.back();
      supported_types.insert(supported_types.end(), c.types.begin(), c.types.end());
      line(&c == &r.cells.front() ? names_of(r) : "",
           r.cells.size() == 1     ? "all"
           : has_others && is_last ? "others"
                                   : list_of(c.types),
           c);
    }
  }
  std::sort(supported_types.begin(), supported_types.end());
  if (const std::vector<dtype> types = refused_types(); !types.empty()) {
    const std::vector<cell>& cells = entries_.front().cells;
    line("all", list_of(types), *std::find_if(cells.begin(), cells.end(), [&](const cell& c) {
           return std::find(c.types.begin(), c.types.end(), types.front()) != c.types.end();
         }));
  }
  return cat(out, "\n\"All\" elements are ", list_of(supported_types), ".\n\n", notes.text());
}

}  // namespace troupe::dnn::support
