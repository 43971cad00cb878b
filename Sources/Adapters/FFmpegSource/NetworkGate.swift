import CFFmpeg
package import Sender
import WireProtocol

/// Reads from the network for a decoding process, which reaches no server by itself: opens what that asks for,
/// within limits. That process may have become hostile through what it decoded.
package final class NetworkGate: SourceGate {
  /// Largest number of simultaneous connections: a list with many qualities keeps one to each.
  package static let connectionLimit = 128

  /// Largest number of files kept whole at once: one for the frames, one for the packets.
  static let spoolLimit = 2

  private struct Connection {
    var context: UnsafeMutablePointer<AVIOContext>
    /// All bytes so far, if they are kept.
    var spool: Spool?
    var position: Int64 = 0
  }

  private let location: String
  /// Makes the address of an item that has secrets; the process knows its location, and nothing else opens.
  private let secretAddress: (() throws(MediaError) -> String)?
  private let library: FFmpegLibrary
  private let network: NetworkInput
  private let report: @Sendable (SourceNotice) -> Void
  private var connections: [UInt32: Connection] = [:]
  private var lastHandle: UInt32 = 0

  /// - Parameter secretAddress: makes the address of an item whose location is none.
  package init(
    _ location: String, reach: SourceReach = .all, settings: NetworkSettings = .init(),
    secretAddress: (() throws(MediaError) -> String)? = nil, interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) throws(MediaError) {
    library = try FFmpegLibrary.load(toPlay: location)
    network = NetworkInput(
      location, reach: reach, settings: settings, interruption: interruption, library: library,
      report: report)
    (self.location, self.report) = (location, report)
    self.secretAddress = secretAddress
  }

  deinit {
    for connection in connections.values { network.close(connection.context) }
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
    guard connections.count < Self.connectionLimit else {
      return .failed(code: cff_invalid_argument, reason: "")
    }
    var context: UnsafeMutablePointer<AVIOContext>?
    let code = network.waiting {
      options.isNested
        ? network.openNested(url, options, &context) : network.open(url, &context)
    }
    guard code >= 0, let context else { return failure(min(code, -1)) }
    lastHandle &+= 1
    connections[lastHandle] = Connection(context: context)
    return .opened(
      SourceConnection(
        handle: lastHandle, size: library.calls.avio_size(context),
        isSeekable: context.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0,
        location: secretAddress == nil ? library.option("location", of: context) : "",
        contentType: library.option("mime_type", of: context),
        stationHeaders: library.option("icy_metadata_headers", of: context)))
  }

  private func read(_ handle: UInt32, _ count: Int) -> SourceReply {
    guard var connection = connections[handle] else { return failure(cff_invalid_argument) }
    defer { connections[handle] = connection }
    var block = [UInt8](repeating: 0, count: min(count, DecoderMessage.byteLimit))
    let given =
      connection.spool == nil
      ? readOnce(connection.context, &block) : readSpooled(&connection, &block)
    guard given >= 0 || given == cff_eof else { return failure(given) }
    return .bytes(block.prefix(max(0, Int(given))), titles: library.titles(of: connection.context))
  }

  private func readOnce(
    _ context: UnsafeMutablePointer<AVIOContext>, _ block: inout [UInt8]
  ) -> Int32 {
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
      let came = readOnce(connection.context, &block)
      guard came > 0 else { return came == 0 ? cff_eof : came }
      let isKept = block.withUnsafeBytes { spool.append(.init(rebasing: $0.prefix(Int(came)))) }
      guard isKept else { return cff_io_error }
    }
    let given = spool.read(into: &block, count: block.count, from: connection.position)
    connection.position += Int64(max(0, given))
    return given > 0 ? Int32(given) : cff_io_error
  }

  private func seek(_ handle: UInt32, to place: Int64) -> SourceReply {
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
    let reached = network.waiting(for: context) {
      library.calls.avio_seek(context, place, SEEK_SET)
    }
    if reached < 0, network.isInterrupted { return failure(cff_exit) }
    return .place(reached, size: size)
  }

  private func close(_ handle: UInt32) -> SourceReply {
    if let connection = connections.removeValue(forKey: handle) {
      network.close(connection.context)
    }
    return .done(goesOn: true)
  }

  /// Keeps the connection's bytes, from its beginning on.
  private func keep(_ handle: UInt32) -> SourceReply {
    guard let connection = connections[handle], connection.spool == nil,
      connections.values.count(where: { $0.spool != nil }) < Self.spoolLimit,
      (1...Spool.limit).contains(library.calls.avio_size(connection.context)),
      let spool = try? Spool(for: location)
    else { return failure(cff_invalid_argument) }
    connections[handle]?.spool = spool
    network.budget.loadWhole()
    return .done(goesOn: true)
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

  /// Returns the headers and titles that a station has sent since the last call.
  fileprivate func titles(of connection: UnsafeMutablePointer<AVIOContext>) -> [SourceTitle] {
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
