import Foundation
import Testing
import WebServer
import WebTestSupport

/// A server that answers with the request that it got, and sends files and endless events.
func withServer<T: Sendable>(
  hostNames: [String] = ["study"], ownName: String? = nil,
  limits: WebServerConfiguration.Limits = .init(), figures: WebFigures = WebFigures(),
  file: String = "", _ body: @escaping @Sendable (WebClient) async throws -> T
) async throws -> T {
  let configuration = WebServerConfiguration(
    addresses: ["127.0.0.1"], port: 0, ownName: ownName, hostNames: hostNames, limits: limits)
  let server = WebServer(configuration, figures: figures) { request in
    switch request.path {
    case ["file"]: return WebResponse(.file(path: file, type: "video/mp4"))
    case ["events"]: return WebResponse(.events { [UInt8](repeating: 0x61, count: 4_096) })
    case ["one"]:
      let left = EventCount()
      return WebResponse(.events { await left.next() })
    case ["asset"]:
      var response = WebResponse(.bytes([UInt8]("body {}".utf8), type: "text/css"))
      response.caching = .immutable(tag: "v1")
      return response
    default:
      let query = request.query.map { "\($0.name)=\($0.value)" }
      let text =
        ([request.method, "\(request.isLocal)"] + request.path + query).joined(separator: "|")
        + "\n" + String(decoding: request.body, as: UTF8.self)
      return WebResponse(.bytes([UInt8](text.utf8), type: "text/plain"))
    }
  }
  return try await beside({ try await server.run(began: $0) }, body)
}

/// Sends one event, and then none for ever.
private actor EventCount {
  private var isFirst = true

  func next() async -> [UInt8]? {
    if isFirst {
      isFirst = false
      return [UInt8]("data: 1\n\n".utf8)
    }
    try? await Task.sleep(for: .seconds(3_600))
    return nil
  }
}

func expectStatus(_ status: Int, _ answer: WebAnswer) {
  #expect(answer.status == status, "\(answer.text)")
}

func expectProblem(_ answer: WebAnswer?, _ status: Int, _ part: String = "") throws {
  let answer = try #require(answer)
  #expect(answer.status == status)
  #expect(answer.headers["content-type"] == "application/problem+json")
  let problem = try answer.json(Problem.self)
  #expect(problem.status == status)
  #expect(problem.type == "about:blank")
  #expect(part.isEmpty || problem.detail.contains(part))
}

struct Problem: Decodable {
  let type: String
  let title: String
  let status: Int
  let detail: String
}
