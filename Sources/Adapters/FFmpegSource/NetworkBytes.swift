import CFFmpeg
import Glibc
import PlaylistFormats
import Sender

/// Gives FFmpeg the bytes at an address, on a connection of its own.
///
/// If the server supports ranges, the first and the newest bytes are kept, so reading them again costs no request.
final class NetworkBytes {
  /// Number of bytes kept: at least as many as FFmpeg goes back by itself.
  private static let historyLimit = 128 << 10
  private static let bufferSize = 32 << 10
  /// Timeout of a list that arrives slowly.
  private static let listTimeout = Duration.seconds(20)

  /// The context from which FFmpeg reads: the connection itself, or the buffer of its newest bytes.
  var context: UnsafeMutablePointer<AVIOContext>? { keeping ?? connection }
  /// The connection, whose position advances while bytes arrive.
  var watched: UnsafeMutablePointer<AVIOContext>? { connection }
  private var connection: UnsafeMutablePointer<AVIOContext>?
  private var keeping: UnsafeMutablePointer<AVIOContext>?
  private let library: FFmpegLibrary
  /// FFmpeg asks it if reading may continue, for as long as the connection is open.
  private let network: NetworkInput
  let url: String
  /// The first bytes, which identify the format.
  private var head: [UInt8] = []
  /// The newest bytes; the first of them has the number `historyStart`.
  private var history: [UInt8] = []
  private var historyStart: Int64 = 0
  /// All bytes so far, in an unnamed file, if requested with `keepAll`.
  private var spool: Spool?
  /// Number of the next byte to give.
  private var position: Int64 = 0

  init(_ url: String, _ network: NetworkInput, _ library: FFmpegLibrary) throws(MediaError) {
    (self.library, self.network, self.url) = (library, network, url)
    let code = network.waiting { network.open(url, &connection) }
    guard code >= 0, let connection else {
      throw .unreadable(path: url, reason: network.takeRefusal() ?? library.reason(of: code))
    }
    if connection.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 { makeContext() }
  }

  private func makeContext() {
    let buffer = library.calls.av_malloc(Self.bufferSize)
    keeping = library.calls.avio_alloc_context(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0,
      Unmanaged.passUnretained(self).toOpaque(), readNetwork, nil, seekNetwork)
    if keeping == nil { library.calls.av_free(buffer) }
  }

  /// True if the server supports ranges.
  var knowsRanges: Bool {
    connection.map { $0.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 } ?? false
  }

  /// In bytes, as the server states it; negative or 0 if unknown.
  var size: Int64 { connection.map { library.calls.avio_size($0) } ?? 0 }

  /// Makes any place readable on a server without ranges: keeps all bytes, and loads the bytes before a place ahead
  /// first. Call it before reading.
  func keepAll() throws(MediaError) {
    guard !knowsRanges, spool == nil else { return }
    guard (1...Spool.limit).contains(size) else {
      throw .unsupported(
        path: url,
        reason: "its index stands at its end, and its server gives it only from its beginning; "
          + "of more than \(Spool.limit >> 20) MiB that is not loaded whole")
    }
    if network.remote != nil, let connection {
      guard network.keepRemote(connection) else {
        throw .unreadable(path: url, reason: "there is no room to load it whole")
      }
    } else {
      spool = try Spool(for: url)
    }
    makeContext()
  }

  /// Continues reading at `place`. If FFmpeg went back by itself, it would begin some way before the place, with a
  /// request of its own.
  func jump(to place: Int64) {
    guard let keeping, place >= 0 else { return }
    keeping.pointee.buf_ptr = keeping.pointee.buffer
    keeping.pointee.buf_end = keeping.pointee.buffer
    keeping.pointee.eof_reached = 0
    keeping.pointee.pos = place
    position = place
  }

  deinit {
    if keeping != nil {
      // FFmpeg may have replaced the first buffer by its own.
      library.calls.av_free(keeping?.pointee.buffer)
      library.calls.avio_context_free(&keeping)
    }
    if let connection { network.close(connection) }
  }

