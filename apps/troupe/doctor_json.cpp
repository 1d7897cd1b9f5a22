// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/cli/json.hpp>
#include <apps/troupe/doctor.hpp>
#include <troupe/base/version.hpp>

namespace troupe::apps {
namespace {

template <class T>
void optional_member(json_writer& out, std::string_view name, const std::optional<T>& v) {
  out.key(name);
  v ? out.value(*v) : out.null();
}

void text_or_null(json_writer& out, std::string_view name, const std::string& text) {
  out.key(name);
  text.empty() ? out.null() : out.value(text);
}

void write(json_writer& out, const service_report& s) {
  out.key("host_engine").begin_object();
  out.member("serves", s.serves);
  if (s.serves)
    out.member("ready_seconds", s.ready_s)
        .member("round_trip_seconds", s.round_trip_s)
        .member("close_seconds", s.close_s)
        .member("memory_bytes", s.memory_bytes);
  else
    out.member("why", s.why);
  out.end_object();
}

void write(json_writer& out, const confinement_support& c) {
  out.key("confinement").begin_object().member("level", "standard").member("landlock", c.landlock);
  out.member("system_calls", c.filters);
  text_or_null(out, "lacks", c.lacks());
  out.end_object();
}

void write(json_writer& out, const machine_report& m) {
  out.key("machine").begin_object();
  out.member("processor", m.processor).member("cores", m.cores).member("allowed_cores", m.allowed_cores);
  optional_member(out, "cgroup_cores", m.limits.cores);
  out.member("usable_cores", m.usable_cores()).member("vector_extensions", m.vectors);
  out.member("memory_bytes", m.memory_bytes).member("available_memory_bytes", m.available_bytes);
  optional_member(out, "cgroup_memory_bytes", m.limits.memory_bytes);
  optional_member(out, "locked_memory_limit_bytes", m.locked_memory_bytes);
  out.member("open_files_limit", m.open_files).member("open_files_hard_limit", m.most_open_files);
  out.member("kernel", m.kernel).member("kernel_is_new_enough", m.kernel_is_new_enough);
  out.end_object();
}

void write(json_writer& out, const gpu_report& g) {
  out.key("gpu").begin_object();
  out.member("usable", g.usable()).member("engine_installed", g.built);
  text_or_null(out, "driver", g.machine.kernel_driver);
  text_or_null(out, "driver_library", g.driver.library);
  text_or_null(out, "driver_cuda", g.driver.version == 0 ? "" : cuda_version(g.driver.version));
  out.member("models", g.machine.models).member("pci_devices", g.machine.on_bus);
  out.key("devices").begin_array();
  for (const driver_answer::gpu& one : g.driver.gpus)
    out.begin_object()
        .member("name", one.name)
        .member("capability", one.capability)
        .member("memory_bytes", one.bytes)
        .end_object();
  out.end_array().key("findings").begin_array();
  for (const finding& f : g.findings) {
    out.begin_object().member("grade", to_string(f.is)).member("what", f.what);
    text_or_null(out, "to_do", f.remedy);
    out.end_object();
  }
  out.end_array().end_object();
}

void write(json_writer& out, const engine_report& e) {
  out.begin_object();
  out.member("library", e.file.library).member("backend", e.file.backend).member("file", e.file.path);
  out.member("condition", to_string(e.is));
  text_or_null(out, "why", e.why);
  text_or_null(out, "package", e.package);
  text_or_null(out, "version", e.version);
  out.member("notes", e.notes).member("request_count", e.requests.size());
  out.key("operations").begin_array();
  for (const operation_types& o : grouped(e.requests))
    out.begin_object().member("name", o.operation).member("types", o.types).end_object();
  out.end_array();
  out.end_object();
}

// Writes null if the speed was not measured, because blas.host is unusable or only another library was checked.
void write(json_writer& out, const speed_report& s) {
  out.key("speed");
  if (!s.measured && s.why.empty()) {
    out.null();
    return;
  }
  out.begin_object().member("measured", s.measured);
  text_or_null(out, "why", s.why);
  out.member("kernels", s.kernels).member("kernels_chosen_by", to_string(s.choice.by));
  out.member("kernels_openblas_takes", s.choice.own).member("kernels_that_fit", s.choice.best);
  out.member("kernels_are_fit", !s.kernels_are_unfit());
  out.member("threads", s.threads).member("n", s.n).member("flops_of_a_core", s.flops);
  out.member("peak_flops_of_a_core", s.peak.flops)
      .member("peak_instruction", s.peak.instruction)
      .member("share", s.share());
  text_or_null(out, "to_do", s.remedy());
  out.end_object();
}

}  // namespace

std::string doctor_json(const doctor_report& r) {
  json_writer out;
  out.begin_object();
  out.member("troupe", troupe::version()).member("ok", r.reason.empty());
  text_or_null(out, "reason", r.reason);
  text_or_null(out, "library", r.library);
  out.key("installation").begin_object();
  out.member("folder", r.here.folder).member("worker", r.here.worker).member("engines", r.here.engines);
  out.end_object();
  out.key("open_device").begin_object().member("engine", r.opens.engine).member("reason", r.opens.reason).end_object();
  write(out, r.service);
  write(out, r.machine);
  write(out, r.confinement);
  write(out, r.gpu);
  out.key("engines").begin_array();
  for (const engine_report& e : r.engines) write(out, e);
  out.end_array().key("left_out").begin_array();
  for (const optional_engine& o : r.left_out)
    out.begin_object().member("library", o.library).member("package", o.package).end_object();
  out.end_array();
  write(out, r.speed);
  out.member("seconds", r.seconds);
  out.end_object();
  return out.text();
}

}  // namespace troupe::apps
