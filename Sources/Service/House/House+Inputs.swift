import Driver
import House
import LinuxIO
import Sender

/// Inputs that have names, such as a turntable: whoever asks for one plays it, and one that sounds may begin by itself.
extension House {
  func watchInputs(_ mailbox: Mailbox<House>) {
    let warn: @Sendable (String) -> Void = { line in
      mailbox.post { house in house.listener.warning(line) }
    }
    for input in settings.inputs where input.onSound != nil {
      let name = input.name
      inputs.watch(name, tell: warn) { change in
        mailbox.post { house in house.heard(name, change) }
      }
    }
    startPrograms(mailbox, warn)
  }

  private func startPrograms(
    _ mailbox: Mailbox<House>, _ warn: @escaping @Sendable (String) -> Void
  ) {
    guard settings.inputs.contains(where: \.isProgram) else { return }
    let covers: CoverFolder?
    do throws(IOError) {
      covers = try CoverFolder(path: HouseCovers.folder(beside: settings.path))
    } catch {
      warn("pictures of inputs cannot be kept: \(error)")
      covers = nil
    }
    inputs.startPrograms(tell: warn) { name, event in
      guard case .cover(let cover) = event else {
        _ = mailbox.offer { house in house.handle(.told(name, event)) }
        return
      }
      // A disk that is full costs the picture.
      let hash = cover.flatMap { try? covers?.keep($0.bytes) }
      _ = mailbox.offer { house in house.handle(.pictured(name, hash)) }
    }
  }

  /// An input has begun to sound, or was quiet for a while.
  func heard(_ name: String, _ change: LevelGate.Change) { handle(.heard(name, change)) }

  /// With how loud they are.
  var measuredInputs: [HouseState.Input] {
    session.shownInputs.map { input in
      var input = input
      input.levelDb = inputs.level(input.name)?.rounded(to: 1)
      input.problem = inputs.program(input.name)?.problem
      return input
    }
  }
}

extension HouseConfiguration.Input {
  fileprivate var isProgram: Bool { if case .program = source { true } else { false } }
}

/// Pictures of what inputs play: files, of which the library makes what pages show.
package enum HouseCovers {
  /// Beside a file of the state directory.
  package static func folder(beside path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
      + "/covers"
  }
}
