import CFFmpeg
package import Clock
package import Sender
import WireProtocol

/// Reads from the network for a decoding process, which reaches no server by itself: opens what that asks for,
/// within limits. That process may have become hostile through what it decoded.
package final class NetworkGate: SourceGate {
  /// Largest number of simultaneous connections: a list with many qualities keeps one to each.
  package static let connectionLimit = 128

  /// Largest number of files kept whole at once: one for the frames, one for the packets.
  static let spoolLimit = 2

  /// Bytes by which a station is recognized as one that can be kept: three packets.
  private static let lookLimit = 16 << 10

  private struct Connection {
    let context: UnsafeMutablePointer<AVIOContext>
    /// The one with which it was opened.
    let network: NetworkInput
    /// All bytes so far, if they are kept.
    var spool: Spool?
    var position: Int64 = 0
    /// Those that came already, and what the station has said.
    var first: (bytes: [UInt8], titles: [SourceTitle]) = ([], [])
  }

  private let location: String
  /// Makes the address of an item that has secrets; the process knows its location, and nothing else opens.
  private let secretAddress: (() throws(MediaError) -> String)?
  private let library: FFmpegLibrary
  private var network: NetworkInput
  private let (reach, settings): (SourceReach, NetworkSettings)
  private let interruption: ReadInterruption
  private let report: @Sendable (SourceNotice) -> Void
  private var connections: [UInt32: Connection] = [:]
  private let keeping: StationKeeping?
  /// The station that the item is, if it is kept.
  private var station: KeptStation?
  /// Connections that take from it, and those of them that have taken nothing yet.
  private var keptHandles: [UInt32: Bool] = [:]
  /// Number of the next byte that they take.
  private var keptPlace: Int64 = 0
  private var lastHandle: UInt32 = 0

  /// - Parameter secretAddress: makes the address of an item whose location is none.
  package init(
    _ location: String, reach: SourceReach = .all, settings: NetworkSettings = .init(),
    secretAddress: (() throws(MediaError) -> String)? = nil, keeping: StationKeeping? = nil,
    interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) throws(MediaError) {
    library = try FFmpegLibrary.load(toPlay: location)
    network = NetworkInput(
      location, reach: reach, settings: settings, interruption: interruption, library: library,
      report: report)
    (self.location, self.report) = (location, report)
    (self.reach, self.settings, self.interruption) = (reach, settings, interruption)
    (self.secretAddress, self.keeping) = (secretAddress, keeping)
  }

  deinit {
    for connection in connections.values { connection.network.close(connection.context) }
    station?.interruption.interrupt()
  }

  package func beginOpening() { network.beginOpening() }
  package func endOpening() { network.budget.endOpening() }
  package var excess: String? { network.budget.excess }
  package var isInterrupted: Bool { network.isInterrupted }
  package var isCurrent: Bool { network.isCurrent }

  package func answer(_ call: SourceCall) -> SourceReply {
    switch call {
    case .open(let url, let options): open(url, options)
    case .read(let handle, let count): read(handle, count)
    case .seek(let handle, let place): seek(handle, to: place)
    case .close(let handle): close(handle)
    case .keep(let handle): keep(handle)
    case .pause(let milliseconds): .done(goesOn: network.waits(milliseconds: milliseconds))
    case .goesOn: .done(goesOn: network.goesOn)
    case .followsList: followList()
    case .tell(let news): tell(news)
    }
  }

  private func followList() -> SourceReply {
    network.followsList()
    return .done(goesOn: true)
  }

  private func failure(_ code: Int32) -> SourceReply {
    let log = String(cString: cff_last_log())
    return .failed(
      code: code, reason: (secretAddress == nil ? log : log.withoutQueries).shownPlainly)
  }

  private func open(_ url: String, _ options: SourceOptions) -> SourceReply {
    guard let secretAddress else {
      let plain = url.hasPrefix("crypto+") ? String(url.dropFirst(7)) : url
      return NetworkSource.isNetwork(plain)
        ? connect(url, options) : .failed(code: cff_invalid_argument, reason: "")
    }
    guard url == location, !options.isNested else {
      return .failed(code: cff_invalid_argument, reason: "")
    }
    do throws(MediaError) {
      return connect(try secretAddress(), options)
    } catch {
      return .failed(code: cff_io_error, reason: error.reason)
    }
  }

  private func connect(_ url: String, _ options: SourceOptions) -> SourceReply {
    // The thread may have served others before.
    cff_clear_log()
    guard connections.count + keptHandles.count < Self.connectionLimit else {
      return .failed(code: cff_invalid_argument, reason: "")
    }
    if !options.isNested, let station, station.addresses.contains(url) {
      return connect(to: station)
    }
    if !options.isNested, let keeping, station == nil, secretAddress == nil {
      return connect(url, keeping)
    }
    var context: UnsafeMutablePointer<AVIOContext>?
    let code = network.waiting {
      options.isNested
        ? network.openNested(url, options, &context) : network.open(url, &context)
    }
    guard code >= 0, let context else { return failure(min(code, -1)) }
    return opened(Connection(context: context, network: network))
  }

  private func opened(_ connection: Connection) -> SourceReply {
    lastHandle &+= 1
    connections[lastHandle] = connection
    let context = connection.context
    return .opened(
      SourceConnection(
        handle: lastHandle, size: library.calls.avio_size(context),
        isSeekable: context.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0,
        location: secretAddress == nil ? library.option("location", of: context) : "",
        contentType: library.option("mime_type", of: context),
        stationHeaders: library.option("icy_metadata_headers", of: context)))
  }

  private func read(_ handle: UInt32, _ count: Int) -> SourceReply {
    if let begins = keptHandles[handle], let station {
      return read(station, handle, count, begins: begins)
    }
    guard var connection = connections[handle] else { return failure(cff_invalid_argument) }
    defer { connections[handle] = connection }
    if !connection.first.bytes.isEmpty {
      let part = connection.first.bytes.prefix(count)
      defer { connection.first = (Array(connection.first.bytes.dropFirst(part.count)), []) }
      return .bytes(part, titles: connection.first.titles)
    }
    var block = [UInt8](repeating: 0, count: min(count, DecoderMessage.byteLimit))
    let given =
      connection.spool == nil
      ? readOnce(connection, &block) : readSpooled(&connection, &block)
    guard given >= 0 || given == cff_eof else { return failure(given) }
    return .bytes(block.prefix(max(0, Int(given))), titles: library.titles(of: connection.context))
  }

  private func readOnce(_ connection: Connection, _ block: inout [UInt8]) -> Int32 {
    let (context, network) = (connection.context, connection.network)
    // An earlier abandoned or broken read does not matter for this one.
    context.pointee.error = 0
    context.pointee.eof_reached = 0
    cff_clear_log()
    return network.waiting(for: context) {
      library.calls.avio_read_partial(context, &block, Int32(clamping: block.count))
    }
  }

  private func readSpooled(_ connection: inout Connection, _ block: inout [UInt8]) -> Int32 {
    guard let spool = connection.spool else { return cff_io_error }
    while spool.count <= connection.position {
      let came = readOnce(connection, &block)
      guard came > 0 else { return came == 0 ? cff_eof : came }
      let isKept = block.withUnsafeBytes { spool.append(.init(rebasing: $0.prefix(Int(came)))) }
      guard isKept else { return cff_io_error }
    }
    let given = spool.read(into: &block, count: block.count, from: connection.position)
    connection.position += Int64(max(0, given))
    return given > 0 ? Int32(given) : cff_io_error
  }

  private func seek(_ handle: UInt32, to place: Int64) -> SourceReply {
    if keptHandles[handle] != nil, let station {
      guard let mark = station.mark(near: MediaDuration(flicks: place)) else {
        return failure(cff_invalid_argument)
      }
      keptPlace = mark.place
      return .place(mark.time.flicks, size: 0)
    }
    guard var connection = connections[handle] else { return failure(cff_invalid_argument) }
    let context = connection.context
    let size = library.calls.avio_size(context)
    guard connection.spool == nil else {
      connection.position = place
      connections[handle] = connection
      return .place(place, size: size)
    }
    context.pointee.error = 0
    context.pointee.eof_reached = 0
    let reached = connection.network.waiting(for: context) {
      library.calls.avio_seek(context, place, SEEK_SET)
    }
    if reached < 0, network.isInterrupted { return failure(cff_exit) }
    return .place(reached, size: size)
  }

  private func close(_ handle: UInt32) -> SourceReply {
    keptHandles[handle] = nil
    if let connection = connections.removeValue(forKey: handle) {
      connection.network.close(connection.context)
    }
    return .done(goesOn: true)
  }

  /// Keeps the connection's bytes, from its beginning on.
  private func keep(_ handle: UInt32) -> SourceReply {
    guard let connection = connections[handle], connection.spool == nil,
      connection.first.bytes.isEmpty,
      connections.values.count(where: { $0.spool != nil }) < Self.spoolLimit,
      (1...Spool.limit).contains(library.calls.avio_size(connection.context)),
      let spool = try? Spool(for: location)
    else { return failure(cff_invalid_argument) }
    connections[handle]?.spool = spool
    network.budget.loadWhole()
    return .done(goesOn: true)
  }

  // MARK: - Stations

  /// Connects with an input of its own, which a thread takes over with the connection if it is a station that can be kept.
  private func connect(_ url: String, _ keeping: StationKeeping) -> SourceReply {
    guard network.isCurrent, let input = try? makeInput(),
      let library = try? FFmpegLibrary.load(toPlay: url)
    else { return failure(cff_exit) }
    (input.budget, input.hasLeft) = (network.budget, network.hasLeft)
    var context: UnsafeMutablePointer<AVIOContext>?
    let code = input.waiting { input.open(url, &context) }
    guard code >= 0, let context else {
      network = input
      return failure(min(code, -1))
    }
    let look: (bytes: [UInt8], titles: [SourceTitle])? =
      library.isStation(context) ? library.look(at: context, Self.lookLimit, input) : nil
    if let look, PacketHeader.hasStation(look.bytes),
      let station = KeptStation(
        keeping.memory, in: try? RingFile(for: url, size: StationMemory.byteLimit),
        addresses: [location, url],
        contentType: library.option("mime_type", of: context),
        stationHeaders: library.option("icy_metadata_headers", of: context))
    {
      network.budget = input.budget
      let (location, report) = (location, report)
      let reader = StationReader(station, input, library, url: url, context, first: look) {
        report(.kept(location: location, $0))
      }
      let handOver = StationHandOver(reader)
      guard keeping.startThread({ handOver.run() }) else { return failure(cff_io_error) }
      self.station = station
      return connect(to: station)
    }
    network = input
    return opened(Connection(context: context, network: input, first: look ?? ([], [])))
  }

  private func makeInput() throws(MediaError) -> sending NetworkInput {
    NetworkInput(
      location, reach: reach, settings: settings, interruption: interruption,
      library: try FFmpegLibrary.load(toPlay: location), report: report)
  }

  /// Connects to what is kept, at the place that was sought or read last.
  private func connect(to station: KeptStation) -> SourceReply {
    if let reason = station.failure(at: keptPlace) {
      return .failed(code: cff_io_error, reason: reason.shownPlainly)
    }
    lastHandle &+= 1
    keptHandles[lastHandle] = true
    var connection = SourceConnection(
      handle: lastHandle, size: -1, isSeekable: false, location: location,
      contentType: station.contentType, stationHeaders: station.stationHeaders)
    connection.isKept = true
    return .opened(connection)
  }

  private func read(
    _ station: KeptStation, _ handle: UInt32, _ count: Int, begins: Bool
  ) -> SourceReply {
    while true {
      let count = min(count, DecoderMessage.byteLimit)
      switch station.take(from: &keptPlace, upTo: count, begins: begins) {
      case .bytes(let bytes, let titles):
        keptHandles[handle] = false
        return .bytes(bytes[...], titles: titles)
      case .over(let reason): return .failed(code: cff_io_error, reason: reason.shownPlainly)
      case .nothingYet:
        guard network.waits(for: station.arrival) else { return failure(cff_exit) }
      }
    }
  }

  package func place(near position: MediaDuration) -> MediaDuration {
    station.map { $0.mark(near: position)?.time ?? .zero } ?? position
  }

  private func tell(_ news: SourceNews) -> SourceReply {
    switch news {
    case .stalled: report(.stalled(location: location))
    case .resumed(let seconds): report(.resumed(location: location, afterSeconds: seconds))
    case .reconnecting(let reason): report(.reconnecting(location: location, reason: reason))
    }
    return .done(goesOn: true)
  }
}

