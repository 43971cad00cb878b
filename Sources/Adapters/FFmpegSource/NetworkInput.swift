import CFFmpeg
import Glibc
package import Sender

/// Settings of all network sources.
package struct NetworkSettings: Hashable, Sendable {
  /// Timeout of a silent server.
  package var timeout = Duration.seconds(10)
  /// Shortest silence that is reported.
  package var noticedSilence = Duration.seconds(2)
  /// The same for a live list of segments: nothing arrives between two segments, which last up to 10 s.
  package var noticedListSilence = Duration.seconds(15)
  /// A broken download is resumed at once, and then after each of these pauses.
  package var reconnectDelay = Duration.seconds(1)
  /// Time after which a broken download is given up.
  package var longestOutage = Duration.seconds(30)
  /// Pauses before requesting a radio station, or a file that could not be resumed, anew.
  package var retryDelays: [Duration] = [0, 1, 2, 4, 8, 16].map { .seconds($0) }
  /// Limits on the requests of one item until it plays.
  package var opening = OpeningLimits()
  package var redirectLimit = 8
  /// Largest size that a file may claim, in bytes; the longest recordings have a few gigabytes.
  package var sizeLimit: Int64 = 64 << 30
  /// A file with the certificates, in PEM, of trusted authorities; nil for those of the system.
  package var authorities: String?

  /// Takes the authorities from `SSL_CERT_FILE`, as other programs do.
  package init() { authorities = getenv("SSL_CERT_FILE").map { String(cString: $0) } }
}

/// Events of a network source that are reported to the user.
package enum SourceNotice: Hashable, Sendable, CustomStringConvertible {
  case stalled(location: String)
  case resumed(location: String, afterSeconds: Int)
  case reconnecting(location: String, reason: String)
  /// So much of a station can be heard again; nil if nothing can. Not for people.
  case kept(location: String, KeptStretch?)
  /// A live source cannot be read at present: silence replaces it.
  case away(location: String, reason: String)
  case back(location: String)
  /// A program writes blocks that are too long for the latency. In ms, with a latency that would suffice.
  case longBlocks(location: String, milliseconds: Int, latency: Int)
  /// The item plays without effects, because this machine lacks a library that they need.
  case withoutEffects(location: String, reason: String)

  /// The path or address of the source that the notice is about.
  package var location: String {
    switch self {
    case .stalled(let location), .resumed(let location, _), .reconnecting(let location, _),
      .kept(let location, _),
      .away(let location, _), .back(let location), .longBlocks(let location, _, _),
      .withoutEffects(let location, _):
      location
    }
  }

  package var description: String {
    switch self {
    case .stalled(let location): "\(location): the server is silent; waiting"
    case .resumed(let location, let seconds): "\(location): answers again after \(seconds) s"
    case .reconnecting(let location, let reason): "\(location): \(reason); connecting again"
    case .away(let location, let reason): "\(location): \(reason); waiting for it"
    case .back(let location): "\(location): is back"
    case .kept(let location, _): "\(location): is kept"
    case .withoutEffects(_, let reason): "\(reason); it plays without effects"
    case .longBlocks(let location, let milliseconds, let latency):
      """
      \(location): it writes blocks of \(milliseconds) ms, too long for this latency; \
      shorten them, or take --live \(latency)
      """
    }
  }
}

/// The settings with which FFmpeg reads from the network: limits, interruption, and reports of waiting.
final class NetworkInput {
  /// Content from the network must not name files of this machine.
  private static let protocols = "http,https,tcp,tls,crypto,data"

