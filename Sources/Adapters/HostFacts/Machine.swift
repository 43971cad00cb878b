internal import Clock
package import Diagnosis
internal import Glibc

extension SystemFiles {
  /// Returns the interfaces that are up.
  package func interfaces() -> InterfaceFacts {
    var facts = InterfaceFacts(wireless: [], wired: [])
    for name in names(in: "/sys/class/net") {
      let folder = "/sys/class/net/\(name)"
      guard line(folder + "/operstate") == "up" else { continue }
      if exists(folder + "/wireless") || exists(folder + "/phy80211") {
        facts.wireless.append(
          .init(name: name, savesPower: PowerSaving.isOn(name), signal: signal(of: name)))
      } else if exists(folder + "/device"),
        let speed = line(folder + "/speed").flatMap({ Int($0) }),
        speed > 0
      {
        facts.wired.append(
          .init(name: name, speed: speed, isHalfDuplex: line(folder + "/duplex") == "half"))
      }
    }
    return facts
  }

  /// Returns the signal level in dBm.
  private func signal(of interface: String) -> Int? {
    // wlan0: 0000   54.  -56.  -256        0 …
    for line in lines("/proc/net/wireless") {
      let words = line.split(separator: " ")
      guard words.first == "\(interface):", words.count > 3 else { continue }
      return Int(words[3].filter { $0 != "." }).flatMap { $0 < 0 ? $0 : nil }
    }
    return nil
  }

  package func clockSource() -> String? {
    line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
  }

  /// Returns the command that lets UDP in through the running firewall; nil if none is found.
  package func firewallAdvice() -> String? {
    if lines("/etc/ufw/ufw.conf").contains(where: { $0.hasPrefix("ENABLED=yes") }) {
      return "sudo ufw allow proto udp from the rooms' network"
    }
    return exists("/run/firewalld")
      ? "sudo firewall-cmd --zone=trusted --add-source=the rooms' network; sudo firewall-cmd --runtime-to-permanent"
      : nil
  }
}

/// Tests if a file can be made in a directory, and measures its free space. It may take as long as the disk
/// takes.
package enum StateProbe {
  package static func look(at directory: String) -> StateFacts {
    let path = directory + "/.doctor.\(getpid())"
    let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    var obstacle: String?
    if number < 0 {
      obstacle = "\(directory): \(reason)"
    } else {
      if write(number, [0], 1) != 1 || fsync(number) != 0 { obstacle = "\(directory): \(reason)" }
      close(number)
      unlink(path)
    }
    var status = statvfs()
    let isKnown = statvfs(directory, &status) == 0
    return StateFacts(
      path: directory, obstacle: obstacle,
      free: isKnown ? UInt64(status.f_bavail) &* UInt64(status.f_frsize) : nil)
  }

  private static var reason: String { String(cString: strerror(errno)) }
}

/// Power saving of a wireless interface, read through the kernel's wireless extensions.
enum PowerSaving {
  /// SIOCGIWPOWER of linux/wireless.h, and the size of its `struct iwreq`.
  private static let request: UInt = 0x8B2D
  private static let size = 32
  /// Size of the interface's name with its final zero, and offset of `iw_param.disabled`.
  private static let nameSize = 16
  private static let disabledOffset = 21

  /// Returns nil if the driver does not tell.
  static func isOn(_ interface: String) -> Bool? {
    let name = Array(interface.utf8)
    guard name.count < nameSize else { return nil }
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var bytes = name + [UInt8](repeating: 0, count: size - name.count)
    guard ioctl(socket, request, &bytes) == 0 else { return nil }
    return bytes[disabledOffset] == 0
  }
}
