import Clock
import WireProtocol

/// Keeps commands that found the queue to the render thread full, until that runs again. Drops commands that a later
/// one makes obsolete, so that it never holds more than `limit`, whatever a sender says and however often.
package struct RenderBacklog: Sendable {
  /// Cuts that the render thread can have to make: docs/protocol/flush.md.
  static let cutLimit = 4
  /// Clips whose end must be told.
  static let clipLimit = ProtocolLimits.heldClips
  /// The anchors, the cuts, the ends of clips, and one each of the nine other kinds.
  package static let limit = Anchors.limit + cutLimit + clipLimit + 9

  /// In the order in which the render thread must take them.
  private var commands: [RenderCommand] = []

  package init() {}

  package var count: Int { commands.count }

  package mutating func append(_ command: RenderCommand) {
    commands.append(makeRoom(for: command))
  }

  /// Hands over commands, the oldest first, until `send` refuses one.
  package mutating func drain(_ send: (RenderCommand) -> Bool) {
    let rest = commands.firstIndex { !send($0) } ?? commands.count
    commands.removeFirst(rest)
  }

  package mutating func removeAll() { commands.removeAll() }

  /// Removes the commands that `command` replaces. Returns it, with the mark of a clock step if a removed one had
  /// it.
  private mutating func makeRoom(for command: RenderCommand) -> RenderCommand {
    switch command {
    case .anchor(let anchor):
      commands.removeAll { $0.anchor.map(anchor.replaces) ?? false }
      removeFirst(ifThereAre: Anchors.limit) { $0.anchor != nil }
    case .endClip(let number):
      commands.removeAll { if case .clip(let clip) = $0 { clip.number == number } else { false } }
      removeFirst(ifThereAre: Self.clipLimit) { $0.kind == command.kind }
    case .cut: removeFirst(ifThereAre: Self.cutLimit) { $0.kind == command.kind }
    case .forgetSchedule:
      commands.removeAll {
        $0.anchor != nil || $0.kind == .clock || $0.kind == .clip || $0.kind == command.kind
      }
    case .clock(let estimate, let isStep):
      let hasStep = commands.contains { if case .clock(_, true) = $0 { true } else { false } }
      commands.removeAll { $0.kind == command.kind }
      return .clock(estimate, isStep: isStep || hasStep)
    case .end, .gain, .delay, .channelMap, .sound, .useFIR, .clip:
      commands.removeAll { $0.kind == command.kind }
    }
    return command
  }

  private mutating func removeFirst(
    ifThereAre limit: Int, _ isMeant: (RenderCommand) -> Bool
  ) {
    guard commands.count(where: isMeant) >= limit,
      let oldest = commands.firstIndex(where: isMeant)
    else { return }
    commands.remove(at: oldest)
  }
}

extension RenderCommand {
  fileprivate enum Kind {
    case anchor, forgetSchedule, clock, cut, end, gain, delay, channelMap, sound, useFIR
    case clip, endClip
  }

  fileprivate var kind: Kind {
    switch self {
    case .anchor: .anchor
    case .forgetSchedule: .forgetSchedule
    case .clock: .clock
    case .cut: .cut
    case .end: .end
    case .gain: .gain
    case .delay: .delay
    case .channelMap: .channelMap
    case .sound: .sound
    case .useFIR: .useFIR
    case .clip: .clip
    case .endClip: .endClip
    }
  }

  fileprivate var anchor: Anchor? {
    if case .anchor(let anchor) = self { anchor } else { nil }
  }
}
