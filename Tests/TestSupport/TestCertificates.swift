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

    /// Makes `<name>.pem` and `<name>.key`, which sign others.
    package func makeAuthority(_ name: String) throws {
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=\(name)", "-keyout", path("\(name).key"), "-out", path("\(name).pem"))
    }

    /// Makes `<name>.pem` and `<name>.key` for `localhost` and 127.0.0.1.
    package func makeServer(_ name: String, signedBy authority: String) throws {
        let extensions = path("\(name).ext")
        try "subjectAltName=DNS:localhost,IP:127.0.0.1\n".write(toFile: extensions, atomically: true, encoding: .utf8)
        try openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
            "-keyout", path("\(name).key"), "-out", path("\(name).csr"))
        try openssl(
            "x509", "-req", "-in", path("\(name).csr"), "-CA", path("\(authority).pem"), "-CAkey",
            path("\(authority).key"), "-CAcreateserial", "-days", "1", "-extfile", extensions, "-out",
            path("\(name).pem"))
    }

    /// Puts one server's files in the places of another's.
    package func replace(_ name: String, by other: String, parts: [String] = ["pem", "key"]) throws {
        for part in parts {
            let bytes = try Data(contentsOf: URL(filePath: path("\(other).\(part)")))
            try bytes.write(to: URL(filePath: path("\(name).\(part)")), options: .atomic)
        }
    }

    private func openssl(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CocoaError(.executableLoad, userInfo: ["command": "openssl \(arguments.joined(separator: " "))"])
        }
    }
}
