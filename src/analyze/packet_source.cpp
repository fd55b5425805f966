#include "analyze/packet_source.h"

#include <algorithm>
#include <ranges>

namespace tlstrata::analyze {

Checked<PacketSource> PacketSource::open(const Input& input, tls::KeyLog* keys) {
  PacketSource result;
  result.keys_ = keys;
  for (const std::string& path : input.captures) {
    auto source = input.follow_until != nullptr ? capture::FileSource::follow(path, *input.follow_until)
                                                : capture::FileSource::open(path);
    if (!source) {
      return std::unexpected(source.error());
    }
    result.files_.push_back({std::move(*source), nullptr, {}});
  }
  if (auto begun = result.begin(); !begun) {
    return std::unexpected(begun.error());
  }
  return result;
}

Checked<void> PacketSource::begin() {
  for (File& file : files_) {
    if (auto first = advance(file); !first) {
      return first;
    }
  }
  return {};
}

// Reads on to the file's next packet. An Error before any packet means that this is no capture.
Checked<void> PacketSource::advance(File& file) {
  file.ahead = nullptr;
  while (true) {
    const auto item = file.source.next();
    if (!item) {
      const Complaint complaint = file.source.explain(item.error());
      if (file.source.counts().packets == 0) {
        return std::unexpected(complaint);
      }
      file.damage = complaint.what;
      return {};
    }
    if (*item == nullptr) {
      return {};
    }
    if (const auto* packet = std::get_if<capture::Packet>(*item)) {
      file.ahead = packet;
      return {};
    }
    const auto& secrets = std::get<capture::Secrets>(**item);
    if (keys_ != nullptr && secrets.type == capture::Secrets::tls_key_log) {
      keys_->feed(secrets.data);
      keys_->finish();
    }
  }
}

const capture::Packet* PacketSource::next() {
  if (files_.size() != 1) {
    return next_of_several();
  }
  File& file = files_.front();  // it keeps its own numbers, as TShark shows them
  if (begun_ && file.ahead != nullptr) {
    (void)advance(file);  // an error after the first packet is kept as the file's damage
  }
  begun_ = true;
  return file.ahead;
}

// Of two files' next packets the earlier one; where their stamps are the same, that of the file which was given first.
bool PacketSource::comes_later(std::size_t one, std::size_t other) const {
  const Nanos one_ns = files_[one].ahead->time_ns;
  const Nanos other_ns = files_[other].ahead->time_ns;
  return one_ns != other_ns ? one_ns > other_ns : one > other;
}

const capture::Packet* PacketSource::next_of_several() {
  const auto later = [this](std::size_t one, std::size_t other) { return comes_later(one, other); };
  if (!lent_) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].ahead != nullptr) {
        waiting_.push_back(i);
      }
    }
    std::ranges::make_heap(waiting_, later);
  } else {
    File& file = files_[*lent_];
    if (file.ahead != nullptr) {
      (void)advance(file);
    }
    if (file.ahead != nullptr && (waiting_.empty() || comes_later(waiting_.front(), *lent_))) {
      return give_out(*lent_);  // mostly: files of a ring buffer come one after the other
    }
    if (file.ahead != nullptr) {
      waiting_.push_back(*lent_);
      std::ranges::push_heap(waiting_, later);
    }
  }
  if (waiting_.empty()) {
    return nullptr;
  }
  std::ranges::pop_heap(waiting_, later);
  lent_ = waiting_.back();
  waiting_.pop_back();
  return give_out(*lent_);
}

const capture::Packet* PacketSource::give_out(std::size_t file) {
  numbered_ = *files_[file].ahead;
  numbered_.file_number = numbered_.number;
  numbered_.number = ++number_;
  numbered_.file = static_cast<std::uint32_t>(file);
  return &numbered_;
}

bool PacketSource::packets_stay() const {
  return std::ranges::all_of(files_, [](const File& file) { return file.source.spans_stay(); });
}

bool PacketSource::may_hold_secrets() const {
  // A pcapng begins with a section header, which is counted; a pcap has no blocks.
  return std::ranges::any_of(files_, [](const File& file) { return file.source.counts().structure_blocks != 0; });
}

std::uint64_t PacketSource::waits() const {
  std::uint64_t sum = 0;
  for (const File& file : files_) {
    sum += file.source.waits();
  }
  return sum;
}

capture::FileCounts PacketSource::counts() const {
  capture::FileCounts sum;
  for (const File& file : files_) {
    const capture::FileCounts counts = file.source.counts();
    sum.packets += counts.packets;
    sum.secrets += counts.secrets;
    sum.structure_blocks += counts.structure_blocks;
    sum.skipped_blocks += counts.skipped_blocks;
    sum.damaged_packets += counts.damaged_packets;
    sum.reported_drops += counts.reported_drops;
    sum.truncated = sum.truncated || counts.truncated;
  }
  return sum;
}

std::uint64_t PacketSource::truncated_files() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(files_, [](const File& file) { return file.source.counts().truncated; }));
}

std::vector<std::string> PacketSource::warnings() const {
  std::vector<std::string> warnings;
  for (const File& file : files_) {
    if (file.source.counts().truncated) {
      warnings.push_back(file.source.path() + ": the file ends in mid-record; what stands before was analysed");
    }
    if (!file.damage.empty()) {
      warnings.push_back(file.source.path() + ": " + file.damage + "; what stands before was analysed");
    }
    if (file.source.counts().damaged_packets != 0) {
      warnings.push_back(file.source.path() + ": packets whose own lengths contradict each other: " +
                         std::to_string(file.source.counts().damaged_packets));
    }
  }
  return warnings;
}

}  // namespace tlstrata::analyze
