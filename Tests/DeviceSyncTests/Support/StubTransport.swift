import Foundation
import Synchronization

@testable import DeviceSync

/// A server that a device under test speaks to.
protocol DeviceServer: AnyObject, Sendable {
    var baseURL: String { get }
    func addOutcome(_ body: String)
}

extension TestServer: DeviceServer {}

/// Answers the HTTP API from memory; says where `server` is.
final class StubTransport: NetworkTransport {
    /// Hears of reset outcomes; nil in another process than the server's.
    private let server: (any DeviceServer)?
    private let baseURL: String
    private let counters = Mutex<[String: Int]>([:])
    private let offline = Mutex(false)
    /// How far the server's clock is ahead of the device's, in seconds.
    private let clock = Mutex(0)

    init(server: any DeviceServer) {
        self.server = server
        baseURL = server.baseURL
    }

    init(baseURL: String) {
        server = nil
        self.baseURL = baseURL
    }

    func count(_ path: String) -> Int { counters.withLock { $0[path] ?? 0 } }
    var isOffline: Bool {
        get { offline.withLock { $0 } }
        set { offline.withLock { $0 = newValue } }
    }

    var serverLead: Int {
        get { clock.withLock { $0 } }
        set { clock.withLock { $0 = newValue } }
    }

    struct Offline: Error {}

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        if isOffline { throw Offline() }
        let path = URL(string: request.url)?.path ?? ""
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        counters.withLock { $0[name, default: 0] += 1 }
        let now = Int(Date().timeIntervalSince1970) + serverLead
        switch name {
        case "location":
            let socket = baseURL.replacingOccurrences(of: "http", with: "ws")
            return json(
                #"{"deployment_model":"LOCAL","location":"x","hostname":"\#(baseURL)","ws_hostname":"\#(socket)"}"#
            )
        case "login":
            let body = String(decoding: request.body, as: UTF8.self)
            if body.contains("wrong") {
                return NetworkResponse(
                    status: 401, headers: ["content-type": "application/json"],
                    body: Data(#"{"error":"invalid username/password","error_code":"InvalidPassword"}"#.utf8))
            }
            let user = body.contains("second@") ? "000000000000000000000002" : "000000000000000000000001"
            return json(
                """
                {"access_token":"\(Self.token(now))","refresh_token":"\(Self.token(now))","user_id":"\(user)",\
                "device_id":"000000000000000000000009"}
                """)
        case "session": return json(#"{"access_token":"\#(Self.token(now))"}"#)
        case "profile":
            return json(
                #"{"user_id":"u","identities":[{"id":"1","provider_type":"local-userpass"}],"data":{"email":"a@b.c"}}"#)
        case "reset-outcomes":
            server?.addOutcome(String(decoding: request.body, as: UTF8.self))
            return json("")
        default: return json("")
        }
    }

    static func token(_ now: Int) -> String {
        let claims = Data(#"{"iat":\#(now),"exp":\#(now + 1800)}"#.utf8).base64EncodedString()
        return "h.\(claims.replacingOccurrences(of: "=", with: "")).s"
    }

    private func json(_ text: String) -> NetworkResponse {
        NetworkResponse(status: 200, headers: ["content-type": "application/json"], body: Data(text.utf8))
    }
}
