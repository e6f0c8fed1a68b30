import AsyncHTTPClient
import Foundation
import LocalCluster
import NIOCore
import NIOHTTP1
import SyncModel
import SyncProtocol
import WireClient

/// A logged-in user of a stock client: what `app-login-and-bind-pbs` shows, with the same bodies and headers.
struct StockUser: Sendable {
    /// The recordings' app: the test's own stands in its place.
    private static let recordedApp = "myapp-abcde"

    let app: String
    let port: Int
    let id: String
    let accessToken: String
    let refreshToken: String

    init(_ cluster: LocalCluster) async throws {
        app = cluster.app
        port = cluster.gatewayPort
        let recording = try Recording("app-login-and-bind-pbs")
        var answers: [[String: Any]] = []
        for case .http(let line) in recording.lines where line["kind"] as? String == "http-request" {
            let path = line["path"] as? String ?? ""
            guard !path.contains("realm-sync") else { continue }
            let token = answers.last?["access_token"] as? String
            answers.append(
                try await Self.ask(
                    cluster, line["method"] as? String ?? "GET", path, body: line["body"] as? String ?? "",
                    bearer: (line["headers"] as? [String: String])?["authorization"] == nil ? nil : token))
        }
        guard answers.count == 3, answers[0]["ws_hostname"] as? String == "ws://127.0.0.1:\(port)",
            answers[0]["hostname"] as? String == cluster.gatewayURL
        else { throw StockClientError("/location answered \(answers.first ?? [:])") }
        guard let access = answers[1]["access_token"] as? String, let refresh = answers[1]["refresh_token"] as? String,
            let id = answers[1]["user_id"] as? String, answers[1]["device_id"] is String
        else { throw StockClientError("login answered with the keys \(answers[1].keys.sorted())") }
        guard answers[2]["user_id"] as? String == id, answers[2]["type"] as? String == "normal",
            (answers[2]["identities"] as? [[String: Any]])?.first?["provider_type"] as? String == "anon-user"
        else { throw StockClientError("profile answered \(answers[2])") }
        self.id = id
        accessToken = access
        refreshToken = refresh
    }

    private init(app: String, port: Int, id: String, accessToken: String, refreshToken: String) {
        self.app = app
        self.port = port
        self.id = id
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }

    /// What a client does about close code 4001 and HTTP 401: a new access token for the refresh token.
    func refreshed(_ cluster: LocalCluster) async throws -> StockUser {
        let answer = try await Self.ask(cluster, "POST", "/api/client/v2.0/auth/session", bearer: refreshToken)
        guard let token = answer["access_token"] as? String else { throw StockClientError("no token came") }
        return StockUser(app: app, port: port, id: id, accessToken: token, refreshToken: refreshToken)
    }

    func logOut(_ cluster: LocalCluster) async throws {
        _ = try await Self.ask(cluster, "DELETE", "/api/client/v2.0/auth/session", bearer: refreshToken)
    }

    /// The same user with a token that no server has signed.
    var withBadToken: StockUser {
        let forged = accessToken.split(separator: ".").prefix(2).joined(separator: ".") + ".AAAA"
        return StockUser(app: app, port: port, id: id, accessToken: forged, refreshToken: refreshToken)
    }

    // MARK: The upgrade

    /// The recorded request, with this token and port; `offers` in place of the recorded versions.
    func upgradeRequest(offers: [Int]? = nil) throws -> (request: String, accept: String) {
        let recording = try Recording("pbs-first-connect-and-resume")
        var request: String?
        for line in recording.lines {
            if case .upgrade(_, let text) = line { request = text }
            guard case .upgraded(_, let answer) = line, var text = request else { continue }
            text = text.replacing("ACCESS_TOKEN", with: accessToken).replacing(Self.recordedApp, with: app)
                .replacing(/Host: 127\.0\.0\.1:[0-9]+/, with: "Host: 127.0.0.1:\(port)")
            if let offers {
                let list = offers.map { "com.mongodb.realm-sync#\($0)" }.joined(separator: ", ")
                text = text.replacing(/Sec-WebSocket-Protocol: [^\r]*/, with: "Sec-WebSocket-Protocol: \(list)")
            }
            let accept = answer.firstMatch(of: /Sec-WebSocket-Accept: ([^\r]*)/)?.output.1
            return (text + "\r\n\r\n", String(accept ?? ""))
        }
        throw StockClientError("\(recording.name) has no upgrade")
    }

    /// Opens a connection as a stock client does, and is as picky about the answer.
    @MainActor
    func connect(mode: SyncMode = .partition) async throws -> StockConnection {
        var upgrade = try upgradeRequest()
        let word = mode == .flexible ? "com.mongodb.realm-query-sync#" : "com.mongodb.realm-sync#"
        upgrade.request = upgrade.request.replacing("com.mongodb.realm-sync#", with: word)
        let (socket, answer) = try await StockSocket.open(port: port, request: upgrade.request)
        guard answer.status == 101, answer.headers["sec-websocket-accept"] == upgrade.accept,
            answer.headers["sec-websocket-protocol"] == "\(word)14",
            answer.headers["sec-websocket-extensions"] == nil
        else { throw StockClientError("the upgrade was answered with \(answer)") }
        return StockConnection(socket, mode: mode)
    }

    private static func ask(
        _ cluster: LocalCluster, _ method: String, _ path: String, body: String = "", bearer: String? = nil
    ) async throws -> [String: Any] {
        var request = HTTPClientRequest(url: cluster.gatewayURL + path.replacing(recordedApp, with: cluster.app))
        request.method = .init(rawValue: method)
        if !path.hasSuffix("/location") {
            request.headers.add(name: "content-type", value: "application/json;charset=utf-8")
            request.headers.add(name: "accept", value: "application/json")
        }
        if let bearer { request.headers.add(name: "authorization", value: "Bearer \(bearer)") }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(2))
        let answer = try await response.body.collect(upTo: 1 << 20)
        guard (200..<300).contains(response.status.code) else {
            throw StockClientError("\(path) answered \(response.status.code): \(String(buffer: answer))")
        }
        guard answer.readableBytes > 0 else { return [:] }
        guard response.headers["content-type"] == ["application/json"] else {
            throw StockClientError("\(path) answered with content type \(response.headers["content-type"])")
        }
        return try JSONSerialization.jsonObject(with: Data(answer.readableBytesView)) as? [String: Any] ?? [:]
    }
}
