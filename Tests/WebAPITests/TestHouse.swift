import Foundation
import House
import Service
import TestSupport
import Testing
import WebAPI
import WebServer
import WebTestSupport

/// Runs the API for a household that lives in the test, with a group `g1` of one room.
func withHouse<T: Sendable>(
  token: String? = nil, access: HouseAccess? = nil,
  rhythm: EventFeed.Rhythm = EventFeed.Rhythm(),
  _ body: @escaping @Sendable (WebClient, FakeHouse) async throws -> T
) async throws -> T {
  let folder = try TemporaryFolder()
  try Data("a picture".utf8).write(to: URL(filePath: folder.file("picture.jpg")))
  try Data("a film".utf8).write(to: URL(filePath: folder.file("film.mp4")))
  let house = FakeHouse()
  _ = try await house.perform(.createGroup(rooms: [room(1)], name: nil))
  let path = folder.path
  let access = try access ?? FakeAccess.make(token: token)
  let result = try await beside(
    { began in
      try await serveHTTP(
        WebServerConfiguration(addresses: ["127.0.0.1"], port: 0, ownName: "study"), house: house,
        library: FakeLibrary(folder: path), pairing: FakePairing(), access: access, rhythm: rhythm,
        began: began)
    }, { try await body($0, house) })
  withExtendedLifetime(folder) {}
  return result
}

/// Returns the id of the fake house's room with this number.
func room(_ number: Int) -> String { String(repeating: "\(number)", count: 32) }

struct Problem: Decodable {
  let status: Int
  let detail: String
}

func expectStatus(_ status: Int, _ answer: WebAnswer) {
  #expect(answer.status == status, "\(answer.text)")
}

func expectProblem(_ answer: WebAnswer, _ status: Int, _ part: String = "") throws {
  #expect(answer.status == status, "\(answer.text)")
  #expect(answer.headers["content-type"] == "application/problem+json")
  let problem = try answer.json(Problem.self)
  #expect(problem.status == status)
  #expect(part.isEmpty || problem.detail.contains(part), "\(problem.detail)")
}
