// swift-tools-version: 6.2
import PackageDescription

/// Every target: language mode 6, imports that say what they expose, and no warnings.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Pure targets: strict memory safety as well. Adapters live on C pointers, where it would be noise.
let pure: [SwiftSetting] = strict + [.strictMemorySafety()]

/// Targets of the programs alone: nothing in them is so hot that speed matters more than size, which boards load and keep.
/// A package that depends on the library may not have such flags among its targets, and has not.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// The same for targets of the library, where only the programs are built: TUTTI_PROGRAMS=1, as `make build` sets it.
let smallInPrograms = Context.environment["TUTTI_PROGRAMS"] != nil ? small : []

func core(
  _ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(name)", swiftSettings: pure + settings
  )
}

func adapter(
  _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/Adapters/\(name)",
    swiftSettings: strict + settings)
}

func shim(_ name: String, _ pkgConfig: String?, apt package: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/CShims/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// Tests run against optimized targets, for the simulation's sake, but need not be optimized themselves: that takes
/// minutes and gains nothing.
let unoptimized: [SwiftSetting] = [.unsafeFlags(["-Onone"])]

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [])
  -> Target
{
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)", resources: resources,
    swiftSettings: strict + unoptimized)
}

/// A product of another package, which only the programs use: a package that depends on the library leaves it out by
/// `traits: []`, and does not even fetch it.
func programs(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Programs"]))
}

let arguments = programs("ArgumentParser", "swift-argument-parser")
let logging = programs("Logging", "swift-log")

