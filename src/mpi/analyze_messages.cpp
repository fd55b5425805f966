#include "mpi/analyze_messages.h"

#include <concepts>
#include <type_traits>
#include <utility>

namespace tlstrata::mpi {

// A value that is read, or a const one that is written.
template <typename V, typename T>
concept Either = std::same_as<std::remove_const_t<V>, T>;

// Where these stand they are found by the archives' namespace, which an anonymous one would hide.
template <typename A>
void transfer(A& archive, Either<strata::Connection> auto& connection) {
  archive(connection.number);
  archive(connection.client);
  archive(connection.server);
  archive(connection.start_ns);
  archive(connection.tls_version);
  archive(connection.cipher_suite);
  archive(connection.group);
  archive(connection.key_shares);
  archive(connection.offered_groups);
  archive(connection.server_name);
  archive(connection.alpn);
  archive(connection.hrr);
  archive(connection.resumed);
  archive(connection.early_data);
  archive(connection.client_hello_bytes);
  archive(connection.server_flight_bytes);
  archive(connection.client_handshake_bytes);
  archive(connection.server_handshake_bytes);
  archive(connection.traffic);
  archive(connection.key_share_bytes);
  archive(connection.retry_request_bytes);
  archive(connection.second_client_hello_bytes);
  archive(connection.client_finish_bytes);
  archive(connection.certificate_bytes);
  archive(connection.certificates);
  archive(connection.tickets);
  archive(connection.key_updates);
  archive(connection.alert);
  archive(connection.client_certificate);
  archive(connection.has_ech);
}

template <typename A>
void transfer(A& archive, Either<strata::Transaction> auto& row) {
  archive(row.cell);
  archive(row.block);
  archive(row.connection);
  archive(row.request);
  archive(row.layers);
  archive(row.handshake_parts);
  archive(row.total_ns);
  archive(row.last_byte_ns);
  archive(row.request_ns);
  archive(row.client_hello_complete_ns);
  archive(row.outcome);
  archive(row.boundary);
  archive(row.inverted);
  archive(row.method);
  archive(row.status);
}

template <typename A>
void transfer(A& archive, Either<RowGroup> auto& group) {
  archive(group.latest_ns);
  archive(group.file);
  archive(group.file_packet);
  archive(group.begins);
  archive(group.rows);
}

template <typename A>
void transfer(A& archive, Either<Capture> auto& capture) {
  archive(capture.file);
  archive(capture.path);
  archive(capture.flows);
}

template <typename A>
void transfer(A& archive, Either<Task> auto& task) {
  archive(task.number);
  archive(task.kind);
  archive(task.captures);
  archive(task.end_ns);
}

template <typename A>
void transfer(A& archive, Either<Chunk> auto& chunk) {
  archive(chunk.task);
  archive(chunk.latest_ns);
  archive(chunk.file);
  archive(chunk.file_packet);
  archive(chunk.groups);
}

template <typename A>
void transfer(A& archive, Either<Trouble> auto& trouble) {
  archive(trouble.file);
  archive(trouble.what);
}

template <typename A>
void transfer(A& archive, Either<Prepared> auto& prepared) {
  archive(prepared.read_keys);
  archive(prepared.what);
  archive(prepared.where);
  archive(prepared.remedy);
}

template <typename A>
void transfer(A& archive, Either<Result> auto& result) {
  archive(result.task);
  archive(result.counts);
  archive(result.warnings);
  archive(result.lost);
  archive(result.flows);
  archive(result.end_ns);
  archive(result.cpu_ns);
}

namespace {

template <typename T>
std::string encode_any(const T& value) {
  ArchiveWriter writer;
  writer(value);
  return writer.take();
}

template <typename T>
std::optional<T> decode_any(std::string_view bytes) {
  ArchiveReader reader(bytes);
  T value;
  reader(value);
  return reader.ok() && reader.at_end() ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string encode(const Task& task) {
  return encode_any(task);
}

std::string encode(const Prepared& prepared) {
  return encode_any(prepared);
}

std::string encode(const RowGroup& group) {
  return encode_any(group);
}

std::string encode(const Chunk& chunk) {
  return encode_any(chunk);
}

std::string encode(const Result& result) {
  return encode_any(result);
}

std::optional<Task> decode_task(std::string_view bytes) {
  return decode_any<Task>(bytes);
}

std::optional<Prepared> decode_prepared(std::string_view bytes) {
  return decode_any<Prepared>(bytes);
}

std::optional<Chunk> decode_chunk(std::string_view bytes) {
  return decode_any<Chunk>(bytes);
}

std::optional<Result> decode_result(std::string_view bytes) {
  return decode_any<Result>(bytes);
}

std::optional<RowGroup> decode_group(ArchiveReader& reader) {
  RowGroup group;
  reader(group);
  return reader.ok() ? std::optional(std::move(group)) : std::nullopt;
}

}  // namespace tlstrata::mpi
