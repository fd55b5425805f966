#include "probe/hello.h"

#include <gmock/gmock.h>

#include "base/byte_reader.h"

namespace tlstrata::probe {
namespace {

Hello some_hello() {
  Hello hello;
  hello.versions = {version::tls13, version::tls12};
  hello.groups = {0x11EC, 0x001D};
  hello.key_shares = {{0x11EC, Bytes(1216, 1)}, {0x001D, Bytes(32, 2)}};
  hello.server_name = "example.org";
  hello.alpn = {"h2", "http/1.1"};
  return hello;
}

// Extension types and bodies, read by an independent walk.
std::vector<std::pair<std::uint16_t, Bytes>> extensions_of(const Bytes& message) {
  std::vector<std::pair<std::uint16_t, Bytes>> found;
  ByteReader reader(message);
  EXPECT_EQ(reader.u8(), 1);
  auto body = reader.sub24();
  body.skip(2 + 32);
  for (const int width : {1, 2, 1}) {  // session ID, cipher suites, compression methods
    auto vector = width == 1 ? body.sub8() : body.sub16();
    EXPECT_FALSE(vector.rest().empty());
    EXPECT_TRUE(vector.finish("vector"));
  }
  auto block = body.sub16();
  while (!block.empty()) {
    const std::uint16_t type = block.u16();
    auto content = block.sub16();
    const auto bytes = content.rest();
    found.emplace_back(type, Bytes(bytes.begin(), bytes.end()));
    EXPECT_TRUE(content.finish("extension"));
  }
  EXPECT_TRUE(block.finish("extensions"));
  EXPECT_TRUE(body.finish("ClientHello"));
  EXPECT_TRUE(reader.finish("message"));
  return found;
}

Bytes extension(const Bytes& message, std::uint16_t type) {
  for (const auto& [code, body] : extensions_of(message)) {
    if (code == type) {
      return body;
    }
  }
  ADD_FAILURE() << "no extension " << type;
  return {};
}

TEST(HelloTest, ExtensionsSayWhatIsOffered) {
  const Bytes message = write_hello(some_hello());
  EXPECT_EQ(extension(message, 43), (Bytes{4, 3, 4, 3, 3}));
  EXPECT_EQ(extension(message, 10), (Bytes{0, 4, 0x11, 0xEC, 0, 0x1D}));
  EXPECT_EQ(extension(message, 51).size(), 2U + 4 + 1216 + 4 + 32);
  const Bytes name = extension(message, 0);
  EXPECT_EQ(std::string(name.begin() + 5, name.end()), "example.org");
  EXPECT_EQ(extension(message, 16), (Bytes{0, 12, 2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'}));
}

TEST(HelloTest, EverySizeFromTheSmallestPaddingOnIsExact) {
  Hello hello = some_hello();
  const std::size_t bare = write_hello(hello).size();
  for (std::size_t size : {bare + 4, bare + 5, bare + 6, bare + 300, largest_hello}) {
    hello.size = size;
    const Bytes message = write_hello(hello);
    EXPECT_EQ(message.size(), size);
    EXPECT_EQ(extension(message, 21), Bytes(size - bare - 4, 0));
  }
  hello.size = bare + 3;
  EXPECT_EQ(write_hello(hello).size(), bare) << "there is no room for an empty padding";
}

TEST(HelloTest, RecordsCarryTheMessageWhole) {
  const Bytes message = write_hello(some_hello());
  for (const std::size_t most : {std::size_t{1}, std::size_t{64}, message.size() - 1, message.size(), std::size_t{0}}) {
    const Bytes wire = in_records(message, most);
    Bytes joined;
    std::size_t records = 0;
    ByteReader reader(wire);
    while (!reader.empty()) {
      EXPECT_EQ(reader.u8(), 22);
      EXPECT_EQ(reader.u16(), version::tls10);
      auto content = reader.sub16();
      const auto bytes = content.rest();
      EXPECT_TRUE(content.finish("record"));
      EXPECT_LE(bytes.size(), most == 0 ? message.size() : most);
      joined.insert(joined.end(), bytes.begin(), bytes.end());
      ++records;
    }
    EXPECT_TRUE(reader.finish("records"));
    EXPECT_EQ(joined, message);
    EXPECT_EQ(records, most == 0 ? 1 : (message.size() + most - 1) / most);
  }
}

TEST(HelloTest, OlderHellosHaveNoTls13) {
  Hello hello;
  hello.legacy_version = version::tls11;
  hello.groups = {0x001D};
  const Bytes message = write_hello(hello);
  EXPECT_EQ(message[4], 3);
  EXPECT_EQ(message[5], 2);
  for (const auto& [type, body] : extensions_of(message)) {
    EXPECT_NE(type, 43);
    EXPECT_NE(type, 51);
  }
}

}  // namespace
}  // namespace tlstrata::probe
