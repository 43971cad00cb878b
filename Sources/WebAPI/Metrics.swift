import Driver
internal import Glibc
import House
import Sender
import Service
import WebServer

/// The metrics in Prometheus's text format. Labels name rooms, groups and routes, but never what plays.
enum Metrics {
  static func text(_ state: HouseState, _ figures: WebFigures) -> String {
    (build(state) + rooms(state) + groups(state) + web(figures) + process())
      .filter { !$0.samples.isEmpty }.map(\.text).joined()
  }

  private struct Family {
    let name: String
    let kind: String
    let help: String
    var samples: [(labels: [(String, String)], value: Double)]

    var text: String {
      "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        + samples.map { "\(name)\(Self.text($0.labels)) \(Self.text($0.value))\n" }.joined()
    }

    private static func text(_ labels: [(String, String)]) -> String {
      labels.isEmpty
        ? "" : "{" + labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
    }

    private static func text(_ value: Double) -> String {
      Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func escaped(_ text: String) -> String {
      text.flatMap { character in
        switch character {
        case "\\": #"\\"#
        case "\"": #"\""#
        case "\n": #"\n"#
        default: "\(character)"
        }
      }.map(String.init).joined()
    }
  }

  private static func build(_ state: HouseState) -> [Family] {
    [
      Family(
        name: "tutti_build_info", kind: "gauge", help: "The version that runs, always 1.",
        samples: [([("version", state.server.version)], 1)])
    ]
  }

  // MARK: - Rooms

  private static func rooms(_ state: HouseState) -> [Family] {
    func family(
      _ name: String, _ help: String, kind: String = "gauge", _ value: (HouseState.Room) -> Double?
    ) -> Family {
      Family(
        name: "tutti_room_\(name)", kind: kind, help: help,
        samples: state.rooms.compactMap { room in value(room).map { (labels(room), $0) } })
    }
    func counter(_ name: String, _ help: String, _ value: (RoomSync) -> UInt32?) -> Family {
      family("\(name)_total", help, kind: "counter") { $0.sync.flatMap(value).map { Double($0) } }
    }
    return [
      family("up", "Whether the room can be reached.") {
        $0.isPresent && $0.state != .away ? 1 : 0
      },
      syncErrors(state),
      family("clock_error_bound_seconds", "The largest error that the room's clock may have.") {
        $0.sync?.boundUs.map { $0 / 1e6 }
      },
      family("round_trip_seconds", "The travel time of a time request and its answer.") {
        ($0.sync?.roundTripUs).map { $0 / 1e6 }
      },
      family("clock_drift_ratio", "How much faster the room's clock runs than the group's.") {
        ($0.sync?.clockDriftPpm).map { $0 / 1e6 }
      },
      family("device_drift_ratio", "How much faster the room's sound card runs than its clock.") {
        ($0.sync?.deviceDriftPpm).map { $0 / 1e6 }
      },
      family("buffered_seconds", "Music that the room holds.") { $0.sync?.bufferedS },
      family("buffered_bytes", "Size of the music that the room holds.") {
        ($0.sync?.bufferedBytes).map { Double($0) }
      },
      family("volume_ratio", "The room's volume, from 0 to 1.") { $0.volume.map { $0 / 100 } },
      counter("underruns", "Times at which the sound card ran dry.") { $0.underruns },
      counter("packets_late", "Packets that arrived after their time.") { $0.late },
      counter("packets_lost", "Packets that did not arrive.") { $0.lost },
      counter("packets_corrupt", "Packets that could not be decoded.") { $0.corrupt },
    ]
  }

  private static func labels(_ room: HouseState.Room) -> [(String, String)] {
    [("room", room.name), ("id", room.id)]
  }

  private static func syncErrors(_ state: HouseState) -> Family {
    let samples = state.rooms.flatMap { room in
      [("0.5", room.sync?.p50Us), ("0.99", room.sync?.p99Us), ("1", room.sync?.maxUs)]
        .compactMap { quantile, value in
          value.map { (labels(room) + [("quantile", quantile)], $0 / 1e6) }
        }
    }
    return Family(
      name: "tutti_room_sync_error_seconds", kind: "summary",
      help: "The room's distance from the schedule.", samples: samples)
  }

  // MARK: - Groups and the server

  private static func groups(_ state: HouseState) -> [Family] {
    func family(_ name: String, _ help: String, _ value: (HouseState.Group) -> Double) -> Family {
      Family(
        name: name, kind: "gauge", help: help,
        samples: state.groups.map { ([("group", $0.name), ("id", $0.id)], value($0)) })
    }
    return [
      family("tutti_group_playing", "Whether the group plays.") { $0.state == .playing ? 1 : 0 },
      family("tutti_queue_items", "Entries of the group's queue.") { Double($0.queue.count) },
      Family(
        name: "tutti_library_tracks", kind: "gauge", help: "Tracks in the library.",
        samples: [([], Double(state.library.trackCount))]),
    ]
  }

  private static func web(_ figures: WebFigures) -> [Family] {
    let requests = figures.requests.sorted {
      ($0.key.route, $0.key.code) < ($1.key.route, $1.key.code)
    }
    return [
      Family(
        name: "tutti_http_requests_total", kind: "counter", help: "Requests that were answered.",
        samples: requests.map {
          ([("route", $0.key.route), ("code", "\($0.key.code)")], Double($0.value))
        }),
      Family(
        name: "tutti_http_connections", kind: "gauge", help: "Connections that are open.",
        samples: [([], Double(figures.connectionCount))]),
      Family(
        name: "tutti_http_refused_connections_total", kind: "counter",
        help: "Connections beyond the limits.", samples: [([], Double(figures.refusedCount))]),
      Family(
        name: "tutti_events_clients", kind: "gauge", help: "Clients that listen to events.",
        samples: [([], Double(figures.eventStreamCount))]),
    ]
  }

  private static func process() -> [Family] {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    let cpu =
      Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    var families = [
      Family(
        name: "process_cpu_seconds_total", kind: "counter", help: "Processor time of the program.",
        samples: [([], cpu)])
    ]
    if let pages = residentPages() {
      families.append(
        Family(
          name: "process_resident_memory_bytes", kind: "gauge", help: "Memory of the program.",
          samples: [([], Double(pages * sysconf(CInt(_SC_PAGESIZE))))]))
    }
    return families
  }

  private static func residentPages() -> Int? {
    let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = max(0, read(descriptor, &buffer, buffer.count))
    let words = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
    return words.count > 1 ? Int(words[1]) : nil
  }
}
