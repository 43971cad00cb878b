import Clock

/// Layout: docs/protocol/control-messages.md.
extension RoomStatus {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let number = try reader.uint8("state")
    guard let state = State(rawValue: number) else {
      throw .outOfRange(field: "state", value: Int64(number))
    }
    try reader.skip(3, "reserved")
    let clockDrift = try reader.int32("clock drift")
    let deviceDrift = try reader.int32("device drift")
    let underruns = try reader.uint32("underruns")
    let latePackets = try reader.uint32("late packets")
    let lostPackets = try reader.uint32("lost packets")
    let corruptPackets = try reader.uint32("corrupt packets")
    let playhead = try reader.mediaTime("playhead")
    let bufferedUntil = try reader.mediaTime("buffered until")
    let heldBytes = try reader.uint64(in: ProtocolLimits.count, "held bytes")
    let syncError = try SyncErrorStatistics(decoding: &reader)
    let errorBound = try reader.int64(in: ProtocolLimits.span, "clock error bound")
    let roundTrip = try reader.int64(in: ProtocolLimits.span, "round trip")
    let horizon = try reader.int64(in: ProtocolLimits.commitHorizon, "commit horizon")
    self.init(
      state: state, detail: try reader.text(atMost: ProtocolLimits.detail, "detail"),
      playhead: playhead, bufferedUntil: bufferedUntil, heldBytes: heldBytes, syncError: syncError,
      clockErrorBound: Nanoseconds(errorBound), roundTrip: Nanoseconds(roundTrip),
      commitHorizon: Nanoseconds(horizon), clockDrift: clockDrift, deviceDrift: deviceDrift,
      underruns: underruns, latePackets: latePackets, lostPackets: lostPackets,
      corruptPackets: corruptPackets)
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint8(state.rawValue)
    writer.zeros(3)
    writer.int32(clockDrift)
    writer.int32(deviceDrift)
    writer.uint32(underruns)
    writer.uint32(latePackets)
    writer.uint32(lostPackets)
    writer.uint32(corruptPackets)
    writer.mediaTime(playhead)
    writer.mediaTime(bufferedUntil)
    writer.uint64(heldBytes, clampedTo: ProtocolLimits.count)
    syncError.encode(to: &writer)
    writer.int64(clockErrorBound.count, clampedTo: ProtocolLimits.span)
    writer.int64(roundTrip.count, clampedTo: ProtocolLimits.span)
    writer.int64(commitHorizon.count, clampedTo: ProtocolLimits.commitHorizon)
    writer.text(detail, atMost: ProtocolLimits.detail)
  }
}

extension SyncErrorStatistics {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let now = try reader.int64(in: ProtocolLimits.difference, "sync error")
    let median = try reader.int64(in: ProtocolLimits.span, "median sync error")
    let p99 = try reader.int64(in: ProtocolLimits.span, "p99 sync error")
    let maximum = try reader.int64(in: ProtocolLimits.span, "maximum sync error")
    self.init(
      now: Nanoseconds(now), median: Nanoseconds(median), p99: Nanoseconds(p99),
      maximum: Nanoseconds(maximum))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.int64(now.count, clampedTo: ProtocolLimits.difference)
    writer.int64(median.count, clampedTo: ProtocolLimits.span)
    writer.int64(p99.count, clampedTo: ProtocolLimits.span)
    writer.int64(maximum.count, clampedTo: ProtocolLimits.span)
  }
}
