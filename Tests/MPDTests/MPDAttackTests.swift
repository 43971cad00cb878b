import Service
import TestSupport
import Testing
import WebServer
import WebTestSupport

@testable import MPD

/// Clients that break rules, do not read, or ask for too much. Others are served.
@Suite struct MPDAttackTests {
  @Test func `a browser that is made to speak to the port is cut off`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      await client.send("POST / HTTP/1.1\r\nHost: x\r\n\r\nstop\n")
      #expect(await client.answer() == [])
      #expect(await host.orders().isEmpty)
    }
  }

  @Test func `a line without end is cut off`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      let long = "find any \"" + String(repeating: "x", count: 2_000) + "\""
      #expect(await client.ask(long) == ["OK"])
      await client.send("a" + String(repeating: "x", count: LineServerLimits.line + 1))
      #expect(await client.end())
    }
  }

  @Test func `who says nothing is cut off, and who waits for changes is not`() async throws {
    var limits = LineServerLimits.patient
    // Its first line is there before this time begins, whatever holds up the test.
    limits.silence = .seconds(1)
    try await withMPD(limits: limits) { host in
      let waiting = try await host.connect(saying: "idle player\n")
      let silent = try await host.connect()
      #expect(await silent.end())
      #expect(await waiting.ask("noidle") == ["OK"])
    }
  }

  @Test func `who reads nothing is cut off, and others are served`() async throws {
    var limits = LineServerLimits.patient
    limits.reader = .milliseconds(300)
    try await withMPD(limits: limits) { host in
      let (greedy, other) = (try await host.connect(), try await host.connect())
      let many = String(repeating: "commands\n", count: 500)
      while await greedy.send(many) {}
      #expect(await other.ask("ping") == ["OK"])
    }
  }

  @Test func `lists of all clients together have a bound`() {
    let lists = ListBudget()
    #expect(lists.change(by: ListBudget.limit - 100))
    #expect(!lists.change(by: 101))
    #expect(lists.change(by: 100))
    #expect(lists.change(by: -50))
    #expect(lists.change(by: 50))
  }

  @Test func `a stranger collects no commands`() async throws {
    let access = try FakeAccess.make(token: "secret-token", isOpen: false)
    try await withMPD(access: access) { host in
      let client = try await host.connect()
      await client.send("command_list_begin\n" + String(repeating: "status\n", count: 17))
      #expect(await client.end())
    }
  }

  @Test func `no more clients are served than the limits, and each gets a place again`()
    async throws
  {
    try await withMPD { host in
      var clients: [MPDConnection] = []
      let hosts = LineServerLimits.connections / LineServerLimits.connectionsOfOneAddress
      for number in 1...hosts {
        for _ in 0..<LineServerLimits.connectionsOfOneAddress {
          clients.append(try await host.connect(from: UInt32(number)))
        }
        await #expect(throws: MPDHost.NoGreeting.self) {
          try await host.connect(from: UInt32(number))
        }
      }
      await #expect(throws: MPDHost.NoGreeting.self) { try await host.connect(from: 9) }
      await clients.removeLast().send("close\n")
      while (try? await host.connect(from: 9)) == nil {}
      #expect(await clients[0].ask("ping") == ["OK"])
    }
  }
}
