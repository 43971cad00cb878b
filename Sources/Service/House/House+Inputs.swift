import Driver
import House
import Sender

/// Inputs that have names, such as a turntable: whoever asks for one plays it, and one that sounds may begin by itself.
extension House {
  func watchInputs(_ mailbox: Mailbox<House>) {
    let warn: @Sendable (String) -> Void = { line in
      mailbox.post { house in house.onWarning(line) }
    }
    for input in settings.inputs where input.onSound != nil {
      let name = input.name
      inputs.watch(name, tell: warn) { change in
        mailbox.post { house in house.heard(name, change) }
      }
    }
  }

  /// An input has begun to sound, or was quiet for a while.
  func heard(_ name: String, _ change: LevelGate.Change) { handle(.heard(name, change)) }

  /// With how loud they are.
  var measuredInputs: [HouseState.Input] {
    session.shownInputs.map { input in
      var input = input
      input.levelDb = inputs.level(input.name)?.rounded(to: 1)
      return input
    }
  }
}
