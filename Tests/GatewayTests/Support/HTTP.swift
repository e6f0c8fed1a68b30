import APIDescriptions
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// One request and what came of it.
struct HTTPAnswer: Sendable {
    var status: UInt
    var contentTypes: [String]
    var headers: [String: String]
    var body: String

    var json: [String: any Sendable] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: any Sendable]) ?? [:]
    }

    func string(_ key: String) -> String? { json[key] as? String }
}

extension GatewayHarness {
    /// What all requests and answers of the tests are compared with.
    private static let described = Result { try APIDescription("client") }

    func request(
        _ method: String, _ path: String, body: String? = nil, bearer: String? = nil, headers: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        var request = HTTPClientRequest(url: base + path)
        request.method = .RAW(value: method)
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Content-Type", value: "application/json;charset=utf-8")
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
        let data = try await response.body.collect(upTo: 1 << 20)
        let status = Int(response.status.code)
        let description = try Self.described.get()
        // A HEAD is answered as a GET, without the content.
        let problem =
            method == "HEAD"
            ? nil
            : description.problem(
                method, path, status: status, contentType: response.headers.first(name: "Content-Type"),
                body: Array(data.readableBytesView))
        let ofBody =
            (200..<300).contains(status)
            ? description.problem(method, path, acceptedBody: Array((body ?? "").utf8)) : nil
        for found in [problem, ofBody].compactMap(\.self) { Issue.record("\(found)") }
        return HTTPAnswer(
            status: response.status.code, contentTypes: response.headers["Content-Type"],
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 }),
            body: String(buffer: data))
    }

    static let app = "/api/client/v2.0/app/tasks"
    static let auth = "/api/client/v2.0/auth"

    struct Tokens: Sendable {
        var access: String
        var refresh: String
        var user: String

        init(_ login: HTTPAnswer) throws {
            guard let access = login.string("access_token"), let refresh = login.string("refresh_token"),
                let user = login.string("user_id")
            else { throw HarnessError("login answered \(login.status): \(login.body)") }
            self.access = access
            self.refresh = refresh
            self.user = user
        }
    }

    func logInAnonymously(app: String? = nil) async throws -> Tokens {
        let path = app.map { "/api/client/v2.0/app/\($0)" } ?? Self.app
        let answer = try await request(
            "POST", "\(path)/auth/providers/anon-user/login",
            body: #"{"provider":"anon-user","options":{"device":{"sdk":"Swift"}}}"#)
        return try Tokens(answer)
    }

    /// Makes an account with the password "a-secret".
    func registerByPassword(_ email: String = "ann@example.net") async throws {
        let answer = try await request(
            "POST", "\(Self.app)/auth/providers/local-userpass/register",
            body: #"{"email":"\#(email)","password":"a-secret"}"#)
        guard answer.status == 201 else { throw HarnessError("registering answered \(answer.status): \(answer.body)") }
    }

    func logInByPassword(_ email: String = "ann@example.net") async throws -> Tokens {
        try await registerByPassword(email)
        let answer = try await request(
            "POST", "\(Self.app)/auth/providers/local-userpass/login",
            body: #"{"username":"\#(email)","password":"a-secret"}"#)
        return try Tokens(answer)
    }
}
