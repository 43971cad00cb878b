import Clock
import WireProtocol

/// Feeds arbitrary bytes to everything in the protocol that parses bytes. Started by run.sh.
///
/// The first byte chooses how the rest is cut into chunks. Everything that decodes must survive
/// encoding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDecoders(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard let chunk = input.first.map({ Int($0) + 1 }) else { return 0 }
  let bytes = input.dropFirst()
  fuzzTimePacket(bytes)
  fuzzFramed(bytes, chunk: chunk)
  fuzzUnframed(bytes)
  fuzzAdvertisement(bytes)
  return 0
}

private func fuzzFramed(_ bytes: ArraySlice<UInt8>, chunk: Int) {
  var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
  var rest = bytes
  while !rest.isEmpty {
    framer.append(rest.prefix(chunk))
    rest = rest.dropFirst(chunk)
    while let message = try? framer.next() {
      fuzzMessage(message)
      framer.limit = ProtocolLimits.mediaMessage
    }
  }
  precondition(framer.heldByteCount <= bytes.count)
}

/// Leaves out the length, so that the fuzzer reaches the fields sooner.
private func fuzzUnframed(_ bytes: ArraySlice<UInt8>) {
  guard bytes.count >= 2 else { return }
  let type = bytes.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
  fuzzMessage(RawMessage(type: type, payload: bytes.dropFirst(2)))
}

private func fuzzMessage(_ raw: RawMessage) {
  _ = try? OpeningMessage.decode(raw)
  if let message = try? ControlMessage.decode(raw) {
    precondition(reread(message.encode) { try? ControlMessage.decode($0) } == message)
    fuzzArithmetic(message)
  }
  if let message = try? MediaMessage.decode(raw) {
    precondition(reread(message.encode) { try? MediaMessage.decode($0) } == message)
  }
}

private func reread<Message>(
  _ encode: (inout [UInt8]) -> Void, _ decode: (RawMessage) -> Message?
) -> Message? {
  var bytes: [UInt8] = []
  encode(&bytes)
  var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
  framer.append(bytes)
  return (try? framer.next()).flatMap(decode)
}

/// Checks that computations with times from the wire do not overflow.
private func fuzzArithmetic(_ message: ControlMessage) {
  guard case .anchor(let anchor) = message else { return }
  let opposite = ClockEstimate(
    local: LocalTime(nanoseconds: ProtocolLimits.clockTime.upperBound),
    group: GroupTime(nanoseconds: ProtocolLimits.clockTime.lowerBound), drift: 0.001,
    errorBound: .zero)
  _ = anchor.groupTime(of: .zero).map { opposite.localTime(of: $0) }
  _ = anchor.mediaTime(at: opposite.groupTime(of: LocalTime(nanoseconds: 0)))
}

private func fuzzTimePacket(_ bytes: ArraySlice<UInt8>) {
  let key = ClockKey([1, 2, 3])
  precondition((try? TimePacket.decode(bytes, key: key)) == nil, "guessed a tag")
  let fields = bytes.prefix(TimePacket.byteCount - 8)
  let tagged = fields + TimePacket.tag(of: fields, key: key)
  guard let packet = try? TimePacket.decode(tagged, key: key) else { return }
  let encoded = packet.encoded(key: key)
  precondition(encoded.count == TimePacket.byteCount)
  precondition((try? TimePacket.decode(encoded[...], key: key)) == packet)
}

/// Parses lines of `key=value`.
private func fuzzAdvertisement(_ bytes: ArraySlice<UInt8>) {
  var record: [String: String] = [:]
  for line in bytes.split(separator: 0x0a) {
    let parts = line.split(separator: 0x3d, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { continue }
    record[String(decoding: parts[0], as: UTF8.self)] = String(decoding: parts[1], as: UTF8.self)
  }
  guard let found = try? ReceiverAdvertisement(textRecord: record) else { return }
  let again = Dictionary(found.textRecord.map { ($0.key, $0.value) }) { first, _ in first }
  precondition((try? ReceiverAdvertisement(textRecord: again)) == found)
}
