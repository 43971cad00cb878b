import Audio
import Clock
import Receiver
import TestSupport
import Testing

/// Random commands at random times, checked against a listener's expectations.
@Suite struct RendererPropertyTests {
  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8, 103] as [UInt64])
  func `what is heard is what was scheduled and not flushed`(seed: UInt64) {
    var listener = Listener(seed: seed)
    listener.room.run(toDevice: 4800)
    for _ in 0..<12 { listener.doSomething() }
    listener.check()
  }
}

/// Sends commands to a room, and remembers their meaning for the device frames.
private struct Listener {
  let room = TestRoom()
  private var random: SplitMix64
  private var generation: UInt32 = 1
  /// The stream frame that sounds from a device frame on, or nil in a pause.
  private var schedule: [(device: Int, frame: Int64?)] = []
  /// From a device frame on, no older generation may be heard at or after a stream frame.
  private var cuts: [(device: Int, from: Int64, generation: UInt32)] = []
  /// Device frames around which a fade or a gap is expected.
  private var edges: [Int] = []

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    room.feed(0..<500_000)
    play(frame: 0, atDevice: 9600)
  }

  mutating func doSomething() {
    room.run(toDevice: room.played + Int.random(in: 1...20, using: &random) * 480)
    let soon = (room.played + Int.random(in: 600...9000, using: &random)) / 3 * 3
    switch Int.random(in: 0..<4, using: &random) {
    case 0: pause(atDevice: soon)
    case 1: flush(from: Int64.random(in: -2000...8000, using: &random))
    case 2: skip(toDevice: soon)
    default: resume(atDevice: soon)
    }
  }

  private func frame(atDevice device: Int) -> Int64? {
    guard let line = schedule.last(where: { $0.device <= device }), let frame = line.frame else {
      return nil
    }
    return frame + Int64(device - line.device)
  }

  private mutating func play(frame: Int64, atDevice device: Int) {
    schedule.removeAll { $0.device >= device }
    schedule.append((device, frame))
    edges += [device, room.played]
    room.sendAnchor(.playing, frame: frame, atDevice: device)
  }

  private mutating func pause(atDevice device: Int) {
    // A pause before a skip would cancel the skip, but not its flush.
    guard let line = schedule.last, line.device <= room.played,
      let frame = frame(atDevice: device)
    else { return }
    schedule.removeAll { $0.device >= device }
    schedule.append((device, nil))
    edges += [device, room.played]
    room.sendAnchor(.paused, frame: frame, atDevice: device)
  }

  private mutating func resume(atDevice device: Int) {
    guard let pause = schedule.last, pause.frame == nil, pause.device < device,
      let line = schedule.dropLast().last, let frame = line.frame
    else { return }
    play(frame: frame + Int64(pause.device - line.device), atDevice: device)
  }

  private mutating func flush(from distance: Int64) {
    // Before a future skip, a flush would remove the target of the skip.
    guard let line = schedule.last, line.device <= room.played,
      let now = frame(atDevice: room.played)
    else { return }
    let from = max(0, now + distance)
    cut(from: from)
    room.feed(from..<from + 500_000, generation: generation)
  }

  private mutating func skip(toDevice device: Int) {
    guard let now = frame(atDevice: device) else { return }
    let target = now + 100_000
    cut(from: now)
    play(frame: target, atDevice: device)
    room.feed(target..<target + 500_000, generation: generation)
  }

  private mutating func cut(from frame: Int64) {
    generation += 1
    cuts.append((room.played + TestRoom.rewindMargin + 250, frame, generation))
    edges += [room.played]
    room.sendCut(from: frame, generation: generation)
  }

  mutating func check() {
    let end = room.played
    #expect(room.largestGainStep(0..<end) < RendererTests.steepestFade)
    var wrong = 0
    var ghosts = 0
    var holes = 0
    for device in 0..<end {
      let heard = room.heard(device)
      let expected = frame(atDevice: device)
      let isNearEdge =
        edges.contains { $0 - 500 < device && device < $0 + 2000 }
        || cuts.contains { abs((expected ?? .min / 2) - $0.from) < 500 }
      if heard.gain > 0.5 {
        if cuts.contains(where: { cut in
          cut.device <= device && cut.generation > UInt32(heard.generation)
            && heard.position >= Double(cut.from)
        }) {
          ghosts += 1
        }
        if !isNearEdge {
          if expected.map({ abs(Double($0) - heard.position) < 1 }) != true { wrong += 1 }
        }
      } else if !isNearEdge, expected != nil {
        holes += 1
      }
    }
    #expect(wrong == 0)
    #expect(ghosts == 0)
    #expect(holes == 0)
  }
}
