import ALSAOutput
import Audio
import Clock
import Glibc
import LinuxIO
import Logging
import Output
import Receiver
import ReceiverDriver
import WireProtocol

/// The command's options, checked and converted.
struct ReceiverConfiguration {
  /// Longest name, in bytes: the length of a label in a DNS service record.
  private static let longestName = 63

  let settings: ReceiverSettings
  let place: ReceiverService.Place
  let logLevel: Logger.Level

  init(_ command: ReceiverCommand) throws {
    let name = command.name ?? Self.hostName
    guard (1...Self.longestName).contains(name.utf8.count), name.isPlain else {
      throw StartFailure.usage(
        "--name must have 1 to \(Self.longestName) bytes and no control characters")
    }
    guard let port = UInt16(exactly: command.port) else {
      throw StartFailure.usage("--port must be 0 to 65535; 0 is any")
    }
    guard (0...100).contains(command.startVolume) else {
      throw StartFailure.usage("--start-volume must be 0 to 100")
    }
    if let limit = command.volumeLimit, !(1...100).contains(limit) {
      throw StartFailure.usage("--volume-limit must be 1 to 100")
    }
    guard let access = AccessPolicy(rawValue: command.access) else {
      throw StartFailure.usage(
        "--access \(command.access) is not known; allowed are: paired, open")
    }
    guard let whenBusy = BusyPolicy(rawValue: command.whenBusy) else {
      throw StartFailure.usage(
        "--when-busy \(command.whenBusy) is not known; allowed are: refuse, take-over, priority")
    }
    guard (1...4096).contains(command.buffer) else {
      throw StartFailure.usage("--buffer must be 1 to 4096 MiB")
    }
    guard (1...600).contains(command.bufferMinutes) else {
      throw StartFailure.usage("--buffer-minutes must be 1 to 600")
    }
    guard (1...10_080).contains(command.figures) else {
      throw StartFailure.usage("--figures must be 1 to 10080 minutes")
    }
    guard (1...86_400).contains(command.idle) else {
      throw StartFailure.usage("--idle must be 1 to 86400 seconds")
    }
    guard let level = Logger.Level(rawValue: command.logLevel) else {
      throw StartFailure.usage(
        "--log-level \(command.logLevel) is not known; allowed are: error, warning, notice, info, "
          + "debug, trace")
    }
    var settings = ReceiverSettings(
      name: name, model: Self.machineModel, output: try Self.output(command))
    settings.capacity = Capacity(
      bytes: command.buffer << 20, duration: .seconds(command.bufferMinutes * 60))
    settings.idleTime = .seconds(command.idle)
    settings.figuresInterval = .seconds(60 * command.figures)
    (settings.access, settings.whenBusy) = (access, whenBusy)
    settings.fir = try command.fir.map(Self.filter)
    self.settings = settings
    place = .init(
      port: port, isAnnounced: command.mdns, stateDirectory: command.stateDir,
      volumes: ReceiverVolumes(
        start: UInt16(command.startVolume) * 10, limit: command.volumeLimit.map { UInt16($0) * 10 })
    )
    logLevel = level
  }

  private static func output(_ command: ReceiverCommand) throws -> ReceiverSettings.Output {
    if command.output == "null" { return .sink(.nowhere) }
    if command.output.hasPrefix("wav:") {
      let path = String(command.output.dropFirst(4))
      guard !path.isEmpty else { throw StartFailure.usage("--output wav: needs a path behind it") }
      do throws(SinkError) {
        try WaveFile.check(path: path)
      } catch {
        throw StartFailure(
          description: "\(error); choose another file with --output wav:PATH", code: 73)
      }
      return .sink(.wave(path: path))
    }
    guard command.output == "alsa" else {
      throw StartFailure.usage(
        "--output \(command.output) is not known; allowed are: alsa, null, wav:PATH")
    }
    var settings = OutputSettings(device: command.device, profile: ReceiverSettings.profile)
    if let format = command.format {
      guard let known = DeviceFormat(rawValue: format) else {
        let all = DeviceFormat.allCases.map(\.rawValue).joined(separator: ", ")
        throw StartFailure.usage("--format \(format) is not known; allowed are: \(all)")
      }
      settings.format = known
    }
    return .soundCard(settings, MixerChoice(command.mixer))
  }

  /// Reads the FIR filter. Only this receiver's own user names the file.
  private static func filter(_ path: String) throws -> ImpulseResponse {
    let bytes: [UInt8]?
    do throws(IOError) {
      bytes = try StateFile(path: path).read(limit: ImpulseFile.mostBytes)
    } catch {
      throw StartFailure.unavailable("cannot read the filter of --fir: \(error)")
    }
    guard let bytes else {
      throw StartFailure.unavailable(
        "there is no file \(path), or a service may not see it, as everything below /home; see --fir"
      )
    }
    do throws(ImpulseFileError) {
      return try ImpulseFile.read(bytes)
    } catch {
      throw StartFailure.usage("\(path) cannot be the filter of --fir: \(error)")
    }
  }

  static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "receiver" }
    let name = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    return name.plain(atMost: longestName)
  }

  /// The machine's model as its firmware tells it, such as "Raspberry Pi 4 Model B Rev 1.4".
  private static var machineModel: String {
    for path in ["/proc/device-tree/model", "/sys/class/dmi/id/product_name"] {
      guard let bytes = (try? StateFile(path: path).read(limit: 256)) ?? nil else { continue }
      let text = String(decoding: bytes.filter { $0 >= 32 }, as: UTF8.self)
      if !text.isEmpty { return String(text.prefix(ProtocolLimits.name / 2)) }
    }
    return "Linux"
  }
}