let package = Package(
  name: "tutti",
  products: [
    .library(name: "Tutti", targets: ["Tutti"]),
    .library(name: "tutti-c", type: .dynamic, targets: ["TuttiC"]),
    .executable(name: "tutti", targets: ["tutti"]),
    .executable(name: "tutti-receiver", targets: ["tutti-receiver"]),
    .executable(name: "tutti-simulate", targets: ["tutti-simulate"]),
  ],
  traits: [
    .default(enabledTraits: ["Programs"]),
    .trait(
      name: "Programs", description: "The programs, beside the library"),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    // Core: pure, sans-IO; each imports only what stands above it.
    core("Clock"),
    core("Audio", ["Clock"]),
    core("WireProtocol", ["Clock", "Audio"]),
    core("Pairing", ["Clock", "WireProtocol"], settings: smallInPrograms),
    core("Diagnosis", ["Clock", "WireProtocol"], settings: smallInPrograms),
    core("Sender", ["Clock", "Audio", "WireProtocol", "Pairing"], settings: smallInPrograms),
    core("Disturbances", ["Clock", "WireProtocol", "Sender"], settings: smallInPrograms),
    core(
      "House", ["Clock", "Audio", "WireProtocol", "Sender", "Disturbances"],
      settings: smallInPrograms),
    core("PlaylistFormats", ["Sender"], settings: smallInPrograms),
    core("MPDProtocol", settings: small),
    core("MPRISProtocol", ["Sender", "House"], settings: small),
    core("Receiver", ["Clock", "Audio", "WireProtocol", "Pairing"]),
    core(
      "Simulation",
      ["Clock", "Audio", "WireProtocol", "Pairing", "Sender", "Receiver", "Disturbances"]),

    // What an output thread has in common whatever it plays to, and outputs without a sound card.
    .target(
      name: "Output", dependencies: ["Clock", "Audio", "Receiver"], path: "Sources/Output",
      swiftSettings: strict),

    // The form in which programs meet programs.
    .target(name: "ProgramJSON", path: "Sources/ProgramJSON", swiftSettings: strict),

    // Usages and errors of the argument parser, in the form of all other output.
    .target(
      name: "ProgramText", dependencies: [arguments], path: "Sources/ProgramText",
      swiftSettings: strict + small),

    // Adapters: each wraps one outside thing and imports no other adapter.
    adapter("LinuxIO", ["Clock", "WireProtocol", "CSys"], settings: smallInPrograms),
    adapter("HostFacts", ["Clock", "Diagnosis"]),
    adapter("ALSAOutput", ["Clock", "Audio", "Receiver", "Output", "CALSA"]),
    adapter("AvahiDiscovery", ["CAvahi"], settings: smallInPrograms),
    adapter("Codecs", ["Audio", "COpus", "CFLAC"]),
    adapter(
      "OpenSSLSecurity", ["WireProtocol", "Pairing", "COpenSSL"], settings: smallInPrograms),
    adapter("FFmpegDecoder", ["Audio", "CAVCodec"]),
    adapter(
      "FFmpegSource",
      ["Clock", "Audio", "WireProtocol", "Sender", "PlaylistFormats", "CFFmpeg"],
      settings: smallInPrograms),

    adapter("SQLiteStore", ["CSQLite"], settings: small),
    adapter("QRCode", ["CQRencode"], settings: small),
    adapter("ExpatFeeds", ["PlaylistFormats", "CExpat"], settings: small),
    adapter("MPRIS", ["House", "MPRISProtocol", "CMPRIS"], settings: small),
    adapter(
      "WebServer",
      [
        programs("NIOCore", "swift-nio"), programs("NIOPosix", "swift-nio"),
        programs("NIOHTTP1", "swift-nio"),
      ], settings: small),

    // C made callable.
    .target(name: "COpenAPI", path: "Sources/CShims/COpenAPI"),
    .target(name: "CSys", path: "Sources/CShims/CSys"),
    // Built with libsystemd-dev. Every program with libavahi-client loads the library already.
    .target(
      name: "CMPRIS", path: "Sources/CShims/CMPRIS", linkerSettings: [.linkedLibrary("systemd")]),
    // The digits, spoken.
    .target(name: "CSpeech", path: "Sources/CShims/CSpeech", exclude: ["digits.opus"]),
    // The web page, embedded by page.c.
    .target(name: "Page", path: "Sources/Page", exclude: ["web"]),
    .target(
      name: "CAVCodec", path: "Sources/CShims/CAVCodec",
      cSettings: [.headerSearchPath("../Load")]),
    .target(
      name: "CFFmpeg", path: "Sources/CShims/CFFmpeg", cSettings: [.headerSearchPath("../Load")]),
    shim("CALSA", "alsa", apt: "libasound2-dev"),
    // Its headers need no flags, and SwiftPM warns of those that pkg-config has for them.
    shim("CAvahi", nil, apt: "libavahi-client-dev"),
    shim("COpus", "opus", apt: "libopus-dev"),
    shim("CFLAC", "flac", apt: "libflac-dev"),
    shim("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
    shim("COpenSSL", "openssl", apt: "libssl-dev"),
    shim("CQRencode", "libqrencode", apt: "libqrencode-dev"),
    shim("CExpat", "expat", apt: "libexpat1-dev"),

    // What the player and the library share: a session with its sockets, rooms and threads.
    .target(
      name: "Driver",
      dependencies: [
        "Clock", "Audio", "WireProtocol", "Pairing", "Diagnosis", "Sender", "LinuxIO",
        "OpenSSLSecurity", "AvahiDiscovery", "Codecs", "FFmpegSource", "ALSAOutput", "Output",
      ],
      path: "Sources/Driver", swiftSettings: strict + smallInPrograms),

    // What hosts a receiver's session, in its program or in any other.
    .target(
      name: "ReceiverDriver",
      dependencies: [
        "Clock", "Audio", "WireProtocol", "Pairing", "Receiver", "LinuxIO", "OpenSSLSecurity",
        "Output", "ALSAOutput", "AvahiDiscovery", "Codecs", "FFmpegDecoder", "ProgramJSON",
        "CSpeech",
      ],
      path: "Sources/ReceiverDriver", swiftSettings: strict),

    // What `doctor` of both programs has in common.
    .target(
      name: "Doctor",
      dependencies: [
        "Clock", "WireProtocol", "Diagnosis", "LinuxIO", "HostFacts", "AvahiDiscovery",
        "ProgramJSON",
      ],
      path: "Sources/Doctor", swiftSettings: strict + small),

    // A player without a terminal.
    .target(
      name: "Service",
      dependencies: [
        "Clock", "WireProtocol", "Pairing", "Sender", "Disturbances", "House", "Driver", "LinuxIO",
        "FFmpegSource", "AvahiDiscovery", "OpenSSLSecurity", "SQLiteStore", "ProgramJSON",
      ],
      path: "Sources/Service", swiftSettings: strict + small),

    // What browsers and programs ask of a household over HTTP, and their page.
    .target(
      name: "WebAPI",
      dependencies: [
        "Audio", "Sender", "House", "Pairing", "Driver", "Service", "WebServer", "QRCode",
        "COpenAPI", "Page",
        "ProgramJSON",
      ],
      path: "Sources/WebAPI", swiftSettings: strict + small),

    // The same for clients of MPD.
    .target(
      name: "MPD",
      dependencies: ["Sender", "House", "Service", "MPDProtocol", "WebServer"],
      path: "Sources/MPD", swiftSettings: strict + small),

    // The music in a household's folders, found by its tags.
    .target(
      name: "Library",
      dependencies: [
        "Clock", "Audio", "Sender", "Driver", "House", "PlaylistFormats", "Service", "LinuxIO",
        "SQLiteStore", "FFmpegSource", "ExpatFeeds", "ProgramJSON",
      ],
      path: "Sources/Library", swiftSettings: strict + small),

    // The library, the only public module.
    .target(
      name: "Tutti",
      dependencies: [
        "Clock", "Audio", "WireProtocol", "Pairing", "Sender", "House", "Receiver", "Driver",
        "ReceiverDriver", "Output", "ALSAOutput", "LinuxIO", "OpenSSLSecurity", "AvahiDiscovery",
        "FFmpegSource", "Codecs", "FFmpegDecoder", "ProgramJSON",
      ],
      path: "Sources/Tutti", swiftSettings: strict),

    // The same for C and whatever can call it: tutti.h.
    .target(name: "CTutti", path: "Sources/CTutti"),
    .target(
      name: "TuttiC", dependencies: ["Tutti", "CTutti"], path: "Sources/TuttiC",
      swiftSettings: strict),

    // Programs: wiring only.
    .executableTarget(
      name: "tutti",
      dependencies: [
        "Clock", "Audio", "WireProtocol", "Pairing", "Sender", "House", "Driver", "Service",
        "Library",
        "LinuxIO", "OpenSSLSecurity", "AvahiDiscovery", "FFmpegSource", "WebAPI", "WebServer",
        "MPD", "MPDProtocol", "MPRIS", "MPRISProtocol", "QRCode", "Diagnosis", "Doctor",
        "HostFacts", "ProgramJSON", "ProgramText", arguments, logging,
      ],
      path: "Sources/Executables/tutti", swiftSettings: strict + small),
    .executableTarget(
      name: "tutti-receiver",
      dependencies: [
        "Clock", "Audio", "WireProtocol", "Pairing", "Receiver", "ReceiverDriver", "LinuxIO",
        "OpenSSLSecurity", "Output", "ALSAOutput", "AvahiDiscovery", "Diagnosis", "Doctor",
        "HostFacts", "ProgramText", arguments, logging,
      ],
      path: "Sources/Executables/tutti-receiver", swiftSettings: strict + small),
    .executableTarget(
      name: "tutti-simulate", dependencies: ["Simulation", "Disturbances", arguments],
      path: "Sources/Executables/tutti-simulate", swiftSettings: strict),

    // What several test targets use.
    .target(
      name: "TestSupport", dependencies: ["Clock", "Pairing", "WireProtocol"],
      path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "SecurityTestSupport", dependencies: ["OpenSSLSecurity", "COpenSSL", "WireProtocol"],
      path: "Tests/SecurityTestSupport", swiftSettings: strict),
    tests("ClockTests", ["Clock", "Simulation", "TestSupport"], resources: [.copy("Vectors")]),
    tests("AudioTests", ["Audio", "Clock", "TestSupport"]),
    tests("WireProtocolTests", ["WireProtocol", "Audio", "Clock", "TestSupport"]),
    tests("PairingTests", ["Pairing", "WireProtocol", "Clock", "TestSupport"]),
    tests("DiagnosisTests", ["Diagnosis", "ProgramJSON", "Clock", "WireProtocol", "TestSupport"]),
    tests("DoctorTests", ["Doctor", "Diagnosis", "LinuxIO", "Clock"]),
    tests("HostFactsTests", ["HostFacts", "Diagnosis", "TestSupport"]),
    tests(
      "SenderTests",
      ["Sender", "Simulation", "Pairing", "WireProtocol", "Audio", "Clock", "TestSupport"]),
    tests(
      "DisturbancesTests", ["Disturbances", "Sender", "WireProtocol", "Clock", "TestSupport"]),
    tests("HouseTests", ["House", "Sender", "WireProtocol", "Audio", "Clock", "TestSupport"]),
    tests("PlaylistFormatsTests", ["PlaylistFormats", "Sender", "Clock", "TestSupport"]),
    tests(
      "ReceiverTests",
      ["Receiver", "Simulation", "Pairing", "WireProtocol", "Audio", "Clock", "TestSupport"],
      resources: [.copy("Vectors")]),
    tests(
      "SimulationTests",
      [
        "Simulation", "Sender", "Receiver", "Pairing", "WireProtocol", "Audio", "Clock",
        "Disturbances", "TestSupport",
      ]),
    tests(
      "LinuxIOTests", ["LinuxIO", "OpenSSLSecurity", "WireProtocol", "Clock", "TestSupport"]),
    tests("AvahiDiscoveryTests", ["AvahiDiscovery", "TestSupport"]),
    tests("CodecsTests", ["Codecs", "Audio", "Clock", "TestSupport"]),
    tests(
      "OpenSSLSecurityTests",
      ["OpenSSLSecurity", "Pairing", "WireProtocol", "SecurityTestSupport", "TestSupport"]),
    tests("FFmpegDecoderTests", ["FFmpegDecoder", "Audio", "Clock", "TestSupport"]),
    // Decodes here, and by the finished program as players do.
    tests(
      "FFmpegSourceTests",
      [
        "FFmpegSource", "Driver", "LinuxIO", "Sender", "WireProtocol", "Audio", "Clock",
        "TestSupport",
      ]),
    // What goes from a file to a room as it is: both sides of it, without the network.
    tests(
      "PassThroughTests",
      [
        "FFmpegSource", "FFmpegDecoder", "Codecs", "Sender", "Receiver", "WireProtocol", "Audio",
        "Clock", "TestSupport",
      ]),
    .target(
      name: "OutputTestSupport", dependencies: ["Output", "Clock", "Receiver"],
      path: "Tests/OutputTestSupport", swiftSettings: strict),
    tests("OutputTests", ["Output", "OutputTestSupport", "Receiver", "Clock"]),
    tests(
      "ALSAOutputTests",
      ["ALSAOutput", "Output", "OutputTestSupport", "Receiver", "Audio", "Clock", "TestSupport"]),
    tests("MPRISTests", ["MPRIS", "MPRISProtocol", "House", "Sender", "TestSupport"]),
    tests("MPRISProtocolTests", ["MPRISProtocol", "House", "Sender", "TestSupport"]),
    tests("MPDProtocolTests", ["MPDProtocol", "Clock", "TestSupport"]),
    tests(
      "MPDTests",
      [
        "MPD", "MPDProtocol", "WebServer", "WebTestSupport", "House", "Service", "Sender", "Clock",
        "TestSupport",
      ]),
    tests("SQLiteStoreTests", ["SQLiteStore", "TestSupport"]),
    tests("QRCodeTests", ["QRCode"]),
    tests("ExpatFeedsTests", ["ExpatFeeds", "PlaylistFormats", "Clock", "TestSupport"]),
    tests("ArchitectureTests", []),
    tests(
      "DriverTests",
      [
        "Driver", "LinuxIO", "OpenSSLSecurity", "AvahiDiscovery", "FFmpegSource", "Sender",
        "Pairing", "ProgramJSON", "Audio", "Clock", "Codecs", "WireProtocol", "TestSupport",
      ]),
    tests(
      "ServiceTests",
      [
        "Service", "House", "Disturbances", "Driver", "LinuxIO", "OpenSSLSecurity", "FFmpegSource",
        "SQLiteStore", "Sender", "Pairing", "WireProtocol", "Audio", "Clock", "TestSupport",
        "WebTestSupport",
      ]),
    // Reads files by the finished program, as the daemon does.
    tests(
      "LibraryTests",
      [
        "Library", "House", "Service", "SQLiteStore", "LinuxIO", "Clock", "Audio", "Driver",
        "Sender", "FFmpegSource", "ExpatFeeds", "PlaylistFormats", "TestSupport",
      ]),
    // Starts the finished programs, which are built beside the tests.
    tests(
      "TuttiTests",
      [
        "Tutti", "TuttiC", "CTutti", "Driver", "FFmpegSource", "Sender", "WireProtocol", "Clock",
        "Audio", "Codecs", "TestSupport",
      ]),
    // The page's server, and a household that is none. The program serves it for Tests/API/schemathesis.sh.
    .target(
      name: "WebTestSupport",
      dependencies: [
        "Audio", "WebAPI", "House", "Service", "Pairing", "Driver", "Sender", "Clock",
        "OpenSSLSecurity", "LinuxIO",
      ],
      path: "Tests/WebTestSupport", swiftSettings: strict),
    .executableTarget(
      name: "fake-house",
      dependencies: ["WebTestSupport", "House", "WebAPI", "WebServer", "Service"],
      path: "Tests/API", exclude: ["far.py", "schemathesis.sh", "schemathesis.toml"],
      swiftSettings: strict),
    tests("WebServerTests", ["WebServer", "WebTestSupport", "TestSupport"]),
    tests(
      "WebAPITests",
      [
        "WebAPI", "WebServer", "WebTestSupport", "House", "Service", "Pairing", "Clock", "Driver",
        "Sender", "WireProtocol", "TestSupport",
      ]),
    tests(
      "ProgramTests",
      [
        "Driver", "ReceiverDriver", "Output", "LinuxIO", "OpenSSLSecurity", "AvahiDiscovery",
        "Sender", "Receiver", "Pairing", "WireProtocol", "Audio", "Clock", "SecurityTestSupport",
        "TestSupport",
      ]),
    // An example that the library's tests listen to.
    .executableTarget(
      name: "streamer-example", dependencies: ["Tutti"], path: "Examples/Sources/streamer",
      swiftSettings: strict),
    .executableTarget(
      name: "c-example", dependencies: ["TuttiC", "CTutti"], path: "Examples/Sources/c"),
    // A program, for RealtimeSanitizer must be linked into it: Tests/RealtimeTests/run.sh.
    .executableTarget(
      name: "RealtimeTests", dependencies: ["ALSAOutput", "Output", "Receiver", "Audio", "Clock"],
      path: "Tests/RealtimeTests", exclude: ["run.sh"], swiftSettings: strict),
  ]
)

// The core with its tests alone, which builds in minutes and runs wherever Swift does: TUTTI_CORE=1.
if Context.environment["TUTTI_CORE"] != nil {
  let core: Set = [
    "Clock", "Audio", "WireProtocol", "Pairing", "Sender", "Receiver", "Disturbances", "Simulation",
    "TestSupport",
  ]
  package.targets.removeAll {
    $0.type == .test
      ? !core.contains(String($0.name.dropLast("Tests".count)))
      : !core.contains($0.name) && $0.name != "tutti-simulate"
  }
  package.products.removeAll { $0.name != "tutti-simulate" }
}

// Benchmarks, which nobody needs who only builds: TUTTI_BENCHMARKS=1.
if Context.environment["TUTTI_BENCHMARKS"] != nil {
  package.targets += [
    .target(
      name: "CResamplers", path: "Benchmarks/CResamplers",
      linkerSettings: [
        .linkedLibrary("soxr"), .linkedLibrary("samplerate"), .linkedLibrary("zita-resampler"),
      ]),
    .executableTarget(
      name: "resampler-benchmark", dependencies: ["Audio", "Clock", "CResamplers", "TestSupport"],
      path: "Benchmarks/ResamplerBenchmark", swiftSettings: strict),
    .executableTarget(
      name: "sound-benchmark", dependencies: ["Audio"], path: "Benchmarks/SoundBenchmark",
      swiftSettings: strict),
    .executableTarget(
      name: "decoding-benchmark",
      dependencies: ["Driver", "FFmpegSource", "Sender", "TestSupport"],
      path: "Benchmarks/DecodingBenchmark", swiftSettings: strict),
    .executableTarget(
      name: "library-benchmark",
      dependencies: ["Library", "House", "Service", "Clock", "TestSupport"],
      path: "Benchmarks/LibraryBenchmark", swiftSettings: strict),
    .executableTarget(
      name: "security-benchmark", dependencies: ["OpenSSLSecurity", "WireProtocol"],
      path: "Benchmarks/SecurityBenchmark", swiftSettings: strict),
  ]
}
