// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/library_access.hpp>
#include <troupe/graph/internal/accesses.hpp>
#include <troupe/graph/internal/core.hpp>
#include <troupe/graph/internal/recipe.hpp>
#include <troupe/graph/internal/recipe_writer.hpp>
#include <troupe/graph/requests.hpp>

namespace troupe::graph {
namespace {

error wrong_use(const std::string& text) { return detail::refusal("graph", text); }

// Collects each program that the nodes use, with the first node that uses it.
void collect_programs(const tree_body& all, const std::string& prefix, std::vector<version::program_use>& into) {
  for (const tree_node& n : all) {
    if (n.kind == node_kind::request)
      for (const auto& p : n.what->programs())
        if (std::none_of(into.begin(), into.end(), [&](const auto& known) { return known.program == p; }))
          into.push_back({p, name_of(n, prefix)});
    collect_programs(n.body, prefix_inside(n, prefix), into);
    collect_programs(n.otherwise, prefix_inside(n, prefix), into);
  }
}

using replacements = std::vector<std::pair<tree_node*, std::shared_ptr<const step>>>;

result<void> rebind_all(tree_body& all, const std::string& prefix, const device& gpu, const rebinding& r,
                        replacements& out) {
  for (tree_node& n : all) {
    if (n.what) {
      auto moved = n.what->rebound(gpu, r);
      if (!moved) {
        error::details why = moved.error().all();
        why.text = name_of(n, prefix) + ": " + why.text;
        return error(std::move(why));
      }
      if (*moved) out.emplace_back(&n, std::move(*moved));
    }
    TROUPE_TRY(rebind_all(n.body, prefix_inside(n, prefix), gpu, r, out));
    TROUPE_TRY(rebind_all(n.otherwise, prefix_inside(n, prefix), gpu, r, out));
  }
  return {};
}

}  // namespace

error detail::refusal(std::string_view request, const std::string& text, reaction how) {
  return error(error::details{.reaction = how,
                              .domain = "graph",
                              .text = std::string(request) + ": " + text,
                              .request = {std::string(request), 0}});
}

std::string name_of(const tree_node& n, const std::string& prefix) {
  std::string out = cat("node ", prefix, n.number);
  if (n.kind == node_kind::child) return out + " (graph \"" + n.label + "\")";
  if (!n.label.empty()) out += " \"" + n.label + "\"";
  if (n.kind == node_kind::request) return out + " (" + n.what->name() + ")";
  return out + (n.kind == node_kind::if_ ? " (if)" : " (while)");
}

std::size_t count_of(const tree_body& all) {
  std::size_t n = all.size();
  for (const tree_node& one : all) n += count_of(one.body) + count_of(one.otherwise);
  return n;
}

tree_node* find(tree_body& all, std::uint32_t number) {
  for (tree_node& n : all) {
    if (n.number == number) return &n;
    if (n.kind == node_kind::child) continue;
    if (tree_node* const inside = find(n.body, number)) return inside;
    if (tree_node* const inside = find(n.otherwise, number)) return inside;
  }
  return nullptr;
}

std::uint64_t next_graph_id() {
  static std::atomic<std::uint64_t> last{static_cast<std::uint64_t>(std::random_device{}()) << 32};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

core::core(const device& gpu, std::string name, std::uint32_t branches, std::uint64_t id, tree_body all,
           std::optional<error> wrong)
    : gpu_(library_access(gpu).unscoped()),
      name_(std::move(name)),
      branches_(branches),
      id_(id),
      root_(library_access(gpu).alloc_sent(sizeof(graph_root))),
      wrong_(std::move(wrong)),
      all_(std::move(all)) {
  if (root_.address == 0) return;
  const graph_root root{.id = id, .reserved = {}};
  std::memcpy(root_.owner->host, &root, sizeof root);
}

core::~core() {
  // The reply is not awaited: if the device has stopped or its mailbox is full, the worker keeps the graph until the
  // worker ends.
  if (launched_) (void)gpu_.tell(unload{.root = out<std::byte>(root_)}, {.waits_for_room = false});
}

std::optional<error> core::wrong() const { return wrong_; }

tree_body core::copy() const {
  const std::scoped_lock guard(lock_);
  return all_;
}

std::size_t core::size() const {
  const std::scoped_lock guard(lock_);
  return count_of(all_);
}

result<std::shared_ptr<const version>> core::now() {
  const std::scoped_lock guard(lock_);
  if (now_) [[likely]]
    return now_;
  auto made = write();
  if (made) now_ = *made, launched_ = true;
  return made;
}

result<std::shared_ptr<const version>> core::write() const {
  if (wrong_) return *wrong_;
  if (root_.address == 0) return *troupe::detail::why_stale(root_);
  auto out = std::make_shared<version>();
  const recipe_writer writer(all_, name_, changes_ + 1, branches_);
  const memory_range recipe = library_access(gpu_).alloc_sent(writer.bytes());
  if (recipe.address == 0) return *troupe::detail::why_stale(recipe);
  writer.write(recipe.owner->host, recipe.address);
  out->root = root_.address;
  out->recipe = recipe.address;
  collect_programs(all_, {}, out->programs);
  access_summary all;
  all.add(all_);
  out->uses = all.uses(names_of(all_));
  out->uses.push_back({root_, access_mode::read, "the graph"});
  out->uses.push_back({recipe, access_mode::read, "the graph"});
  return std::shared_ptr<const version>(std::move(out));
}

constexpr std::string_view stale_since = ", which is stale since: ";
constexpr std::string_view remedy =
    "; write all of it before the launch, or in the graph before that node (before the while or if, if the node is in "
    "one)";

// A graph that replaces what it reads makes its own outputs stale, so each failed launch would repeat the text of the
// last one.
static std::string_view first_cause_in(std::string_view text) {
  if (const auto at = text.rfind(stale_since); at != text.npos) text.remove_prefix(at + stale_since.size());
  return text.substr(0, text.find(remedy));
}

error core::stale_input(const memory_range& where, const error& cause) const {
  const std::scoped_lock guard(lock_);
  access_summary all;
  all.add(all_);
  error::details why = cause.passed_on_to({"graph.launch", 0}).all();
  for (const node_access& a : all.accesses()) {
    const memory_range& m = a.where;
    if (a.reader == nullptr || m.address >= where.address + where.bytes || where.address >= m.address + m.bytes ||
        !troupe::detail::why_stale(m))
      continue;
    why.text = cat("graph.launch: ", names_of(all_)[a.reader], " reads ", a.reader->what->operand_at(m), stale_since,
                   first_cause_in(cause.text()), remedy);
    break;
  }
  return error(std::move(why));
}

result<void> core::change(const std::function<result<void>(tree_body&)>& change) {
  const std::scoped_lock guard(lock_);
  TROUPE_TRY(change(all_));
  ++changes_;
  now_.reset();
  return {};
}

const std::string& graph::name() const noexcept {
  static const std::string none;
  return core_ ? core_->name() : none;
}
std::size_t graph::size() const { return core_ ? core_->size() : 0; }
std::string graph::dot() const { return to_dot(name(), core_ ? core_->copy() : tree_body()); }
const device& graph::gpu() const noexcept { return core_->gpu(); }
error graph::empty() {
  return wrong_use(
      "the graph is empty (default-constructed, or moved from); expected a graph that recorder::finish returned");
}

result<void> graph::replace(const node& n, std::shared_ptr<const step> with) const {
  if (!n || n.graph() != core_->id()) return wrong_use("set: the node belongs to no graph or to another one");
  return core_->change([&](tree_body& all) -> result<void> {
    tree_node* const at = find(all, n.number());
    if (at == nullptr || at->kind != node_kind::request || at->what->info().opcode != with->info().opcode)
      return wrong_use(
          "set: " + (at == nullptr ? "there is no such node" : name_of(*at, {}) + " is a node of another kind") +
          "; expected one that was recorded as " + std::string(with->info().label));
    at->what = std::move(with);
    return {};
  });
}

result<void> graph::set(const node& n, const graph& child) const {
  if (!*this || !child) return empty();
  if (!n || n.graph() != core_->id()) return wrong_use("set: the node belongs to no graph or to another one");
  if (!(child.gpu() == gpu())) return wrong_use("set: the child graph belongs to another device");
  if (const auto why = child.core_->wrong()) return *why;
  tree_body body = child.core_->copy();
  return core_->change([&](tree_body& all) -> result<void> {
    tree_node* const at = find(all, n.number());
    if (at == nullptr || at->kind != node_kind::child)
      return wrong_use(
          "set: " + (at == nullptr ? "there is no such node" : name_of(*at, {}) + " is a node of another kind") +
          "; expected a child graph");
    at->body = std::move(body);
    at->branches = child.core_->branches();
    if (!at->own_label) at->label = child.name();
    return {};
  });
}

result<void> graph::rebind(const rebinding& r) const {
  if (!*this) return empty();
  if (!r.from.owner || !r.to.owner) return wrong_use("rebind: a buffer is empty (never allocated, or moved from)");
  if (r.from.bytes != r.to.bytes)
    return wrong_use(cat("rebind: the new buffer has ", r.to.bytes, " bytes; expected ", r.from.bytes,
                         ", the size of the old buffer"));
  return core_->change([&](tree_body& all) -> result<void> {
    replacements moved;
    TROUPE_TRY(rebind_all(all, {}, gpu(), r, moved));
    if (moved.empty()) return wrong_use("rebind: no node uses the old buffer; expected a buffer that the graph uses");
    for (auto& [node, with] : moved) node->what = std::move(with);
    return {};
  });
}

std::optional<error> snapshot::stale_input() const {
  for (const use& u : uses())
    if (reads(u.mode) && u.where.owner && u.where.owner->stale_marks.load(std::memory_order_acquire) != 0)
      if (const auto cause = troupe::detail::why_stale(u.where)) return (*of_)->stale_input(u.where, *cause);
  return std::nullopt;
}

snapshot::snapshot(const graph& g) : of_(g.shared()) {
  if (!g) {
    *why_ = detail::refusal(
        "graph.launch",
        "graph is empty (default-constructed, or moved from); expected a graph that recorder::finish returned");
    return;
  }
  auto now = g.shared()->now();
  if (now)
    *version_ = std::move(*now);
  else
    *why_ = now.error();
}

std::optional<error> snapshot::wrong() const {
  if (*why_) return *why_;
  if (!*version_) return std::nullopt;
  for (const auto& p : (*version_)->programs)
    if (p.program->unloaded())
      return detail::refusal("graph.launch", p.node + " uses " + p.program->name() +
                                                 ", which was unloaded; give it another program with graph::set");
  return std::nullopt;
}

}  // namespace troupe::graph

// The worker writes this memory, so it is copied once, and the copy is checked.
void troupe::encoded_field<troupe::graph::snapshot>::add_name(const std::byte* at, const encoded_request& r,
                                                              std::string& to) {
  std::uint64_t raw[2];  // in the layout that field_codec<snapshot> writes
  std::memcpy(raw, at, sizeof raw);
  const std::span<const std::byte> bytes = r.memory.at(raw[1]);
  if (bytes.size() < sizeof(graph::recipe_head)) return;
  const graph::recipe_view recipe(reinterpret_cast<std::uintptr_t>(bytes.data()));
  to.append(" \"").append(recipe.name()).append("\"");
  graph::launch_position where;
  if (r.reply.size() < sizeof where) return;
  std::memcpy(&where, r.reply.data(), sizeof where);
  if (where.ticket != r.ticket || where.node >= recipe.head().node_count) return;
  to.append(", ").append(recipe.name(recipe.nodes()[where.node]));
}
