import Audio
import Clock

/// Passes the packets of items to the rooms as they are.
extension Serializer {
  /// Portion of a source that may wait. It is small, so that what has come is passed on at once.
  private static let smallestPortion = MediaDuration.milliseconds(100)
  /// A multiple of 40 ms, in which frames of all rates coincide; Opus needs 80 ms.
  private static let leadIn = MediaDuration.milliseconds(120)

  /// Begins with the item's own packets if they may be passed on, else with its frames. `time` becomes where
  /// the item really begins. Returns the codec, and the reason for it.
  func takeUp(
    _ source: any MediaSource, at frame: Int64, _ time: inout MediaTime, isRecoding: Bool = false
  ) throws -> WireChoice {
    let reason: WireChoice.Reason
    do throws(PassObstacle) {
      if let packets = try packetsToPass(of: source, at: frame) {
        pass(packets, at: &time)
        return WireChoice(codec: packets.format.codec, reason: .passedOn)
      }
      reason = .asked
    } catch .roomsLack(let codec) {
      reason = .roomsLack(codec)
    } catch {
      reason = .obstacle(error)
    }
    // The frames before the cut are encoded too, but not heard, so that codec and resampler have settled at
    // the cut.
    let lead = source.format.frames(in: Self.leadIn)
    let hasLead =
      isRecoding && source.isSeekable && !source.isKept && source.rate == 1 && frame >= lead
    if frame > 0 { try source.seek(toFrame: hasLead ? frame - lead : frame) }
    let codec = try continueRun(with: source, at: &time, leadIn: hasLead ? Self.leadIn : .zero)
    return WireChoice(codec: codec, reason: reason)
  }

  /// Returns the item's packets from `frame` on; nil if another codec was asked for.
  private func packetsToPass(
    of source: any MediaSource, at frame: Int64
  ) throws(PassObstacle) -> (any PacketSource)? {
    guard passesPackets else { return nil }
    let packets = try source.packets()
    guard isDecodable(packets.format.codec) else { throw .roomsLack(packets.format.codec) }
    guard crossfade == 0 || !source.mayFade else { throw .isFaded }
    guard frame > 0 else { return packets }
    do { try packets.seek(toFrame: frame) } catch { throw .unreadable(error) }
    return packets
  }

  private func pass(_ packets: any PacketSource, at time: inout MediaTime) {
    if let end = endRun(endsStream: false) { time = max(end, time) }
    let run = PacketRun(
      packets.format, formatID: announce(packets.format), generation: generation, start: time)
    time = run.end
    passedRun = run
    self.packets = packets
  }

  func passMore(_ span: MediaDuration) {
    guard let source, let packets, var run = passedRun else { return }
    let begin = run.end
    let goal = begin + (source.mayWait ? min(span, Self.smallestPortion) : span)
    do throws(MediaError) {
      while run.end < goal, !isObsolete(run.end) {
        guard let packet = try packets.next() else {
          passedRun = run
          return end(source, at: run.end)
        }
        if let before = run.place(packet) { steps.append(.packet(before)) }
      }
      passedRun = run
      noteMetadata(of: source, at: run.end)
    } catch {
      passedRun = run
      source.isSeekable && !source.isKept
        ? decodeOn(source, from: packets.position) : takeUpAgain(source, at: packets.position)
    }
  }

  /// A live stream has broken off, or has become another one. Its packets may still be passed on.
  private func takeUpAgain(_ source: any MediaSource, at frame: Int64) {
    packets = nil
    var time = passedRun?.end ?? .zero
    do {
      note(try takeUp(source, at: frame, &time), of: source, at: time)
    } catch let error as MediaError {
      fail(error, at: time)
    } catch {
      fail(.unsupported(path: "", reason: "\(error)"), at: time)
    }
  }

  /// Continues with frames if the item's packets are no longer decodable, and with another encoder if the
  /// rooms' codecs require it.
  func encodeOn(_ source: any MediaSource) {
    let own = packets?.format.codec
    if let own, isDecodable(own) { return }
    let frame = packets?.position
    packets = nil
    var time = passedRun?.end ?? run?.inputEnd ?? .zero
    do {
      if let frame { try source.seek(toFrame: frame) }
      let codec = try continueRun(with: source, at: &time)
      guard let own else { return }
      note(WireChoice(codec: codec, reason: .roomsLack(own)), of: source, at: time)
    } catch let error as MediaError {
      fail(error, at: time)
    } catch {
      fail(.unsupported(path: "", reason: "\(error)"), at: time)
    }
  }

  /// The packets cannot be passed on any further. Decoded, the item may still go on.
  private func decodeOn(_ source: any MediaSource, from frame: Int64) {
    packets = nil
    var time = passedRun?.end ?? .zero
    do {
      try source.seek(toFrame: frame)
      _ = try continueRun(with: source, at: &time)
    } catch let error as MediaError {
      fail(error, at: time)
    } catch {
      fail(.unsupported(path: "", reason: "\(error)"), at: time)
    }
  }
}
