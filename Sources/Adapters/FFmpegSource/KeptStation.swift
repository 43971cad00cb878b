import Clock
import Glibc
package import Sender
import Synchronization

/// How stations are kept, so that people can pause them and go back.
package struct StationKeeping: Sendable {
  /// Runs the body on a thread of its own. Returns false if there is none.
  let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
  let memory: StationMemory

  package init(
    memory: StationMemory = StationMemory(),
    startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
  ) {
    (self.memory, self.startThread) = (memory, startThread)
  }
}

/// The last hour of a station. A `StationReader` fills it, also while nobody takes anything, and one other thread takes from
/// it. If its file cannot be written any more, it is only as long as a small buffer, and the music plays on.
final class KeptStation: Sendable {
  /// Number of stations that are kept at once.
  static let countLimit = 8
  /// Bytes that wait to be taken if no file holds them.
  static let bufferLimit = 1 << 20
  private static let count = Atomic<Int>(0)

  enum Taken {
    case bytes([UInt8], titles: [SourceTitle])
    case nothingYet
    case over(reason: String)
  }

  private struct State {
    var memory: StationMemory
    /// The words of the station about itself.
    var headers: [SourceTitle] = []
    /// Number of the next byte to be taken.
    var taken: Int64 = 0
    /// When somebody last asked for bytes, and whether he got none and waits.
    var asked = ContinuousClock.now
    var isAwaited = false
    /// The newest bytes, and the number of the first, once the file has failed.
    var buffer: (start: Int64, bytes: [UInt8])?
    /// Reason why nothing more comes.
    var end: String?
  }

  /// Addresses that lead to it: that of the item, and that of the connection.
  let addresses: Set<String>
  /// As the server states them.
  let contentType: String
  let stationHeaders: String
  /// Ends its reader.
  let interruption: ReadInterruption
  private let state: Mutex<State>
  private let file: RingFile
  /// A pipe with a byte in it after more has come.
  private let news: [Int32]

  /// Returns nil if this machine keeps no further station.
  init?(
    _ memory: StationMemory, in file: RingFile?, addresses: Set<String>, contentType: String = "",
    stationHeaders: String = ""
  ) {
    guard Self.count.wrappingAdd(1, ordering: .relaxed).newValue <= Self.countLimit,
      let file,
      let interruption = try? ReadInterruption(), let news = Self.makePipe()
    else {
      Self.count.wrappingSubtract(1, ordering: .relaxed)
      return nil
    }
    (self.file, self.interruption, self.news) = (file, interruption, news)
    (self.addresses, self.contentType) = (addresses, contentType)
    self.stationHeaders = stationHeaders
    state = Mutex(State(memory: memory))
  }

  deinit {
    for end in news { close(end) }
    Self.count.wrappingSubtract(1, ordering: .relaxed)
  }

  private static func makePipe() -> [Int32]? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    return ends
  }

  // MARK: - The reader's side

  /// Takes packets of the station, and what it has said of them before.
  func append(
    _ bytes: [UInt8], lasting span: MediaDuration, after elapsed: MediaDuration,
    saying titles: [SourceTitle]
  ) {
    state.withLock { state in
      note(titles, in: &state)
      guard !bytes.isEmpty else { return }
      let place = state.memory.end.place
      state.memory.append(bytes.count, lasting: span, after: elapsed)
      if state.buffer == nil, bytes.withUnsafeBytes({ file.write($0, at: place) }) { return }
      state.buffer = state.buffer ?? (place, [])
      state.buffer?.bytes += bytes
    }
    wake()
  }

  private func note(_ titles: [SourceTitle], in state: inout State) {
    for title in titles {
      if title.key == "StreamTitle" {
        state.memory.note(title: title.value)
      } else if state.headers.count < SourceTitle.limit - 1,
        !state.headers.contains(where: { $0.key == title.key })
      {
        state.headers.append(title)
      }
    }
  }

  /// Nothing more comes.
  func end(because reason: String) {
    state.withLock { $0.end = reason }
    wake()
  }

  private func wake() {
    var byte: UInt8 = 1
    _ = write(news[1], &byte, 1)
  }

  /// True if all that came was taken.
  var isTaken: Bool { state.withLock { $0.taken >= $0.memory.end.place } }

  /// True while the reader must wait until more is taken.
  var isFull: Bool { state.withLock { $0.buffer?.bytes.count ?? 0 > Self.bufferLimit } }

  /// Nil if it can only be heard on.
  var stretch: KeptStretch? { state.withLock { $0.buffer == nil ? $0.memory.stretch : nil } }

  /// True once nobody has taken anything for so long that all of it is forgotten.
  var isLeft: Bool {
    state.withLock { state in
      let idle = MediaDuration(Nanoseconds(Int64((.now - state.asked) / .nanoseconds(1))))
      guard !state.isAwaited, idle > state.memory.patience else { return false }
      state.memory.forget()
      state.taken = state.memory.end.place
      state.buffer = state.buffer.map { _ in (state.taken, []) }
      return true
    }
  }

  var endTime: MediaDuration { state.withLock { $0.memory.end.time } }

  // MARK: - The taker's side

  /// Readable when more has come.
  var arrival: Int32 { news[0] }

  /// Takes bytes from `place` on, which moves on; what is not kept any more is left out.
  ///
  /// - Parameter begins: true for the first bytes of a connection, with which come the title and all headers.
  func take(from place: inout Int64, upTo count: Int, begins: Bool) -> Taken {
    var old = [UInt8](repeating: 0, count: 64)
    while read(news[0], &old, old.count) > 0 {}
    return state.withLock { state in
      place = max(place, state.memory.oldest.place)
      let wanted = Int(min(Int64(count), state.memory.end.place - place))
      (state.asked, state.isAwaited) = (.now, wanted <= 0)
      guard wanted > 0 else { return state.end.map { .over(reason: $0) } ?? .nothingYet }
      guard let bytes = bytes(wanted, at: place, in: &state) else {
        return .over(reason: "what was kept of it cannot be read")
      }
      let before = place
      place += Int64(bytes.count)
      state.taken = place
      var titles = begins ? state.headers : []
      if let title = state.memory.title(at: place, after: begins ? nil : before) {
        titles.append(SourceTitle(key: "StreamTitle", value: title))
      }
      return .bytes(bytes, titles: titles)
    }
  }

  private func bytes(_ count: Int, at place: Int64, in state: inout State) -> [UInt8]? {
    if let buffer = state.buffer, place >= buffer.start {
      let first = Int(place - buffer.start)
      let bytes = Array(buffer.bytes[first..<min(first + count, buffer.bytes.count)])
      state.buffer?.start += Int64(first + bytes.count)
      state.buffer?.bytes.removeFirst(first + bytes.count)
      return bytes
    }
    let kept = state.buffer.map { Int(clamping: $0.start - place) } ?? count
    var bytes = [UInt8](repeating: 0, count: min(count, kept))
    let given = file.read(into: &bytes, count: bytes.count, at: place)
    guard given > 0 else { return nil }
    bytes.removeLast(bytes.count - given)
    return bytes
  }

  /// Returns a packet near `position` from which it can be taken.
  func mark(near position: MediaDuration) -> StationMemory.Mark? {
    state.withLock { $0.buffer == nil ? $0.memory.mark(near: position) : nil }
  }

  /// Reason why nothing more comes; nil if there is more from `place` on, or may be.
  func failure(at place: Int64) -> String? {
    state.withLock { $0.memory.end.place > place ? nil : $0.end }
  }
}
