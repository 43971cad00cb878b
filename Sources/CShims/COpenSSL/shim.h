#pragma once
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#if defined(__aarch64__) || defined(__arm__)
#include <sys/auxv.h>
#endif

/* Macros that Swift does not see. */
static inline int copenssl_only_tls13(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
}
static inline int copenssl_set_groups(SSL_CTX *context, const char *names) {
  return (int)SSL_CTX_set1_groups_list(context, names);
}
static inline int copenssl_set_signatures(SSL_CTX *context, const char *names) {
  return (int)SSL_CTX_set1_sigalgs_list(context, names);
}
static inline void copenssl_set_mode(SSL_CTX *context, long mode) {
  SSL_CTX_set_mode(context, mode);
}
static inline void copenssl_keep_no_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline void copenssl_limit_certificates(SSL_CTX *context, long bytes) {
  SSL_CTX_set_max_cert_list(context, bytes);
}
static const uint64_t copenssl_no_ticket = SSL_OP_NO_TICKET;
static const uint64_t copenssl_server_preference = SSL_OP_CIPHER_SERVER_PREFERENCE;
static const uint64_t copenssl_prioritize_chacha = SSL_OP_PRIORITIZE_CHACHA;
static const uint64_t copenssl_middlebox_compatibility = SSL_OP_ENABLE_MIDDLEBOX_COMPAT;
static inline long copenssl_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

/* Whether this processor has instructions for AES; without them ChaCha20 is several times as fast. */
static inline int copenssl_has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("aes") != 0;
#elif defined(__aarch64__)
  return (getauxval(AT_HWCAP) >> 3 & 1) != 0;
#elif defined(__arm__)
  return (getauxval(AT_HWCAP2) & 1) != 0;
#else
  return 0;
#endif
}
