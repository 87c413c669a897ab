#include "net/tls.h"

#include "net/tls_certs.h"
#include "net/transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace muster::net {
namespace {

class TempFile {
 public:
  TempFile() {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
  }

  ~TempFile() { std::filesystem::remove(path_); }

  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

  void write(const std::string& text) const {
    std::ofstream(path_ + ".new") << text;
    std::filesystem::rename(path_ + ".new", path_);
  }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "muster-tls-XXXXXX").string();
};

TEST(TextSource, ReadsTextOrFile) {
  const TempFile file;
  file.write("from file\n");
  EXPECT_EQ(TextSource{}.read().value(), "");
  EXPECT_EQ(from_text("inline").read().value(), "inline");
  EXPECT_EQ(from_file(file.path()).read().value(), "from file\n");
  EXPECT_EQ((TextSource{.text = "inline", .file = file.path()}).read().value(), "inline");
  const auto missing = from_file(file.path() + ".missing").read();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
  file.write("");
  EXPECT_EQ(from_file(file.path()).read().value(), "");
  EXPECT_FALSE(from_file("/").read().ok()) << "a folder";
}

TEST(Credentials, TheGenerationFollowsTheTlsFiles) {
  const TempFile ca;
  const TempFile token;
  ca.write("one");
  const Credentials credentials{.base_url = "https://x", .ca = from_file(ca.path()), .token = from_file(token.path())};
  const auto first = credentials.generation();
  EXPECT_EQ(credentials.generation(), first);
  token.write("another");
  EXPECT_EQ(credentials.generation(), first);
  ca.write("two");  // of the same size
  EXPECT_NE(credentials.generation(), first);
}

PemPair a_pair(int hours) {
  const Validity validity{.not_before = TimePoint{}, .lifetime = std::chrono::hours(hours)};
  return make_ca("x", validity).value();
}

TEST(CertificateStore, KeepsTheLastGoodPair) {
  CertificateStore store;
  EXPECT_EQ(store.current()->identity.certificate_pem, "");
  const PemPair first = a_pair(1);
  const PemPair second = a_pair(2);
  ASSERT_TRUE(store.set(first.certificate_pem, first.key_pem).ok());
  const auto before = store.current();
  EXPECT_FALSE(store.set(second.certificate_pem, first.key_pem).ok());
  EXPECT_EQ(store.current(), before);
  EXPECT_EQ(store.rejected(), 1U);
  ASSERT_TRUE(store.set(second.certificate_pem, second.key_pem).ok());
  EXPECT_EQ(before->identity.certificate_pem, first.certificate_pem) << "what was published does not change";
  EXPECT_EQ(store.current()->identity.certificate_pem, second.certificate_pem);
  EXPECT_EQ(store.current()->identity.not_after, TimePoint{} + std::chrono::hours(2));
  EXPECT_GT(store.current()->generation, before->generation);
}

TEST(CertificateStore, TrustAndIdentityChangeApart) {
  CertificateStore store;
  const PemPair pair = a_pair(1);
  ASSERT_TRUE(store.set(pair.certificate_pem, pair.key_pem).ok());
  ASSERT_TRUE(store.trust_clients({.ca_pem = pair.certificate_pem, .allowed_names = {"a"}}).ok());
  EXPECT_FALSE(store.trust_clients({}).ok());
  EXPECT_EQ(store.current()->clients.allowed_names, std::vector<std::string>{"a"});
  EXPECT_EQ(store.current()->identity.key_pem, pair.key_pem);
  EXPECT_EQ(store.rejected(), 1U);
}

TEST(FindHeader, IgnoresCase) {
  const Headers headers{{"Content-Type", "a"}, {"X", "b"}, {"x", "c"}};
  ASSERT_NE(find_header(headers, "content-TYPE"), nullptr);
  EXPECT_EQ(*find_header(headers, "content-TYPE"), "a");
  EXPECT_EQ(*find_header(headers, "x"), "b");
  EXPECT_EQ(find_header(headers, "Content"), nullptr);
}

}  // namespace
}  // namespace muster::net