  let settings: NetworkSettings
  private var interruption: ReadInterruption
  /// The era in which this was opened; it is disowned together with that era.
  private var era: Int
  private let location: String
  private let library: FFmpegLibrary
  private let report: @Sendable (SourceNotice) -> Void
  /// Nil while nothing waits.
  private var silence: Silence?
  private var noticedSilence: Duration
  /// Counts the requests of the item against its limits.
  var budget: OpeningBudget
  /// Reads for this process; nil if it reads by itself.
  let remote: (any RemoteSource)?
  /// Sizes of connections whose bytes `remote` reads, by handle.
  var remoteSizes: [UInt32: Int64] = [:]
  /// The newest connection of those, if it is a station whose last hour is kept.
  var keptHandle: UInt32?
  private var lastAsked = ContinuousClock.now
  /// Connections that a demuxer has opened by itself.
  private var opened: Set<UnsafeMutablePointer<AVIOContext>> = []
  private let reach: SourceReach
  /// True if a connection has gone beyond this machine: answers from there must not lead back to it.
  var hasLeft = false
  /// True if a connection was refused since the last `takeRefusal`.
  private var wasRefused = false
  private var judgeDepth = 0

  /// The time in which somebody waits and no bytes arrive.
  private struct Silence {
    var since = ContinuousClock.now
    var isReported = false
    /// The connection whose bytes are awaited, if there is one, and its position at the last look.
    var watched: (bytes: UnsafeMutablePointer<AVIOContext>, position: Int64)?
  }

  init(
    _ location: String, reach: SourceReach = .all, settings: NetworkSettings,
    interruption: ReadInterruption,
    library: FFmpegLibrary, remote: (any RemoteSource)? = nil,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) {
    self.remote = remote
    self.location = location
    self.reach = reach
    self.library = library
    self.settings = settings
    budget = OpeningBudget(settings.opening)
    noticedSilence = settings.noticedSilence
    self.interruption = interruption
    era = interruption.era
    self.report = report
  }

  /// Makes a demuxer read from `bytes` and open further connections here. The input and the bytes must outlive the
  /// context.
  func prepare(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ bytes: NetworkBytes?,
    _ options: inout OpaquePointer?
  ) {
    context.pointee.pb = bytes?.context
    context.pointee.interrupt_callback = interruptCallback
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.io_open = openBytes
    context.pointee.io_close2 = closeBytes
    set(&options)
    // A demuxer would use a persistent connection for further requests without asking here.
    for name in ["http_persistent", "http_multiple"] {
      _ = library.calls.av_dict_set(&options, name, "0", 0)
    }
  }

  /// Opens an address whose bytes are read.
  func open(_ url: String, _ context: inout UnsafeMutablePointer<AVIOContext>?) -> Int32 {
    guard asks() else { return cff_exit }
    if let remote { return openRemote(url, SourceOptions(), by: remote, &context) }
    var options: OpaquePointer?
    defer { library.calls.av_dict_free(&options) }
    // `NetworkBytes` pauses and repeats requests itself.
    set(&options, longestReconnectDelay: 0)
    var callback = interruptCallback
    guard !cannotJudge else { return cff_io_error }
    return judged { library.calls.avio_open2(&context, url, AVIO_FLAG_READ, &callback, &options) }
  }

  /// Connects to a server, to write and to read.
  func connect(_ address: String, _ context: inout UnsafeMutablePointer<AVIOContext>?) -> Int32 {
    guard asks() else { return cff_exit }
    var options: OpaquePointer?
    defer { library.calls.av_dict_free(&options) }
    set(&options)
    // FFmpeg would take a proxy of the environment for one that it may speak HTTP with.
    for (key, value) in ["http_proxy": "", "protocol_whitelist": "tcp,tls"] {
      _ = library.calls.av_dict_set(&options, key, value, 0)
    }
    var callback = interruptCallback
    let flags = AVIO_FLAG_READ_WRITE | AVIO_FLAG_DIRECT
    return judged { library.calls.avio_open2(&context, address, flags, &callback, &options) }
  }

