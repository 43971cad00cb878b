import Clock
import House
import Sender
import Service

extension PlayerDisplay {
  private static let seekStep = MediaDuration.seconds(10)

  static let keyHelp = [
    "space     pauses and resumes",
    "← →       10 s back or ahead",
    "+ - ↑ ↓   volume of all rooms",
    "n p       next, previous item",
    "[ ]       speed by 5 %",
    "{ }       pitch by a semitone",
    "0         normal speed and pitch",
    "? h       shows these keys",
    "q         stops",
  ]

  func press(_ key: Key) {
    let command: PlayerCommand? =
      switch key {
      case .character(" "): isPaused ? .resume : .pause
      case .left: .seekBy(MediaDuration(flicks: -Self.seekStep.flicks))
      case .right: .seekBy(Self.seekStep)
      case .up, .character("+"), .character("="): louder(by: 5)
      case .down, .character("-"): louder(by: -5)
      case .character("n"): .next
      case .character("p"): .previous
      case .character("q"): .stop
      case .character("["): changed { $0.rate = Self.step($0.rate, by: -1) }
      case .character("]"): changed { $0.rate = Self.step($0.rate, by: 1) }
      case .character("{"): changed { $0.pitch = max(Effects.pitches.lowerBound, $0.pitch - 1) }
      case .character("}"): changed { $0.pitch = min(Effects.pitches.upperBound, $0.pitch + 1) }
      case .character("0"): changed { ($0.rate, $0.pitch) = (1, 0) }
      case .character("?"), .character("h"): helped()
      case .character: nil
      }
    guard let command else { return }
    do {
      try player.player.carryOut(command)
    } catch {
      return terminal.print(error.description, .warning)
    }
  }

  private func louder(by step: Double) -> PlayerCommand? {
    do {
      try player.player.changeVolume(by: step)
      tell(ProgressLine.volumes(player.statusReport))
    } catch {
      terminal.print(error.description, .warning)
    }
    return nil
  }

  private func helped() -> PlayerCommand? {
    for line in Self.keyHelp { terminal.print(line) }
    return nil
  }

  /// Returns the command, or nil if nothing changes or the effects are not available here.
  private func changed(_ change: (inout Effects) -> Void) -> PlayerCommand? {
    let before = player.status.effects
    var effects = before
    change(&effects)
    guard effects != before else { return nil }
    do {
      try effects.check()
    } catch {
      terminal.print("\(error)", .warning)
      return nil
    }
    return .effects(effects)
  }

  /// Steps to the next multiple of 0.05.
  private static func step(_ rate: Double, by steps: Double) -> Double {
    let stepped = ((rate * 20).rounded() + steps) / 20
    return min(max(stepped, Effects.rates.lowerBound), Effects.rates.upperBound)
  }
}