extension PacketHeader {
  /// True if packets follow each other that can be taken up anywhere.
  fileprivate static func hasStation(_ bytes: [UInt8]) -> Bool {
    firstPacket(in: bytes, from: 0).flatMap { PacketHeader(bytes, at: $0)?.duration } != nil
  }
}

extension MediaError {
  fileprivate var reason: String {
    if case .unreadable(_, let reason) = self { reason } else { "there is no such item" }
  }
}

extension String {
  /// Leaves out words that may be a part of an address with a query.
  package var withoutQueries: String {
    split(separator: " ").filter { !$0.contains("?") && !$0.contains("=") }.joined(separator: " ")
  }
}

extension FFmpegLibrary {
  /// Returns an option of a connection; empty if it has none.
  func option(_ name: String, of connection: UnsafeMutablePointer<AVIOContext>) -> String {
    var text: UnsafeMutablePointer<UInt8>?
    let code = calls.av_opt_get(connection, name, AV_OPT_SEARCH_CHILDREN, &text)
    defer { calls.av_free(text) }
    guard code >= 0, let text else { return "" }
    return String(cString: text)
  }

  /// True if the server is a radio station that sends without end.
  fileprivate func isStation(_ connection: UnsafeMutablePointer<AVIOContext>) -> Bool {
    connection.pointee.seekable & AVIO_SEEKABLE_NORMAL == 0 && calls.avio_size(connection) <= 0
      && !option("icy_metadata_headers", of: connection).isEmpty
  }