  /// Opens connections that a demuxer asks for, such as HLS segments, with the demuxer's own options added. FFmpeg
  /// alone would check only the certificate of the playlist's server.
  fileprivate func open(
    _ url: UnsafePointer<CChar>, flags: Int32,
    _ context: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>,
    _ options: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    guard flags & AVIO_FLAG_WRITE == 0 else { return cff_exit }
    if let remote, !String(cString: url).hasPrefix("data:") {
      guard asks() else { return cff_exit }
      return openRemote(
        String(cString: url), SourceOptions(options?.pointee, library), by: remote, &context.pointee
      )
    }
    if let options { return openNested(url, &options.pointee, &context.pointee) }
    var own: OpaquePointer?
    defer { library.calls.av_dict_free(&own) }
    return openNested(url, &own, &context.pointee)
  }

  /// Opens a connection for the demuxer of another process.
  func openNested(
    _ url: String, _ options: SourceOptions,
    _ context: inout UnsafeMutablePointer<AVIOContext>?
  ) -> Int32 {
    var dictionary = options.dictionary(library)
    defer { library.calls.av_dict_free(&dictionary) }
    return openNested(url, &dictionary, &context)
  }

  private func openNested(
    _ url: UnsafePointer<CChar>, _ options: inout OpaquePointer?,
    _ context: inout UnsafeMutablePointer<AVIOContext>?
  ) -> Int32 {
    guard asks() else { return cff_exit }
    guard !cannotJudge else { return cff_io_error }
    set(&options)
    var callback = interruptCallback
    let code = judged {
      library.calls.avio_open2(&context, url, AVIO_FLAG_READ, &callback, &options)
    }
    if code >= 0, let context { opened.insert(context) }
    return code
  }

  /// Counts a request. Returns false if it must not be made.
  private func asks() -> Bool {
    while let pause = budget.wait() {
      guard waits(milliseconds: Int32(pause / .milliseconds(1))) else { return false }
    }
    return budget.request()
  }

  @discardableResult
  func close(_ bytes: UnsafeMutablePointer<AVIOContext>) -> Int32 {
    let isOwn = opened.remove(bytes) != nil
    budget.took(bytes.pointee.bytes_read)
    if let remote, !isOwn {
      closeRemote(bytes, by: remote)
      return 0
    }
    var closing: UnsafeMutablePointer<AVIOContext>? = bytes
    return library.calls.avio_closep(&closing)
  }

  // MARK: - Allowed addresses

  private var cannotJudge: Bool { reach != .all && cff_judges_connections() == 0 }

  /// Runs `body`. FFmpeg connects only within such a call, and only if `allows` permits it.
  private func judged<T>(_ body: () -> T) -> T {
    judgeDepth += 1
    cff_set_judge(judgeAddress, Unmanaged.passUnretained(self).toOpaque())
    defer {
      judgeDepth -= 1
      // FFmpeg opens parts of a list within a call.
      if judgeDepth == 0 { cff_set_judge(nil, nil) }
    }
    return body()
  }

  fileprivate func allows(isIPv6: Bool, _ high: UInt64, _ low: UInt64) -> Bool {
    func isAllowed(by reach: SourceReach) -> Bool {
      isIPv6 ? reach.allows(ipv6: high, low) : reach.allows(ipv4: UInt32(truncatingIfNeeded: low))
    }
    let isOutside = isAllowed(by: .network)
    guard isAllowed(by: reach), isOutside || !hasLeft else {
      wasRefused = true
      return false
    }
    hasLeft = hasLeft || isOutside
    return true
  }

  /// Returns the reason why a connection was refused since the last call; nil if none was.
  func takeRefusal() -> String? {
    defer { wasRefused = false }
    if cannotJudge { return "this program cannot see where it leads to" }
    guard wasRefused else { return nil }
    return reach == .internet
      ? "it leads to an address that is not public, which guests may not play from"
      : "it leads to this machine itself or to an address that is no host's, which only its user may play from"
  }

