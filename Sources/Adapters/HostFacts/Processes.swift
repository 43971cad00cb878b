package import Diagnosis
internal import Glibc

extension SystemFiles {
  /// Returns the kernel's name of the process; at most 15 bytes.
  package func name(ofProcess id: Int32) -> String? { line("/proc/\(id)/comm") }

  /// Returns a process's arguments, its own name first.
  package func arguments(ofProcess id: Int32) -> [String] {
    let text = text("/proc/\(id)/cmdline") ?? ""
    return text.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// True if the process runs a program of this name.
  package func runs(_ id: Int32, program name: String) -> Bool { self.name(ofProcess: id) == name }

  /// Returns the rights of a process, or of this one if `id` is nil; nil if the system does not tell.
  package func rights(ofProcess id: Int32?) -> RightsFacts? {
    let folder = "/proc/" + (id.map(String.init) ?? "self")
    let limits = lines(folder + "/limits")
    guard !limits.isEmpty else { return nil }
    // At least two spaces separate the columns.
    func limit(_ name: String) -> UInt64 {
      guard let line = limits.first(where: { $0.hasPrefix(name) }),
        let soft = line.dropFirst(name.count).split(separator: " ").first
      else { return 0 }
      return soft == "unlimited" ? .max : UInt64(soft) ?? 0
    }
    let capabilities =
      value("CapEff", in: folder + "/status").flatMap { UInt64($0, radix: 16) } ?? 0
    // CAP_IPC_LOCK and CAP_SYS_NICE of linux/capability.h.
    return RightsFacts(
      realtimeLimit: limit("Max realtime priority"), lockedLimit: limit("Max locked memory"),
      mayRaisePriority: capabilities >> 23 & 1 == 1, mayLockMemory: capabilities >> 14 & 1 == 1)
  }

  /// Returns the processes that have a sound device open for playback, each once. Processes of other users are found if
  /// the card's driver tells them.
  package func soundOwners() -> [CardFacts.Owner] {
    var ids: [Int32] = []
    for card in names(in: "/proc/asound") where card.isNumbered(after: "card") {
      for device in names(in: "/proc/asound/\(card)") where device.isPlaybackDevice {
        for sub in names(in: "/proc/asound/\(card)/\(device)") where sub.isNumbered(after: "sub") {
          let status = "/proc/asound/\(card)/\(device)/\(sub)/status"
          guard let owner = value("owner_pid", in: status).flatMap({ Int32($0) }) else { continue }
          ids.append(process(ofThread: owner))
        }
      }
    }
    var seen: Set<Int32> = []
    return ids.filter { $0 > 0 && seen.insert($0).inserted }
      .map { CardFacts.Owner(id: $0, name: name(ofProcess: $0) ?? "a process") }
  }

  private func process(ofThread id: Int32) -> Int32 {
    value("Tgid", in: "/proc/\(id)/status").flatMap { Int32($0) } ?? id
  }
}

extension String {
  fileprivate func isNumbered(after prefix: String) -> Bool {
    hasPrefix(prefix) && count > prefix.count && dropFirst(prefix.count).allSatisfy(\.isNumber)
  }

  /// True for names such as `pcm0p`.
  fileprivate var isPlaybackDevice: Bool {
    hasSuffix("p") && String(dropLast()).isNumbered(after: "pcm")
  }
}
