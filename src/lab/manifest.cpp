#include "lab/manifest.h"

#include "report/json.h"
#include "report/output_file.h"

namespace tlstrata::lab {
namespace {

using Json = nlohmann::ordered_json;

Json direction_json(const testbed::LinkDirection& direction) {
  return {{"delay_ns", direction.delay_ns},
          {"jitter_ns", direction.jitter_ns},
          {"loss", direction.loss},
          {"loss_burst", direction.loss_burst},
          {"reorder", direction.reorder},
          {"duplicate", direction.duplicate},
          {"rate_bits_per_s", direction.rate_bits_per_s},
          {"queue_packets", direction.queue_packets}};
}

Json links_json(const Spec& spec) {
  Json links = Json::array();
  for (const LinkChoice& link : spec.links) {
    links.push_back({{"label", link.label},
                     {"emulated", link.emulated},
                     {"initcwnd", link.initcwnd},
                     {"forward", direction_json(link.shape.forward)},
                     {"backward", direction_json(link.shape.backward)}});
  }
  return links;
}

Json counts_json(const testbed::DirectionCounts& counts) {
  return {{"frames", counts.frames},
          {"lost", counts.lost},
          {"queue_full", counts.queue_full},
          {"duplicated", counts.duplicated},
          {"overtaking", counts.overtaking},
          {"delivered", counts.delivered},
          {"undeliverable", counts.undeliverable},
          {"p99_late_ns", counts.p99_late_ns},
          {"max_late_ns", counts.max_late_ns}};
}

Json block_json(const ManifestBlock& block) {
  Json json{{"cell", block.cell},
            {"block", block.block},
            {"order", block.order},
            {"capture", block.capture},
            {"proxy_captures", block.proxy_captures},
            {"scheduled", block.scheduled},
            {"not_started", block.not_started},
            {"capture_packets", block.capture_packets},
            {"capture_dropped", block.capture_dropped},
            {"samples_missed", block.samples_missed},
            {"busy_cores", block.busy_cores},
            {"started_ns", block.started_ns},
            {"ended_ns", block.ended_ns}};
  if (block.partial) {
    json["partial"] = true;
  }
  if (block.link) {
    json["link"] = {{"forward", counts_json(block.link->forward)}, {"backward", counts_json(block.link->backward)}};
  }
  json["command"] = block.command;
  return json;
}

Json cell_json(const Cell& cell) {
  return Json{{"name", cell.name},
              {"groups", cell.groups},
              {"key_shares", cell.key_shares},
              {"response_bytes", cell.response.bytes},
              {"direct", cell.response.direct},
              {"baseline", cell.baseline},
              {"compared_with", cell.compared_with},
              {"link", cell.link.emulated || cell.link.initcwnd != 0 ? cell.link.label : ""},
              {"rate", cell.rate},
              {"injection", cell.injection.label},
              {"server", cell.server}};
}

}  // namespace

Json to_json(const Spec& spec) {
  Json groups = Json::array();
  for (const GroupChoice& choice : spec.groups) {
    groups.push_back({{"offer", choice.offer}, {"key_shares", choice.key_shares}, {"label", choice.label}});
  }
  Json responses = Json::array();
  for (const Response& response : spec.responses) {
    responses.push_back(response_name(response));
  }
  Json certificates = Json::array();
  for (const CertificateChoice& choice : spec.certificates) {
    certificates.push_back({{"kind", choice.kind}, {"chain", choice.chain}, {"label", choice.label}});
  }
  Json upstreams = Json::array();
  for (const UpstreamChoice& choice : spec.upstreams) {
    upstreams.push_back({{"label", choice.label}, {"tls", choice.tls}, {"groups", choice.groups}});
  }
  Json injections = Json::array();
  for (const Injection& injection : spec.injections) {
    injections.push_back({{"label", injection.label},
                          {"place", place_name(injection.place)},
                          {"cpu", injection.cpu},
                          {"delay_ns", injection.delay_ns}});
  }
  return Json{{"name", spec.name},
              {"groups", std::move(groups)},
              {"responses", std::move(responses)},
              {"rate", spec.rates},
              {"arrivals", spec.arrivals},
              {"block_ns", spec.block_ns},
              {"blocks", spec.blocks},
              {"seed", spec.seed},
              {"certificate", std::move(certificates)},
              {"topology", std::move(upstreams)},
              {"inject", std::move(injections)},
              {"link", links_json(spec)},
              {"client_cpu", spec.client_cpu},
              {"warmup", {{"transactions", spec.warmup_transactions}, {"per_block", spec.warmup_per_block}}},
              {"proxy",
               {{"name", spec.proxies},
                {"groups", spec.proxy_groups},
                {"workers", spec.proxy_workers},
                {"keep_upstream", spec.keep_upstream}}},
              {"origin", {{"threads", spec.origin_threads}}},
              {"cores", {{"client", spec.client_cores}, {"proxy", spec.proxy_cores}, {"origin", spec.origin_cores}}},
              {"network",
               {{"congestion_control", spec.congestion_control}, {"offloads", spec.offloads}, {"mtu_bytes", spec.mtu}}},
              {"capture",
               {{"snaplen_bytes", spec.snaplen}, {"buffer_bytes", spec.capture_buffer}, {"proxy", spec.capture_proxy}}},
              {"timeouts",
               {{"connect_ns", spec.connect_timeout_ns},
                {"handshake_ns", spec.handshake_timeout_ns},
                {"response_ns", spec.response_timeout_ns}}}};
}

Json to_json(const Manifest& manifest) {
  Json cells = Json::array();
  for (const Cell& cell : manifest.cells) {
    cells.push_back(cell_json(cell));
  }
  Json blocks = Json::array();
  for (const ManifestBlock& block : manifest.blocks) {
    blocks.push_back(block_json(block));
  }
  Json json = report::open_document("lab");
  json.update(
      Json{{"name", manifest.name},
           {"spec_name", manifest.spec_name},
           {"started_utc", manifest.started_utc},
           {"ended_utc", manifest.ended_utc},
           {"partial", manifest.partial},
           {"continued_utc", manifest.continued_utc},
           {"seed", manifest.seed},
           {"openssl", manifest.openssl},
           {"proxy", {{"name", manifest.proxy_name}, {"version", manifest.proxy_version}}},
           {"servers", manifest.servers},
           {"clock", {{"source", manifest.clock_source}, {"capture", "CLOCK_REALTIME, kernel receive stamps"}}},
           {"machine", manifest.machine},
           {"cells", std::move(cells)},
           {"warmup",
            {{"transactions", manifest.warmup_transactions},
             {"note", "run before the first block and in each block's client before its capture; captured nowhere"}}},
           {"planned_blocks", manifest.planned_blocks},
           {"blocks", std::move(blocks)},
           {"commands", manifest.commands},
           {"spec", manifest.spec}});
  return json;
}

Checked<void> write_manifest(const Manifest& manifest, const std::filesystem::path& path) {
  return report::write_file(path, report::to_text(to_json(manifest)));
}

}  // namespace tlstrata::lab