  private var interruptCallback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: mustStopReading, opaque: Unmanaged.passUnretained(self).toOpaque())
  }

  /// - Parameter longestReconnectDelay: FFmpeg reconnects after 0, 1, 3, 7 seconds, up to this.
  private func set(_ options: inout OpaquePointer?, longestReconnectDelay: Int = 15) {
    var values = [
      "protocol_whitelist": Self.protocols, "user_agent": "tutti", "icy": "1",
      "reconnect": "1", "reconnect_delay_max": "\(longestReconnectDelay)",
      "rw_timeout": "\(Int(settings.timeout / .microseconds(1)))",
      "max_redirects": "\(settings.redirectLimit)", "tls_verify": "1",
    ]
    values["ca_file"] = settings.authorities
    // A proxy would connect in its own name, to any address.
    if reach != .all { values["http_proxy"] = "" }
    for (key, value) in values { _ = library.calls.av_dict_set(&options, key, value, 0) }
  }

  /// Call it for a live list of segments, whose bytes arrive only from time to time.
  func followsList() {
    if let remote { _ = ask(.followsList, of: remote) }
    noticedSilence = max(settings.noticedListSilence, settings.noticedSilence)
  }

  /// Runs an operation that may wait for the network.
  ///
  /// - Parameter bytes: while these arrive, no silence is reported, however long the operation takes.
  func waiting<T>(for bytes: UnsafeMutablePointer<AVIOContext>? = nil, _ body: () -> T) -> T {
    silence = Silence(watched: bytes.map { ($0, $0.pointee.pos) })
    interruption.beginWaiting(in: era)
    defer {
      interruption.endWaiting(in: era)
      if !isInterrupted { reportEndOfStall() }
      silence = nil
    }
    return judged(body)
  }

  private func reportEndOfStall() {
    guard let silence, silence.isReported else { return }
    self.silence?.isReported = false
    let seconds = Int((ContinuousClock.now - silence.since) / .seconds(1))
    report(.resumed(location: location, afterSeconds: seconds))
  }

  func reportReconnecting(because reason: String) {
    report(.reconnecting(location: location, reason: reason))
  }

  /// True if FFmpeg must stop; it asks ten times a second while it waits.
  fileprivate func mustStop() -> Bool {
    if let (bytes, position) = silence?.watched, bytes.pointee.pos != position {
      reportEndOfStall()
      silence = Silence(watched: (bytes, bytes.pointee.pos))
    }
    if let silence, !silence.isReported, ContinuousClock.now - silence.since > noticedSilence {
      self.silence?.isReported = true
      report(.stalled(location: location))
    }
    if let remote, ContinuousClock.now - lastAsked > .milliseconds(50) {
      _ = ask(.goesOn, of: remote)
      lastAsked = .now
    }
    return !goesOn
  }

  var goesOn: Bool { budget.goesOn(with: bytesOfOpenConnections) && !isInterrupted }

  func abandon() { interruption.abandonRead() }

  private var bytesOfOpenConnections: Int64 {
    var count: Int64 = 0
    if let (bytes, _) = silence?.watched { count += bytes.pointee.bytes_read }
    for bytes in opened { count += bytes.pointee.bytes_read }
    return count
  }

  /// Only `own` ends reading from now on.
  func handOver(to own: ReadInterruption) {
    (interruption, era) = (own, own.era)
    budget.endOpening()
  }

  /// Waits until `descriptor` can be read. Returns false if it was interrupted.
  func waits(for descriptor: Int32) -> Bool {
    interruption.waits(for: descriptor, milliseconds: 1_000, in: era) != .interrupted
  }

  /// Starts counting the requests of a source that is opened from its beginning.
  func beginOpening() { budget = OpeningBudget(settings.opening) }

  /// True unless the source was disowned.
  var isCurrent: Bool { era == interruption.era }

  var isInterrupted: Bool { interruption.isInterrupted(in: era) }

  /// Waits. Returns false if it was interrupted.
  func waits(milliseconds: Int32) -> Bool {
    if let remote {
      guard case .done(true) = ask(.pause(milliseconds: milliseconds), of: remote) else {
        return false
      }
      return true
    }
    return interruption.waits(milliseconds: milliseconds, in: era)
  }
}

