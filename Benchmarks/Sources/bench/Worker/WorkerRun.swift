import AMQP
import ArgumentParser
import Foundation
import Logging
import Messages
import Storage
import Worker

/// One run of the worker benchmark: slices over stores on disk, and batches as the broker would deliver them.
struct WorkerRun {
    struct Result {
        var changesets = 0
        var seconds = 0.0
        var commits = 0
        var noticeBytes = 0
    }

    private let options: WorkerBench
    private let folder: String
    private static let app = "bench"

    init(_ options: WorkerBench, folder: String) {
        self.options = options
        self.folder = folder
    }

    func measure() async throws -> Result {
        let control = try await ControlStores.open(url: "sqlite::memory:")
        try await control.insert(AppRecord(id: Self.app, createdAt: 0))
        let stores = try SliceStores.open(url: "sqlite:\(folder)")
        guard let count = SliceCount(options.slices) else { throw ValidationError("--slices is 1 to 4096") }
        var owners: [SliceNumber: SliceOwner] = [:]
        for slice in count.all {
            let store = try await stores.store(for: slice)
            guard
                case .owned(let epoch) = try await store.claim(
                    by: "bench", now: 0, leaseUntil: UInt64.max / 4, gone: nil)
            else { continue }
            owners[slice] = SliceOwner(
                store: store, epoch: epoch, apps: AppDirectory(apps: control), topology: Topology(),
                logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        }
        var clients: [[AMQPMessage]] = []
        var batches: [(SliceOwner, [[AMQPMessage]])] = []
        var bySlice: [SliceNumber: [[AMQPMessage]]] = [:]
        for number in 0..<options.clients {
            let name = RealmName(app: Self.app, partition: options.shared ? "\"all\"" : "\"realm \(number)\"")
            guard let owner = owners[name.slice(of: count)] else { continue }
            let client = OfflineClient(realm: name, ident: try await join(name, owner), number: number)
            let uploads = client.uploads(
                changesets: options.changesets, objects: options.objects, contested: options.contested,
                maxBytes: options.uploadBytes)
            clients.append(try uploads.map { try AMQPMessage($0) })
            bySlice[name.slice(of: count), default: []].append(clients[clients.count - 1])
        }
        for (slice, messages) in bySlice {
            guard let owner = owners[slice] else { continue }
            batches.append((owner, batched(interleaved(messages))))
        }
        return try await integrate(batches)
    }

    /// A new client file, bound and identified.
    private func join(_ realm: RealmName, _ owner: SliceOwner) async throws -> UInt64 {
        let context = RequestContext(
            realm: realm, session: SessionReference(gateway: "bench", number: 0), deadline: .max)
        let request = BindRequest(
            context: context, user: "u", connection: "c", needsClientFile: true, sessionReason: 0, protocolVersion: 10,
            userAgent: "bench")
        let answers = try await owner.process([AMQPMessage(request, correlationID: "c", replyTo: "bench")])
        for answer in answers where answer.message.properties.type == BoundAnswer.type {
            if let file = try answer.message.decode(BoundAnswer.self).clientFile { return file.ident }
        }
        throw CocoaError(.featureUnsupported)
    }

    /// Everybody uploads at once: the first message of each, then the second, ...
    private func interleaved(_ clients: [[AMQPMessage]]) -> [AMQPMessage] {
        let longest = clients.map(\.count).max() ?? 0
        return (0..<longest).flatMap { round in clients.compactMap { round < $0.count ? $0[round] : nil } }
    }

    private func batched(_ messages: [AMQPMessage]) -> [[AMQPMessage]] {
        var batches: [[AMQPMessage]] = []
        var batch: [AMQPMessage] = []
        var bytes = 0
        for message in messages {
            batch.append(message)
            bytes += message.body.count
            if batch.count >= options.prefetch || bytes >= 8 << 20 {
                batches.append(batch)
                batch = []
                bytes = 0
            }
        }
        return batch.isEmpty ? batches : batches + [batch]
    }

    private func integrate(_ batches: [(SliceOwner, [[AMQPMessage]])]) async throws -> Result {
        let start = ContinuousClock.now
        var result = try await withThrowingTaskGroup(of: Result.self) { group in
            for (owner, batches) in batches {
                group.addTask {
                    var result = Result()
                    for batch in batches {
                        for publication in try await owner.process(batch) {
                            result.noticeBytes += publication.message.body.count
                        }
                        result.commits += 1
                    }
                    return result
                }
            }
            return try await group.reduce(into: Result()) { sum, part in
                sum.commits += part.commits
                sum.noticeBytes += part.noticeBytes
            }
        }
        result.seconds = start.duration(to: .now).milliseconds / 1_000
        result.changesets = options.clients * options.changesets
        return result
    }
}
