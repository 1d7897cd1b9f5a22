// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/troupe/doctor.hpp>
#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/version.hpp>

namespace troupe::apps {
namespace {

using condition = engine_report::condition;

// Prints lines that consist of a mark, a label and a text, in columns.
class page {
 public:
  explicit page(const terminal& t) : t_(t), columns_(std::clamp(t.can().columns, 60, 100)) {}

  void heading(std::string_view text) { out_ += (out_.empty() ? "" : "\n") + t_.bold(text) + "\n"; }
  void line(const std::string& mark, std::string label, std::string_view text) {
    label.resize(std::max(label.size() + 1, label_columns), ' ');
    out_ += "  " + (mark.empty() ? "  " : mark) + " " + label + broken(text, 5 + label.size()) + "\n";
  }
  void more(std::string_view text) { line("", "", text); }
  void fact(std::string label, std::string_view text) { line("", std::move(label), text); }
  void good(std::string label, std::string_view text) { line(t_.good_mark(), std::move(label), text); }
  void warning(std::string label, std::string_view text) { line(t_.warning_mark(), std::move(label), text); }
  void bad(std::string label, std::string_view text) { line(t_.bad_mark(), std::move(label), text); }
  void end(const std::string& mark, std::string_view text) { out_ += "\n" + mark + " " + broken(text, 3) + "\n"; }
  void operation(std::string name, std::string_view types) {
    if (!types.empty()) name.resize(std::max(name.size() + 2, std::size_t{20}), ' ');
    out_ += "      " + name + broken(types, 6 + name.size()) + "\n";
  }
  std::string text() const { return out_; }

 private:
  std::string broken(std::string_view text, std::size_t indent) const {
    return wrapped(text, columns_ - std::min<std::size_t>(indent, 30), std::string(indent, ' '));
  }
  static constexpr std::size_t label_columns = 15;
  const terminal& t_;
  std::size_t columns_;
  std::string out_;
};

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, v == std::floor(v) ? "%.0f" : "%.1f", v);
  return text;
}

std::string counted(std::size_t n, const std::string& what) { return cat(n, " ", what, n == 1 ? "" : "s"); }

void installation_part(page& p, const doctor_report& r, const terminal& t) {
  p.heading("Installation");
  p.fact(std::string("troupe ") + troupe::version(), r.here.folder);
  p.fact("worker", r.here.worker);
  const service_report& s = r.service;
  if (s.serves)
    p.good("host engine", "serves: ready in " + time_text(t, s.ready_s) + ", a round trip in " +
                              time_text(t, s.round_trip_s) + ", closed in " + time_text(t, s.close_s));
  else
    p.bad("host engine", "does not serve: " + s.why);
  const std::string means =
      r.confinement.landlock == 0 && !r.confinement.filters
          ? "none"
          : cat(r.confinement.landlock != 0 ? cat("Landlock ", r.confinement.landlock) : std::string("no Landlock"),
                ", ", r.confinement.filters ? "" : "no ", "seccomp");
  if (const std::string lacks = r.confinement.lacks(); lacks.empty())
    p.good("confinement", "standard, for workers on the host: files, processes, network and signals (" + means + ")");
  else
    p.warning("confinement",
              "standard works only in part, and strict is refused: there is " + lacks + " (found: " + means + ")");
  p.fact("open_device()", "opens " + r.opens.engine + ":0 (" + r.opens.reason + ")");
}

