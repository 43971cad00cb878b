// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as a program outside would be: it sees what is public, and nothing else.
let package = Package(
  name: "tutti-examples",
  dependencies: [.package(name: "tutti", path: "..", traits: [])],
  targets: [
    .executableTarget(
      name: "chords", dependencies: [.product(name: "Tutti", package: "tutti")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "streamer", dependencies: [.product(name: "Tutti", package: "tutti")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "tour", dependencies: [.product(name: "Tutti", package: "tutti")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
