import Foundation
import Glibc
import Messages

/// The folder in which `sluice broker init` keeps the roles' passwords.
struct BrokerCredentials {
    let folder: String
    let environment: [String: String]
    private static let minBytes = 12

    func passwordFile(_ role: BrokerRole) -> String { "\(folder)/\(role.rawValue).password" }

    /// A password of 256 bits that needs no escaping anywhere.
    static func random() -> String {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    /// The password that was given for a role, or kept for it before.
    /// - Throws: `badInput`, `notAllowed`.
    func known(_ role: BrokerRole) throws -> String? {
        if let password = try given(role) { return password }
        let file = passwordFile(role)
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int ?? 0
        guard mode & 0o077 == 0 else {
            throw CommandFailure(.notAllowed, "\(file) can be read by others: chmod 600 it, and see who has read it")
        }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw CommandFailure(.notAllowed, "cannot read \(file)")
        }
        return try checked(text.trimmingCharacters(in: .newlines), file)
    }

    /// The password that the environment gives for a role.
    /// - Throws: `badInput`.
    func given(_ role: BrokerRole) throws -> String? {
        let name = "SLUICE_BROKER_\(role.rawValue.uppercased())_PASSWORD"
        guard let password = environment[name], !password.isEmpty else { return nil }
        return try checked(password, name)
    }

    private func checked(_ password: String, _ place: String) throws -> String {
        guard password.utf8.count >= Self.minBytes,
            password.unicodeScalars.allSatisfy({ (0x20...0x7e).contains($0.value) })
        else {
            throw CommandFailure(.badInput, "\(place): expected \(Self.minBytes) or more printable ASCII characters")
        }
        return password
    }

    func keep(_ password: String, of role: BrokerRole) throws {
        try PrivateFile.write(Data((password + "\n").utf8), to: passwordFile(role))
    }

    /// Keeps the setting with which a role's processes log in: `url` with the role's user and password in it.
    func keepURL(_ url: String, user: String, password: String, of role: BrokerRole) throws {
        let line = "SLUICE_AMQP_URL=\(Self.url(url, user: user, password: password))\n"
        try PrivateFile.write(Data(line.utf8), to: "\(folder)/\(role.rawValue).env")
    }

    static func url(_ url: String, user: String, password: String) -> String {
        let scheme = url.range(of: "://")?.upperBound ?? url.startIndex
        let rest = url.lastIndex(of: "@").map { url.index(after: $0) } ?? scheme
        func encoded(_ text: String) -> String {
            let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
            return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
        }
        return "\(url[..<scheme])\(encoded(user)):\(encoded(password))@\(url[rest...])"
    }
}

/// Files with secrets in them, which only their owner may read.
enum PrivateFile {
    /// Writes a file as a whole: readers find the old one or the new one. Makes its folder if need be.
    static func write(_ data: Data, to path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let partial = "\(path).\(UInt32.random(in: .min ... .max)).tmp"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let descriptor = open(partial, O_CREAT | O_EXCL | O_WRONLY, 0o600)
            guard descriptor >= 0 else { throw CommandFailure(.notAllowed, String(cString: strerror(errno))) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
            guard rename(partial, path) == 0 else {
                throw CommandFailure(.notAllowed, String(cString: strerror(errno)))
            }
        } catch {
            unlink(partial)
            throw CommandFailure(.notAllowed, "cannot write \(path): \(error)")
        }
    }
}
