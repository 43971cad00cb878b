import FFmpegSource
import Foundation
import Glibc
import Sender
import Synchronization
import TestSupport
import Testing

/// A read that waits for the network can be interrupted at any point.
@Suite struct ReadInterruptionTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private var impatient: NetworkSettings {
    var settings = NetworkSettings()
    settings.noticedSilence = .milliseconds(20)
    return settings
  }

  @Test func `what is disowned ends for good, and what is opened then is read`() throws {
    try Recording(rate: 48_000, frames: 200_000).write(to: "a.wav", in: folder)
    let bytes = try folder.bytes(of: "a.wav")
    let server = try TestServer { request, connection in
      let isSilent = request.path == "/silent.wav"
      connection.send(
        file: bytes, from: request.rangeStart, upTo: isSilent ? bytes.count / 2 : nil)
      if isSilent { connection.fallSilent() }
    }
    defer { server.stop() }
    let interruption = interruption
    let isOpen = Mutex(false)
    let wasWaiting = Mutex(false)
    let source = try NetworkSource(
      url: server.url("silent.wav"), settings: impatient, interruption: interruption
    ) { _ in
      guard isOpen.withLock({ $0 }) else { return }
      wasWaiting.withLock { $0 = interruption.isWaiting }
      interruption.disown()
    }
    isOpen.withLock { $0 = true }
    #expect(try readAll(source).count <= 201_000)
    #expect(wasWaiting.withLock { $0 })
    #expect(!interruption.isWaiting)
    let other = try NetworkSource(url: server.url("a.wav"), interruption: interruption)
    #expect(try readAll(other).count == 400_000)
    // A later order of the new reader does not wake the old one.
    interruption.readAgain()
    var frames: [Float] = []
    try source.read(10, appendingTo: &frames)
    #expect(frames.isEmpty)
  }

  @Test func `a connection that nobody accepts can be given up`() throws {
    let listener = try FullListener()
    let interruption = interruption
    #expect(throws: MediaError.self) {
      try NetworkSource(
        url: "http://127.0.0.1:\(listener.port)/a.mp3", settings: impatient,
        interruption: interruption
      ) { _ in interruption.abandonRead() }
    }
  }
}

/// A port at which connections wait for ever, because the queue of connections to accept is full.
private final class FullListener {
  let port: UInt16
  private var descriptors: [Int32] = []

  init() throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    descriptors.append(listener)
    let bound = address
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) + listen(listener, 0) + getsockname(listener, address, &size)
      }
    }
    try #require(code == 0 && bound.sin_port == 0)
    port = UInt16(bigEndian: address.sin_port)
    for _ in 0..<4 {
      let client = socket(
        AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      descriptors.append(client)
      withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          _ = connect(client, address, size)
        }
      }
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