void machine_part(page& p, const machine_report& m, const service_report& s) {
  p.heading("Machine");
  std::string cores =
      number(m.usable_cores()) + " of " + counted(static_cast<std::size_t>(m.cores), "core") + " usable";
  if (m.limits.cores && *m.limits.cores < m.allowed_cores) cores += " (the limit of this control group)";
  p.fact("processor", m.processor.empty() ? cores : m.processor + "; " + cores);
  std::string vectors;
  for (const std::string& v : m.vectors) vectors += (vectors.empty() ? "" : " ") + v;
  p.fact("vectors", vectors.empty() ? "none that are known here" : vectors);
  std::string memory = bytes_text(static_cast<double>(m.memory_bytes)) + ", " +
                       bytes_text(static_cast<double>(m.available_bytes)) + " available";
  if (m.limits.memory_bytes)
    memory += "; this control group may use " + bytes_text(static_cast<double>(*m.limits.memory_bytes));
  if (s.serves)
    memory += "; a host device may allocate " + bytes_text(static_cast<double>(s.memory_bytes)) + " by default";
  if (s.serves && m.limits.memory_bytes && s.memory_bytes > *m.limits.memory_bytes)
    p.warning("memory", memory + ", more than there is: set device_options::memory_limit");
  else
    p.fact("memory", memory);
  p.fact("locked memory", m.locked_memory_bytes ? "at most " + bytes_text(static_cast<double>(*m.locked_memory_bytes)) +
                                                      " (ulimit -l); the host engine needs none"
                                                : "no limit");
  const std::string files = cat("at most ", m.open_files, " (ulimit -n)");
  if (m.open_files < 256)
    p.warning("open files", cat(files, ": a device needs about ten, and more for much memory; ulimit -n ",
                                std::min<std::uint64_t>(m.most_open_files, 1024), " raises it"));
  else
    p.fact("open files", files);
  const std::string oldest = cat(oldest_kernel_major, ".", oldest_kernel_minor);
  if (m.kernel_is_new_enough)
    p.good("kernel", "Linux " + m.kernel + " (" + oldest + " or later is needed)");
  else
    p.bad("kernel", "Linux " + m.kernel + ": Troupe needs " + oldest + " or later, for pidfd and memfd");
}

std::string summary(const engine_report& e) {
  const std::size_t operations = grouped(e.requests).size();
  std::string text = counted(operations, "operation");
  if (operations != e.requests.size()) text += cat(", ", e.requests.size(), " with their types");
  return text;
}

void engine_lines(page& p, const engine_report& e) {
  const std::string name = e.file.library + "." + e.file.backend;
  switch (e.is) {
    case condition::serves:
      p.good(name, e.version.empty() || e.version == e.file.backend ? summary(e) : summary(e) + "; " + e.version);
      for (const std::string& note : e.notes) p.more(note);
      return;
    case condition::needs_library:
      p.warning(name, "cannot be used: " + e.why);
      if (!e.package.empty()) p.more("to get it: " + install_command(e.package));
      return;
    case condition::outdated_library:
      p.warning(name, "cannot be used, its library is too old: " + e.why);
      if (!e.package.empty()) p.more("to get a newer one: " + install_command(e.package));
      return;
    case condition::no_device:
      p.fact(name, "needs a GPU: " + e.why);
      return;
    case condition::unsuited:
      p.warning(name, "does not suit this machine: " + e.why);
      return;
    case condition::broken:
      p.bad(name, "broken: " + e.why);
      p.more("in " + e.file.path);
      return;
    case condition::hidden:
      p.fact(name, "not used: " + e.file.path + " is hidden by the one above");
      return;
  }
}

// Lists the engines that need a GPU on one line. The reason, which they share, is printed at the end.
void waiting_engines(page& p, const std::vector<engine_report>& all) {
  std::string names;
  for (const engine_report& e : all)
    if (e.is == condition::no_device) names += (names.empty() ? "" : ", ") + e.file.library + "." + e.file.backend;
  if (!names.empty()) p.fact("without a GPU", names + " cannot be used; the reason is below");
}

void gpu_part(page& p, const gpu_report& g) {
  p.heading("GPU");
  p.fact("in the kernel", g.machine.kernel_driver.empty() ? "no NVIDIA driver" : g.machine.kernel_driver);
  const std::string version = g.driver.version != 0 ? ", for CUDA " + cuda_version(g.driver.version) : "";
  p.fact("libcuda.so.1", g.driver.library.empty() ? "none that can be used" : g.driver.library + version);
  p.fact("CUDA engines", g.built ? "installed" : "not in this installation: it was built without the CUDA toolkit");
  for (const finding& f : g.findings) {
    switch (f.is) {
      case finding::grade::fact:
        p.fact("devices", f.what);
        break;
      case finding::grade::good:
        p.good("devices", f.what);
        break;
      case finding::grade::warning:
        p.warning("devices", f.what);
        break;
      case finding::grade::bad:
        p.bad("devices", f.what);
        break;
    }
    if (!f.remedy.empty()) p.more("to do: " + f.remedy);
  }
}

