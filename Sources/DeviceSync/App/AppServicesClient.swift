internal import Foundation
internal import SyncModel
internal import Synchronization

/// Where the server said that its parts are.
struct ServerLocation: Sendable, Equatable {
    var hostname: String
    var webSocketHostname: String
    var syncRoute: String?

    func syncURL(appID: String) -> String {
        syncRoute ?? webSocketHostname + "/api/client/v2.0/app/\(appID)/realm-sync"
    }
}

/// The HTTP API as one app uses it (docs/http-api.md). Holds no user: tokens come with each call.
final class AppServicesClient: Sendable {
    private let appID: String
    private let configuration: AppConfiguration
    /// Has the headers that requests carry.
    private let settings: SyncManager
    private let transport: any NetworkTransport
    /// Where the app is: the address that it was given, and what the server there has said.
    private struct Place {
        var baseURL: String
        var location: ServerLocation?
    }
    private let place: Mutex<Place>

    init(appID: String, configuration: AppConfiguration, settings: SyncManager) {
        self.appID = appID
        self.configuration = configuration
        self.settings = settings
        place = Mutex(Place(baseURL: configuration.baseURL))
        transport =
            configuration.transport
            ?? HTTPClientTransport(trusting: configuration.authoritiesFile) { configuration.proxy(for: $0) }
    }

    private var appPath: String { "/api/client/v2.0/app/\(appID)" }

    // MARK: Location

    var baseURL: String { place.withLock { $0.baseURL } }

    /// The location as far as known: asked for, or guessed from the base URL.
    var knownLocation: (location: ServerLocation, verified: Bool) {
        let place = place.withLock { $0 }
        if let location = place.location { return (location, true) }
        return (
            ServerLocation(hostname: place.baseURL, webSocketHostname: Self.webSocketOrigin(place.baseURL)), false
        )
    }

    /// Asks for the location again, at the last advertised host.
    @discardableResult
    func refreshLocation() async throws(AppError) -> ServerLocation {
        let asked = place.withLock { $0 }
        let found = try await location(at: asked.location?.hostname ?? asked.baseURL)
        return place.withLock { place in
            // The app may have gone over to another server meanwhile.
            if place.baseURL == asked.baseURL { place.location = found }
            return place.location ?? found
        }
    }

    /// Goes over to another server, once it has answered.
    func move(to baseURL: String) async throws(AppError) {
        let found = try await location(at: baseURL)
        place.withLock { $0 = Place(baseURL: baseURL, location: found) }
    }

    private func location(at origin: String) async throws(AppError) -> ServerLocation {
        let json = try await perform("GET", origin + appPath + "/location", bare: true)
        guard let members = json?.objectValue, let host = members["hostname"]?.stringValue,
            let socket = members["ws_hostname"]?.stringValue
        else { throw AppError(.unknown, "location: expected hostname and ws_hostname in the answer") }
        let hostname = host.isEmpty ? origin : host
        return ServerLocation(
            hostname: hostname, webSocketHostname: socket.isEmpty ? Self.webSocketOrigin(hostname) : socket,
            syncRoute: members["sync_route"]?.stringValue)
    }

    private func hostname() async throws(AppError) -> String {
        if let known = place.withLock({ $0.location }) { return known.hostname }
        return try await refreshLocation().hostname
    }

    private static func webSocketOrigin(_ origin: String) -> String {
        origin.hasPrefix("http") ? "ws" + origin.dropFirst(4) : origin
    }

    // MARK: Calls

    /// - Returns: the user without a profile.
    func login(_ credentials: Credentials) async throws(AppError) -> UserRecord {
        let path = appPath + "/auth/providers/\(credentials.provider)/login"
        let json = try await call("POST", path, loginBody(credentials))
        guard let answer = json?.objectValue, let user = answer["user_id"]?.stringValue,
            let access = answer["access_token"]?.stringValue, let refresh = answer["refresh_token"]?.stringValue
        else { throw AppError(.unknown, "login: expected user_id, access_token and refresh_token in the answer") }
        for token in [access, refresh] where AccessToken(token) == nil {
            throw AppError(.unknown, "login: expected tokens of three parts with exp and iat")
        }
        return UserRecord(
            id: user, deviceID: answer["device_id"]?.stringValue ?? "", accessToken: access, refreshToken: refresh)
    }

    private func loginBody(_ credentials: Credentials) -> JSONValue {
        var members = credentials.members
        members["options"] = .object(["device": .object(deviceInformation)])
        return .object(members)
    }

    /// Adds an identity to the user of a token.
    /// - Returns: the new access token.
    func link(_ credentials: Credentials, accessToken: String) async throws(AppError) -> String {
        let path = appPath + "/auth/providers/\(credentials.provider)/login?link=true"
        let json = try await call("POST", path, loginBody(credentials), token: accessToken)
        return try Self.accessToken(in: json, of: "link")
    }

    private static func accessToken(in json: JSONValue?, of call: String) throws(AppError) -> String {
        guard let token = json?.objectValue?["access_token"]?.stringValue, AccessToken(token) != nil else {
            throw AppError(.unknown, "\(call): expected an access_token in the answer")
        }
        return token
    }

    /// - Returns: what the function returned; nil for an empty answer.
    func callFunction(_ body: JSONValue, accessToken: String) async throws(AppError) -> JSONValue? {
        try await call("POST", appPath + "/functions/call", body, token: accessToken)
    }

