import Changesets
import ExtendedJSON
import LocalCluster
import MergeConformance
import SeededRandom
import SyncModel

/// The part of a run that plays beside the devices: backends that write documents, and others that follow the apps' changes, under the same faults.
/// At the end each replayed feed is compared with the devices' copies.
struct DocumentRun: Sendable {
    let cluster: LocalCluster
    let journal: Journal
    let followers: [FeedFollower]
    let writers: [DocumentWriter]

    /// - Parameters:
    ///   - partitions: those of `app` in which nothing is ever reset, where writes are counted.
    ///   - views: whether as many write to the app in flexible mode.
    ///   - apps: whose changes are followed.
    init(
        writers count: Int, partitions: [String], of app: String, views: Bool, following apps: [String],
        cluster: LocalCluster,
        journal: Journal
    ) {
        self.cluster = cluster
        self.journal = journal
        followers = apps.map { FeedFollower(app: $0, cluster: cluster) }
        writers =
            (partitions.isEmpty
                ? []
                : (0..<count).map { number in
                    let partition = RealmName.partition(fromText: partitions[number % partitions.count])
                    return DocumentWriter(
                        name: "writer-\(number)", realm: RealmName(app: app, partition: partition), cluster: cluster)
                })
            + (0..<(views ? count : 0)).map { number in
                DocumentWriter(
                    name: "card-writer-\(number)", realm: RealmName(flexible: ViewWorld.app), cluster: cluster)
            }
    }

    /// Turns an app's feed on and follows it, before anything is written.
    func open(_ app: String) async throws {
        guard let follower = follower(of: app) else { return }
        // Both forms are replayed.
        let mode = followers.first?.app == app ? "keys" : "documents"
        try await cluster.operate("apps", "set", app, "--change-feed", mode)
        try await follower.makeFeed()
    }

    func follower(of app: String) -> FeedFollower? { followers.first { $0.app == app } }

    func writers(in partition: String, of app: String) -> [DocumentWriter] {
        let realm = RealmName(app: app, partition: RealmName.partition(fromText: partition))
        return writers.filter { $0.realm == realm }
    }

    /// The writers of the app in flexible mode.
    var cardWriters: [DocumentWriter] { writers.filter { $0.realm.isFlexible } }

    /// Follows until it is cancelled.
    func follow(_ random: SeededGenerator) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, follower) in followers.enumerated() {
                group.addTask { await follower.follow(random.fork(2_000 + number)) }
            }
        }
    }

    /// Writes until it is cancelled.
    func write(_ random: SeededGenerator, pace: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, writer) in writers.enumerated() {
                group.addTask { await writer.work(random.fork(3_000 + number), pace: pace) }
            }
        }
    }

    /// Waits until every write is answered. The last write of a realm shows those who follow whether one before it is missing.
    func settle() async {
        for writer in writers {
            do {
                try await within(.seconds(180), "\(writer.name) is answered") {
                    await writer.finish(withOneMore: writer.name == cardWriters.first?.name)
                }
            } catch {
                journal.note("\(error); its errors: \(writer.trouble)")
            }
        }
    }

    func reckon(_ report: inout FireReport) {
        report.writers = writers.count
        report.followers = followers.count
        for writer in writers {
            report.attempted += writer.attempted
            report.acknowledged += writer.acknowledged
            report.writesRepeated += writer.repetitions
            if writer.acknowledged != writer.attempted {
                report.findings.append(
                    "\(writer.name): \(writer.attempted - writer.acknowledged) writes are not acknowledged; errors: \(writer.trouble); refused: \(writer.refusals.prefix(3))"
                )
            }
        }
        for follower in followers {
            report.changesFollowed += follower.changes
            report.changesRepeated += follower.repetitions
            report.gapsClosed += follower.gaps
            report.findings += follower.findings
        }
    }

    /// Waits until an app's replayed changes of a realm are what a copy has.
    ///
    /// - Parameters:
    ///   - replayed: what is compared of the documents.
    ///   - copy: what the copy has.
    func compare<Content: Equatable & Sendable>(
        _ realm: RealmName, _ replayed: @escaping @Sendable (ReplayedDocuments) -> Content, with copy: Content,
        difference: @escaping @Sendable (Content, Content) -> String, _ report: inout FireReport
    ) async {
        guard let follower = follower(of: realm.app) else { return }
        do {
            try await LocalCluster.retrying("the replayed feed of \(realm) is what a copy has", upTo: .seconds(120)) {
                let content = replayed(follower.documents(of: realm))
                guard content == copy else { throw LocalClusterError(difference(content, copy)) }
            }
        } catch {
            report.feedsDiverged += 1
            report.findings.append("\(error); the follower's errors: \(follower.trouble.suffix(3))")
        }
    }
}

extension Copy {
    /// The copy that somebody has who knows nothing but the changes.
    init(_ replayed: ReplayedDocuments) {
        for (key, document) in replayed.documents["Entry"] ?? [:] {
            if let id = key.string?.string { entries[id] = document["text"]?.string?.string ?? "" }
        }
        guard let shared = replayed.documents["Shared"]?["shared"] else { return }
        count = Int(shared["count"]?.integer ?? 0)
        lines = shared["lines"]?.array?.compactMap { $0.string?.string } ?? []
    }
}

extension ViewWorld {
    /// The cards that somebody has who knows nothing but the changes.
    static func cards(_ replayed: ReplayedDocuments) -> [String: Card] {
        var cards: [String: Card] = [:]
        for (key, document) in replayed.documents["Card"] ?? [:] {
            guard let id = key.string?.string else { continue }
            cards[id] = Card(
                group: document["group"]?.string?.string ?? "", text: document["text"]?.string?.string ?? "",
                hits: Int(document["hits"]?.integer ?? 0))
        }
        return cards
    }
}
