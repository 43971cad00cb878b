import Glibc
import OpenSSLSecurity
import WireProtocol

// Measures time and memory of a TLS channel, without sockets: TUTTI_BENCHMARKS=1 swift run -c release
// security-benchmark

/// Resident memory of this process, in kB.
func residentMemory() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  guard fgets(&line, 128, file) != nil else { return 0 }
  let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
}

func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func measured(_ work: () throws -> Void) rethrows -> Double {
  let start = processorTime()
  try work()
  return processorTime() - start
}

func connect(_ near: TLSChannel, _ far: TLSChannel) throws {
  while near.peer == nil || far.peer == nil {
    _ = try far.receive(near.takeOutput())
    _ = try near.receive(far.takeOutput())
  }
}

let near = try TLSContext(IdentityKey.generate())
let far = try TLSContext(IdentityKey.generate())
let count = 1000
let handshakes = try measured {
  for _ in 0..<count { try connect(near.channel(.dialled), far.channel(.accepted)) }
}
print("handshake, both ends: \(Int(handshakes / Double(count) * 1e6)) µs of a processor")

var kept: [(TLSChannel, TLSChannel)] = []
let before = residentMemory()
for _ in 0..<count {
  let pair = (near.channel(.dialled), far.channel(.accepted))
  try connect(pair.0, pair.1)
  pair.0.send([UInt8](repeating: 1, count: 1000))
  _ = try pair.1.receive(pair.0.takeOutput())
  kept.append(pair)
}
print("idle channel: \((residentMemory() - before) / 2 / count) kB")

for size in [200, 4_096, 65_536] {
  let sender = kept[0].0
  let bytes = [UInt8](repeating: 7, count: size)
  let rounds = 200_000_000 / size
  let sending = measured {
    for _ in 0..<rounds {
      sender.send(bytes)
      _ = sender.takeOutput()
    }
  }
  print("encrypt \(size) bytes: \(Int(Double(size * rounds) / sending / 1e6)) MB/s")
}
for size in [200, 4_096, 65_536] {
  let (sender, receiver) = kept[1]
  let bytes = [UInt8](repeating: 7, count: size)
  let rounds = 200_000_000 / size
  let both = try measured {
    for _ in 0..<rounds {
      sender.send(bytes)
      _ = try receiver.receive(sender.takeOutput())
    }
  }
  print("encrypt and decrypt \(size) bytes: \(Int(Double(size * rounds) / both / 1e6)) MB/s")
}

// MARK: - What a room costs

/// A channel that encrypts nothing, to measure the cost without encryption.
final class ClearChannel: SecureChannel {
  let peer: SecuredPeer? = nil
  private var waiting: [UInt8] = []

  func receive(_ bytes: [UInt8]) -> [UInt8] { bytes }
  func send(_ bytes: [UInt8]) { waiting += bytes }
  func takeOutput() -> [UInt8] {
    defer { waiting = [] }
    return waiting
  }
  func finish() {}
}

/// The cost of one room while it plays, in thousandths of a processor.
func cost(
  _ near: any SecureChannel, _ far: any SecureChannel, packet: [UInt8], perSecond: Int
) throws -> (sending: Double, receiving: Double) {
  let seconds = 2000
  let whole = try measured {
    for _ in 0..<seconds * perSecond {
      near.send(packet)
      _ = try far.receive(near.takeOutput())
    }
  }
  let sending = measured {
    for _ in 0..<seconds * perSecond {
      near.send(packet)
      _ = near.takeOutput()
    }
  }
  return (sending / Double(seconds) * 1000, (whole - sending) / Double(seconds) * 1000)
}

// Packets of stereo at 48 kHz, 50 a second: FLAC of about 900 kbit/s, and PCM of 24 bits a sample.
for (name, size) in [("FLAC", 2_250), ("PCM", 5_760)] {
  let packet = [UInt8](repeating: 7, count: size)
  let pair = (near.channel(.dialled), far.channel(.accepted))
  try connect(pair.0, pair.1)
  let sealed = try cost(pair.0, pair.1, packet: packet, perSecond: 50)
  let clear = try cost(ClearChannel(), ClearChannel(), packet: packet, perSecond: 50)
  func thousandths(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
  print(
    "\(name), each room more, in thousandths of a processor:",
    "sender \(thousandths(sealed.sending)) instead of \(thousandths(clear.sending)),",
    "receiver \(thousandths(sealed.receiving)) instead of \(thousandths(clear.receiving))")
}
