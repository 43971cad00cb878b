import Foundation
import Glibc
import TestSupport
import Testing

/// A server's certificate, and the authority that signed it.
struct TestCertificate: Sendable {
  let authority: String
  let certificate: String
  let key: String

  /// - Parameter name: the name in the certificate, such as `IP:127.0.0.1` or `DNS:example.org`.
  init(for name: String, _ label: String = "server", in folder: TemporaryFolder) throws {
    let (root, request) = (folder.file(label + "-root"), folder.file(label + ".csr"))
    let names = try folder.write(Array("subjectAltName=\(name)\n".utf8), to: label + ".ext")
    let new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    authority = root + ".pem"
    certificate = folder.file(label + ".pem")
    key = folder.file(label + ".key")
    try run(
      "openssl",
      new + ["-x509", "-days", "2", "-subj", "/CN=Test authority \(label)"]
        + ["-keyout", root + ".key", "-out", authority])
    try run("openssl", new + ["-subj", "/CN=Test server", "-keyout", key, "-out", request])
    try run(
      "openssl",
      ["x509", "-req", "-in", request, "-CA", authority, "-CAkey", root + ".key"]
        + ["-set_serial", "1", "-days", "2", "-extfile", names, "-out", certificate])
  }
}

/// The server's side of TLS, by the GnuTLS that comes with FFmpeg. Used by one thread.
final class TLSSession {
  private typealias Session = UnsafeMutableRawPointer
  private typealias Transfer =
    @convention(c) (Session, UnsafeMutableRawPointer, Int) -> Int

  /// Flags for a server, without a signal when a client goes away.
  private static let serverFlags: UInt32 = 1 | 1 << 6
  private static let certificateKind: Int32 = 1
  private static let pemFormat: Int32 = 1

  private let library: UnsafeMutableRawPointer
  private var session: Session?
  private var credentials: UnsafeMutableRawPointer?

  /// Nil if there is no GnuTLS, or if the client does not trust the certificate.
  init?(_ descriptor: Int32, _ certificate: TestCertificate) {
    guard let library = dlopen("libgnutls.so.30", RTLD_NOW | RTLD_LOCAL) else { return nil }
    self.library = library
    typealias Make = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Int32
    typealias MakeSession =
      @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, UInt32) -> Int32
    typealias SetFiles =
      @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>, UnsafePointer<CChar>, Int32) ->
      Int32
    typealias SetPriority = @convention(c) (Session) -> Int32
    typealias SetCredentials =
      @convention(c) (Session, Int32, UnsafeMutableRawPointer) -> Int32
    typealias SetTransport = @convention(c) (Session, Int32, Int32) -> Void
    guard
      call("gnutls_certificate_allocate_credentials", Make.self)(&credentials) == 0,
      let credentials,
      call("gnutls_certificate_set_x509_key_file", SetFiles.self)(
        credentials, certificate.certificate, certificate.key, Self.pemFormat) >= 0,
      call("gnutls_init", MakeSession.self)(&session, Self.serverFlags) == 0, let session
    else { return nil }
    _ = call("gnutls_set_default_priority", SetPriority.self)(session)
    _ = call("gnutls_credentials_set", SetCredentials.self)(
      session, Self.certificateKind, credentials)
    call("gnutls_transport_set_int2", SetTransport.self)(session, descriptor, descriptor)
    guard call("gnutls_handshake", SetPriority.self)(session) == 0 else { return nil }
  }

  deinit {
    typealias Free = @convention(c) (UnsafeMutableRawPointer) -> Void
    if let session { call("gnutls_deinit", Free.self)(session) }
    if let credentials { call("gnutls_certificate_free_credentials", Free.self)(credentials) }
  }

  private func call<Function>(_ name: String, _ type: Function.Type) -> Function {
    unsafeBitCast(dlsym(library, name), to: type)
  }

  /// Like the C library's `recv`; negative if the connection is broken.
  func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    session.map { call("gnutls_record_recv", Transfer.self)($0, buffer, count) } ?? -1
  }

  func send(_ buffer: UnsafeRawPointer, _ count: Int) -> Int {
    session.map {
      call("gnutls_record_send", Transfer.self)(
        $0, UnsafeMutableRawPointer(mutating: buffer), count)
    } ?? -1
  }

  /// Sends the end of the stream. Without it, a client would take the end for an attack.
  func end() {
    typealias End = @convention(c) (Session, Int32) -> Int32
    if let session { _ = call("gnutls_bye", End.self)(session, 1) }
  }
}