  /// Reads until a packet can be recognized, at most `limit` bytes.
  fileprivate func look(
    at connection: UnsafeMutablePointer<AVIOContext>, _ limit: Int, _ network: NetworkInput
  ) -> ([UInt8], [SourceTitle]) {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: limit)
    while bytes.count < limit, !PacketHeader.hasStation(bytes) {
      let count = network.waiting(for: connection) {
        calls.avio_read_partial(connection, &block, Int32(limit - bytes.count))
      }
      guard count > 0 else { break }
      bytes += block[..<Int(count)]
    }
    return (bytes, titles(of: connection))
  }

  /// Returns the headers and titles that a station has sent since the last call.
  func titles(of connection: UnsafeMutablePointer<AVIOContext>) -> [SourceTitle] {
    var dictionary: OpaquePointer?
    let code = calls.av_opt_get_dict_val(
      connection, "metadata", AV_OPT_SEARCH_CHILDREN, &dictionary)
    defer { calls.av_dict_free(&dictionary) }
    guard code >= 0, dictionary != nil else { return [] }
    _ = calls.av_opt_set_dict_val(connection, "metadata", nil, AV_OPT_SEARCH_CHILDREN)
    var titles: [SourceTitle] = []
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while titles.count < SourceTitle.limit {
      entry = calls.av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)
      guard let entry, let key = entry.pointee.key, let value = entry.pointee.value else { break }
      titles.append(SourceTitle(key: String(cString: key), value: String(cString: value)))
    }
    return titles
  }
}
