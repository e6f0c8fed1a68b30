import Foundation

/// Clients that upload one change after the other, each as soon as the last one is acknowledged and a pause is over.
///
/// Touched on its loop's thread only.
final class SteadyLoad: @unchecked Sendable {
    private final class Member {
        let client: LoadClient
        let number: Int
        var outstanding: Workload?
        var sentAt: Int64 = 0
        var nextAt: Int64 = 0
        var hasSchema = false
        /// The longest wait since the interruption began.
        var longest: Int64 = 0
        var bindAgainAt: Int64?

        init(client: LoadClient, number: Int) {
            self.client = client
            self.number = number
        }
    }

    private var members: [Member] = []
    private var interval: Int64 = 0
    private var endedSessions = 0
    private var watchedSince: Int64?

    func open(_ realms: Int, interval: Int, _ cluster: BenchCluster, _ loop: LoadLoop) throws {
        self.interval = Int64(interval) * 1_000_000
        members = (0..<realms).map { Member(client: LoadClient(partition: "steady-\($0)"), number: $0) }
        try Fleet(members.map(\.client), on: loop).open(cluster)
        let now = MonotonicTime.now
        for member in members {
            member.client.clientVersion = 10
            member.nextAt = now + Int64.random(in: 0...self.interval)
            member.client.onDownload = { [unowned self, unowned member] _ in downloaded(member) }
            // The session is bound again by itself after an error.
            member.client.onLive = { [unowned member] client in
                guard let load = member.outstanding, client.head.uploadedClientVersion < load.lastVersion else {
                    return
                }
                client.sendFrames(load.frames)
            }
            member.client.onFailure = { [unowned self, unowned member] client in
                guard !client.isClosed, client.failure?.code != 208 else {
                    throw BenchFailure("a client of \(client.partition) was lost: \(client.failureText)")
                }
                endedSessions += 1
                member.bindAgainAt = MonotonicTime.now + 1_000_000_000
            }
        }
    }

    private func downloaded(_ member: Member) {
        guard let load = member.outstanding, member.client.head.uploadedClientVersion >= load.lastVersion else {
            return
        }
        let now = MonotonicTime.now
        member.hasSchema = true
        if let start = watchedSince { member.longest = max(member.longest, now - max(start, member.sentAt)) }
        member.outstanding = nil
        member.nextAt = now + interval
    }

    private func step() throws {
        let now = MonotonicTime.now
        for member in members {
            if let at = member.bindAgainAt, now >= at {
                member.bindAgainAt = nil
                try member.client.bindAgain()
            }
            guard member.outstanding == nil, member.bindAgainAt == nil, now >= member.nextAt else { continue }
            let load = try Workload(
                client: member.number, changesets: 1, objects: 1, first: member.client.clientVersion + 1,
                seen: member.client.head.serverVersion, schema: !member.hasSchema)
            member.client.clientVersion = load.lastVersion
            member.outstanding = load
            member.sentAt = now
            member.client.sendFrames(load.frames)
        }
    }

    func serve(_ loop: LoadLoop, for seconds: Double) throws {
        let end = MonotonicTime.now + Int64(seconds * 1e9)
        try loop.serve("the load has run", upTo: .seconds(seconds + 60)) {
            try step()
            return MonotonicTime.now >= end
        }
    }

    struct Interruption: Sendable {
        /// The longest time, in seconds, that anything which each realm sent, or had on its way, since the beginning
        /// took to be acknowledged.
        var gaps: [Double]
        var endedSessions: Int
    }

    /// Does `begin` and goes on for a while, and until every realm is served again.
    func interruption(_ loop: LoadLoop, watching seconds: Double, _ begin: () -> Void) throws -> Interruption {
        let endedBefore = endedSessions
        for member in members { member.longest = 0 }
        let start = MonotonicTime.now
        begin()
        watchedSince = start
        defer { watchedSince = nil }
        let end = start + Int64(seconds * 1e9)
        try loop.serve("every realm is served again", upTo: .seconds(120)) {
            try step()
            let now = MonotonicTime.now
            return now >= end && members.allSatisfy { $0.outstanding == nil || now - $0.sentAt < 500_000_000 }
        }
        return Interruption(
            gaps: members.map { MonotonicTime.seconds($0.longest) }, endedSessions: endedSessions - endedBefore)
    }
}
