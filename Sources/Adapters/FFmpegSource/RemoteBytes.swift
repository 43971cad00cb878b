import CFFmpeg
package import Clock
package import Sender

/// Reads for this process, which reaches no file and no server by itself.
package protocol RemoteSource: AnyObject {
  func ask(_ call: SourceCall) -> SourceReply
}

extension RemoteSource {
  /// Reads the only stream that it has.
  func read(into buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32 {
    switch ask(.read(handle: 0, count: min(count, DecoderMessage.byteLimit))) {
    case .bytes(let given, _):
      guard !given.isEmpty, given.count <= count else { return cff_eof }
      _ = UnsafeMutableBufferPointer(start: buffer, count: count).update(fromContentsOf: given)
      return Int32(clamping: given.count)
    case .failed(let code, _): return min(code, -1)
    default: return cff_exit
    }
  }
}

/// Reads for a decoding process, and limits what that may ask for: it may have become hostile.
package protocol SourceGate: AnyObject {
  func answer(_ call: SourceCall) -> SourceReply
  /// From now on, counts the process's requests against the limits of an opening.
  func beginOpening()
  func endOpening()
  /// Reason why an opening exceeded the limits; nil if it did not.
  var excess: String? { get }
  /// False once the source has been disowned.
  var isCurrent: Bool { get }
  /// Returns where playing begins that is to begin at a position: there, or as near as can be.
  func place(near position: MediaDuration) -> MediaDuration
}

extension SourceGate {
  package func beginOpening() {}
  package func endOpening() {}
  package var excess: String? { nil }
  package var isCurrent: Bool { true }
  package func place(near position: MediaDuration) -> MediaDuration { position }
}

/// Connections whose bytes a `RemoteSource` reads.
extension NetworkInput {
  private static let bufferSize: Int32 = 32 << 10

  func openRemote(
    _ url: String, _ options: SourceOptions, by remote: any RemoteSource,
    _ context: inout UnsafeMutablePointer<AVIOContext>?
  ) -> Int32 {
    switch ask(.open(url: url, options), of: remote) {
    case .opened(let connection):
      let location = connection.location.isEmpty ? url : connection.location
      context = cff_bytes_open(
        Unmanaged.passUnretained(self).toOpaque(), connection.handle, Self.bufferSize, location,
        connection.contentType, connection.stationHeaders, readRemote, seekRemote)
      context?.pointee.seekable = connection.isSeekable ? AVIO_SEEKABLE_NORMAL : 0
      remoteSizes[connection.handle] = connection.size
      keptHandle = connection.isKept ? connection.handle : nil
      return context == nil ? cff_io_error : 0
    case .failed(let code, _): return min(code, -1)
    default: return cff_io_error
    }
  }

  func closeRemote(
    _ context: UnsafeMutablePointer<AVIOContext>, by remote: any RemoteSource
  ) {
    let handle = Self.handle(of: context)
    remoteSizes[handle] = nil
    _ = ask(.close(handle: handle), of: remote)
    cff_bytes_close(context)
  }

  /// Makes any place of the connection readable from then on. Returns false if its bytes cannot be
  /// kept.
  func keepRemote(_ context: UnsafeMutablePointer<AVIOContext>) -> Bool {
    guard let remote, case .done = ask(.keep(handle: Self.handle(of: context)), of: remote) else {
      return false
    }
    context.pointee.seekable = AVIO_SEEKABLE_NORMAL
    return true
  }

  /// Makes the next connection to the kept station begin near a time of it. Returns that of its first packet; nil if
  /// nothing is kept.
  func seekKept(to time: MediaDuration) -> MediaDuration? {
    guard let remote, let keptHandle,
      case .place(let reached, _) = ask(
        .seek(handle: keptHandle, place: max(0, time.flicks)), of: remote)
    else { return nil }
    return MediaDuration(flicks: reached)
  }

  private static func handle(of context: UnsafeMutablePointer<AVIOContext>) -> UInt32 {
    context.pointee.opaque?.assumingMemoryBound(to: CFFBytes.self).pointee.handle ?? 0
  }

  /// Asks the remote reader. If its reading is over, this process's is too.
  func ask(_ call: SourceCall, of remote: any RemoteSource) -> SourceReply {
    let reply = remote.ask(call)
    switch reply {
    case .done(goesOn: false), .failed(cff_exit, _): abandon()
    default: break
    }
    if case .failed(_, let reason) = reply { cff_set_log(reason) }
    return reply
  }

  fileprivate func read(
    _ bytes: UnsafeMutablePointer<CFFBytes>, into buffer: UnsafeMutablePointer<UInt8>, count: Int32
  ) -> Int32 {
    guard let remote else { return cff_io_error }
    let wanted = min(Int(count), Int(Self.bufferSize))
    switch ask(.read(handle: bytes.pointee.handle, count: wanted), of: remote) {
    case .bytes(let given, let titles):
      for title in titles { cff_bytes_note(bytes, title.key, title.value) }
      guard !given.isEmpty, given.count <= wanted else { return cff_eof }
      _ = UnsafeMutableBufferPointer(start: buffer, count: wanted).update(fromContentsOf: given)
      return Int32(given.count)
    case .failed(let code, _): return min(code, -1)
    default: return cff_io_error
    }
  }

  fileprivate func seek(
    _ bytes: UnsafeMutablePointer<CFFBytes>, to place: Int64, _ origin: Int32
  ) -> Int64 {
    let handle = bytes.pointee.handle
    if origin & AVSEEK_SIZE != 0 { return remoteSizes[handle] ?? 0 }
    guard let remote, origin & ~AVSEEK_FORCE == SEEK_SET, place >= 0,
      case .place(let reached, let size) = ask(.seek(handle: handle, place: place), of: remote)
    else { return Int64(cff_invalid_argument) }
    remoteSizes[handle] = size
    return reached
  }
}

/// FFmpeg's callback, on the reading thread. The owner outlives the context.
private func readRemote(
  context: UnsafeMutableRawPointer?, buffer: UnsafeMutablePointer<UInt8>?, count: Int32
) -> Int32 {
  guard let bytes = context?.assumingMemoryBound(to: CFFBytes.self), let buffer, count > 0,
    let owner = bytes.pointee.owner
  else { return cff_io_error }
  return Unmanaged<NetworkInput>.fromOpaque(owner).takeUnretainedValue()
    .read(bytes, into: buffer, count: count)
}

/// FFmpeg's callback, on the reading thread.
private func seekRemote(context: UnsafeMutableRawPointer?, place: Int64, origin: Int32) -> Int64 {
  guard let bytes = context?.assumingMemoryBound(to: CFFBytes.self),
    let owner = bytes.pointee.owner
  else { return Int64(cff_io_error) }
  return Unmanaged<NetworkInput>.fromOpaque(owner).takeUnretainedValue()
    .seek(bytes, to: place, origin)
}
