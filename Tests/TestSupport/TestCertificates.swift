package import Foundation

/// Certificates for tests, made by `openssl` when they are asked for: authorities, and servers on this machine.
package struct TestCertificates: Sendable {
    package let folder: URL

    /// Removed with the temporary folder that they are in.
    package init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    package func path(_ name: String) -> String { folder.appending(path: name).path }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    /// Makes `<name>.pem` and `<name>.key`, which sign others.
    package func makeAuthority(_ name: String) async throws {
        try await TestBroker.shell(
            ["openssl", "req", "-x509"] + Self.newKey + [
                "-days", "2", "-subj", "/CN=\(name)", "-keyout", path("\(name).key"), "-out", path("\(name).pem"),
            ])
    }

    /// Makes `<name>.pem` and `<name>.key` for `localhost` and 127.0.0.1.
    package func makeServer(_ name: String, signedBy authority: String) async throws {
        let extensions = path("\(name).ext")
        try "subjectAltName=DNS:localhost,IP:127.0.0.1\n".write(toFile: extensions, atomically: true, encoding: .utf8)
        try await make(name, called: "localhost", signedBy: authority, ["-extfile", extensions])
    }

    /// Makes `<name>.pem` and `<name>.key` for a client.
    package func makeClient(_ name: String, called user: String, signedBy authority: String) async throws {
        try await make(name, called: user, signedBy: authority, [])
    }

    private func make(
        _ name: String, called subject: String, signedBy authority: String, _ options: [String]
    ) async throws {
        try await TestBroker.shell(
            ["openssl", "req"] + Self.newKey + [
                "-subj", "/CN=\(subject)", "-keyout", path("\(name).key"), "-out", path("\(name).csr"),
            ])
        try await TestBroker.shell(
            [
                "openssl", "x509", "-req", "-in", path("\(name).csr"), "-CA", path("\(authority).pem"), "-CAkey",
                path("\(authority).key"), "-CAcreateserial", "-days", "1", "-out", path("\(name).pem"),
            ] + options)
    }

    /// Puts one server's files in the places of another's.
    package func replace(_ name: String, by other: String, parts: [String] = ["pem", "key"]) throws {
        for part in parts {
            let bytes = try Data(contentsOf: URL(filePath: path("\(other).\(part)")))
            try bytes.write(to: URL(filePath: path("\(name).\(part)")), options: .atomic)
        }
    }
}
