import TestSupport
import Testing

@testable import Backups

/// The examples that Amazon publishes of signatures of requests to its store.
@Suite struct SignatureTests {
    private static let signature = SignatureV4(
        account: .init(accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")
    /// 2013-05-24T00:00:00Z
    private static let moment: UInt64 = 1_369_353_600

    private func signed(
        _ method: String, _ path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: String = ""
    ) -> String? {
        let request = SignatureV4.Request(
            method: method, host: "examplebucket.s3.amazonaws.com", path: path, query: query, headers: headers,
            bodyDigest: SignatureV4.digest(of: Array(body.utf8)))
        return Self.signature.headers(of: request, at: Self.moment).first { $0.name == "authorization" }?.value
    }

    @Test func signaturesAreThoseOfTheExamples() {
        expectEqual(SignatureV4.time(Self.moment), "20130524T000000Z")
        expectEqual(
            signed("GET", "/test.txt", headers: [("Range", "bytes=0-9")]),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        expectEqual(
            signed(
                "PUT", "/" + SignatureV4.encoded("test$file.text"),
                headers: [
                    ("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                ], body: "Welcome to Amazon S3.")?.suffix(64),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        expectEqual(
            signed("GET", "/", query: [("lifecycle", "")])?.suffix(64),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        expectEqual(
            signed("GET", "/", query: [("prefix", "J"), ("max-keys", "2")])?.suffix(64),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func addressesAreCheckedAndSayNoSecret() throws {
        func address(_ url: String, _ endpoint: String? = nil) throws -> S3Address {
            try S3Address(
                url, endpoint: endpoint, region: "eu-central-1", accessKey: "id", secretKey: "hidden words",
                sessionToken: nil)
        }
        try expectEqual(address("s3://backups/").endpoint, "https://s3.eu-central-1.amazonaws.com")
        let own = try address("s3://backups/a//b/", "http://127.0.0.1:9000/")
        expectTrue(own.prefix == "a/b/" && own.endpoint == "http://127.0.0.1:9000" && own.host == "127.0.0.1:9000")
        expectEqual(own.path(of: "a/b/x y"), "/backups/a/b/x%20y")
        expectTrue(!own.words.contains("hidden"))
        for url in ["s3://", "s3://B", "s3://ok/../x", "s3://ok/a b", "https://ok/x"] {
            #expect(throws: BackupError.self) { try address(url) }
        }
        for endpoint in ["ftp://x", "x", "http://user@x", "http://x/path"] {
            #expect(throws: BackupError.self) { try address("s3://ok", endpoint) }
        }
    }
}
