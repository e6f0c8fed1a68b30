import Crypto
import Foundation

/// Signs requests to an S3-compatible store: AWS Signature Version 4, with what the body's digest is in the signature. Pure.
struct SignatureV4 {
    struct Account: Sendable {
        var accessKey: String
        var secretKey: String
        /// The token of a role's temporary credentials.
        var sessionToken: String?
    }

    /// What is signed of a request.
    struct Request {
        var method: String
        var host: String
        /// The path as it is sent: each segment encoded once.
        var path: String
        /// Not encoded.
        var query: [(name: String, value: String)] = []
        /// The headers beside those that the signature adds.
        var headers: [(name: String, value: String)] = []
        /// Hexadecimal SHA-256 of the body.
        var bodyDigest: String
    }

    static let emptyDigest = digest(of: [])
    private static let algorithm = "AWS4-HMAC-SHA256"

    let account: Account
    let region: String

    /// The headers to send, the signature's among them.
    ///
    /// - Parameter seconds: the time, of Unix time.
    func headers(of request: Request, at seconds: UInt64) -> [(name: String, value: String)] {
        let time = Self.time(seconds)
        var headers = request.headers
        headers.append(("host", request.host))
        headers.append(("x-amz-content-sha256", request.bodyDigest))
        headers.append(("x-amz-date", time))
        if let token = account.sessionToken { headers.append(("x-amz-security-token", token)) }
        let signed = headers.map { (name: $0.name.lowercased(), value: Self.trimmed($0.value)) }
            .sorted { $0.name < $1.name }
        let names = signed.map(\.name).joined(separator: ";")
        let canonical = [
            request.method, request.path.isEmpty ? "/" : request.path, Self.query(request.query),
            signed.map { "\($0.name):\($0.value)\n" }.joined(), names, request.bodyDigest,
        ].joined(separator: "\n")
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = [Self.algorithm, time, scope, Self.digest(of: Array(canonical.utf8))].joined(separator: "\n")
        let signature = Self.hex(Self.code(text, key: key(of: day)))
        let authorization =
            "\(Self.algorithm) Credential=\(account.accessKey)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        return headers + [("authorization", authorization)]
    }

    private func key(of day: String) -> [UInt8] {
        [day, region, "s3", "aws4_request"].reduce(Array("AWS4\(account.secretKey)".utf8)) { Self.code($1, key: $0) }
    }

    private static func code(_ text: String, key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: key)))
    }

    static func digest(of bytes: [UInt8]) -> String { hex(Array(SHA256.hash(data: bytes))) }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }

    static func query(_ items: [(name: String, value: String)]) -> String {
        items.map { (encoded($0.name), encoded($0.value)) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// The text with everything encoded but letters, digits and `-._~`, as a signature wants it.
    ///
    /// - Parameter keeping: also kept: the slash of paths.
    static func encoded(_ text: String, keeping: String = "") -> String {
        var result = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII, "-._~\(keeping)".unicodeScalars.contains(scalar) || isPlain(byte) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "%" + hex([byte]).uppercased()
            }
        }
        return result
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }

    /// `20130524T000000Z`
    static func time(_ seconds: UInt64) -> String { BackupName.of(seconds * 1000) }
}
