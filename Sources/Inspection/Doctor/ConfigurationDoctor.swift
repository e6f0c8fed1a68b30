package import AMQP
import Foundation
package import Operations

/// Examines the settings: unknown names, and values that are not safe.
package struct ConfigurationDoctor: Sendable {
    let configuration: SluiceConfiguration
    let environment: [String: String]
    /// The settings file, if one is named.
    let file: String?
    /// The file that holds the admin token if no setting does.
    let tokenFile: String

    package init(
        configuration: SluiceConfiguration, environment: [String: String], file: String?, tokenFile: String
    ) {
        self.configuration = configuration
        self.environment = environment
        self.file = file
        self.tokenFile = tokenFile
    }

    package func examine(broker: AMQPConfiguration) -> [Diagnosis] {
        var found = unknownSettings() + secrets() + [brokerSafety(broker)]
        if let publicURL = configuration.gatewayPublicURL { found.append(gateway(publicURL)) }
        return found
    }

    // MARK: Names

    private func unknownSettings() -> [Diagnosis] {
        do {
            let strangers = try SettingNames.unknown(in: environment, file: file)
            guard !strangers.isEmpty else {
                return [Diagnosis(.configuration, "names", .ok, "every setting given is one that is read")]
            }
            return strangers.map { stranger in
                let place = stranger.file.map { "\(stranger.name) in \($0)" } ?? stranger.name
                return Diagnosis(
                    .configuration, stranger.file == nil ? "environment" : "file", .warning,
                    "\(place) is no setting, and processes do not start with it",
                    stranger.nearest.map { "did you mean \($0)?" } ?? "remove it; docs/settings.md lists the settings"
                )
            }
        } catch {
            return .one(.configuration, "file", .fault, "\(error)", "see that it exists and is readable")
        }
    }

    // MARK: Safety

    private func secrets() -> [Diagnosis] {
        var found: [Diagnosis] = []
        let isLoopback = Loopback.contains(configuration.coordinator.host)
        if configuration.adminToken.isEmpty {
            if !isLoopback {
                found.add(
                    .configuration, "admin token", .fault,
                    "the admin API listens on \(configuration.coordinator.host), and there is no admin.token",
                    "set SLUICE_ADMIN_TOKEN to a long random text, the same for all coordinators")
            } else if !FileManager.default.fileExists(atPath: tokenFile) {
                found.add(
                    .configuration, "admin token", .warning, "there is no admin.token, and no token file \(tokenFile)",
                    "start a coordinator, which makes one up; or set admin.token or admin.token_file")
            } else {
                found.append(privacy(of: tokenFile, "admin token"))
            }
        } else if configuration.adminToken.revealed.utf8.count < Secret.minTokenBytes {
            found.add(
                .configuration, "admin token", .fault, "admin.token has fewer than \(Secret.minTokenBytes) bytes",
                "take a longer one, such as from: openssl rand -hex 32")
        } else {
            found.add(.configuration, "admin token", .ok, "set")
        }
        if let file { found.append(privacy(of: file, "settings file")) }
        return found
    }

    private func privacy(of path: String, _ subject: String) -> Diagnosis {
        guard let mode = FileFacts(path)?.mode else {
            return Diagnosis(.configuration, subject, .fault, "\(path) cannot be looked at", "see who may read it")
        }
        guard mode & 0o077 != 0 else { return Diagnosis(.configuration, subject, .ok, "\(path) is private") }
        let holdsSecret =
            subject == "admin token"
            || ((try? String(contentsOfFile: path, encoding: .utf8)).map { text in
                let keys = SettingsFile.keys(in: text)
                return keys.contains("admin.token") || keys.contains("amqp.url")
            } ?? true)
        guard holdsSecret else {
            return Diagnosis(.configuration, subject, .ok, "\(path) holds no secret")
        }
        return Diagnosis(
            .configuration, subject, mode & 0o004 != 0 ? .fault : .warning,
            "\(path) holds a secret and can be read by others", "chmod 600 \(path), and change the secret")
    }

    private func brokerSafety(_ broker: AMQPConfiguration) -> Diagnosis {
        let remote = broker.endpoints.first { !Loopback.contains($0.host) }
        let isGuest = if case .plain("guest", "guest") = broker.credentials { true } else { false }
        switch (remote, isGuest, broker.tls) {
        case (let remote?, true, _):
            return Diagnosis(
                .configuration, "broker", .fault, "\(remote) is used as guest, with the password that everybody knows",
                "make a user of its own: rabbitmqctl add_user, and delete guest")
        case (let remote?, _, nil):
            return Diagnosis(
                .configuration, "broker", .warning, "the connection to \(remote) is not encrypted",
                "use amqps://, unless the network between is trusted")
        case (_, _, let tls?) where !tls.verifiesPeer:
            return Diagnosis(
                .configuration, "broker", .warning, "the broker's certificate is not verified",
                "verify it: docs/settings.md")
        default: return Diagnosis(.configuration, "broker", .ok, remote == nil ? "on this machine" : "encrypted")
        }
    }

    private func gateway(_ publicURL: String) -> Diagnosis {
        let host = URLComponents(string: publicURL)?.host ?? ""
        if publicURL.hasPrefix("http://"), !Loopback.contains(host) {
            return Diagnosis(
                .configuration, "gateway", .warning, "clients are told to come to \(publicURL), which is not encrypted",
                "put TLS in front of the gateway; tokens travel in URLs")
        }
        return Diagnosis(.configuration, "gateway", .ok, "clients come to \(publicURL)")
    }
}

/// The permissions and the size of a file.
struct FileFacts {
    var mode: UInt32
    var size: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        mode = UInt32(status.st_mode)
        size = UInt64(clamping: status.st_size)
    }
}
