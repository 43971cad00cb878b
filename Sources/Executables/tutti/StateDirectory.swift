import Driver
import FoundationEssentials
import Glibc
import LinuxIO
import OpenSSLSecurity
import Pairing
import Service

/// Where the sender keeps what it must find again.
struct StateDirectory {
  let path: String
  /// Of a daemon that a group may command; nil where a directory was named, or none runs.
  private let shared: SharedSocket?

  init(_ given: String?) throws {
    let daemon = given == nil ? try? ConfigurationFile.read(nil) : nil
    let own = daemon?.stateDirectory.flatMap { access($0, W_OK | X_OK) == 0 ? $0 : nil }
    shared = own == nil ? daemon?.socket.flatMap(SharedSocket.init) : nil
    path = given ?? own ?? SenderKeyFile.usualStateDirectory
    do {
      try StateFile.createDirectory(path: path)
    } catch {
      throw Failure(.unavailable, "cannot use the state directory \(path): \(error)")
    }
  }

  /// Where a player is that commands are for.
  var commands: ControlClient.Place {
    switch shared {
    case .open(let socket)?: .init(path: socket)
    case .barred(let advice)?: .init(path: controlSocket, advice: advice)
    case nil: .init(path: controlSocket)
    }
  }

  var controlSocket: String { path + "/control.sock" }
  private var left: StateFile { StateFile(path: path + "/playing.json") }
  private var rooms: StateFile { StateFile(path: path + "/receivers.json") }

  /// With the key by which rooms know this sender, made at first use.
  func security() throws -> TLSContext {
    ProcessMemory.hide()
    do {
      return try TLSContext(try SenderKeyFile(stateDirectory: path).key())
    } catch let error as IOError {
      throw Failure(.unavailable, "\(error)")
    }
  }

  /// Who may use the page.
  var accessFile: StateFile { StateFile(path: path + "/access") }

  static let pairedName = "paired"
  private var pairedFile: StateFile { StateFile(path: path + "/" + Self.pairedName) }

  /// Receivers that this machine was paired with; none where the file is missing.
  func paired() throws -> Pairings {
    do throws(IOError) {
      let bytes = try pairedFile.read(limit: 64 << 10) ?? []
      return Pairings(text: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw Failure(.unavailable, "\(error)")
    }
  }

  /// Returns once the change is on disk. Waits while another process changes the file.
  func changePaired<Result>(_ change: (inout Pairings) throws -> Result) throws -> Result {
    do {
      let lock = try DirectoryLock(directory: path, name: "paired.lock", waits: true)
      var pairings = try paired()
      let before = pairings
      let result = try change(&pairings)
      if pairings != before { try pairedFile.write(Array(pairings.text.utf8)) }
      withExtendedLifetime(lock) {}
      return result
    } catch let error as IOError {
      throw Failure(.unavailable, "\(error)")
    }
  }

  /// Rooms that were seen before; empty where the file is missing or cannot be understood.
  func rememberedRooms() -> [RoomRecord] {
    guard let bytes = try? rooms.read(limit: 1 << 20) else { return [] }
    return (try? JSONDecoder().decode([RoomRecord].self, from: Data(bytes))) ?? []
  }

  /// Rooms of a player that runs, or was killed; where that cannot be kept, nobody is told of them.
  var leftRooms: LeftRooms {
    get {
      guard let bytes = try? left.read(limit: 1 << 20) else { return LeftRooms() }
      return (try? JSONDecoder().decode(LeftRooms.self, from: Data(bytes))) ?? LeftRooms()
    }
    nonmutating set {
      guard !newValue.isEmpty else { return (try? left.remove()) ?? () }
      guard let data = try? JSONEncoder().encode(newValue) else { return }
      try? left.write([UInt8](data))
    }
  }

  func remember(_ records: [RoomRecord]) {
    guard let data = try? JSONEncoder().encode(records) else { return }
    try? rooms.write([UInt8](data))
  }
}

/// The socket on which a daemon takes commands of a group of users.
private enum SharedSocket {
  case open(String)
  /// This user is not in the group; with what to do.
  case barred(advice: String)

  /// Nil where there is none.
  init?(_ path: String) {
    if access(path, R_OK | W_OK) == 0 {
      self = .open(path)
    } else if errno == EACCES {
      self = .barred(advice: Self.advice(path))
    } else {
      return nil
    }
  }

  private static func advice(_ path: String) -> String {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    var status = stat()
    let group = stat(folder, &status) == 0 ? getgrgid(status.st_gid)?.pointee.gr_name : nil
    let name = group.map { String(cString: $0) } ?? "of \(folder)"
    return
      "the daemon takes commands of the group \(name): sudo usermod -aG \(name) $USER, then log in again; "
      + "or play by yourself, with --state-dir"
  }
}

/// The variables of this process's environment; an empty one counts as none.
enum Environment {
  static subscript(name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }
}

enum HostName {
  static var current: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "tutti" }
    return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
