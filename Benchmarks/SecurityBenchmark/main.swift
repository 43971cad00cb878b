import Glibc
import OpenSSLSecurity
import WireProtocol

// Time and memory of a TLS channel, without sockets: TUTTI_BENCHMARKS=1 swift run -c release security-benchmark

/// Of this process, in kB.
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
