import Crypto
import Foundation

/// Tokens of a service that shares a secret with the cluster.
///
/// Logging in with one takes no time. A password takes a second, by intention, at its registration and at each login.
package enum CustomToken {
    private static let issuer = "https://tests.example.net/"
    private static let secret = "a secret that the tests and the cluster share"

    /// Has an app let in those who bring such a token.
    package static func allow(in app: String, of cluster: LocalCluster) async throws {
        let file = "\(cluster.folder)/\(app)-custom-tokens.json"
        let settings = #"{"issuer": "\#(issuer)", "secret": "\#(secret)", "algorithms": ["HS256"]}"#
        try settings.write(toFile: file, atomically: true, encoding: .utf8)
        try await cluster.operate("logins", "set", app, "custom-token", "--file", file)
    }

    /// A token for a user of an app.
    package static func sign(user: String, of app: String) throws -> String {
        let expiry = Int(Date().timeIntervalSince1970) + 3600
        let parts = [
            #"{"alg":"HS256","typ":"JWT"}"#,
            #"{"iss":"\#(issuer)","aud":"\#(app)","sub":"\#(user)","exp":\#(expiry)}"#,
        ].map { encoded(Data($0.utf8)) }
        let text = parts.joined(separator: ".")
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(text.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return text + "." + encoded(Data(code))
    }

    private static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
