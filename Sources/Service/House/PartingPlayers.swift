import Driver
import House
import LinuxIO
import Sender

/// Players that the household has let go, until they have ended.
struct PartingPlayers {
  /// Those that were told to stop.
  private var ending: [GroupDriver] = []
  /// Those whose rooms play on.
  private var leaving: [GroupDriver] = []

  mutating func add(_ player: any GroupPlayer, isTold: Bool) {
    guard let driver = player as? GroupDriver else { return }
    if isTold { ending.append(driver) } else { leaving.append(driver) }
  }

  /// True if all rooms were told of the end.
  var roomsHaveLeft: Bool { ending.allSatisfy(\.session.isFinished) }

  /// - Returns: The errors of those that could not end in order.
  mutating func endFinished() -> [IOError] {
    var errors: [IOError] = []
    for driver in ending where driver.session.isFinished {
      do throws(IOError) { try driver.end() } catch { errors.append(error) }
    }
    ending.removeAll(where: \.session.isFinished)
    return errors
  }

  func end() throws(IOError) {
    for driver in ending + leaving { try driver.end() }
  }
}
