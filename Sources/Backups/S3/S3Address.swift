import Foundation

/// Where an S3-compatible store is, and as whom it is asked.
package struct S3Address: Sendable {
    /// `https://s3.eu-central-1.amazonaws.com`
    package var endpoint: String
    package var region: String
    package var bucket: String
    /// The beginning of the names of all objects: empty, or with a slash at its end.
    package var prefix: String
    let account: SignatureV4.Account

    /// - Parameters:
    ///   - url: `s3://bucket/prefix`.
    ///   - endpoint: the origin of another store than Amazon's.
    /// - Throws: `badInput`.
    package init(
        _ url: String, endpoint: String?, region: String, accessKey: String, secretKey: String, sessionToken: String?
    ) throws(BackupError) {
        let parts = url.dropFirst("s3://".count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        guard url.hasPrefix("s3://"), name.wholeMatch(of: /[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]/) != nil else {
            throw BackupError(.badInput, "\(url.prefix(80)): expected s3://bucket/prefix")
        }
        let path = (parts.count == 2 ? parts[1] : "").split(separator: "/").joined(separator: "/")
        guard path.wholeMatch(of: /[A-Za-z0-9._\-\/]{0,500}/) != nil, !path.split(separator: "/").contains("..") else {
            throw BackupError(.badInput, "\(url.prefix(80)): the prefix may have letters, digits and . _ - /")
        }
        guard !accessKey.isEmpty, !secretKey.isEmpty else {
            throw BackupError(
                .badInput,
                "a store of objects needs backup.access_key and backup.secret_key (SLUICE_BACKUP_...)")
        }
        guard region.wholeMatch(of: /[a-z0-9\-]{1,40}/) != nil else {
            throw BackupError(.badInput, "backup.region: expected such as eu-central-1, found \(region.prefix(40))")
        }
        bucket = name
        prefix = path.isEmpty ? "" : path + "/"
        self.region = region
        let origin = endpoint ?? "https://s3.\(region).amazonaws.com"
        guard let parsed = URL(string: origin), ["http", "https"].contains(parsed.scheme), parsed.host != nil,
            parsed.path.isEmpty || parsed.path == "/", parsed.query == nil, parsed.user == nil
        else {
            throw BackupError(.badInput, "backup.endpoint: expected such as https://minio.internal:9000")
        }
        self.endpoint = origin.hasSuffix("/") ? String(origin.dropLast()) : origin
        account = SignatureV4.Account(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)
    }

    /// The host and port as the request's head has them.
    var host: String { String(endpoint[(endpoint.range(of: "://")?.upperBound ?? endpoint.startIndex)...]) }

    /// The path of an object, encoded; of the bucket itself with an empty key.
    func path(of key: String) -> String { "/\(bucket)/" + SignatureV4.encoded(key, keeping: "/") }

    var words: String { "s3://\(bucket)/\(prefix) at \(host)" }
}