std::string rate_text(double flops) {
  char text[32];
  std::snprintf(text, sizeof text, flops < 1e10 ? "%.1f GFLOP/s" : "%.0f GFLOP/s", flops / 1e9);
  return text;
}

void speed_part(page& p, const speed_report& s) {
  if (!s.measured && s.why.empty()) return;
  p.heading("Speed of blas.host");
  if (!s.measured) return p.warning("product", "could not be measured: " + s.why);
  const std::string size = std::to_string(s.n);
  const std::string product = rate_text(s.flops) + " on one core (gemm<double>, " + size + " x " + size + ")";
  if (s.peak.flops > 0) {
    const std::string share = cat(", ", std::lround(100 * s.share()), " % of the processor's peak");
    if (s.is_slow())
      p.warning("product", product + share + ": less than half");
    else
      p.good("product", product + share);
    p.fact("peak",
           rate_text(s.peak.flops) + ", measured: " + std::string(s.peak.instruction) + " on registers, double");
  } else {
    p.fact("product", product);
  }
  if (s.kernels_are_unfit())
    p.warning("kernels",
              s.choice.text(s.kernels) + "; those for " + std::string(s.choice.best) + " fit this processor");
  if (const std::string remedy = s.remedy(); !remedy.empty()) p.more("to do: " + remedy);
}

void library_part(page& p, const doctor_report& r) {
  for (const engine_report& e : r.engines) {
    p.heading(e.file.library + ", " + e.file.backend + " engine");
    p.fact("file", e.file.path);
    engine_lines(p, e);
    if (e.is != condition::serves) continue;
    p.heading("Operations of " + e.file.library);
    for (const operation_types& o : grouped(e.requests)) {
      std::string types;
      for (const std::string& type : o.types) types += (types.empty() ? "" : " ") + type;
      p.operation(o.operation, types);
    }
  }
}

std::string verdict(const doctor_report& r, const terminal& t) {
  const std::string took = " (" + time_text(t, r.seconds) + ")";
  if (!r.library.empty()) return r.library + " serves here" + took;
  std::size_t serving = 0, lacking = 0;
  for (const engine_report& e : r.engines) {
    serving += e.is == condition::serves;
    lacking += e.is == condition::needs_library || e.is == condition::outdated_library;
  }
  std::string text = "the host engine serves here, " + counted(serving, "engine") + " can be used";
  if (lacking > 0) text += cat(", ", lacking, " more when its library is installed");
  if (r.speed.is_slow())
    text += cat(", products at ", std::lround(100 * r.speed.share()), " % of the processor's peak");
  const auto bad = std::find_if(r.gpu.findings.begin(), r.gpu.findings.end(),
                                [](const finding& f) { return f.is == finding::grade::bad; });
  if (bad != r.gpu.findings.end() && !r.gpu.usable()) text += ". No GPU can be used: " + bad->what;
  return text + took;
}

}  // namespace

std::string doctor_text(const doctor_report& r, const terminal& t) {
  page p(t);
  if (r.library.empty()) {
    installation_part(p, r, t);
    machine_part(p, r.machine, r.service);
    p.heading("Engines");
    for (const engine_report& e : r.engines)
      if (e.is != condition::no_device) engine_lines(p, e);
    waiting_engines(p, r.engines);
    if (r.engines.empty()) p.bad("none", "in " + r.here.engines);
    for (const optional_engine& o : r.left_out) p.warning(o.name, o.text());
    speed_part(p, r.speed);
    gpu_part(p, r.gpu);
  } else {
    library_part(p, r);
    speed_part(p, r.speed);
  }
  if (r.reason.empty())
    p.end(t.good_mark(), verdict(r, t));
  else
    p.end(t.bad_mark(), r.reason);
  return p.text();
}

}  // namespace troupe::apps
