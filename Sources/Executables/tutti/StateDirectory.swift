import Driver
import Glibc
import House
import LinuxIO
import OpenSSLSecurity
import Pairing
import ProgramJSON
import Sender
import Service

/// The directory in which the sender keeps its state.
struct StateDirectory {
  let path: String
  /// The socket of a daemon that a group of users may command; nil if a directory was named, or no
  /// daemon runs.
  private let shared: SharedSocket?

  init(_ given: String?) throws {
    let daemon = given == nil ? try? ConfigurationFile.read(nil) : nil
    let own = daemon?.stateDirectory.flatMap { access($0, W_OK | X_OK) == 0 ? $0 : nil }
    // Who is not in the group may not read the configuration, and is still told what to do.
    let socket = given == nil && daemon == nil ? ConfigurationFile.systemSocket : daemon?.socket
    shared = own == nil ? socket.flatMap(SharedSocket.init) : nil
    path = given ?? own ?? SenderKeyFile.usualStateDirectory
    do {
      try StateFile.createDirectory(path: path)
    } catch {
      throw Failure(.unavailable, "cannot use the state directory \(path): \(error)")
    }
  }

  /// The socket of the player that commands are for.
  var commands: ControlClient.Place {
    switch shared {
    case .open(let socket)?: .init(path: socket)
    case .barred(let advice)?: .init(path: controlSocket, advice: advice)
    case nil: .init(path: controlSocket)
    }
  }

  /// Who pairs rooms, and knows those that are paired: whoever commands go to.
  var trust: RoomTrust {
    switch shared {
    case .open?: .daemon(ControlClient(commands), self)
    case .barred(let advice)?: .barred(advice: advice, self)
    case nil: .own(self)
    }
  }

  var controlSocket: String { path + "/control.sock" }
  private var left: StateFile { StateFile(path: path + "/playing.json") }
  private var rooms: StateFile { StateFile(path: path + "/receivers.json") }

  /// A TLS context with the key by which rooms know this sender. Makes the key at first use.
  func security() throws -> TLSContext {
    ProcessMemory.hide()
    do {
      return try TLSContext(try SenderKeyFile(stateDirectory: path).key())
    } catch let error as IOError {
      throw Failure(.unavailable, "\(error)")
    }
  }

  /// The numbers by which clients of MPD know rooms and groups.
  var numbersFile: StateFile { StateFile(path: path + "/mpd") }
  /// The file that says who may use the page.
  var accessFile: StateFile { StateFile(path: path + "/access") }

  static let pairedName = "paired"
  private var pairedFile: StateFile { StateFile(path: path + "/" + Self.pairedName) }

  /// Receivers that this machine is paired with; none if the file is missing.
  func paired() throws -> Pairings {
    do throws(IOError) {
      let bytes = try pairedFile.read(limit: 64 << 10) ?? []
      return Pairings(text: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw Failure(.unavailable, "\(error)")
    }
  }

  /// Changes the pairings. Waits while another process changes the file, and returns once the
  /// change is on disk.
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

  /// Rooms that were seen before; empty if the file is missing or cannot be parsed.
  func rememberedRooms() -> [RoomRecord] {
    guard let bytes = try? rooms.read(limit: 1 << 20) else { return [] }
    return (try? JSON.decode([RoomRecord].self, from: bytes)) ?? []
  }

  /// Rooms of a player that runs or was killed. Errors of the disk are ignored; `tutti stop` then
  /// cannot name the rooms.
  var leftRooms: LeftRooms {
    get {
      guard let bytes = try? left.read(limit: 1 << 20) else { return LeftRooms() }
      return (try? JSON.decode(LeftRooms.self, from: bytes)) ?? LeftRooms()
    }
    nonmutating set {
      guard !newValue.isEmpty else { return (try? left.remove()) ?? () }
      guard let bytes = try? JSON.encode(newValue) else { return }
      try? left.write(bytes)
    }
  }

  func remember(_ records: [RoomRecord]) {
    guard let bytes = try? JSON.encode(records) else { return }
    try? rooms.write(bytes)
  }
}

/// The socket on which a daemon takes commands from a group of users.
private enum SharedSocket {
  case open(String)
  /// This user is not in the group; `advice` says what to do.
  case barred(advice: String)

  /// Nil if there is no socket.
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
      "the daemon takes commands from members of the group \(name): sudo usermod -aG \(name) $USER, then log in again; "
      + "or play by yourself, with --state-dir"
  }
}

/// The variables of this process's environment. An empty one counts as missing.
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
