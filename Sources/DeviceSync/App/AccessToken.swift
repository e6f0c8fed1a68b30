internal import Foundation
internal import SyncModel

/// What a client reads of a token: the times. The signature is the server's business.
struct AccessToken: Sendable {
    /// The time at which the server made the token, by its own clock.
    var issuedAt: Int64
    var expiresAt: Int64
    /// Extended JSON text of the custom user data, if there is any.
    var userData: JSONValue?

    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        var payload = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        payload = payload.trimmingCharacters(in: ["="])
        payload += String(repeating: "=", count: (4 - payload.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: payload),
            let claims = (try? JSONParser.parse(String(decoding: data, as: UTF8.self)))?.objectValue,
            let expires = claims["exp"]?.integerValue, let issued = claims["iat"]?.integerValue
        else { return nil }
        issuedAt = issued
        expiresAt = expires
        userData = claims["user_data"]
    }

    /// Whether it should be renewed before use (docs/http-api.md, "Tokens").
    func isExpired(at now: Date = Date()) -> Bool { Double(expiresAt) < now.timeIntervalSince1970 - 5 }
}

/// The server's clock, as far as it is known. A device's clock may be wrong by any time.
struct ServerClock: Sendable {
    /// How far the device's clock is ahead of the server's, in seconds; as far as its tokens tell.
    private var lead: TimeInterval = 0

    /// A token has come that the server has just made.
    mutating func received(_ token: String, at now: Date = Date()) {
        guard let token = AccessToken(token) else { return }
        lead = now.timeIntervalSince1970 - Double(token.issuedAt)
    }

    /// The time there.
    func now(at now: Date = Date()) -> Date { now.addingTimeInterval(-lead) }
}
