import Audio
import Codecs
import FFmpegSource
import LinuxIO
import Sender
import Synchronization

/// Demuxes and decodes files and streams of strangers, in a process that can do nothing else: whatever they do to
/// FFmpeg happens there. One item per process.
package enum MediaWorker {
  /// Runs the program: answers requests until they end. Uses the socket that is its standard input.
  package static func run() {
    ConfinedService.begin()
    _ = FFmpegInstallation.obstacle
    guard let interruption = try? ReadInterruption(), ConfinedService.confine() == nil else {
      return
    }
    let service = Service(interruption)
    while let (message, descriptor) = ConfinedService.receive(limit: DecoderMessage.limit) {
      guard let request = try? MediaRequest(message[...]) else { return }
      interruption.readAgain()
      guard ConfinedService.send(service.answer(request, descriptor).bytes) else { return }
    }
  }

  private final class Service: RemoteSource {
    private let interruption: ReadInterruption
    private var location = ""
    private var source: (any MediaSource)?
    private var packets: (any PacketSource)?
    /// The metadata last reported.
    private var metadata: ItemMetadata?
    private var decoder: (any AudioDecoder)?
    private var frames: [Float] = []

    init(_ interruption: ReadInterruption) { self.interruption = interruption }

    func answer(_ request: MediaRequest, _ descriptor: Int32?) -> MediaAnswer {
      do throws(MediaError) {
        return try perform(request, descriptor)
      } catch {
        return .failed(MediaFailure(error, of: location))
      }
    }

    private func perform(
      _ request: MediaRequest, _ descriptor: Int32?
    ) throws(MediaError) -> MediaAnswer {
      switch request {
      case .openFile(let name):
        guard let descriptor else { throw .notFound(path: name) }
        location = name
        return opened(try FileSource(MediaFile(received: descriptor, name: name)))
      case .openAddress(let url):
        location = url
        return opened(
          try NetworkSource(
            url: url, interruption: interruption, remote: self,
            report: { [told] in told.add($0) }))
      case .openStream(let raw):
        location = StreamSource.standardInput
        return opened(try StreamSource(remote: self, name: location, rawFormat: raw))
      case .read(let count): return try read(count)
      case .seek(let frame):
        try source?.seek(toFrame: frame)
        return .done(state)
      case .packets: return try openPackets()
      case .nextPacket:
        let packet = try packets?.next()
        return .packet(packet, position: packets?.position ?? 0)
      case .seekPackets(let frame):
        try packets?.seek(toFrame: frame)
        return .packet(nil, position: packets?.position ?? 0)
      case .openDecoder(let format): return try openDecoder(format)
      case .decode(let payload): return try decode(payload)
      }
    }

    private func opened(_ source: any MediaSource) -> MediaAnswer {
      self.source = source
      return .opened(MediaInfo(source), state)
    }

    private func read(_ count: Int) throws(MediaError) -> MediaAnswer {
      guard let source else { throw .broken(path: location, reason: "it is not open") }
      frames.removeAll(keepingCapacity: true)
      var failure: MediaFailure?
      do throws(MediaError) {
        let wanted = min(max(0, count), DecoderMessage.frameLimit)
        try source.read(wanted, appendingTo: &frames)
      } catch {
        failure = MediaFailure(error, of: location)
      }
      let bytes = frames.withUnsafeBytes { Array($0) }
      return .frames(bytes[...], failure, state)
    }

    private func openPackets() throws(MediaError) -> MediaAnswer {
      guard let source else { throw .broken(path: location, reason: "it is not open") }
      do throws(PassObstacle) {
        let packets = try source.packets()
        self.packets = packets
        return .packets(packets.format, position: packets.position)
      } catch {
        return .obstacle(MediaObstacle(error, of: location))
      }
    }

    private func openDecoder(_ format: StreamFormat) throws(MediaError) -> MediaAnswer {
      do throws(CodecError) {
        decoder = try AudioCodecs.makeDecoder(for: format)
      } catch {
        throw .unsupported(path: location, reason: error.description)
      }
      return .done(state)
    }

    private func decode(_ payload: ArraySlice<UInt8>) throws(MediaError) -> MediaAnswer {
      guard let decoder else { throw .broken(path: location, reason: "it is not open") }
      frames.removeAll(keepingCapacity: true)
      do throws(CodecError) {
        try decoder.decode(Array(payload), appendingTo: &frames)
      } catch {
        throw .broken(path: location, reason: error.description)
      }
      return .frames(frames.withUnsafeBytes { Array($0) }[...], nil, state)
    }

    private var state: MediaState {
      guard let source else {
        return MediaState(estimatedFrameCount: nil, isReusable: false, metadata: nil)
      }
      let now = source.metadata
      defer { metadata = now }
      return MediaState(
        estimatedFrameCount: source.estimatedFrameCount, isReusable: source.isReusable,
        metadata: now == metadata ? nil : now)
    }

    /// Notices are sent before the next call.
    private let told = News()

    func ask(_ call: SourceCall) -> SourceReply {
      for news in told.take() { _ = exchange(.tell(news)) }
      return exchange(call)
    }

    private func exchange(_ call: SourceCall) -> SourceReply {
      guard ConfinedService.send(call.bytes),
        let (message, _) = ConfinedService.receive(limit: DecoderMessage.limit),
        let reply = try? SourceReply(message[...])
      else { return .done(goesOn: false) }
      return reply
    }
  }

  /// Notices of the process's only thread, reported while it reads.
  private final class News: Sendable {
    private let news = Mutex<[SourceNews]>([])

    func add(_ notice: SourceNotice) {
      let told: SourceNews? =
        switch notice {
        case .stalled: .stalled
        case .resumed(_, let seconds): .resumed(afterSeconds: seconds)
        case .reconnecting(_, let reason): .reconnecting(reason: reason)
        case .away, .back, .longBlocks, .withoutEffects, .kept: nil
        }
      if let told { news.withLock { $0.append(told) } }
    }

    func take() -> [SourceNews] {
      news.withLock { news in
        defer { news = [] }
        return news
      }
    }
  }
}
