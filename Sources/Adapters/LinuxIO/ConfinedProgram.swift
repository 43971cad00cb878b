internal import CSys
internal import Glibc

/// A program of ours that decodes what strangers have made, at the other end of a socket. It may crash, hang, or say
/// anything at all.
package final class ConfinedProgram: Sendable {
  /// Seconds after which it counts as hung where it takes nothing.
  private static let patience = 5

  private let program: ChildProgram

  /// Its end of the socket closes when it ends.
  package var stream: Int32 { program.stream.number }

  /// Starts it. It ends with the calling thread at the latest.
  ///
  /// - Parameter command: the path of the program, and its arguments.
  package init(_ command: [String]) throws(IOError) {
    program = try ChildProgram(command)
    var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(stream, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    setsockopt(stream, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
  }

  /// Its number; nil once it has ended.
  package var number: Int32? { program.number }

  /// Ends it at once. From any thread.
  package func end() { program.end() }

  /// False where it takes nothing.
  package func send(_ message: [UInt8], descriptor: Int32? = nil) -> Bool {
    MediaPipe.send(message, descriptor: descriptor, to: stream)
  }

  /// Its next message. Nil where it has ended, or says what is longer than `limit`, or `waits` gives up.
  package func receive(limit: Int, _ waits: () -> Bool) -> [UInt8]? {
    MediaPipe.receive(from: stream, limit: limit, waits)
  }
}

/// The other side of a `ConfinedProgram`.
package enum ConfinedService {
  /// Bytes of memory beside its programs' own: the largest files need some 100 MiB.
  package static let memoryLimit: UInt64 = 512 << 20

  /// Call it first. All but the socket is closed.
  package static func begin() { csys_release() }

  /// Call it when all is loaded: nothing can be opened, started or connected to from now on. Nil where that worked.
  package static func confine() -> String? {
    let code = csys_confine(memoryLimit)
    return code < 0 ? IOError.reason(-code) : nil
  }

  /// The next message, and a descriptor where one came with it. Nil where nobody asks any more.
  package static func receive(limit: Int) -> (message: [UInt8], descriptor: Int32?)? {
    var descriptor: Int32 = -1
    var header = [UInt8](repeating: 0, count: MessageFrame.headerSize)
    guard csys_receive_descriptor(STDIN_FILENO, &header, header.count, &descriptor) == header.count,
      let count = MediaPipe.count(in: header, limit: limit),
      let message = MediaPipe.gather(count, from: STDIN_FILENO, { true })
    else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    return (message, descriptor >= 0 ? descriptor : nil)
  }

  package static func send(_ message: [UInt8]) -> Bool {
    MediaPipe.send(message, descriptor: nil, to: STDIN_FILENO)
  }
}

/// Messages on a socket, of which one may bring a descriptor.
private enum MediaPipe {
  static func send(_ message: [UInt8], descriptor: Int32?, to stream: Int32) -> Bool {
    let header = MessageFrame.header(of: message.count)
    guard let descriptor else { return send(header + message, to: stream) }
    guard csys_send_descriptor(stream, header, header.count, descriptor) == header.count else {
      return false
    }
    return send(message, to: stream)
  }

  private static func send(_ bytes: [UInt8], to stream: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        csys_send(stream, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
      }
      if count == -Int(EINTR) { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  static func receive(from stream: Int32, limit: Int, _ waits: () -> Bool) -> [UInt8]? {
    guard let header = gather(MessageFrame.headerSize, from: stream, waits) else { return nil }
    guard let count = count(in: header, limit: limit) else { return nil }
    return gather(count, from: stream, waits)
  }

  static func count(in header: [UInt8], limit: Int) -> Int? {
    let count = MessageFrame.count(in: header)
    return (1...limit).contains(count) ? count : nil
  }

  static func gather(_ count: Int, from stream: Int32, _ waits: () -> Bool) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      guard waits() else { return nil }
      let more = bytes.withUnsafeMutableBytes { buffer in
        csys_receive(stream, buffer.baseAddress?.advanced(by: got), count - got)
      }
      if more == -Int(EINTR) { continue }
      guard more > 0 else { return nil }
      got += more
    }
    return bytes
  }
}
