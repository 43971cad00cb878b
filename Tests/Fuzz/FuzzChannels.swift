import OpenSSLSecurity
import WireProtocol

/// Two ends of TLS, and a wire that the fuzzer controls: it cuts, drops, repeats, swaps, changes and invents bytes.
/// Started by run.sh.
///
/// It checks that each end hears a prefix of what the other has said, and sees the other as its peer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChannels(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var script = Script(bytes: Array(UnsafeBufferPointer(start: start, count: count)))
  var wire = WireUnderFire()
  while !script.isOver { wire.step(&script) }
  wire.check()
  return 0
}

/// Shared by all inputs, because making a context takes longer than a handshake.
nonisolated(unsafe) private let contexts: [TLSContext] = (0..<2).map { _ in
  guard let key = try? IdentityKey.generate(), let context = try? TLSContext(key) else {
    preconditionFailure("OpenSSL does not work")
  }
  return context
}

struct WireUnderFire {
  private struct End {
    let channel: TLSChannel
    var said: [UInt8] = []
    var heard: [UInt8] = []
    var hasFailed = false
    /// Data on its way to this end, in the pieces in which it was sent.
    var waiting: [[UInt8]] = []
  }

  private var ends: [End]

  init() {
    ends = [SecureRole.dialled, .accepted].enumerated().map {
      End(channel: contexts[$0.offset].channel($0.element))
    }
    collect()
  }

  mutating func step(_ script: inout Script) {
    let end = Int(script.byte() % 2)
    switch script.byte() % 10 {
    case 0, 1, 2: if !ends[end].waiting.isEmpty { give(ends[end].waiting.removeFirst(), to: end) }
    case 3:
      // Deliver all waiting pieces, so that a few bytes of the fuzzer complete a handshake.
      for _ in 0..<8 {
        for end in 0..<2 {
          while !ends[end].waiting.isEmpty { give(ends[end].waiting.removeFirst(), to: end) }
        }
      }
    case 4: speak(script.take(Int(script.byte())), from: end)
    case 5:
      change(end) { piece in
        guard !piece.isEmpty else { return [piece] }
        piece[(Int(script.byte()) << 8 | Int(script.byte())) % piece.count] ^= max(1, script.byte())
        return [piece]
      }
    case 6:
      change(end) { piece in
        let place = (Int(script.byte()) << 8 | Int(script.byte())) % (piece.count + 1)
        return [Array(piece[..<place]), Array(piece[place...])]
      }
    case 7: change(end) { _ in script.byte() % 2 == 0 ? [] : [script.take(Int(script.byte()))] }
    case 8: change(end) { [$0, $0] }
    default:
      if script.byte() % 4 == 0 {
        ends[end].channel.finish()
        collect()
      } else if ends[end].waiting.count > 1 {
        ends[end].waiting.swapAt(0, 1)
      }
    }
  }

  /// Replaces the next piece for this end.
  private mutating func change(_ end: Int, _ body: (inout [UInt8]) -> [[UInt8]]) {
    guard !ends[end].waiting.isEmpty, ends[end].waiting.count < 64 else { return }
    var piece = ends[end].waiting.removeFirst()
    ends[end].waiting.insert(contentsOf: body(&piece), at: 0)
  }

  private mutating func speak(_ bytes: [UInt8], from end: Int) {
    guard ends[end].channel.peer != nil else { return }
    ends[end].channel.send(bytes)
    ends[end].said += bytes
    collect()
  }

  private mutating func give(_ bytes: [UInt8], to end: Int) {
    do throws(SecureChannelError) {
      let plain = try ends[end].channel.receive(bytes)
      precondition(!ends[end].hasFailed || plain.isEmpty, "it speaks after its end")
      ends[end].heard += plain
    } catch {
      ends[end].hasFailed = true
    }
    collect()
  }

  private mutating func collect() {
    for end in 0..<2 {
      let bytes = ends[end].channel.takeOutput()
      if !bytes.isEmpty { ends[1 - end].waiting.append(bytes) }
    }
    check()
  }

  func check() {
    for end in 0..<2 {
      let (own, other) = (ends[end], ends[1 - end])
      precondition(other.said.starts(with: own.heard), "it heard what nobody said")
      guard let peer = own.channel.peer else { continue }
      precondition(peer.id == contexts[1 - end].identifier, "it takes somebody for another")
      if let back = other.channel.peer {
        precondition(peer.binding == back.binding && peer.clockKey == back.clockKey)
      }
    }
  }
}