  /// Returns up to `limit` bytes, or more than `limit` if there are more. A server that closes the connection may have
  /// sent everything.
  func readAll(upTo limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 16_384)
    let deadline = ContinuousClock.now + Self.listTimeout
    while bytes.count <= limit, let context, ContinuousClock.now < deadline {
      let count = network.waiting(for: watched) {
        library.calls.avio_read(context, &block, Int32(block.count))
      }
      guard count > 0 else { break }
      bytes += block[0..<Int(count)]
    }
    return bytes
  }

  fileprivate func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
    if let spool { return read(into: buffer, count: count, by: spool) }
    for (start, bytes) in [(0, head), (historyStart, history)]
    where position >= start && position < start + Int64(bytes.count) {
      let first = Int(position - start)
      let given = min(bytes.count - first, count)
      bytes.withUnsafeBytes { bytes in
        UnsafeMutableRawBufferPointer(start: buffer, count: given)
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[first..<first + given]))
      }
      position += Int64(given)
      return Int32(given)
    }
    return readOn(into: buffer, count: count)
  }

  private func read(
    into buffer: UnsafeMutablePointer<UInt8>, count: Int, by spool: Spool
  ) -> Int32 {
    guard let connection else { return cff_io_error }
    while spool.count <= position {
      let came = library.calls.avio_read_partial(connection, buffer, Int32(clamping: count))
      guard came > 0 else { return came == 0 ? cff_eof : came }
      guard spool.append(UnsafeRawBufferPointer(start: buffer, count: Int(came))) else {
        return cff_io_error
      }
    }
    let given = spool.read(into: buffer, count: count, from: position)
    position += Int64(max(0, given))
    return given > 0 ? Int32(given) : cff_io_error
  }

  /// Repeats the request to a server that is gone, until it returns or has been gone for too long.
  private func readOn(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
    let deadline = ContinuousClock.now + network.settings.longestOutage
    let pause = Int32(network.settings.reconnectDelay / .milliseconds(1))
    while true {
      let given = readOnce(into: buffer, count: count)
      guard Self.isOutage(given), ContinuousClock.now < deadline, !network.isInterrupted,
        network.waits(milliseconds: pause)
      else { return given }
      connection?.pointee.error = 0
      connection?.pointee.eof_reached = 0
    }
  }

  /// True for an error code of the system; FFmpeg's own codes mean the end, a refusal of the server, or an
  /// interruption.
  private static func isOutage(_ code: Int32) -> Bool { (-4_095..<0).contains(code) }

  private func readOnce(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
    guard let connection else { return cff_io_error }
    if historyStart + Int64(history.count) != position {
      // An earlier abandoned or broken read does not matter for another place.
      connection.pointee.error = 0
      let reached = library.calls.avio_seek(connection, position, SEEK_SET)
      guard reached == position else { return reached < 0 ? Int32(reached) : cff_io_error }
      (history, historyStart) = ([], position)
    }
    let given = library.calls.avio_read_partial(connection, buffer, Int32(clamping: count))
    guard given > 0 else { return given == 0 ? cff_eof : given }
    keep(UnsafeBufferPointer(start: buffer, count: Int(given)))
    position += Int64(given)
    return given
  }

  private func keep(_ bytes: UnsafeBufferPointer<UInt8>) {
    if position == head.count, head.count < Self.historyLimit { head += bytes }
    history += bytes
    guard history.count > 2 * Self.historyLimit else { return }
    let excess = history.count - Self.historyLimit
    history.removeFirst(excess)
    historyStart += Int64(excess)
  }

  /// Moves the position. No request is made before the next read.
  fileprivate func seek(to place: Int64, _ origin: Int32) -> Int64 {
    guard let connection else { return Int64(cff_io_error) }
    switch origin & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return library.calls.avio_size(connection)
    case SEEK_SET where place >= 0: position = place
    case SEEK_CUR where position + place >= 0: position += place
    default: return Int64(cff_invalid_argument)
    }
    return position
  }

  // MARK: - The server's headers

  /// In lower case and without parameters; empty if the server does not state it.
  var contentType: String {
    let type = option("mime_type").prefix { $0 != ";" }
    return String(PlaylistFile.trim(type)).lowercased()
  }

  /// True if the server is a radio station: it sent headers that others do not.
  var isStation: Bool { !option("icy_metadata_headers").isEmpty }

  private func option(_ name: String) -> String {
    connection.map { library.option(name, of: $0) } ?? ""
  }
}

/// FFmpeg's callback, on the reading thread. The context is the `NetworkBytes`, which outlives the AVIOContext.
private func readNetwork(
  context: UnsafeMutableRawPointer?, buffer: UnsafeMutablePointer<UInt8>?, count: Int32
) -> Int32 {
  guard let context, let buffer, count > 0 else { return cff_io_error }
  return Unmanaged<NetworkBytes>.fromOpaque(context).takeUnretainedValue()
    .read(into: buffer, count: Int(count))
}

/// FFmpeg's callback, on the reading thread.
private func seekNetwork(
  context: UnsafeMutableRawPointer?, place: Int64, origin: Int32
) -> Int64 {
  guard let context else { return Int64(cff_io_error) }
  return Unmanaged<NetworkBytes>.fromOpaque(context).takeUnretainedValue().seek(to: place, origin)
}
