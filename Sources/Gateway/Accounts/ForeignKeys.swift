import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Storage
import SyncModel
import Synchronization

/// The keys of other services as they publish them, remembered, and fetched again when a token names one that is not among
/// them, but not often: whoever makes tokens up must not make the gateway flood another service.
final class ForeignKeys: Sendable {
    /// Fetches what stands at a URL.
    typealias Fetch = @Sendable (String) async throws -> Data

    private struct Entry {
        var keys: [PublicKey] = []
        /// When the keys came.
        var readAt: ContinuousClock.Instant?
        /// When they were last asked for, and by whom.
        var askedAt: ContinuousClock.Instant
        var task: Task<[PublicKey], any Error>
    }

    /// Keys that have not been looked at for so long are fetched again.
    static let lifetime: Duration = .seconds(600)
    /// Keys that cannot be fetched again are used for so long.
    static let staleLifetime: Duration = .seconds(86_400)
    /// How often one service is asked.
    static let interval: Duration = .seconds(30)
    static let maxServices = 1_000
    static let maxBytes = 256 << 10
    /// How long the whole set of keys may take to come; logins wait for it.
    static let patience: Duration = .seconds(5)

    private let fetch: Fetch
    private let metrics: GatewayMetrics
    private let entries = Mutex<[String: Entry]>([:])

    init(metrics: GatewayMetrics, fetch: @escaping Fetch) {
        self.metrics = metrics
        self.fetch = fetch
    }

    /// The key of a token; nil if the service has none such.
    /// - Throws: whatever kept the keys from being fetched, if there are none from before.
    func key(_ header: ForeignToken.Header, of settings: TokenLoginSettings) async throws -> PublicKey? {
        guard let url = settings.jwksURL else { return Self.choose(header, among: settings.jwks?.keys ?? []) }
        let (known, isFresh) = remembered(url)
        if isFresh, let key = Self.choose(header, among: known) { return key }
        do {
            return Self.choose(header, among: try await newest(url))
        } catch {
            guard let key = Self.choose(header, among: known) else { throw error }
            return key
        }
    }

    /// Chooses the key that a token's header means. Where no key is named, only one can be meant.
    private static func choose(_ header: ForeignToken.Header, among keys: [PublicKey]) -> PublicKey? {
        let fitting = keys.filter { $0.fits(header.algorithm) }
        guard let id = header.keyID else { return fitting.count == 1 ? fitting.first : nil }
        return fitting.first { $0.kid == id } ?? (keys.count == 1 && keys.first?.kid == nil ? fitting.first : nil)
    }

    private func remembered(_ url: String) -> (keys: [PublicKey], isFresh: Bool) {
        entries.withLock { entries in
            guard let entry = entries[url], let readAt = entry.readAt else { return ([], false) }
            let age = readAt.duration(to: .now)
            return (age < Self.staleLifetime ? entry.keys : [], age < Self.lifetime)
        }
    }

    /// Asks the service, or joins whoever has asked it a moment ago.
    private func newest(_ url: String) async throws -> [PublicKey] {
        let task = entries.withLock { entries -> Task<[PublicKey], any Error> in
            if let entry = entries[url], entry.askedAt.duration(to: .now) < Self.interval { return entry.task }
            if entries.count >= Self.maxServices, entries[url] == nil { entries.removeAll() }
            // Shared by several logins, so no single one of them owns it; it ends with the answer.
            let task = Task { [fetch] in
                try JSONDecoder().decode(PublicKeySet.self, from: try await fetch(url)).keys
            }
            var entry = entries[url] ?? Entry(askedAt: .now, task: task)
            (entry.askedAt, entry.task) = (.now, task)
            entries[url] = entry
            return task
        }
        do {
            let keys = try await task.value
            entries.withLock { entries in
                guard var entry = entries[url], entry.task == task else { return }
                (entry.keys, entry.readAt) = (keys, entry.askedAt)
                entries[url] = entry
            }
            metrics.foreignKeysFetched(isDone: true)
            return keys
        } catch {
            metrics.foreignKeysFetched(isDone: false)
            throw error
        }
    }

    /// Fetches over HTTP, and follows no redirect: where the keys are is the operator's to say.
    static func overHTTP(_ client: HTTPClient, within patience: Duration = ForeignKeys.patience) -> Fetch {
        { url in
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Accept", value: "application/json")
            let sent = request
            return try await withDeadline(patience) {
                let answer = try await client.execute(sent, deadline: .distantFuture)
                guard answer.status == .ok else {
                    throw GatewayError(.timeout, "the keys of another service: it answers \(answer.status.code)")
                }
                return Data(try await answer.body.collect(upTo: maxBytes).readableBytesView)
            }
        }
    }
}
