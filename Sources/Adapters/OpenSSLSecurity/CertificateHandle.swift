internal import COpenSSL

struct CertificateHandle: ~Copyable {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer?, _ call: String) throws(SecurityError) {
    guard let pointer else { throw SecurityError(call: call) }
    self.pointer = pointer
  }

  deinit { X509_free(pointer) }
}

extension CertificateHandle {
  /// Makes the certificate in which TLS carries an identity key. It holds nothing else, because peers look only at
  /// the key. It is valid at all times, because machines without a clock of their own must be able to use it.
  static func selfSigned(_ key: borrowing KeyHandle) throws(SecurityError) -> CertificateHandle {
    let made = try CertificateHandle(X509_new(), "X509_new")
    let certificate = made.pointer
    let name = X509_get_subject_name(certificate)
    // Version 3 is written as 2; subject and issuer are the same.
    let isMade =
      X509_set_version(certificate, 2) == 1
      && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1
      && ASN1_TIME_set_string(X509_getm_notBefore(certificate), "19700101000000Z") == 1
      && ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z") == 1
      && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "tutti", -1, -1, 0) == 1
      && X509_set_issuer_name(certificate, name) == 1
      && X509_set_pubkey(certificate, key.pointer) == 1
      && X509_sign(certificate, key.pointer, nil) > 0
    guard isMade else { throw SecurityError(call: "make a certificate") }
    return made
  }
}
