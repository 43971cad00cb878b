import Clock
import Sender

/// Feeds arbitrary bytes to all that reads what the programs of inputs tell, and checks what must hold of it. Started by run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSources(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let first = bytes.first else { return 0 }
  let told = Array(bytes.dropFirst())
  switch first % 3 {
  case 0:
    var (whole, cut) = (ShairportMetadata(), ShairportMetadata())
    check(told, { whole.take($0) }, { cut.take($0) }, step: Int(first / 3) + 1)
  case 1:
    var (whole, cut) = (InputLines(), InputLines())
    check(told, { whole.take($0) }, { cut.take($0) }, step: Int(first / 3) + 1)
  default: checkLibrespot(told)
  }
  return 0
}

/// However the bytes are cut, they say the same.
private func check(
  _ bytes: [UInt8], _ whole: ([UInt8]) -> [InputEvent], _ cut: ([UInt8]) -> [InputEvent],
  step: Int
) {
  let events = whole(bytes)
  var parts: [InputEvent] = []
  for start in stride(from: 0, to: bytes.count, by: step) {
    parts += cut(Array(bytes[start..<min(start + step, bytes.count)]))
  }
  precondition(events == parts)
  for event in events { check(event) }
}

private func check(_ event: InputEvent) {
  switch event {
  case .title(let title):
    for text in [title.title, title.artist, title.album].compactMap(\.self) {
      precondition(!text.isEmpty && text.unicodeScalars.count <= ItemMetadata.textLimit)
      precondition(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
    }
  case .cover(let cover):
    if let cover { precondition((1...Artwork.sizeLimit).contains(cover.bytes.count)) }
  case .volume(let volume): precondition((0...100).contains(volume))
  case .playing, .paused, .stopped: break
  }
}

/// Whatever the variables are, one line comes of them, which is understood.
private func checkLibrespot(_ bytes: [UInt8]) {
  let values = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
    String(decoding: $0, as: UTF8.self)
  }
  let names = ["PLAYER_EVENT", "NAME", "ARTISTS", "ALBUM", "SHOW_NAME", "VOLUME"]
  let variables = Dictionary(zip(names, values), uniquingKeysWith: { $1 })
  guard let line = LibrespotEvent.line({ variables[$0] }) else { return }
  precondition(line.count { $0 == UInt8(ascii: "\n") } == 1 && line.last == UInt8(ascii: "\n"))
  var lines = InputLines()
  let events = lines.take(line)
  precondition(events.count == 1)
  for event in events { check(event) }
}
