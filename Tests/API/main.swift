// A server with a fake household, for tools that send arbitrary requests:
// Tests/API/schemathesis.sh.
import House
import Service
import WebAPI
import WebServer
import WebTestSupport

let house = FakeHouse()
_ = try await house.perform(.createGroup(rooms: [String(repeating: "1", count: 32)], name: nil))
try await serveHTTP(
  WebServerConfiguration(addresses: ["127.0.0.1"], port: 0), house: house,
  library: FakeLibrary(folder: CommandLine.arguments.dropFirst().first ?? "."),
  pairing: FakePairing(), access: FakeAccess.make(),
  began: { port in
    print("http://127.0.0.1:\(port)")
    flushOutput()
  })
