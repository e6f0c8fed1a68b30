package import Logging
import Metrics
package import NIOSSL
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The identity that a listener proves: certificate and key from files, read again when they change.
///
/// New connections get the newest; those that are open go on with what they began with. Files that cannot be used, a key
/// that is another certificate's among them, change nothing but a metric and the log.
package final class ServerIdentity: Sendable {
    private struct Contents: Equatable, Sendable {
        var certificate: Data
        var key: Data
    }

    private struct Held: Sendable {
        var context: NIOSSLContext
        var contents: Contents
        /// What the files held when they could not be used, so that it is said once.
        var refused: Contents?
        /// Why the files could not be read, likewise.
        var unreadable: String?
    }

    /// What is held to be a certificate's file, in bytes.
    private static let maxBytes = 1 << 20

    /// The name of the listener: `gateway`, `coordinator` or `operations`.
    package let listener: String
    private let files: TLSFiles
    private let held: Mutex<Held>
    private let logger: Logger

    /// - Throws: what is wrong with which setting's file.
    package init(listener: String, files: TLSFiles, logger: Logger) throws(OperationsError) {
        let loaded: Held
        do {
            let contents = try Self.read(files)
            let (context, expiry) = try Self.context(contents)
            loaded = Held(context: context, contents: contents)
            Self.measure(listener, expiry: expiry)
        } catch {
            throw OperationsError(
                .invalidSetting,
                "settings \(listener).tls_certificate and \(listener).tls_key: \(files.certificate) and \(files.key) are no "
                    + "certificate and its key in PEM files that this process can read: \(error)")
        }
        self.listener = listener
        self.files = files
        self.logger = logger
        held = Mutex(loaded)
    }

    /// The TLS context for a new connection.
    package var context: NIOSSLContext { held.withLock { $0.context } }

    /// Looks whether the files have changed, and uses them if so. Reads files: not for a cooperative thread.
    package func refresh() {
        defer { measureFailing() }
        let contents: Contents
        do {
            contents = try Self.read(files)
        } catch {
            let reason = "\(error)"
            let isNews = held.withLock { held in
                defer { held.unreadable = reason }
                return held.unreadable != reason
            }
            if isNews { reportKept(because: reason) }
            return
        }
        let isToBeUsed = held.withLock { held in
            held.unreadable = nil
            if held.contents == contents { held.refused = nil }
            return held.contents != contents && held.refused != contents
        }
        guard isToBeUsed else { return }
        do {
            let (context, expiry) = try Self.context(contents)
            held.withLock { $0 = Held(context: context, contents: contents) }
            Self.measure(listener, expiry: expiry)
            logger.notice("new certificate", metadata: ["listener": "\(listener)"])
        } catch {
            held.withLock { $0.refused = contents }
            reportKept(because: "\(error)")
        }
    }

    /// Says that what there is stays in use; to be said once for each state of the files.
    private func reportKept(because reason: String) {
        logger.error(
            "the new certificate cannot be used; the old one is shown on",
            metadata: [
                "listener": "\(listener)", "certificate": "\(files.certificate)", "key": "\(files.key)",
                "error": "\(reason)",
            ])
    }

    private static func read(_ files: TLSFiles) throws -> Contents {
        func bytes(_ path: String) throws -> Data {
            let data = try Data(contentsOf: URL(filePath: path))
            guard data.count <= maxBytes else {
                throw OperationsError(.unreadableFile, "\(path) has \(data.count) bytes, expected at most \(maxBytes)")
            }
            return data
        }
        return Contents(certificate: try bytes(files.certificate), key: try bytes(files.key))
    }

    /// - Returns: the context, and when the certificate ends (seconds of Unix time).
    private static func context(_ contents: Contents) throws -> (NIOSSLContext, expiry: Int) {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(contents.certificate))
        guard let own = chain.first else {
            throw OperationsError(.unreadableFile, "there is no certificate in the file")
        }
        let key = try NIOSSLPrivateKey(bytes: Array(contents.key), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return (try NIOSSLContext(configuration: configuration), Int(own.notValidAfter))
    }

    /// Whether the files cannot be used as they are now.
    package var isFailing: Bool { held.withLock { $0.refused != nil || $0.unreadable != nil } }

    private func measureFailing() {
        Gauge(label: "sluice.tls.reload.failing", dimensions: [("listener", listener)]).record(isFailing ? 1 : 0)
    }

    private static func measure(_ listener: String, expiry: Int) {
        Gauge(label: "sluice.tls.certificate.expires.at.seconds", dimensions: [("listener", listener)]).record(expiry)
    }
}