extension SourceOptions {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Takes those of a demuxer's options that Tutti knows.
  init(_ options: OpaquePointer?, _ library: FFmpegLibrary) {
    self.init()
    isNested = true
    func value(_ name: String) -> String {
      guard let entry = library.calls.av_dict_get(options, name, nil, 0),
        let text = entry.pointee.value
      else { return "" }
      return String(cString: text)
    }
    range = ["offset", "end_offset"].map { max(0, Int64(value($0)) ?? 0) }
    (key, vector) = (Self.bytes(value("key")), Self.bytes(value("iv")))
  }

  private static func bytes(_ text: String) -> [UInt8] {
    let nibbles = text.lowercased().utf8.compactMap(digits.firstIndex)
    guard text.utf8.count == 32, nibbles.count == 32 else { return [] }
    return (0..<16).map { UInt8(nibbles[2 * $0] << 4 | nibbles[2 * $0 + 1]) }
  }

  func dictionary(_ library: FFmpegLibrary) -> OpaquePointer? {
    var options: OpaquePointer?
    for (name, place) in zip(["offset", "end_offset"], range) where place > 0 {
      _ = library.calls.av_dict_set(&options, name, "\(place)", 0)
    }
    for (name, secret) in [("key", key), ("iv", vector)] where !secret.isEmpty {
      let text = secret.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
      _ = library.calls.av_dict_set(&options, name, String(decoding: text, as: UTF8.self), 0)
    }
    return options
  }
}

extension Demuxer.Input {
  func waiting<T>(for bytes: UnsafeMutablePointer<AVIOContext>?, _ body: () -> T) -> T {
    guard case .network(let network) = self else { return body() }
    return network.waiting(for: bytes, body)
  }

  func beginOpening() {
    if case .network(let network) = self { network.beginOpening() }
  }

  func endOpening() {
    if case .network(let network) = self { network.budget.endOpening() }
  }

  var fileContext: UnsafeMutablePointer<AVIOContext>? {
    guard case .file(let file) = self else { return nil }
    return file.context
  }

  /// Tells FFmpeg which formats it may detect.
  func limit(_ options: inout OpaquePointer?, _ library: FFmpegLibrary) {
    let formats: String
    switch self {
    case .network: formats = Containers.ofAddresses
    // The user has given the format.
    case .descriptor(_, .some): return
    case .descriptor, .file: formats = Containers.ofFiles
    }
    _ = library.calls.av_dict_set(&options, "format_whitelist", formats, 0)
  }
}

/// Decides on each connection that FFmpeg is about to make, on the reading thread.
private func judgeAddress(
  context: UnsafeMutableRawPointer?, isIPv6: Int32, high: UInt64, low: UInt64
) -> Int32 {
  guard let context else { return 0 }
  return Unmanaged<NetworkInput>.fromOpaque(context).takeUnretainedValue()
    .allows(isIPv6: isIPv6 != 0, high, low) ? 1 : 0
}

/// FFmpeg's callback, on the reading thread.
private func mustStopReading(context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context else { return 0 }
  return Unmanaged<NetworkInput>.fromOpaque(context).takeUnretainedValue().mustStop() ? 1 : 0
}

/// FFmpeg's callback, on the reading thread.
private func openBytes(
  context: UnsafeMutablePointer<AVFormatContext>?,
  bytes: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, url: UnsafePointer<CChar>?,
  flags: Int32, options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let input = context?.pointee.opaque, let bytes, let url else { return cff_io_error }
  return Unmanaged<NetworkInput>.fromOpaque(input).takeUnretainedValue()
    .open(url, flags: flags, bytes, options)
}

/// FFmpeg's callback, on the reading thread.
private func closeBytes(
  context: UnsafeMutablePointer<AVFormatContext>?, bytes: UnsafeMutablePointer<AVIOContext>?
) -> Int32 {
  guard let input = context?.pointee.opaque, let bytes else { return 0 }
  return Unmanaged<NetworkInput>.fromOpaque(input).takeUnretainedValue().close(bytes)
}
