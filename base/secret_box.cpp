#include "base/secret_box.hpp"

#include "base/text.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace indx {
namespace {

namespace fs = std::filesystem;

// A sealed text: this byte, the nonce, the tag, the ciphertext.
constexpr char kSealVersion = 1;
constexpr std::size_t kNonceBytes = 12, kTagBytes = 16;
constexpr std::size_t kSealHeader = 1 + kNonceBytes + kTagBytes;

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* byte_data(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* byte_data(std::string& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

Result<std::string> random_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  if (RAND_bytes(byte_data(bytes), static_cast<int>(size)) != 1)
    return internal_error("The system gives no random bytes.");
  return bytes;
}

Error wrong_key_size() { return internal_error("The key for secrets must have 32 bytes."); }
Error cannot_unseal() {
  return internal_error(
      "A secret cannot be read: the file `key` of the index folder is not the one that it was "
      "stored with.");
}
Error key_not_written() {
  return make_error(Reason::Unavailable, "The key for secrets cannot be stored.");
}

std::string file_content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Durable, mode 0600, under the name only when it is whole; one that is there already stays.
Status write_key(const std::string& path, const std::string& key) {
  const std::string temp = cat(path, ".", ::getpid(), ".new");
  const int fd = ::open(temp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return key_not_written();
  const bool is_written =
      ::write(fd, key.data(), key.size()) == static_cast<ssize_t>(key.size()) && ::fsync(fd) == 0;
  ::close(fd);
  const bool is_linked = is_written && (::link(temp.c_str(), path.c_str()) == 0 || errno == EEXIST);
  ::unlink(temp.c_str());
  if (!is_linked) return key_not_written();
  const int folder = ::open(fs::path(path).parent_path().c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_synced = folder >= 0 && ::fsync(folder) == 0;
  if (folder >= 0) ::close(folder);
  return is_synced ? Status() : Status(key_not_written());
}

}  // namespace

Result<std::string> read_or_make_secret_key(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    const auto key = INDX_TRY(random_bytes(kSecretKeyBytes));
    INDX_TRY(write_key(path, key));
  }
  std::string key = file_content(path);
  if (key.size() == kSecretKeyBytes) return key;
  return make_error(Reason::Unavailable,
                    "The file `key` of the index folder is damaged or cannot be read: put it back "
                    "from a backup, or delete it and give up the secrets of waiting jobs.");
}

Result<std::string> seal(std::string_view key, std::string_view text) {
  if (key.size() != kSecretKeyBytes) return wrong_key_size();
  const std::string nonce = INDX_TRY(random_bytes(kNonceBytes));
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  std::string cipher(text.size(), '\0'), tag(kTagBytes, '\0');
  int size = 0, rest = 0;
  const bool is_sealed =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, byte_data(key),
                         byte_data(std::string_view(nonce))) == 1 &&
      EVP_EncryptUpdate(context.get(), byte_data(cipher), &size, byte_data(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), byte_data(cipher) + size, &rest) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
  if (!is_sealed) return internal_error("A secret cannot be encrypted.");
  return cat(std::string(1, kSealVersion), nonce, tag, cipher);
}

Result<std::string> unseal(std::string_view key, std::string_view sealed) {
  if (key.size() != kSecretKeyBytes) return wrong_key_size();
  if (sealed.size() < kSealHeader || sealed.front() != kSealVersion) return cannot_unseal();
  const auto nonce = sealed.substr(1, kNonceBytes);
  std::string tag(sealed.substr(1 + kNonceBytes, kTagBytes));
  const auto cipher = sealed.substr(kSealHeader);
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  std::string text(cipher.size(), '\0');
  int size = 0, rest = 0;
  const bool is_open =
      context != nullptr &&
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, byte_data(key),
                         byte_data(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), byte_data(text), &size, byte_data(cipher),
                        static_cast<int>(cipher.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), byte_data(text) + size, &rest) == 1;
  if (!is_open) return cannot_unseal();
  return text;
}

}  // namespace indx
