import CFFmpeg
package import Sender

/// Gives the bytes of an item that a program feeds, to a decoding process or to this one, as a server would: as one that
/// knows no ranges, if they were still coming when the item was opened.
package final class FedGate: SourceGate, RemoteSource {
  /// Largest number of places that are read at once: frames, packets, and a look at the index.
  private static let connectionLimit = 16

  private let bytes: FedBytes
  private let interruption: ReadInterruption
  private let era: Int
  /// True if all bytes were there at the first look. It stays so, because an item whose length is not known must not get one
  /// in the middle.
  private let isWhole: Bool
  private var places: [UInt32: Int64] = [:]
  private var lastHandle: UInt32 = 0

  package init(_ bytes: FedBytes, interruption: ReadInterruption) {
    (self.bytes, self.interruption) = (bytes, interruption)
    era = interruption.era
    isWhole = bytes.isOver
  }

  package var isCurrent: Bool { era == interruption.era }

  package func ask(_ call: SourceCall) -> SourceReply { answer(call) }

  package func answer(_ call: SourceCall) -> SourceReply {
    switch call {
    case .open(let name, let options): open(name, options)
    case .read(let handle, let count): read(handle, count)
    case .seek(let handle, let place): seek(handle, to: place)
    case .close(let handle): close(handle)
    // All bytes are kept anyway.
    case .keep(let handle):
      places[handle] == nil ? Self.refusal : .done(goesOn: true)
    // Nothing gets better by waiting: who feeds decides when it is over.
    case .pause, .goesOn: .done(goesOn: !interruption.isInterrupted(in: era))
    case .followsList, .tell: .done(goesOn: true)
    }
  }

  private static let refusal = SourceReply.failed(code: cff_invalid_argument, reason: "")

  private var size: Int64 { bytes.isOver ? bytes.count : bytes.expectedCount ?? 0 }

  /// Opens the item alone: what it names leads nowhere.
  private func open(_ name: String, _ options: SourceOptions) -> SourceReply {
    guard name == bytes.name, !options.isNested, places.count < Self.connectionLimit else {
      return Self.refusal
    }
    lastHandle &+= 1
    places[lastHandle] = 0
    return .opened(
      SourceConnection(
        handle: lastHandle, size: size, isSeekable: isWhole, location: "", contentType: "",
        stationHeaders: ""))
  }

  private func read(_ handle: UInt32, _ count: Int) -> SourceReply {
    guard let place = places[handle] else { return Self.refusal }
    while true {
      switch bytes.part(at: place, atMost: min(count, DecoderMessage.byteLimit)) {
      case .bytes(let part):
        places[handle] = place + Int64(part.count)
        return .bytes(part, titles: [])
      case .end: return .bytes([], titles: [])
      case .unreadable: return .failed(code: cff_io_error, reason: "")
      case .coming:
        guard bytes.waits(interruption, in: era) else {
          return .failed(code: cff_exit, reason: "")
        }
      }
    }
  }

  private func seek(_ handle: UInt32, to place: Int64) -> SourceReply {
    guard places[handle] != nil else { return Self.refusal }
    places[handle] = place
    return .place(place, size: size)
  }

  private func close(_ handle: UInt32) -> SourceReply {
    places[handle] = nil
    return .done(goesOn: true)
  }
}
