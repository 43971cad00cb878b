import Clock

extension ByteReader {
  mutating func mediaTime(_ field: String) throws(DecodeError) -> MediaTime {
    MediaTime(flicks: try int64(in: ProtocolLimits.mediaTime, field))
  }

  mutating func groupTime(_ field: String) throws(DecodeError) -> GroupTime {
    GroupTime(nanoseconds: try int64(in: ProtocolLimits.clockTime, field))
  }

  mutating func localTime(_ field: String) throws(DecodeError) -> LocalTime {
    LocalTime(nanoseconds: try int64(in: ProtocolLimits.clockTime, field))
  }
}

extension ByteWriter {
  mutating func mediaTime(_ time: MediaTime) {
    int64(time.flicks, clampedTo: ProtocolLimits.mediaTime)
  }

  mutating func groupTime(_ time: GroupTime) {
    int64(time.nanoseconds, clampedTo: ProtocolLimits.clockTime)
  }

  mutating func localTime(_ time: LocalTime) {
    int64(time.nanoseconds, clampedTo: ProtocolLimits.clockTime)
  }
}