    func profile(accessToken: String) async throws(AppError) -> UserProfileRecord {
        let json = try await call("GET", "/api/client/v2.0/auth/profile", token: accessToken)
        guard let record = json.flatMap(UserProfileRecord.init) else {
            throw AppError(.unknown, "profile: expected identities and data in the answer")
        }
        return record
    }

    func refreshAccessToken(refreshToken: String) async throws(AppError) -> String {
        let json = try await call("POST", "/api/client/v2.0/auth/session", token: refreshToken)
        return try Self.accessToken(in: json, of: "session")
    }

    func endSession(refreshToken: String) async throws(AppError) {
        _ = try await call("DELETE", "/api/client/v2.0/auth/session", token: refreshToken)
    }

    func deleteUser(accessToken: String) async throws(AppError) {
        _ = try await call("DELETE", "/api/client/v2.0/auth/delete", token: accessToken)
    }

    /// A call of the email and password provider; none answers with data.
    func emailPassword(_ call: String, _ members: [String: JSONValue]) async throws(AppError) {
        _ = try await self.call("POST", appPath + "/auth/providers/local-userpass/\(call)", .object(members))
    }

    /// A call about a user's API keys.
    func apiKeys(
        _ method: String, _ path: String, _ body: JSONValue?, refreshToken: String
    ) async throws(AppError) -> JSONValue? {
        try await call(method, "/api/client/v2.0/auth/api_keys" + path, body, token: refreshToken)
    }

    func postResetOutcome(_ body: Data, accessToken: String) async throws(AppError) {
        let url = try await hostname() + appPath + "/sync/reset-outcomes"
        _ = try await perform("POST", url, body: body, token: accessToken)
    }

    // MARK: Requests

    private func call(
        _ method: String, _ path: String, _ json: JSONValue? = nil, token: String? = nil
    ) async throws(AppError) -> JSONValue? {
        let url = try await hostname() + path
        return try await perform(method, url, body: json.map { Data(JSONWriter.bytes(of: $0)) } ?? Data(), token: token)
    }

    private func perform(
        _ method: String, _ url: String, body: Data = Data(), token: String? = nil, bare: Bool = false
    ) async throws(AppError) -> JSONValue? {
        var fields = settings.customRequestHeaders ?? [:]
        if !fields.keys.contains(where: { $0.lowercased() == "user-agent" }) {
            fields["User-Agent"] = SDK.userAgent(of: settings.userAgent)
        }
        if !bare {
            fields["Content-Type"] = "application/json;charset=utf-8"
            fields["Accept"] = "application/json"
        }
        if let token { fields[settings.authorizationHeaderName ?? "Authorization"] = "Bearer \(token)" }
        let request = NetworkRequest(
            method: method, url: url, headers: fields, body: body, timeoutMS: configuration.defaultRequestTimeoutMS)
        let answer: NetworkResponse
        do {
            answer = try await transport.send(request)
        } catch {
            throw AppError(.httpRequestFailed, "the server could not be reached: \(error)")
        }
        return try Self.interpret(answer)
    }

    /// Reads an answer: the error body first, then the status (docs/http-api.md, "Errors").
    static func interpret(_ answer: NetworkResponse) throws(AppError) -> JSONValue? {
        let json = try? JSONParser.parse(String(decoding: answer.body, as: UTF8.self))
        if answer.headers["content-type"] == "application/json", let members = json?.objectValue {
            let name = members["error_code"]?.stringValue ?? ""
            let text = members["error"]?.stringValue
            if !name.isEmpty || text != nil {
                throw AppError(
                    name.isEmpty ? .unknown : AppError.Code(serverName: name), text ?? name,
                    httpStatusCode: answer.status, serverLogURL: members["link"]?.stringValue.flatMap(URL.init(string:))
                )
            }
        }
        guard (200..<300).contains(answer.status) else {
            let message =
                json?.objectValue?["error"]?.stringValue ?? "the server answered with HTTP status \(answer.status)"
            throw AppError(.httpRequestFailed, message, httpStatusCode: answer.status)
        }
        return json
    }

    private var deviceInformation: [String: JSONValue] {
        [
            "appId": .string(appID), "platform": .string("Linux"),
            "platformVersion": .string(ProcessInfo.processInfo.operatingSystemVersionString),
            "sdk": .string("DeviceSync"), "sdkVersion": .string(SDK.version), "cpuArch": .string(SDK.architecture),
            "deviceName": .string(""), "deviceVersion": .string(""), "frameworkName": .string(""),
            "frameworkVersion": .string(""), "coreVersion": .string(SDK.version),
            "bundleId": .string(SDK.programName),
        ]
    }
}

/// What the SDK says about itself.
enum SDK {
    static let version = "0.1.0"
    #if arch(arm64)
    static let architecture = "arm64"
    #else
    static let architecture = "x86_64"
    #endif

    static var programName: String { ProcessInfo.processInfo.processName }

    /// What requests say they come from.
    /// - Parameter program: may have any characters; headers may not.
    static func userAgent(of program: String) -> String {
        let program = program.unicodeScalars.map { (0x20..<0x7F).contains($0.value) ? Character($0) : "?" }
        return "RealmSync/\(version) (Linux \(architecture)) DeviceSync/\(version) \(String(program))"
    }
}
